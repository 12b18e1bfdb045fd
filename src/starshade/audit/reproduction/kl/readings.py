"""The lines of KL's figures and of its open questions: a method under a reading, a hierarchy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from starshade.anonymize.baselines import KMember
from starshade.anonymize.grouping import Grouping
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.order import put_back, seeded_order
from starshade.anonymize.points import Points, positions
from starshade.anonymize.registry import ENTRIES
from starshade.audit.attempts import made_of
from starshade.audit.reproduction.figures import Skipped
from starshade.audit.reproduction.kl.configurations import OURS, PRINTED, READ, RELAXED
from starshade.kernels.arrays import Array, Ints
from starshade.kernels.compared import (
    ARBITRARY,
    FARTHEST,
    JOINED,
    MEAN,
    NEAREST,
    SEED,
    SMALLEST,
    SUM,
    WIDTH,
    plain_likeness,
    plain_member,
)
from starshade.ratings.scale import Scale
from starshade.registry import find

_NUCLEI = {"drawn": 0, "first": 0, "farthest": FARTHEST}
_JOINS = {"sum": SUM, "mean": MEAN, "nearest": NEAREST, "smallest": SMALLEST, "range": WIDTH}
_SEEDS = {"farthest": SEED, "joined": JOINED, "arbitrary": ARBITRARY}


@dataclass(frozen=True)
class Likeness(KLikeness):
    """k-Likeness in plain loops, under a reading."""

    fill: str = "k-1"
    nucleus: str = "drawn"
    join: str = "sum"
    null: str = "level 0"

    def group(self, points: Points, seed: int) -> Ints:
        """Group the records around nuclei."""
        order = self._order(points, seed)
        return put_back(order, self.compared(points.dense(copies=8), order)[0])

    def _order(self, points: Points, seed: int) -> Ints:
        if self.nucleus == "first":
            return np.arange(points.n_records)
        return seeded_order(points.n_records, seed, self.name)

    def compared(self, matrix: Array, order: Ints) -> tuple[Ints, int, int]:
        """Return groups in the order of the permutation; cells compared for nuclei, for the rest.

        `matrix`: of whole steps above null's level, or of ratings on a real scale.
        """
        others = self.k if self.fill == "k" else self.k - 1
        apart = float(matrix.max()) if self.null == "apart" else 0.0
        rows = matrix[order].astype(np.float64)
        found: tuple[Ints, int, int] = plain_likeness(
            rows, self.k, others, _NUCLEI[self.nucleus], _JOINS[self.join], apart
        )
        return found


@dataclass(frozen=True)
class Member(KMember):
    """k-Member in plain loops, under a reading."""

    seeds: str = "farthest"

    def group(self, points: Points, seed: int) -> Ints:
        """Group the records greedily."""
        order = seeded_order(points.n_records, seed, self.name)
        return put_back(order, self.compared(points.dense(copies=8), order)[0])

    def compared(self, matrix: Array, order: Ints) -> tuple[Ints, int, int]:
        """Return groups in the order of the permutation; cells compared, ranges kept or anew."""
        rows = positions(matrix)[0][order].astype(np.int64)
        found: tuple[Ints, int, int] = plain_member(rows, self.k, _SEEDS[self.seeds])
        return found


@dataclass(frozen=True)
class Line:
    """One line of a figure."""

    name: str
    method: str  # as starshade names it, or "likeness" and "member": plain, under a reading
    hierarchy: str
    configuration: str
    reading: Mapping[str, Any] = field(default_factory=dict)
    # whether queries are asked of it: the paper leaves two hierarchies out there
    queried: bool = True
    of_hierarchy: bool = False  # it differs from k-Likeness with NDGH in the hierarchy alone

    def at(self, k: int, attributes: str = "none") -> Grouping:
        """Return the method; no item is left out."""
        settings = {"k": k, "hierarchy": self.hierarchy, "attributes": attributes}
        settings |= {"rare_items": "keep", **self.reading}
        if self.method in _PLAIN:
            plain: Grouping = _PLAIN[self.method](**settings)
            return plain
        method = made_of(find(ENTRIES, self.method, "method"), settings)
        assert isinstance(method, Grouping)
        return method


_PLAIN: Mapping[str, Any] = MappingProxyType({"likeness": Likeness, "member": Member})
LIKENESS, DGH_A, DGH_B, DGH_C = (
    f"k-Likeness, {hierarchy}" for hierarchy in ("NDGH", "DGH (a)", "DGH (b)", "DGH (c)")
)
MEMBER, MONDRIAN, HALVES = "k-Member", "Mondrian", "Mondrian relaxed"
EXCHANGE, AS_PRINTED = "k-exchange", "k-Likeness, NDGH, classes of k + 1"


def lines_of(scale: Scale) -> tuple[tuple[Line, ...], tuple[Skipped, ...]]:
    """Return the lines that a scale allows, and those that it does not.

    The paper's three hierarchies are made for null = 0 and the ratings 1 to 5; elsewhere two
    halves of the scale stand for (b).
    """
    fits = scale == Scale(1, 5, 1)
    own = Line(LIKENESS, "k-likeness", "ndgh", READ)
    shallow = (
        replace(own, name=DGH_A, hierarchy="dgh-a", queried=False, of_hierarchy=True),
        replace(own, name=DGH_C, hierarchy="dgh-c", queried=False, of_hierarchy=True),
    )
    lines = (  # in this order the lines have the same colours in every figure
        own,
        Line(MEMBER, "k-member", "range", READ),
        Line(MONDRIAN, "mondrian", "range", READ),
        Line(HALVES, "mondrian-relaxed", "range", RELAXED),
        Line(EXCHANGE, "k-exchange", "ndgh", OURS),
        Line(AS_PRINTED, "likeness", "ndgh", PRINTED, {"fill": "k"}),
        replace(own, name=DGH_B, hierarchy="dgh-b" if fits else "dgh", of_hierarchy=True),
        *(shallow if fits else ()),
    )
    if fits:
        return lines, ()
    reason = f"made for the ratings 1 to 5, not for scale {scale}; (b) is two halves of it"
    return lines, tuple(Skipped("10-12", line.name, reason) for line in shallow)


def _likeness(name: str, **reading: str) -> Line:
    return Line(name, "likeness", "ndgh", f"{READ}, but {name}", reading)


def _member(name: str, seeds: str) -> Line:
    return Line(name, "member", "range", f"{READ}, but {name}", {"seeds": seeds})


#: what else the text allows, by name: one change each
READINGS: Mapping[str, Line] = MappingProxyType(
    {
        line.name: line
        for line in (
            _likeness("first nucleus in the table's order", nucleus="first"),
            _likeness("furthest nucleus", nucleus="farthest"),
            _likeness("rest to the least mean distance", join="mean"),
            _likeness("rest to the nearest member", join="nearest"),
            _likeness("rest to the smallest class", join="smallest"),
            _likeness("rest to what widens least", join="range"),
            _likeness("null apart", null="apart"),
            _likeness("furthest nucleus, null apart", nucleus="farthest", null="apart"),
            _member("k-Member from the furthest of the last that joined", "joined"),
            _member("k-Member from arbitrary tuples", "arbitrary"),
            replace(_member("k-Member with DGH (b)", "farthest"), hierarchy="dgh-b"),
        )
    }
)
#: way → the lines that stand for others
SWAPPED: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "printed": {LIKENESS: AS_PRINTED},
        "farthest": {LIKENESS: "furthest nucleus"},
        "apart": {LIKENESS: "null apart"},
        "smallest": {LIKENESS: "rest to the smallest class"},
        "arbitrary": {MEMBER: "k-Member from arbitrary tuples"},
        "joined": {MEMBER: "k-Member from the furthest of the last that joined"},
        "both": {LIKENESS: "furthest nucleus", MEMBER: "k-Member from arbitrary tuples"},
    }
)
