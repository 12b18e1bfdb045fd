"""The nearest of many centres for each padded row, most centres passed over unseen.

With d the row less the base and c the centre less it, split both into their parts within and
across the span of the loadings: ``d'Wc = z_d·z_c + r_d·r_c``, where z are f + 1 orthonormal
coordinates and ``r_d·r_c ≤ |r_d| |r_c|``. So f + 2 products give a bound below which a squared
distance does not lie. Predictions differ far more than corrections do: on ratings like Netflix's
one centre in thirty is near enough by its bound that its distance has to be taken.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from starshade.kernels.arrays import Floats, Ints
from starshade.kernels.inner import inner
from starshade.kernels.padded.centres import NEGLIGIBLE, Centres
from starshade.kernels.padded.padded import Parts, fill_corrections
from starshade.kernels.warm import announce

__all__ = ["nearest_centres", "reach"]

_CHUNK = 256  # users that one thread does in one go
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
