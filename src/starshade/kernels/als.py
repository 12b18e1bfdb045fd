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

__all__ = ["half_sweep", "squared_error"]

_CHUNK = 32  # rows that a thread takes at a time: small, because a few rows are giants
_AT_ONCE = 4  # ratings added to the normal equations in one pass over them
_RANK = 1e-10  # a pivot this much smaller than its diagonal is what rounding left of 0


@njit(cache=True, nogil=True, parallel=True)
def half_sweep(indptr, columns, codes, targets, fixed_side, penalty, biases, solved):  # type: ignore[no-untyped-def]
    """Solve every row of one side.

    Parameters
    ----------
    indptr : ndarray of int64, shape (n_rows + 1,)
    columns : ndarray of int32, shape (n_ratings,)
        Rows of the fixed side.
    codes : ndarray of uint, shape (n_ratings,)
    targets : ndarray of float64, shape (n_levels,)
        What a code is worth: the rating less the mean.
    fixed_side : ndarray of float64, shape (n_columns, width)
    penalty : ndarray of float64, shape (n_rows, 2)
        On the squares of a row's factors and of its bias; at least 0.
    biases : bool
        Whether the last column of either side is a bias.
    solved : ndarray of float64, shape (n_rows, width)
        Filled; 0 where a row has no rating.
    """
    n_rows, width = solved.shape
    for chunk in prange((n_rows + _CHUNK - 1) // _CHUNK):
        system = np.empty((width, width))
        right = np.empty(width)
        block = np.empty((_AT_ONCE, width))
        for row in range(chunk * _CHUNK, min(n_rows, (chunk + 1) * _CHUNK)):
            low, high = indptr[row], indptr[row + 1]
            if low == high:
                solved[row, :] = 0.0
                continue
            _normal_equations(
                columns[low:high], codes[low:high], targets, fixed_side, biases,
                block, system, right,
            )  # fmt: skip
            for k in range(width):
                bias = biases and k == width - 1
                system[k, k] += penalty[row, 1] if bias else penalty[row, 0]
            _solve(system, right, solved[row])


@njit(cache=True, nogil=True)
def _normal_equations(columns, codes, targets, fixed_side, biases, block, system, right):  # type: ignore[no-untyped-def]
    """Fill the lower triangle of the sum of x xᵀ, and the sum of x y, over a row's ratings."""
    width = len(right)
    system[:, :] = 0.0
    right[:] = 0.0
    y = np.zeros(_AT_ONCE)
    x0, x1, x2, x3 = block[0], block[1], block[2], block[3]
    for first in range(0, len(columns), _AT_ONCE):
        for q in range(_AT_ONCE):
            if first + q < len(columns):
                other = columns[first + q]
                block[q] = fixed_side[other]
                y[q] = targets[codes[first + q]]
                if biases:
                    y[q] -= fixed_side[other, width - 1]
                    block[q, width - 1] = 1.0
            else:
                block[q] = 0.0
                y[q] = 0.0
        for c in range(width):
            right[c] += (y[0] * x0[c] + y[1] * x1[c]) + (y[2] * x2[c] + y[3] * x3[c])
        for r in range(width):
            w0, w1, w2, w3 = x0[r], x1[r], x2[r], x3[r]
            line = system[r]
            for c in range(r + 1):
                line[c] += (w0 * x0[c] + w1 * x1[c]) + (w2 * x2[c] + w3 * x3[c])


@njit(cache=True, nogil=True)
def _solve(system, right, out):  # type: ignore[no-untyped-def]
    """Solve a positive semidefinite system by Cholesky, in place; unspanned directions are 0."""
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


@njit(cache=True, nogil=True, parallel=True)
def squared_error(indptr, columns, codes, targets, rows, others, biases, low, high):  # type: ignore[no-untyped-def]
    """Return each row's sum of squared errors of the clipped predictions, shape (n_rows,).

    Parameters as in `half_sweep`, with both sides given, and

    low, high : float
        The scale, less the mean.
    """
    n_rows, width = rows.shape
    factors = width - 1 if biases else width
    out = np.zeros(n_rows)
    for chunk in prange((n_rows + _CHUNK - 1) // _CHUNK):
        for row in range(chunk * _CHUNK, min(n_rows, (chunk + 1) * _CHUNK)):
            for p in range(indptr[row], indptr[row + 1]):
                other = others[columns[p]]
                found = rows[row, factors] + other[factors] if biases else 0.0
                for k in range(factors):
                    found += rows[row, k] * other[k]
                out[row] += (targets[codes[p]] - min(max(found, low), high)) ** 2
    return out
