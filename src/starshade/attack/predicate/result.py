"""`PredicateResult`: how many predicates isolate one person, and what cells leave no doubt of."""

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

#: people who would satisfy a predicate by chance, at most: with fewer it singles out
LIGHT = (0.1, 0.01)


@dataclass(frozen=True, eq=False)
class Tried:
    """One predicate a row; every array has shape (classes_tested,).

    `row`: of the distinct classes. `item`, `rating`: of a released item (-1: none), NaN where it is
    "did not rate". `satisfying`: people who do. `weight`, `blind`, `chance`: w, what a blind
    predicate of this weight comes to, and what the adversary expected. `among`: outsiders who do.
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
    """What came of the light predicates alone.

    `most`: by chance at most so many people would satisfy one. `predicates`: how many are so light.
    `singling_out`, `baseline`: as of all; None where there are none.
    """

    most: float
    predicates: int
    singling_out: Rate | None
    baseline: float | None

    @classmethod
    def of(cls, most: float, tried: Tried, n: int) -> OfWeight:
        """Take those of weight at most `most` / n."""
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
    """Cells that leave no doubt how many members of the class hold each value.

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
    "Predicates that exactly one person satisfies",
    "share",
    True,
    "High: people are singled out from the release alone.",
    "Cohen & Nissim 2020",
    short="singled out",
)
_FIGURES = (
    Figure("classes", "Classes", "count", None, "Records that are equal are one."),
    Figure("classes_tested", "Classes looked at", "count", None, "For each one predicate."),
    ISOLATES,
    Figure(
        "baseline",
        "The same without the release",
        "share",
        None,
        "What predicates of the same weights come to by luck.",
    ),
)
_LIGHT = Figure(
    "low_weight",
    "",
    "share",
    True,
    "Predicates that hardly anybody satisfies by chance: luck is no explanation.",
    "Cohen & Nissim 2020",
)
_FORCED = (
    Figure(
        "people_one_value",
        "People in a class where all rated something alike",
        "share",
        True,
        "That rating is known of each of them.",
    ),
    Figure(
        "people_each_once",
        "People in a class where each rated something differently",
        "share",
        True,
        "How many hold each value is known: one.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class PredicateResult(Found):
    """How many predicates written from the release alone single one person out.

    Attributes
    ----------
    attack, seconds, read_seconds, config, digest, version
        As in `AttackResult`.
    records, classes, classes_tested : int
        Of what was attacked; rows that are equal are one class. For each class tried there is one
        predicate.
    targets, ineligible : int
        Users of the original who have a record, and those who have none.
    people, non_members : int, int or None
        Users of the original, among whom who satisfies a predicate is counted; people given to
        weigh predicates by, None: none, so that weights rest on independent items alone.
    singling_out : Rate
        Share of the predicates that exactly one person satisfies.
    baseline : float
        The share to expect of predicates of the same weights that do not look at the release.
    expected : float
        The share that the adversary expected.
    low_weight : tuple of OfWeight
        The same among the predicates of n·w at most 0.1, and at most 0.01.
    forced : Forced or None
        Cells that leave no doubt how many hold each value; None where cells need not be true.
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
            f"{counted(self.classes, 'class', 'classes')}. From the release alone, knowing nobody, "
            'the adversary writes one condition for each class: "fits all its cells, and rated '
            f'this item so". For {self.singling_out} of the classes exactly one of '
            f"{counted(self.people, 'person', 'people')} meets it: that person is singled out. "
            f"Conditions that do not look at the release, met as rarely, single somebody out in "
            f"{percent(self.baseline)} of the cases. {self._lightly()} {self._weighed()}"
            f"{self._in_doubt()}"
        )

    def _lightly(self) -> str:
        first = self.low_weight[0]
        if first.singling_out is None:
            return "None of the conditions is so rare that luck can be left aside."
        told = [
            f"of {counted(each.predicates, 'condition')} that at most {each.most:g} people would "
            f"meet by chance {each.singling_out} (by luck {percent(each.baseline)})"
            for each in self.low_weight
            if each.singling_out is not None
        ]
        text = ", and ".join(told)
        return f"{text[0].upper()}{text[1:]}."

    def _weighed(self) -> str:
        if self.non_members is None:
            return (
                "How many meet a condition by chance is reckoned as if items were rated "
                "independently; nobody outside the data was there to count."
            )
        return (
            "How many meet a condition by chance is the larger of two: as if items were rated "
            f"independently, and as {counted(self.non_members, 'outsider')} do."
        )

    def _in_doubt(self) -> str:
        forced = self.forced
        if forced is None:
            return " Cells need not be true here, so none of them proves how many hold a value."
        return (
            f" Of {forced.cells:,} cells {forced.one_value:,} show one rating, which all members "
            f"of the class gave ({forced.people_one_value} of the people are in such a class), and "
            f"{forced.each_once:,} show as many values as the class has members, each held by one "
            f"({forced.people_each_once}). Only these counts are certain, and never which member "
            "holds what."
        )

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure, with its title, its unit and what high and low mean."""
        light = tuple(
            replace(
                _LIGHT,
                key=f"singling_out_{each.most:g}",
                title=f"The same of those that at most {each.most:g} meet by chance",
            ).of(each.singling_out)
            for each in self.low_weight
        )
        forced: tuple[Figure, ...] = ()
        if self.forced is not None:
            forced = tuple(one.of(getattr(self.forced, one.key)) for one in _FORCED)
        return *self._of(RECORDS, *_FIGURES), *light, *forced

    @property
    def tables(self) -> tuple[Table, ...]:
        """Predicates by how many satisfy them by chance."""
        rows: list[tuple[str, int, Rate | None, float | None]] = [
            ("any number", self.classes_tested, self.singling_out, self.baseline)
        ]
        rows += [(f"{o.most:g}", o.predicates, o.singling_out, o.baseline) for o in self.low_weight]
        return (
            Table(
                "Conditions that single somebody out",
                ("met by chance by at most", "conditions", "single out", "by luck"),
                tuple(
                    (most, f"{n:,}", "–" if rate is None else str(rate), percent(luck))
                    for most, n, rate, luck in rows
                ),
            ),
        )

    def plot(self) -> Chart:
        """Draw how many predicates isolate, beside luck."""
        return found_chart(
            "Can somebody be singled out from the release alone?",
            f"{self.classes_tested:,} of {counted(self.classes, 'class', 'classes')}, one "
            f"condition "
            "each",
            self.found,
            Level(self.baseline, "by luck"),
        )

    def _headline(self) -> str:
        return f"{self.attack}: {percent(self.baseline)} is luck"
