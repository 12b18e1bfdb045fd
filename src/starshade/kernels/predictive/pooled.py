"""A group's bias and factors, from the ratings of all its members together.

With the items fixed, that is the ridge regression which gives a single user theirs, on more
ratings; see `starshade.kernels.padded.als`, which solves it. The members' rows are read where they
are: no table of the groups' ratings is made.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from starshade.kernels.arrays import Floats, Ints
from starshade.kernels.padded.als import solve
from starshade.kernels.padded.padded import Parts
from starshade.kernels.warm import announce

__all__ = ["pooled_rows"]

_CHUNK = 32  # groups that a thread takes at a time


def pooled_rows(parts: Parts, starts: Ints, members: Ints, penalty: Floats) -> Floats:
    """Fit each group's row to its members' ratings.

    `parts`: `phi` and `weights` are not read; `loadings` may lack the column of ones. `penalty` (g,
    f): on the squares of a group's numbers; f columns as `loadings` has.
    """
    announce("pooled profiles", _pooled)
    out = np.empty((len(starts) - 1, parts.loadings.shape[1]))
    _pooled(*parts[:6], starts, members, penalty, out)
    return out


@njit(cache=True, nogil=True, parallel=True)
def _pooled(  # type: ignore[no-untyped-def]
    indptr, columns, codes, levels, base, loadings, starts, members, penalty, out
):  # fmt: skip
    n_groups, f = out.shape
    for chunk in prange((n_groups + _CHUNK - 1) // _CHUNK):
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
