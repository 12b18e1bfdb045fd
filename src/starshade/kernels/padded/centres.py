"""Squared distances from padded rows to means of padded rows, without either written out.

With d the row less the base, W the weights and c a mean of such rows,
``|d − c|² = |d|² + |c|² − 2 d'Wc``, and ``d'Wc`` is the sum of three parts:

- the row's projection L'Wd with the centre's mean phi: f + 1 products;
- the row's phi with L'W of the centre's mean correction: f + 1 products;
- the row's correction with the centre's, on the items that the user rated: one product each.

The last is where the time goes. Centres' mean corrections are kept as a table of items ×
centres, so that a rating is one scaled addition over a run of centres; a thread takes some users
and goes through a tile of centres with all of them before the next tile, so that the part of the
table they share stays near. Sums are in one order for each pair: threads and tiles change nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from starshade.kernels.arrays import Floats, Ints, inner
from starshade.kernels.padded.padded import Parts, fill_corrections
from starshade.kernels.warm import announce

NEGLIGIBLE = 1e-10  # of both squared lengths: a squared distance below it is rounding, so 0
_CHUNK = 256  # users that a thread takes at once
_TILE = 64  # centres that are gone through together: 512 bytes of the table for each item


class Centres(NamedTuple):
    """Means of padded rows.

    `phi`, `pull` (f + 1, t): mean phi, and L'W of the mean correction. `lengths` (t,): |c|².
    `table` (n, t): mean corrections, weighted.
    """

    phi: Floats
    pull: Floats
    lengths: Floats
    table: Floats


def make_centres(parts: Parts, inner: Floats, sums: Floats, starts: Ints, members: Ints) -> Centres:
    """Average the rows of each group."""
    announce("centres of groups", _make_centres)
    t, f = len(starts) - 1, parts.phi.shape[1]
    centres = Centres(
        np.empty((f, t)), np.empty((f, t)), np.empty(t), np.zeros((len(parts.base), t))
    )
    _make_centres(*parts, inner, sums, starts, members, *centres)
    return centres


@njit(cache=True, nogil=True, parallel=True)
def _make_centres(  # type: ignore[no-untyped-def]
    indptr, columns, codes, levels, base, loadings, phi, weights, inner, sums, starts, members,
    mean_phi, pull, lengths, table,
):  # fmt: skip
    t = len(starts) - 1
    width = 8  # centres: one line of the cache
    for chunk in prange((t + width - 1) // width):
        low, high = chunk * width, min(t, (chunk + 1) * width)
        for c in range(low, high):
            for q in range(starts[c], starts[c + 1]):
                u = members[q]
                first, last = indptr[u], indptr[u + 1]
                e = np.empty(last - first)
                fill_corrections(
                    columns[first:last], codes[first:last], levels, base, loadings, phi[u], e
                )
                for p in range(last - first):
                    table[columns[first + p], c] += e[p]
            lengths[c] = _low_rank(
                inner, phi, sums, members[starts[c] : starts[c + 1]], mean_phi[:, c], pull[:, c]
            )
        for i in range(len(table)):
            for c in range(low, high):
                mean = table[i, c] / (starts[c + 1] - starts[c])
                table[i, c] = weights[i] * mean
                lengths[c] += table[i, c] * mean


@inner
def _low_rank(inner, phi, sums, members, mean_phi, pull):  # type: ignore[no-untyped-def]
    """Fill in mean phi and pull of one centre; return |c|² less the corrections' part."""
    f = len(mean_phi)
    for a in range(f):
        own, projected = 0.0, 0.0
        for u in members:
            own += phi[u, a]
            projected += sums[u, a]
        mean_phi[a] = own / len(members)
        pull[a] = projected / len(members)
    length = 0.0
    for a in range(f):
        through = 0.0
        for b in range(f):
            through += inner[a, b] * mean_phi[b]
        length += mean_phi[a] * (2.0 * pull[a] - through)
        pull[a] -= through
    return length


