"""The reduction behind KL's Theorem 1, tried on every small instance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations
from typing import TypeAlias

import numpy as np

from starshade.kernels.arrays import Ints

_SIX = range(6)
Triple: TypeAlias = tuple[int, ...]
#: all ways to part six elements into two triples
GROUPINGS = tuple(
    (t, tuple(e for e in _SIX if e not in t)) for t in combinations(_SIX, 3) if 0 in t
)
#: the instance of Figure 7
FIGURE_7: tuple[Triple, ...] = ((0, 1, 2), (0, 1, 3), (2, 4, 5), (3, 4, 5))


def table_of(sets: Iterable[Triple], n: int = 6) -> Ints:
    """Return the database that Eq. 4 makes of a family of sets (Eq. 5 of a cover)."""
    table = np.zeros((n, n), np.int64)
    for each in sets:
        table[np.ix_(each, each)] = 1
    return table


def loss_of(table: Ints, grouping: Sequence[Triple]) -> int:
    """Return the cells that a grouping makes wider than one value."""
    return sum(len(group) * int(np.ptp(table[list(group)], axis=0).sum()) for group in grouping)


@cache
def covers_are_best() -> float:
    """Return the share of instances whose groupings of least loss are their exact covers.

    Instances: all families of two to four triples of six elements that have an exact cover.
    """
    triples, found = list(combinations(_SIX, 3)), []
    for many in (2, 3, 4):
        for sets in combinations(triples, many):
            covers = [all(group in sets for group in grouping) for grouping in GROUPINGS]
            if any(covers):
                losses = [loss_of(table_of(sets), grouping) for grouping in GROUPINGS]
                best = [loss == min(losses) for loss in losses]
                found.append(best == covers)
    return float(np.mean(found))
