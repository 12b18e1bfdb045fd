"""`PredicateResult`: share of isolating predicates, and cells that are certain."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from starshade.attack.result import RECORDS
from starshade.attack.shown import Found, found_chart
from starshade.chart import Chart
from starshade.chart.shapes import Level
from starshade.figure import Figure, Rate, Renamed, Table
from starshade.plain import counted, percent
from starshade.stats import share

#: largest n·w of predicates of low weight, which single out in the sense of the definition
LIGHT = (0.1, 0.01)


@dataclass(frozen=True, eq=False)
class Tried:
    """One predicate a row; every array has shape (classes_tested,).

    `row`: of the distinct classes. `item`, `rating`: of a released item (-1: none), NaN where it is
    "did not rate". `satisfying`: people who satisfy it. `weight`, `blind`, `chance`: w, the
    baseline of a predicate of this weight, and what the adversary expected. `among`: non-members
    who satisfy it.
    """

    row: NDArray[np.int64]
    item: NDArray[np.int32]
    rating: NDArray[np.float64]
    satisfying: NDArray[np.int64]
    weight: NDArray[np.float64]
    blind: NDArray[np.float64]
    chance: NDArray[np.float64]
    among: NDArray[np.int64] | None = None

    @property
    def isolates(self) -> NDArray[np.bool_]:
        """Whether exactly one person satisfies each."""
        return np.asarray(self.satisfying == 1)


@dataclass(frozen=True)
class OfWeight(Renamed):
    """Figures of the predicates of low weight alone.

    `most`: upper limit of n·w. `predicates`: their number. `singling_out`, `baseline`: as of all
    predicates; None where there are none.
    """

    most: float
    predicates: int
    singling_out: Rate | None
    baseline: float | None

    @classmethod
    def of(cls, most: float, tried: Tried, n: int) -> OfWeight:
        """Return the figures of predicates of weight at most `most` / n."""
        light = n * tried.weight <= most
        some = bool(light.any())
        return cls(
            most,
            int(light.sum()),
            share(tried.isolates[light]) if some else None,
            float(tried.blind[light].mean()) if some else None,
        )


@dataclass(frozen=True)
class Forced(Renamed):
    """Cells with a certain number of members per value.

    `cells`: classes times items. `one_value`: all members gave this rating. `no_member`: none rated
    the item. `each_once`: as many values as members, each held by one. `people_one_value`,
    `people_each_once`, `people`: share of the people in a class with such a cell, the last with one
    of either kind.
    """

    cells: int
    one_value: int
    no_member: int
    each_once: int
    people_one_value: Rate
    people_each_once: Rate
    people: Rate


ISOLATES = Figure(
    "singling_out",
    "Singling out: isolating predicates",
    "share",
    True,
    "High: predicates written from the release alone single people out.",
    "Cohen & Nissim 2020",
    short="singling out",
)
_FIGURES = (
    Figure("classes", "Classes", "count", None, "Equal records are one class."),
    Figure("classes_tested", "Classes tested", "count", None, "One predicate per class."),
    ISOLATES,
    Figure(
        "baseline",
        "Baseline without the release",
        "share",
        None,
        "Expected share for predicates of the same weights that do not use the release.",
    ),
)
_LIGHT = Figure(
    "low_weight",
    "",
    "share",
    True,
    "Predicates of low weight; chance does not explain their isolation.",
    "Cohen & Nissim 2020",
)
_FORCED = (
    Figure(
        "people_one_value",
        "People in a class with a unanimous rating",
        "share",
        True,
        "That rating is certain for each member.",
    ),
    Figure(
        "people_each_once",
        "People in a class with all ratings different",
        "share",
        True,
        "Each value is held by exactly one member.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class PredicateResult(Found):
    """Result of singling out by predicates written from the release alone.

    Attributes
    ----------
    attack, seconds, read_seconds, config, digest, version
        As in `AttackResult`.
    records, classes, classes_tested : int
        Of the data; equal rows are one class. There is one predicate per tested class.
    targets, ineligible : int
        Users of the original who have a record, and those who have none.
    people, non_members : int, int or None
        Users of the original, among whom satisfying people are counted; non-members given as a
        second measure of weight, None: none, so weights rest on independent items alone.
    singling_out : Rate
        Share of isolating predicates: exactly one person satisfies them.
    baseline : float
        Expected share of predicates of the same weights that do not use the release.
    expected : float
        Share that the adversary expected.
    low_weight : tuple of OfWeight
        The same for predicates with n·w at most 0.1, and at most 0.01.
    forced : Forced or None
        Cells with a certain number of members per value; None where cells need not be true.
    seed : int
    per_class : Tried
        The predicates one by one: internal, never part of `to_dict`.
    """

    classes: int
    classes_tested: int
    people: int
    non_members: int | None
    singling_out: Rate
    baseline: float
    expected: float
    low_weight: tuple[OfWeight, ...]
    forced: Forced | None
    seed: int
    per_class: Tried = field(repr=False, compare=False)

    def __str__(self) -> str:
        tried = "" if self.classes_tested == self.classes else f"{self.classes_tested:,} of the "
        return (
            f"{self.attack} on {counted(self.records, 'record')} in {tried}"
            f"{counted(self.classes, 'class', 'classes')}. From the release alone the adversary "
            'writes one predicate per class: "matches all its cells, and rated this item so". '
            f"{self.singling_out} of predicates isolate exactly one of "
            f"{counted(self.people, 'person', 'people')} (singling out). Baseline: predicates of "
            f"the same weights without the release isolate {percent(self.baseline)}. "
            f"{self._lightly()} {self._weighed()}{self._in_doubt()}"
        )

    def _lightly(self) -> str:
        first = self.low_weight[0]
        if first.singling_out is None:
            return "No predicate has a weight so low that chance can be excluded."
        told = [
            f"{each.singling_out} of {counted(each.predicates, 'predicate')} that at most "
            f"{each.most:g} people satisfy by chance (baseline {percent(each.baseline)})"
            for each in self.low_weight
            if each.singling_out is not None
        ]
        return f"Low weight: {', and '.join(told)}."

    def _weighed(self) -> str:
        if self.non_members is None:
            return "Weights assume independent items; no non-members were given to check them."
        return (
            "The weight is the larger of two: assuming independent items, and the share among "
            f"{counted(self.non_members, 'non-member')}."
        )

    def _in_doubt(self) -> str:
        forced = self.forced
        if forced is None:
            return " Cells need not be true here, so none is certain."
        return (
            f" {forced.one_value:,} of {forced.cells:,} cells show one rating that all members "
            f"gave ({forced.people_one_value} of people are in such a class). "
            f"{forced.each_once:,} show as many values as members, each held by one "
            f"({forced.people_each_once}). Only these counts are certain, not which member holds "
            "which value."
        )

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure, with its title, its unit and what high and low mean."""
        light = tuple(
            replace(
                _LIGHT,
                key=f"singling_out_{each.most:g}",
                title=f"Isolating predicates with n·w ≤ {each.most:g}",
            ).of(each.singling_out)
            for each in self.low_weight
        )
        forced: tuple[Figure, ...] = ()
        if self.forced is not None:
            forced = tuple(one.of(getattr(self.forced, one.key)) for one in _FORCED)
        return *self._of(RECORDS, *_FIGURES), *light, *forced

    @property
    def tables(self) -> tuple[Table, ...]:
        """Predicates by weight."""
        rows: list[tuple[str, int, Rate | None, float | None]] = [
            ("any number", self.classes_tested, self.singling_out, self.baseline)
        ]
        rows += [(f"{o.most:g}", o.predicates, o.singling_out, o.baseline) for o in self.low_weight]
        return (
            Table(
                "Singling out by weight of the predicates",
                ("satisfied by chance by at most", "predicates", "singling out", "baseline"),
                tuple(
                    (most, f"{n:,}", "–" if rate is None else str(rate), percent(luck))
                    for most, n, rate, luck in rows
                ),
            ),
        )

    def plot(self) -> Chart:
        """Draw the share of isolating predicates and the baseline."""
        return found_chart(
            "Singling out from the release alone",
            f"{self.classes_tested:,} of {counted(self.classes, 'class', 'classes')}, one "
            "predicate each",
            self.found,
            Level(self.baseline, "baseline"),
        )

    def _headline(self) -> str:
        return (
            f"Singling out: {percent(self.singling_out.rate)} of predicates isolate one person "
            f"(baseline {percent(self.baseline)})"
        )
