"""Padded rows from their parts: a low-rank row, biases, and a correction on the rated items.

A row is ``base + loadings @ phi_u + e_u``; ``base`` and ``loadings`` belong to the items, ``phi_u``
to the user, and ``e_u``, what the rating is above the prediction, is not null on rated items only.
It is never kept: one pass over a user's ratings gives it anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from starshade.kernels.arrays import Array, Floats, Int32s, Ints, copy_to, inner
from starshade.kernels.warm import announce

_CHUNK = 256  # users that one thread does in one go


class Parts(NamedTuple):
    """What padded rows are made of.

    `codes` (unsigned int (n_ratings,)): positions in `levels`. `base` (n,): mean and item bias.
    `loadings` (n, f + 1): 1 and the item's factors. `phi` (m, f + 1): the user's bias and factors.
    """

    indptr: Ints
    columns: Int32s
    codes: Array
    levels: Floats
    base: Floats
    loadings: Floats
    phi: Floats
    weights: Floats


@njit(cache=True, nogil=True)
def gram(loadings, weights):  # type: ignore[no-untyped-def]
    """L'WL, shape (f + 1, f + 1); added item by item."""
    n, f = loadings.shape
    out = np.zeros((f, f))
    for i in range(n):
        for a in range(f):
            scaled = weights[i] * loadings[i, a]
            for b in range(f):
                out[a, b] += scaled * loadings[i, b]
    return out


@inner
def fill_corrections(columns, codes, levels, base, loadings, phi, out):  # type: ignore[no-untyped-def]
    """Fill in rating − unclipped prediction for one user's cells."""
    for p in range(len(columns)):
        i = columns[p]
        predicted = base[i]
        own = loadings[i]
        for j in range(len(phi)):
            predicted += own[j] * phi[j]
        out[p] = levels[codes[p]] - predicted


def project(parts: Parts, inner: Floats) -> tuple[Floats, Floats]:
    """Return L'W(x_u − base) and the squared length of x_u − base for each user."""
    announce("padding", _project)
    sums, lengths = np.empty_like(parts.phi), np.empty(len(parts.phi))
    _project(*parts, inner, sums, lengths)
    return sums, lengths


