"""The proof of KL's Theorem 1 on small tables: what its reduction says, and what it shows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import combinations

import numpy as np

from starshade.kernels.arrays import Array

Triple = frozenset[int]
_ELEMENTS = range(6)
_TRIPLES = tuple(frozenset(each) for each in combinations(_ELEMENTS, 3))
#: the collection of Fig. 7, and its two covers (Figs 8 and 9)
SETS = tuple(map(frozenset, ((0, 1, 2), (0, 1, 3), (2, 4, 5), (3, 4, 5))))
COVERS = (SETS[0], SETS[3]), (SETS[1], SETS[2])


def table_of(sets: Collection[Triple]) -> Array:
    """Return Eq. 4's table: 1 where two elements share a set."""
    table = np.zeros((len(_ELEMENTS), len(_ELEMENTS)), np.int64)
    for each in sets:
        table[np.ix_(sorted(each), sorted(each))] = 1
    return table


def covers(sets: Collection[Triple]) -> bool:
    """Tell whether two of the sets hold every element once."""
    return any(not a & b for a, b in combinations(sets, 2))


def splits(sets: Collection[Triple]) -> bool:
    """Tell whether the table's elements split into two complete subgraphs of three."""
    table = table_of(sets)
    whole = {t for t in _TRIPLES if table[np.ix_(sorted(t), sorted(t))].all()}
    return covers(whole)


def collections() -> Iterator[tuple[Triple, ...]]:
    """Return every collection of four triples."""
    return combinations(_TRIPLES, 4)


def agreement(*, of_sets: bool) -> float:
    """Return the share of collections whose table splits exactly where they cover.

    `of_sets`: the classes must be sets of the collection.
    """
    agree = [covers(sets) == (covers(sets) if of_sets else splits(sets)) for sets in collections()]
    return float(np.mean(agree))


def kept_share(*, widened: bool) -> float:
    """Return the share of cells of Tables 5 and 6 that hold what Table 4 has there."""
    original = table_of(SETS)
    if widened:
        return 1.0
    return float(np.mean([table_of(cover) == original for cover in COVERS]))
