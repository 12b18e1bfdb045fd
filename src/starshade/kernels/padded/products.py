"""Products of padded rows with each other, and distances that follow from them, within one bin."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import Floats, Ints, inner
from starshade.kernels.padded.centres import NEGLIGIBLE
from starshade.kernels.padded.padded import Parts, fill_corrections
from starshade.kernels.warm import announce


def products(parts: Parts, sums: Floats, inner: Floats, users: Ints) -> Floats:
    """Products of each two of some users' rows, less the base; shape (b, b), on one thread."""
    announce("products within bins", _products)
    out = np.empty((len(users), len(users)))
    _products(*parts, sums, inner, users, out)
    return out


@njit(cache=True, nogil=True)
def _products(  # type: ignore[no-untyped-def]
    indptr, columns, codes, levels, base, loadings, phi, weights, sums, inner, users, out
):  # fmt: skip
    b, f = len(users), phi.shape[1]
    place, raters, e, ends = _by_item(indptr, columns, codes, levels, base, loadings, phi, users)
    across, pull = np.empty((f, b)), np.empty((f, b))
    for r in range(b):
        u = users[r]
        for a in range(f):
            through = 0.0
            for c in range(f):
                through += inner[a, c] * phi[u, c]
            across[a, r], pull[a, r] = phi[u, a], sums[u, a] - through
    for r in range(b):
        u, row = users[r], out[r, r:]
        row[:] = 0.0
        for a in range(f):
            projected, own = sums[u, a], phi[u, a]
            means, pulls = across[a, r:], pull[a, r:]
            for c in range(len(row)):
                row[c] += projected * means[c] + own * pulls[c]
        for p in range(indptr[u], indptr[u + 1]):
            i = columns[p]
            mine = place[i]  # users before this one are done
            place[i] += 1
            scale = weights[i] * e[mine]
            for q in range(mine, ends[i]):
                row[raters[q] - r] += scale * e[q]
    for r in range(b):
        for c in range(r):
            out[r, c] = out[c, r]


@inner
def _by_item(indptr, columns, codes, levels, base, loadings, phi, users):  # type: ignore[no-untyped-def]
    """List each item's raters among the users, in order, with their corrections."""
    place = np.zeros(len(base), np.int64)
    longest = 0
    for u in users:
        longest = max(longest, indptr[u + 1] - indptr[u])
        for p in range(indptr[u], indptr[u + 1]):
            place[columns[p]] += 1
    total = 0
    for i in range(len(place)):
        count = place[i]
        place[i] = total
        total += count
    ends = place.copy()
    raters, e = np.empty(total, np.int32), np.empty(total)
    buffer = np.empty(longest)
    for r in range(len(users)):
        u = users[r]
        first, last = indptr[u], indptr[u + 1]
        fill_corrections(
            columns[first:last], codes[first:last], levels, base, loadings, phi[u], buffer
        )
        for p in range(last - first):
            i = columns[first + p]
            raters[ends[i]], e[ends[i]] = r, buffer[p]
            ends[i] += 1
    return place, raters, e, ends


def member_distances(table: Floats, rows: Ints, starts: Ints, members: Ints) -> NDArray[np.float32]:
    """Squared distance of some rows of `products` to the mean of each group of rows."""
    announce("distances within bins", _member_distances)
    out = np.empty((len(rows), len(starts) - 1), np.float32)
    _member_distances(table, rows, starts, members, out)
    return out


@njit(cache=True, nogil=True)
def _member_distances(table, rows, starts, members, out):  # type: ignore[no-untyped-def]
    t = out.shape[1]
    lengths = np.zeros(t)
    for c in range(t):
        own = members[starts[c] : starts[c + 1]]
        for u in own:
            for v in own:
                lengths[c] += table[u, v]
        lengths[c] /= len(own) * len(own)
    for r in range(len(rows)):
        row, own_length = table[rows[r]], table[rows[r], rows[r]]
        for c in range(t):
            total = 0.0
            for q in range(starts[c], starts[c + 1]):
                total += row[members[q]]
            both = own_length + lengths[c]
            away = both - 2.0 * total / (starts[c + 1] - starts[c])
            out[r, c] = away if away > NEGLIGIBLE * both else 0.0
