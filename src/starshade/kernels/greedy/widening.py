"""What a group that grows costs each record, kept and mended as the group widens.

The cost of a group of one is the L1 distance to its member. A record that joins widens the group
in some columns only, and every record is then nearer by what of its distance in these columns
the group has come to span. Records stand as columns-by-record, ``work[column, record]``, and are
gone through in blocks that stay in the nearest cache.
"""

from __future__ import annotations

from starshade.kernels.inner import inner

__all__ = ["add_distances", "cheapest"]

_BLOCK = 8192  # records whose cost is mended together
_STRIDE = 256  # records that are looked through one by one for the cheapest of all


@inner
def add_distances(work, seed, cost):  # type: ignore[no-untyped-def]
    """Add to every record's cost its L1 distance to one of them."""
    for first in range(0, len(cost), _BLOCK):
        out = cost[first : first + _BLOCK]
        for j in range(len(work)):
            values = work[j, first : first + _BLOCK]
            p = work[j, seed]
            for i in range(len(out)):
                out[i] += max(values[i], p) - min(values[i], p)


@inner
def cheapest(work, before, low, high, cost):  # type: ignore[no-untyped-def]
    """Mend the costs by how the group has widened since; return the first of least cost."""
    start, least = 0, cost[0]
    for first in range(0, len(cost), _BLOCK):
        out = cost[first : first + _BLOCK]
        for j in range(len(work)):
            values = work[j, first : first + _BLOCK]
            if before[0, j] > low[j]:
                _reach_down(values, low[j], before[0, j], out)
            if before[1, j] < high[j]:
                _reach_up(values, before[1, j], high[j], out)
        if first == 0:
            least = out[0]
        for p in range(0, len(out), _STRIDE):
            here = _minimum(out[p : p + _STRIDE])
            if here < least:
                start, least = first + p, here
    while cost[start] != least:
        start += 1
    return start


@inner
def _reach_down(values, low, before, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        out[i] -= before - max(low, min(values[i], before))


@inner
def _reach_up(values, before, high, out):  # type: ignore[no-untyped-def]
    for i in range(len(out)):
        out[i] -= min(high, max(values[i], before)) - before


@inner
def _minimum(values):  # type: ignore[no-untyped-def]
    least = values[0]
    for i in range(len(values)):
        least = min(least, values[i])
    return least
