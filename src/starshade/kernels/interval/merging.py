"""Which group another is merged with most cheaply."""

from __future__ import annotations

from numba import njit

from starshade.kernels.arrays import Ints
from starshade.kernels.warm import announce

__all__ = ["cheapest_partner"]


def cheapest_partner(low: Ints, high: Ints, sizes: Ints, group: int) -> int:
    """Return the group whose merge with one adds the least to Σ |e|·Σ range.

    `sizes` (int64 (n_groups,)): 0: there is no such group any more. Returns: of equally cheap ones
    the first.
    """
    announce("the merging of groups", _cheapest)
    return int(_cheapest(low, high, sizes, group))


@njit(cache=True, nogil=True)
def _cheapest(low, high, sizes, group):  # type: ignore[no-untyped-def]
    chosen, least = -1, 0
    for other in range(len(sizes)):
        if sizes[other] == 0 or other == group:
            continue
        union = own = 0
        for j in range(low.shape[1]):
            union += max(high[other, j], high[group, j]) - min(low[other, j], low[group, j])
            own += high[other, j] - low[other, j]
        # what the group itself costs is the same for all
        added = (sizes[group] + sizes[other]) * union - sizes[other] * own
        if chosen < 0 or added < least:
            chosen, least = other, added
    return chosen
