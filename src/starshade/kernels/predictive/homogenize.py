"""From groups of users to one-byte profiles, cell by cell, with nothing written out between.

A profile is a row of levels: 0 is null, level v the rating ``minimum + (v - 1) * step``. A group's
row is summed in double precision in one buffer per chunk of groups, quantized, and forgotten, so
96,000 profiles of 17,770 items take their own 1.7 GB and nothing beside. Each profile is made by
one thread, its members in the order given.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import Array, Bytes, Floats, Int32s, Ints, fixed, inner, run
from starshade.kernels.padded.als import solve
from starshade.kernels.padded.padded import Parts, fill_corrections
from starshade.kernels.warm import announce

_CHUNK = 32  # groups that share a buffer
_TILE = 2048  # items whose sums stay in the nearest cache
_DUST = 1e-9  # of a step: takes the float dust off exact halves


def mean_levels(parts: Parts, starts: Ints, members: Ints, grid: tuple[float, float, int]) -> Bytes:
    """Quantize the mean of each group's unclipped padded rows; halves round up, no cell is null."""
    announce("the profiles", _mean_levels)
    out = np.empty((len(starts) - 1, len(parts.base)), np.uint8)
    across = np.ascontiguousarray(parts.loadings.T)
    arguments = *parts[:-1], across, starts, members, *grid, out
    run(lambda chunk: _mean_levels(chunk, *arguments), -(-len(out) // _CHUNK))
    return out


@njit(cache=True, nogil=True)
def _mean_levels(  # type: ignore[no-untyped-def]
    chunk, indptr, columns, codes, levels, base, loadings, phi, across,
    starts, members, minimum, step, n_levels, out,
):  # fmt: skip
    n_groups, n = out.shape
    f = phi.shape[1]
    above = np.zeros(n)  # sums of corrections; all 0 again after each group
    total, tile = np.empty(f), np.empty(_TILE)
    for g in range(chunk * _CHUNK, min(n_groups, (chunk + 1) * _CHUNK)):
        size = starts[g + 1] - starts[g]
        total[:] = 0.0
        for q in range(starts[g], starts[g + 1]):
            u = members[q]
            first, last = indptr[u], indptr[u + 1]
            e = np.empty(last - first)
            fill_corrections(
                columns[first:last], codes[first:last], levels, base, loadings, phi[u], e
            )
            for p in range(last - first):
                above[columns[first + p]] += e[p]
            for j in range(f):
                total[j] += phi[u, j]
        for j in range(f):
            total[j] /= size
        for low in range(0, n, _TILE):
            high = min(n, low + _TILE)
            for i in range(low, high):
                tile[i - low] = base[i] + above[i] / size
            for j in range(f):
                own, line = total[j], across[j, low:high]
                for i in range(high - low):
                    tile[i] += own * line[i]
            for i in range(high - low):
                out[g, low + i] = _level(tile[i], minimum, step, n_levels)
        for q in range(starts[g], starts[g + 1]):
            u = members[q]
            for p in range(indptr[u], indptr[u + 1]):
                above[columns[p]] = 0.0


def simple_levels(
    rows: tuple[Ints, Int32s, NDArray[np.unsignedinteger]],
    levels: Floats,
    n_items: int,
    groups: tuple[Ints, Ints],
    min_raters: int,
    grid: tuple[float, float, int],
) -> Bytes:
    """Quantize, for each group, the mean rating of an item over the members who rated it."""
    announce("the simple profiles", _simple_levels)
    out = np.empty((len(groups[0]) - 1, n_items), np.uint8)
    arguments = *rows, levels, *groups, min_raters, *grid, out
    run(lambda chunk: _simple_levels(chunk, *arguments), -(-len(out) // _CHUNK))
    return out


@njit(cache=True, nogil=True)
def _simple_levels(  # type: ignore[no-untyped-def]
    chunk, indptr, columns, codes, levels, starts, members, min_raters, minimum, step, n_levels, out
):  # fmt: skip
    n_groups, n = out.shape
    total, raters = np.empty(n), np.empty(n, np.int64)
    for g in range(chunk * _CHUNK, min(n_groups, (chunk + 1) * _CHUNK)):
        total[:] = 0.0
        raters[:] = 0
        for q in range(starts[g], starts[g + 1]):
            u = members[q]
            for p in range(indptr[u], indptr[u + 1]):
                total[columns[p]] += levels[codes[p]]
                raters[columns[p]] += 1
        for i in range(n):
            if raters[i] >= min_raters:
                out[g, i] = _level(total[i] / raters[i], minimum, step, n_levels)
            else:
                out[g, i] = 0


@inner
def _level(value, minimum, step, n_levels):  # type: ignore[no-untyped-def]
    """Return the level nearest to a value, the upper of two as near, within the scale."""
    place = np.floor((value - minimum) / step + (0.5 + _DUST))
    return np.uint8(1 + int(min(max(place, 0.0), n_levels - 1.0)))


def pooled_rows(parts: Parts, starts: Ints, members: Ints, penalty: Floats) -> Floats:
    """Fit each group's row to its members' ratings.

    `parts`: `phi` and `weights` are not read; `loadings` may lack the column of ones. `penalty` (g,
    f): on the squares of a group's numbers; f columns as `loadings` has.
    """
    announce("pooled profiles", _pooled)
    out = np.empty((len(starts) - 1, parts.loadings.shape[1]))
    arguments = *parts[:6], starts, members, penalty, out
    run(lambda chunk: _pooled(chunk, *arguments), -(-len(out) // _CHUNK))
    return out


@njit(cache=True, nogil=True)
def _pooled(  # type: ignore[no-untyped-def]
    chunk, indptr, columns, codes, levels, base, loadings, starts, members, penalty, out
):  # fmt: skip
    n_groups, f = out.shape
    system, right = np.empty((f, f)), np.empty(f)
    for g in range(chunk * _CHUNK, min(n_groups, (chunk + 1) * _CHUNK)):
        system[:, :] = 0.0
        right[:] = 0.0
        for q in range(starts[g], starts[g + 1]):
            u = members[q]
            for p in range(indptr[u], indptr[u + 1]):
                i = columns[p]
                x, y = loadings[i], levels[codes[p]] - base[i]
                for r in range(f):
                    right[r] += y * x[r]
                    own, line = x[r], system[r]
                    for c in range(r + 1):
                        line[c] += own * x[c]
        for r in range(f):
            system[r, r] += penalty[g, r]
        solve(system, right, out[g])


_CHUNKS = 256  # of the classes: fixed, so that nothing depends on the threads


def profile_support(
    table: tuple[Ints, Int32s, Array, Floats],
    members: tuple[Ints, Ints],
    profiles: tuple[Bytes, Floats],
    least: int,
    tolerance: float,
) -> Ints:
    """Count, class by class, cells that are no null, that one rates, that nobody stands behind.

    `least`: 0: a cell is invented where nobody of the class rated the item. Otherwise where fewer
    than `least` did, or where it differs from their mean. Returns (classes, 3): cells that are not
    null; of these, those that one member rated; those invented.
    """
    announce("profiles", _support)
    out = np.zeros((len(profiles[0]), 3), dtype=np.int64)
    rows = tuple(fixed(part) for part in table), tuple(fixed(part) for part in members)
    arguments = *rows, fixed(profiles[0]), fixed(profiles[1]), least, tolerance, out
    run(lambda chunk: _support(chunk, *arguments), _CHUNKS)
    return out


@njit(cache=True, nogil=True)
def _support(chunk, table, members, levels, ratings, least, tolerance, out):  # type: ignore[no-untyped-def]
    indptr, columns, codes, values = table
    member_ptr, users = members
    n_classes, n_items = levels.shape
    raters = np.zeros(n_items, dtype=np.int64)
    total = np.zeros(n_items)
    for c in range(chunk * n_classes // _CHUNKS, (chunk + 1) * n_classes // _CHUNKS):
        raters[:] = 0
        total[:] = 0.0
        for m in range(member_ptr[c], member_ptr[c + 1]):
            for p in range(indptr[users[m]], indptr[users[m] + 1]):
                raters[columns[p]] += 1
                total[columns[p]] += values[codes[p]]
        for item in range(n_items):
            level = levels[c, item]
            if level == 0:
                continue
            out[c, 0] += 1
            out[c, 1] += raters[item] == 1
            if raters[item] == 0 or raters[item] < least:
                out[c, 2] += 1
            elif least > 0:
                away = abs(total[item] / raters[item] - ratings[level - 1])
                out[c, 2] += away > tolerance