@njit(cache=True, nogil=True, parallel=True)
def _project(  # type: ignore[no-untyped-def]
    indptr, columns, codes, levels, base, loadings, phi, weights, inner, sums, lengths
):  # fmt: skip
    m, f = phi.shape
    for chunk in prange((m + _CHUNK - 1) // _CHUNK):
        for u in range(chunk * _CHUNK, min(m, (chunk + 1) * _CHUNK)):
            own, total = phi[u], sums[u]
            first, last = indptr[u], indptr[u + 1]
            e = np.empty(last - first)
            fill_corrections(columns[first:last], codes[first:last], levels, base, loadings, own, e)
            length = 0.0
            for a in range(f):
                total[a] = 0.0
                for b in range(f):
                    total[a] += inner[a, b] * own[b]
                length += total[a] * own[a]
            for p in range(last - first):
                i = columns[first + p]
                scaled, predicted, row = weights[i] * e[p], 0.0, loadings[i]
                for a in range(f):
                    total[a] += scaled * row[a]
                    predicted += row[a] * own[a]
                length += scaled * (e[p] + 2.0 * predicted)
            lengths[u] = length


def dense_rows(parts: Parts, users: NDArray[np.integer], low: float, high: float) -> Floats:
    """Write out the padded rows of some users, shape (len(users), n).

    `low`, `high`: predictions are clipped to them; infinities leave them as they are. Ratings stay.
    """
    announce("padded rows", _mean_clipped)
    users, alone = np.asarray(users, np.int64), np.arange(len(users) + 1)
    out = np.empty((len(users), len(parts.base)))
    _mean_clipped(*parts[:-1], _across(parts), alone, users, low, high, out)
    return out


def few_rows(parts: Parts, users: NDArray[np.integer], low: float, high: float) -> Floats:
    """Write out rows as `dense_rows` does, on one thread: for work that is done side by side."""
    announce("a few padded rows", _few_rows)
    out = np.empty((len(users), len(parts.base)))
    _few_rows(*parts[:-1], _across(parts), np.asarray(users, np.int64), low, high, out)
    return out


def mean_rows(parts: Parts, starts: Ints, members: Ints, low: float, high: float) -> Floats:
    """Write out the mean padded row of each group, shape (g, n).

    `starts` (g + 1,): group j is ``members[starts[j]:starts[j + 1]]``, one user at least. `low`,
    `high`: predictions are clipped to them before they are averaged; infinities leave them as they
    are, and then a group costs a product per item and factor, not one for each member.
    """
    out = np.empty((len(starts) - 1, len(parts.base)))
    if low == -np.inf and high == np.inf:
        announce("group means", _mean_rows)
        _mean_rows(*parts[:-1], _across(parts), starts, members, out)
    else:
        announce("group means", _mean_clipped)
        _mean_clipped(*parts[:-1], _across(parts), starts, members, low, high, out)
    return out


def _across(parts: Parts) -> Floats:
    return np.ascontiguousarray(parts.loadings.T)


@njit(cache=True, nogil=True, parallel=True)
def _mean_rows(  # type: ignore[no-untyped-def]
    indptr, columns, codes, levels, base, loadings, phi, across, starts, members, out
):  # fmt: skip
    for g in prange(len(starts) - 1):
        row, size = out[g], starts[g + 1] - starts[g]
        row[:] = 0.0
        total = np.zeros(phi.shape[1])
        for q in range(starts[g], starts[g + 1]):
            u = members[q]
            first, last = indptr[u], indptr[u + 1]
            e = np.empty(last - first)
            fill_corrections(
                columns[first:last], codes[first:last], levels, base, loadings, phi[u], e
            )
            for p in range(last - first):
                row[columns[first + p]] += e[p]
            for j in range(len(total)):
                total[j] += phi[u, j]
        for i in range(len(row)):
            row[i] = base[i] + row[i] / size
        _add_low_rank(total / size, across, row)


@njit(cache=True, nogil=True, parallel=True)
def _mean_clipped(  # type: ignore[no-untyped-def]
    indptr, columns, codes, levels, base, loadings, phi, across, starts, members, low, high, out
):  # fmt: skip
    for g in prange(len(starts) - 1):
        row, own = out[g], np.empty(len(base))
        row[:] = 0.0
        for q in range(starts[g], starts[g + 1]):
            u = members[q]
            _dense_row(indptr, columns, codes, levels, base, phi, across, u, low, high, own)
            for i in range(len(own)):
                row[i] += own[i]
        for i in range(len(row)):
            row[i] /= starts[g + 1] - starts[g]


@njit(cache=True, nogil=True)
def _few_rows(  # type: ignore[no-untyped-def]
    indptr, columns, codes, levels, base, loadings, phi, across, users, low, high, out
):  # fmt: skip
    for r in range(len(users)):
        u = users[r]
        _dense_row(indptr, columns, codes, levels, base, phi, across, u, low, high, out[r])


@inner
def _dense_row(  # type: ignore[no-untyped-def]
    indptr, columns, codes, levels, base, phi, across, u, low, high, row
):  # fmt: skip
    copy_to(row, base)
    _add_low_rank(phi[u], across, row)
    for i in range(len(row)):
        row[i] = min(max(row[i], low), high)
    for p in range(indptr[u], indptr[u + 1]):
        row[columns[p]] = levels[codes[p]]


@inner
def _add_low_rank(phi, across, row):  # type: ignore[no-untyped-def]
    for j in range(len(phi)):
        own, line = phi[j], across[j]
        for i in range(len(row)):
            row[i] += own * line[i]


ABSOLUTE, SQUARED, SIMILAR, FAR = 0, 1, 2, 3  # |d|, d², 1 − (1 − |d|)², 1 where |d| is above

_ROWS = 4  # rows that one thread does in one go
_TILE = 128


def mean_over_common(
    rows: Floats, others: Floats, kind: int, unit: float, limit: float, weights: Floats
) -> Floats:
    """Average a function of |x − y| / unit over the items that both rows have.

    `rows`, `others`: NaN is null. Returns (a, b): 1 where no item, or none of weight above 0, is
    common.
    """
    announce("dissimilarities", _mean_over_common)
    out = np.empty((len(rows), len(others)))
    across = np.ascontiguousarray(others.T)
    _mean_over_common(rows, across, kind, 1.0 / unit, limit, weights, out)
    return out


@njit(cache=True, nogil=True, parallel=True)
def _mean_over_common(rows, across, kind, per_unit, limit, weights, out):  # type: ignore[no-untyped-def]
    t = across.shape[1]
    for chunk in prange((len(rows) + _ROWS - 1) // _ROWS):
        first, last = chunk * _ROWS, min(len(rows), (chunk + 1) * _ROWS)
        total, common = np.empty(_TILE), np.empty(_TILE)
        for low in range(0, t, _TILE):
            high = min(t, low + _TILE)
            for r in range(first, last):
                total[:], common[:] = 0.0, 0.0
                for i in range(len(weights)):
                    if not np.isnan(rows[r, i]) and weights[i] > 0.0:
                        _add(
                            kind, rows[r, i], across[i, low:high], per_unit, limit, weights[i],
                            total, common,
                        )  # fmt: skip
                for c in range(high - low):
                    out[r, low + c] = total[c] / common[c] if common[c] > 0.0 else 1.0


@inner
def _add(kind, x, line, per_unit, limit, weight, total, common):  # type: ignore[no-untyped-def]
    if kind == ABSOLUTE:
        for c in range(len(line)):
            d = abs(x - line[c]) * per_unit
            total[c] += weight * d if d == d else 0.0  # NaN is not itself
    elif kind == SQUARED:
        for c in range(len(line)):
            d = abs(x - line[c]) * per_unit
            total[c] += weight * d * d if d == d else 0.0
    elif kind == SIMILAR:
        for c in range(len(line)):
            d = abs(x - line[c]) * per_unit
            total[c] += weight * d * (2.0 - d) if d == d else 0.0
    else:
        for c in range(len(line)):
            total[c] += weight if abs(x - line[c]) * per_unit > limit else 0.0
    for c in range(len(line)):
        common[c] += weight if line[c] == line[c] else 0.0