def centre_distances(
    parts: Parts, sums: Floats, lengths: Floats, users: Ints, centres: Centres
) -> NDArray[np.float32]:
    """Squared distance of each user to each centre, shape (len(users), t).

    Returns: sums are of doubles; rounded last, so that what is equal but for rounding is a tie.
    """
    announce("distances of padded rows", _distances)
    out = np.empty((len(users), len(centres.lengths)), np.float32)
    _distances(*parts[:-1], sums, lengths, users, *centres, out)
    return out


@njit(cache=True, nogil=True, parallel=True)
def _distances(  # type: ignore[no-untyped-def]
    indptr, columns, codes, levels, base, loadings, phi, sums, lengths, users,
    mean_phi, pull, centre_lengths, table, out,
):  # fmt: skip
    t = len(centre_lengths)
    for chunk in prange((len(users) + _CHUNK - 1) // _CHUNK):
        own = users[chunk * _CHUNK : (chunk + 1) * _CHUNK]
        place = np.zeros(len(own) + 1, np.int64)
        for r in range(len(own)):
            place[r + 1] = place[r] + indptr[own[r] + 1] - indptr[own[r]]
        e = np.empty(place[-1])
        for r in range(len(own)):
            u = own[r]
            first, last = indptr[u], indptr[u + 1]
            fill_corrections(
                columns[first:last], codes[first:last], levels, base, loadings, phi[u],
                e[place[r] : place[r + 1]],
            )  # fmt: skip
        common = np.empty(min(t, _TILE))
        for low in range(0, t, _TILE):
            high = min(t, low + _TILE)
            for r in range(len(own)):
                u = own[r]
                shared = common[: high - low]
                _products(
                    columns[indptr[u] : indptr[u + 1]], e[place[r] : place[r + 1]], phi[u], sums[u],
                    mean_phi, pull, table, low, high, shared,
                )  # fmt: skip
                row = out[chunk * _CHUNK + r, low:high]
                for c in range(len(shared)):
                    lengths_sum = lengths[u] + centre_lengths[low + c]
                    away = lengths_sum - 2.0 * shared[c]
                    row[c] = away if away > NEGLIGIBLE * lengths_sum else 0.0


@inner
def _products(columns, e, phi, sums, mean_phi, pull, table, low, high, out):  # type: ignore[no-untyped-def]
    out[:] = 0.0
    for j in range(len(phi)):
        own, projected = phi[j], sums[j]
        means, pulls = mean_phi[j, low:high], pull[j, low:high]
        for c in range(len(out)):
            out[c] += projected * means[c] + own * pulls[c]
    four = len(columns) - len(columns) % 4
    for p in range(0, four, 4):  # four at once: what is summed is fetched once for all
        e0, e1, e2, e3 = e[p], e[p + 1], e[p + 2], e[p + 3]
        line0, line1 = table[columns[p], low:high], table[columns[p + 1], low:high]
        line2, line3 = table[columns[p + 2], low:high], table[columns[p + 3], low:high]
        for c in range(len(out)):
            out[c] += (e0 * line0[c] + e1 * line1[c]) + (e2 * line2[c] + e3 * line3[c])
    for p in range(four, len(columns)):
        scale, line = e[p], table[columns[p], low:high]
        for c in range(len(out)):
            out[c] += scale * line[c]


_NO_LESS = 1e-12  # of the squared length: a residual is taken for as much longer, never shorter
_SLACK = 1e-6  # relative: what rounding may add to a bound, many times over


def reach(sums: Floats, lengths: Floats, root: Floats) -> Floats:
    """Return z and |r| of rows or centres, shape (f + 2, rows); `root` turns sums into z."""
    out = np.zeros((root.shape[1] + 1, len(sums)))
    for a in range(len(root)):  # term by term: the same on any number of threads
        out[:-1] += root[a][:, None] * sums[:, a]
    inside = np.zeros(len(sums))
    for line in out[:-1]:
        inside += line * line
    out[-1] = np.sqrt(np.maximum(lengths - inside, 0.0) + _NO_LESS * lengths)
    return out


def nearest_centres(
    parts: Parts,
    sums: Floats,
    lengths: Floats,
    users: Ints,
    centres: Centres,
    reaches: tuple[Floats, Floats],
) -> tuple[Ints, NDArray[np.float32]]:
    """Find each user's nearest centre, ties to the first; bits as from `centre_distances`."""
    announce("bins", _nearest)
    found, away = np.empty(len(users), np.int64), np.empty(len(users), np.float32)
    _nearest(
        *parts[:-1], sums, lengths, users,
        np.ascontiguousarray(centres.phi.T), np.ascontiguousarray(centres.pull.T),
        centres.lengths, np.ascontiguousarray(centres.table.T),
        np.ascontiguousarray(reaches[0].T), reaches[1], found, away,
    )  # fmt: skip
    return found, away


@njit(cache=True, nogil=True, parallel=True)
def _nearest(  # type: ignore[no-untyped-def]
    indptr, columns, codes, levels, base, loadings, phi, sums, lengths, users,
    mean_phi, pull, centre_lengths, table, own_reach, reach, found, away,
):  # fmt: skip
    t = len(centre_lengths)
    for chunk in prange((len(users) + _CHUNK - 1) // _CHUNK):
        bound = np.empty(t)
        for r in range(chunk * _CHUNK, min(len(users), (chunk + 1) * _CHUNK)):
            u = users[r]
            cells = columns[indptr[u] : indptr[u + 1]]
            e = np.empty(len(cells))
            fill_corrections(
                cells, codes[indptr[u] : indptr[u + 1]], levels, base, loadings, phi[u], e
            )
            first = _bounds(own_reach[r], lengths[u], reach, centre_lengths, bound)
            best = first
            least = _distance(
                cells, e, phi[u], sums[u], lengths[u],
                mean_phi[first], pull[first], centre_lengths[first], table[first],
            )  # fmt: skip
            for c in range(t):
                if c != first and bound[c] <= least + _SLACK * np.float64(least):
                    d = _distance(
                        cells, e, phi[u], sums[u], lengths[u],
                        mean_phi[c], pull[c], centre_lengths[c], table[c],
                    )  # fmt: skip
                    if d < least or (d == least and c < best):
                        least, best = d, c
            found[r], away[r] = best, least


@inner
def _bounds(own, length, reach, lengths, bound):  # type: ignore[no-untyped-def]
    """Fill in what squared distances are no less than; return the first of the least."""
    bound[:] = 0.0
    for j in range(len(own)):
        scale, line = own[j], reach[j]
        for c in range(len(bound)):
            bound[c] += scale * line[c]
    least, first = np.inf, 0
    for c in range(len(bound)):
        both = length + lengths[c]
        bound[c] = both - 2.0 * bound[c] - NEGLIGIBLE * both
        if bound[c] < least:
            least, first = bound[c], c
    return first


@inner
def _distance(columns, e, phi, sums, length, mean_phi, pull, centre_length, table):  # type: ignore[no-untyped-def]
    """One squared distance: the sums of `centres._products`, in their order."""
    total = 0.0
    for j in range(len(phi)):
        total += sums[j] * mean_phi[j] + phi[j] * pull[j]
    four = len(columns) - len(columns) % 4
    for p in range(0, four, 4):
        total += (e[p] * table[columns[p]] + e[p + 1] * table[columns[p + 1]]) + (
            e[p + 2] * table[columns[p + 2]] + e[p + 3] * table[columns[p + 3]]
        )
    for p in range(four, len(columns)):
        total += e[p] * table[columns[p]]
    both = length + centre_length
    squared = both - 2.0 * total
    return np.float32(squared if squared > NEGLIGIBLE * both else 0.0)
