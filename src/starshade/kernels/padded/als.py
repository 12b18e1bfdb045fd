"""Alternating least squares: one side's rows given the other's, each row on its own.

A row's parameters minimise the squared error of its ratings plus a penalty on their squares.
With the other side fixed that is a small linear system per row: the normal equations, solved by
a Cholesky factorization that leaves out directions the row's ratings do not span. One thread
solves a row in one order of summation, so the number of threads changes no bit.

Both sides are kept as one matrix, (rows, width): the factors and, where the model has biases,
the row's bias in the last column. A fixed row then acts as its factors followed by a 1, and its
bias is taken off the rating first.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from starshade.kernels.arrays import Array, Floats, Int32s, Ints, cut, fixed, inner, run
from starshade.kernels.warm import announce

_AT_ONCE = 8  # ratings added in one pass over the normal equations; written out below
_USUAL = 4  # a row's width: three factors and a bias, of which the sums are written out as well
_RANK = 1e-10  # a pivot this much smaller than its diagonal is what rounding left of 0


def half_sweep(
    indptr: Ints,
    columns: Int32s,
    codes: Array,
    targets: Floats,
    others: Floats,
    penalty: Floats,
    biases: bool,
    solved: Floats,
) -> None:
    """Solve every row of one side.

    All arrays but the last are read-only views (`arrays.fixed`).

    `targets` (float64 (n_levels,)): what a code is worth: the rating less the mean. `penalty`
    (float64 (n_rows, 2)): on the squares of a row's factors and of its bias; at least 0. `solved`
    (float64 (n_rows, width)): filled; 0 where a row has no rating.
    """
    support = np.diff(indptr)
    lanes, cells = cut(support), (indptr, columns, codes, targets)
    if _is_usual(others, biases):
        announce("the recommender", _sum_usual, _solve_equations)

        def lane_of_usual(lane: int) -> None:
            here = slice(*lanes[lane])
            sums = np.empty((here.stop - here.start, _numbers(_USUAL)))
            _sum_usual(*lanes[lane], *cells, others, sums)
            _solve_equations(fixed(sums), fixed(support[here]), penalty[here], True, solved[here])

        run(lane_of_usual, len(lanes))
        return
    announce("the recommender", _solve_rows)
    run(lambda lane: _solve_rows(*lanes[lane], *cells, others, penalty, biases, solved), len(lanes))


def _is_usual(others: Floats, biases: bool) -> bool:
    return biases and others.shape[1] == _USUAL


def _numbers(width: int) -> int:
    """Return how many numbers the normal equations of a row have."""
    return width * (width + 1) // 2 + width


def normal_equations(
    indptr: Ints,
    columns: Int32s,
    codes: Array,
    targets: Floats,
    others: Floats,
    biases: bool,
) -> Floats:
    """Sum up the normal equations of every row, for a part of its ratings.

    Parameters as in `half_sweep`. Returns (n_rows, w (w + 1) / 2 + w), w being the width: the lower
    triangle, row by row, then the right-hand side. What parts give is added up, and solved by
    `solve_equations`; of a single part the outcome is that of `half_sweep`, to the bit.
    """
    out = np.zeros((len(indptr) - 1, _numbers(others.shape[1])))
    lanes, cells = cut(np.diff(indptr)), (indptr, columns, codes, targets)
    if _is_usual(others, biases):
        announce("the recommender", _sum_usual)
        run(
            lambda lane: _sum_usual(*lanes[lane], *cells, others, out[slice(*lanes[lane])]),
            len(lanes),
        )
        return out
    announce("the recommender", _sum_rows)
    run(lambda lane: _sum_rows(*lanes[lane], *cells, others, biases, out), len(lanes))
    return out


def solve_equations(
    equations: Floats, support: Ints, penalty: Floats, biases: bool, solved: Floats
) -> None:
    """Solve what `normal_equations` summed up; 0 where `support` says that a row has no rating."""
    _solve_equations(equations, support, penalty, biases, solved)


def squared_error(
    indptr: Ints,
    columns: Int32s,
    codes: Array,
    targets: Floats,
    rows: Floats,
    others: Floats,
    biases: bool,
    low: float,
    high: float,
) -> Floats:
    """Return each row's sum of squared errors of the clipped predictions, shape (n_rows,).

    Parameters as in `half_sweep`, with both sides given, and

    low, high : float
        The scale, less the mean.
    """
    lanes = cut(np.diff(indptr))
    sides = rows, others, biases, low, high
    out = np.zeros(len(rows))
    cells = indptr, columns, codes, targets
    run(lambda lane: _sum_errors(*lanes[lane], *cells, *sides, out), len(lanes))
    return out


@njit(cache=True, nogil=True)
def _solve_rows(first, last, indptr, columns, codes, targets, others, penalty, biases, solved):  # type: ignore[no-untyped-def]
    width = solved.shape[1]
    factors = width - 1 if biases else width
    system = np.empty((width, width))
    right = np.empty(width)
    block = np.empty((_AT_ONCE, factors))
    y = np.empty(_AT_ONCE)
    for row in range(first, last):
        low, high = indptr[row], indptr[row + 1]
        if low == high:
            solved[row, :] = 0.0
            continue
        _sum_up(low, high, columns, codes, targets, others, biases, block, y, system, right)
        for k in range(width):
            system[k, k] += penalty[row, 0] if k < factors else penalty[row, 1]
        solve(system, right, solved[row])


@njit(cache=True, nogil=True)
def _sum_rows(first, last, indptr, columns, codes, targets, others, biases, out):  # type: ignore[no-untyped-def]
    width = others.shape[1]
    factors = width - 1 if biases else width
    system = np.empty((width, width))
    right = np.empty(width)
    block = np.empty((_AT_ONCE, factors))
    y = np.empty(_AT_ONCE)
    for row in range(first, last):
        low, high = indptr[row], indptr[row + 1]
        _sum_up(low, high, columns, codes, targets, others, biases, block, y, system, right)
        place = 0
        for r in range(width):
            for c in range(r + 1):
                out[row, place] = system[r, c]
                place += 1
        for r in range(width):
            out[row, place + r] = right[r]


@njit(cache=True, nogil=True)
def _solve_equations(equations, support, penalty, biases, solved):  # type: ignore[no-untyped-def]
    width = solved.shape[1]
    factors = width - 1 if biases else width
    system = np.empty((width, width))
    right = np.empty(width)
    for row in range(len(support)):
        if support[row] == 0:
            solved[row, :] = 0.0
            continue
        place = 0
        for r in range(width):
            for c in range(r + 1):
                system[r, c] = equations[row, place]
                place += 1
        for r in range(width):
            right[r] = equations[row, place + r]
            system[r, r] += penalty[row, 0] if r < factors else penalty[row, 1]
        solve(system, right, solved[row])


@njit(cache=True, nogil=True)
def _sum_usual(first, last, indptr, columns, codes, targets, others, out):  # type: ignore[no-untyped-def]
    """Do as `_sum_rows` for three factors and a bias, to the bit, in a third of the time."""
    x, y = np.zeros((_AT_ONCE, 4)), np.zeros(_AT_ONCE)
    for row in range(first, last):
        low, high = indptr[row], indptr[row + 1]
        total = (0.0,) * 13
        rest = high - (high - low) % _AT_ONCE
        for at in range(low, rest, _AT_ONCE):
            a, b, c, d = columns[at], columns[at + 1], columns[at + 2], columns[at + 3]
            p = targets[codes[at]] - others[a, 3], targets[codes[at + 1]] - others[b, 3]
            q = targets[codes[at + 2]] - others[c, 3], targets[codes[at + 3]] - others[d, 3]
            one = _four(others, a, b, c, d, p[0], p[1], q[0], q[1])
            a, b, c, d = columns[at + 4], columns[at + 5], columns[at + 6], columns[at + 7]
            p = targets[codes[at + 4]] - others[a, 3], targets[codes[at + 5]] - others[b, 3]
            q = targets[codes[at + 6]] - others[c, 3], targets[codes[at + 7]] - others[d, 3]
            total = _plus(total, one, _four(others, a, b, c, d, p[0], p[1], q[0], q[1]))
        if rest < high:
            for n in range(_AT_ONCE):
                there = rest + n < high
                for k in range(3):
                    x[n, k] = others[columns[rest + n], k] if there else 0.0
                y[n] = targets[codes[rest + n]] - others[columns[rest + n], 3] if there else 0.0
            one = _four(x, 0, 1, 2, 3, y[0], y[1], y[2], y[3])
            total = _plus(total, one, _four(x, 4, 5, 6, 7, y[4], y[5], y[6], y[7]))
        for place in range(9):
            out[row - first, place] = total[place]
        out[row - first, 9] = high - low
        for place in range(9, 13):
            out[row - first, place + 1] = total[place]


@inner
def _sum_up(low, high, columns, codes, targets, others, biases, block, y, system, right):  # type: ignore[no-untyped-def]
    """Sum up the normal equations of some ratings, eight at a time."""
    system[:, :] = 0.0
    right[:] = 0.0
    for at in range(low, high, _AT_ONCE):
        end = min(high, at + _AT_ONCE)
        _gather(columns[at:end], codes[at:end], targets, others, block, y)
        _add(block, y, end - at, biases, system, right)


@inner
def _gather(columns, codes, targets, others, block, y):  # type: ignore[no-untyped-def]
    """Copy up to eight fixed rows beside each other, and what is left to explain; 0 beyond."""
    factors = block.shape[1]
    for q in range(len(columns)):
        other = columns[q]
        for k in range(factors):
            block[q, k] = others[other, k]
        y[q] = targets[codes[q]]
        if others.shape[1] > factors:
            y[q] -= others[other, factors]
    for q in range(len(columns), _AT_ONCE):
        block[q, :] = 0.0
        y[q] = 0.0


@inner
def _add(x, y, count, biases, system, right):  # type: ignore[no-untyped-def]
    """Add the sum of x xᵀ to the system and of x y to its right-hand side, x ending in a 1.

    Written for long inner loops without a reduction: those become vector instructions although
    no sum may be reordered.
    """
    n = x.shape[1]
    for r in range(n):
        a, b, c, d = x[0, r], x[1, r], x[2, r], x[3, r]
        e, f, g, h = x[4, r], x[5, r], x[6, r], x[7, r]
        for k in range(n):
            system[r, k] += ((a * x[0, k] + b * x[1, k]) + (c * x[2, k] + d * x[3, k])) + (
                (e * x[4, k] + f * x[5, k]) + (g * x[6, k] + h * x[7, k])
            )
    a, b, c, d, e, f, g, h = y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7]
    for k in range(n):
        right[k] += ((a * x[0, k] + b * x[1, k]) + (c * x[2, k] + d * x[3, k])) + (
            (e * x[4, k] + f * x[5, k]) + (g * x[6, k] + h * x[7, k])
        )
    if biases:
        for k in range(n):
            system[n, k] += ((x[0, k] + x[1, k]) + (x[2, k] + x[3, k])) + (
                (x[4, k] + x[5, k]) + (x[6, k] + x[7, k])
            )
        right[n] += ((a + b) + (c + d)) + ((e + f) + (g + h))
        system[n, n] += count


@inner
def _four(x, i, j, k, m, yi, yj, yk, ym):  # type: ignore[no-untyped-def]
    """Sum up four ratings: the lower triangle of x xᵀ, the sum of x, of x y, and of y."""
    i0, j0, k0, m0 = x[i, 0], x[j, 0], x[k, 0], x[m, 0]
    i1, j1, k1, m1 = x[i, 1], x[j, 1], x[k, 1], x[m, 1]
    i2, j2, k2, m2 = x[i, 2], x[j, 2], x[k, 2], x[m, 2]
    return (
        (i0 * i0 + j0 * j0) + (k0 * k0 + m0 * m0),
        (i1 * i0 + j1 * j0) + (k1 * k0 + m1 * m0),
        (i1 * i1 + j1 * j1) + (k1 * k1 + m1 * m1),
        (i2 * i0 + j2 * j0) + (k2 * k0 + m2 * m0),
        (i2 * i1 + j2 * j1) + (k2 * k1 + m2 * m1),
        (i2 * i2 + j2 * j2) + (k2 * k2 + m2 * m2),
        (i0 + j0) + (k0 + m0),
        (i1 + j1) + (k1 + m1),
        (i2 + j2) + (k2 + m2),
        (i0 * yi + j0 * yj) + (k0 * yk + m0 * ym),
        (i1 * yi + j1 * yj) + (k1 * yk + m1 * ym),
        (i2 * yi + j2 * yj) + (k2 * yk + m2 * ym),
        (yi + yj) + (yk + ym),
    )


@inner
def _plus(total, one, other):  # type: ignore[no-untyped-def]
    """Add what twice four ratings come to."""
    return (
        total[0] + (one[0] + other[0]),
        total[1] + (one[1] + other[1]),
        total[2] + (one[2] + other[2]),
        total[3] + (one[3] + other[3]),
        total[4] + (one[4] + other[4]),
        total[5] + (one[5] + other[5]),
        total[6] + (one[6] + other[6]),
        total[7] + (one[7] + other[7]),
        total[8] + (one[8] + other[8]),
        total[9] + (one[9] + other[9]),
        total[10] + (one[10] + other[10]),
        total[11] + (one[11] + other[11]),
        total[12] + (one[12] + other[12]),
    )


@inner
def solve(system, right, out):  # type: ignore[no-untyped-def]
    """Solve a system (its lower triangle) by Cholesky, in place; unspanned directions are 0."""
    n = len(right)
    for j in range(n):
        pivot = system[j, j]
        for k in range(j):
            pivot -= system[j, k] * system[j, k]
        if not pivot > _RANK * system[j, j]:
            for i in range(j, n):
                system[i, j] = 0.0
            right[j] = 0.0
            continue
        root = np.sqrt(pivot)
        system[j, j] = root
        for i in range(j + 1, n):
            entry = system[i, j]
            for k in range(j):
                entry -= system[i, k] * system[j, k]
            system[i, j] = entry / root
        value = right[j]
        for k in range(j):
            value -= system[j, k] * right[k]
        right[j] = value / root
    for j in range(n - 1, -1, -1):
        out[j] = 0.0
        if system[j, j] > 0.0:
            value = right[j]
            for k in range(j + 1, n):
                value -= system[k, j] * out[k]
            out[j] = value / system[j, j]


@njit(cache=True, nogil=True)
def _sum_errors(  # type: ignore[no-untyped-def]
    first, last, indptr, columns, codes, targets, rows, others, biases, low, high, out
):
    width = rows.shape[1]
    factors = width - 1 if biases else width
    for row in range(first, last):
        for p in range(indptr[row], indptr[row + 1]):
            other = columns[p]
            found = rows[row, factors] + others[other, factors] if biases else 0.0
            for k in range(factors):
                found += rows[row, k] * others[other, k]
            error = targets[codes[p]] - min(max(found, low), high)
            out[row] += error * error


_PAIRS = 1 << 14  # that a thread takes at a time
_ITEMS = 2048  # of a row, that stay in the nearest cache


@njit(cache=True, nogil=True, parallel=True)
def predict_pairs(users, items, mean, user_bias, item_bias, user_factors, item_factors):  # type: ignore[no-untyped-def]
    """Predict pairs."""
    out = np.empty(len(users))
    for chunk in prange((len(users) + _PAIRS - 1) // _PAIRS):
        for p in range(chunk * _PAIRS, min(len(users), (chunk + 1) * _PAIRS)):
            u, i = users[p], items[p]
            total = mean + user_bias[u] + item_bias[i]
            for k in range(user_factors.shape[1]):
                total += user_factors[u, k] * item_factors[i, k]
            out[p] = total
    return out


@njit(cache=True, nogil=True, parallel=True)
def predict_rows(users, mean, user_bias, item_bias, user_factors, item_columns):  # type: ignore[no-untyped-def]
    """Predict whole rows; the items' factors come column by column."""
    n_items = len(item_bias)
    out = np.empty((len(users), n_items))
    for row in prange(len(users)):
        u = users[row]
        for first in range(0, n_items, _ITEMS):
            last = min(n_items, first + _ITEMS)
            part = out[row, first:last]
            bias = item_bias[first:last]
            for i in range(last - first):
                part[i] = mean + user_bias[u] + bias[i]
            for k in range(user_factors.shape[1]):
                weight = user_factors[u, k]
                column = item_columns[k, first:last]
                for i in range(last - first):
                    part[i] += weight * column[i]
    return out
