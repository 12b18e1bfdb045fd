"""`CompositionResult`: what several releases of the same people tell together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from starshade.attack.composition.composed import Composed, Counts
from starshade.attack.result import RECORDS, KnownFrom
from starshade.attack.shown import Found, found_chart
from starshade.chart import Chart
from starshade.chart.shapes import Level
from starshade.figure import Figure, Rate, Renamed, Table
from starshade.plain import counted, percent
from starshade.stats import bootstrap, wilson


@dataclass(frozen=True)
class Named:
    """How often the right class, and the right record, is named by what is known; ties shared."""

    of_class: Rate
    of_record: Rate


@dataclass(frozen=True, kw_only=True)
class OfRelease(Renamed):
    """What a release tells by itself; as `CompositionResult` has it of all together."""

    people: int
    classes: int
    smallest: int
    people_unique: int
    people_below_k: int | None
    people_certain: int | None
    certain: Rate | None
    cells: int | None
    cells_certain: int | None
    re_identification_in_class: Rate
    class_linkage: Rate | None
    re_identification: Rate | None


_SHOWN = (
    RECORDS,
    Figure("releases", "Releases", "count", None, "Of the same people; this one included."),
    Figure("people", "People in any of them", "count"),
    Figure("in_all", "People in all of them", "count"),
    Figure("common_items", "Items that all of them have", "count"),
    Figure("classes", "Joint classes", "count", True, "The same class, or absence, in each."),
    Figure("smallest", "People in the smallest joint class", "count", False),
    Figure(
        "below_k",
        "People in a joint class below k",
        "share",
        True,
        "Of them each release alone says that they hide among k; together they do not.",
    ),
    Figure(
        "unique", "People alone in their joint class", "share", True, "Anybody else is ruled out."
    ),
    Figure(
        "re_identification_in_class",
        "The right record, with the classes known",
        "share",
        True,
        "One release alone allows 1/k at most.",
    ),
    Figure(
        "certain",
        "People with a rating pinned",
        "share",
        True,
        "Their cells leave one single rating, with the classes known.",
    ),
    Figure("cells_certain", "Cells of which one rating alone is possible", "count", True),
    Figure(
        "class_linkage",
        "The right joint class, by what is known",
        "share",
        True,
        "Of the targets; ties are shared.",
    ),
    Figure(
        "re_identification",
        "The right record, by what is known",
        "share",
        True,
        "Of the targets; ties are shared.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class CompositionResult(Found):
    """What several releases of the same people tell together (definitions, "composition").

    Attributes
    ----------
    attack, seconds, read_seconds, config, digest, version
        As in `AttackResult`.
    records : int
        Of the last release.
    targets, ineligible : int
        Users of the original who were attacked by what is known of them; users of whom so much
        cannot be known, or who are in no release.
    releases : int
        Earlier ones and this one.
    people, in_all : int
        Who is in any of them, and who is in all.
    items, common_items : int
        Items of any of them, and of all.
    k : int or None
        The smallest that is claimed; None: none is.
    classes, smallest : int
        Joint classes, and people in the smallest.
    people_below_k, people_unique, people_certain : int or None
        People in a joint class of fewer than k; alone in theirs; with a rating of which the cells
        of their joint class leave one value. None: no k is claimed, or no release has cells that
        hold true ratings.
    below_k, unique, certain : Rate or None
        The same as shares of `people`, whose intervals take these as drawn from many.
    cells, cells_certain : int or None
        Pairs of person and item for which a rating is possible; for which one alone is.
    re_identification_in_class : Rate
        Mean of one in the people of the joint class: how often the right record is named by one
        who knows the classes, and nothing else; nobody more often than one in the smallest.
    class_linkage, re_identification : Rate or None
        How often the right joint class, and the right record in it, has the greatest likelihood
        given what is known, ties shared.
    class_baseline, record_baseline : float
        The same for one who knows nothing of the targets.
    per_release : tuple of OfRelease
        The same of each release alone, the last one being this.
    knowledge : dict
        What the adversary knows, with its name.
    known_from : {"all items", "released items"}
        Of which items ratings are known: those of the releases, where their cells meet.
    seed : int
    """

    releases: int
    people: int
    in_all: int
    items: int
    common_items: int
    k: int | None
    classes: int
    smallest: int
    people_below_k: int | None
    below_k: Rate | None
    people_unique: int
    unique: Rate
    people_certain: int | None
    certain: Rate | None
    cells: int | None
    cells_certain: int | None
    re_identification_in_class: Rate
    class_linkage: Rate | None
    re_identification: Rate | None
    class_baseline: float
    record_baseline: float
    per_release: tuple[OfRelease, ...]
    knowledge: dict[str, Any]
    known_from: KnownFrom
    seed: int

    def __str__(self) -> str:
        return " ".join(filter(None, (self._joint(), self._cells(), self._named())))

    def _joint(self) -> str:
        what = f"{counted(self.releases, 'release')} of {counted(self.people, 'person', 'people')}"
        in_all = f", {self.in_all:,} of them in all" * (self.in_all < self.people)
        text = (
            f"{self.attack} of {what}{in_all}. Whoever holds the releases and knows a person's "
            f"class in each is left with {counted(self.classes, 'joint class', 'joint classes')}"
        )
        if self.k is None:
            text += f"; no k is claimed. {self.unique} of the people are alone in theirs"
        else:
            text += (
                f": {self.below_k} of the people are in one of fewer than the {self.k} that are "
                f"claimed, {self.unique} alone"
            )
        return (
            f"{text}, and the right record is named in "
            f"{percent(self.re_identification_in_class.rate)} of "
            f"the cases (by one release alone in {self._alone('re_identification_in_class')})."
        )

    def _cells(self) -> str:
        if self.certain is None:
            return (
                "No release has cells that hold true ratings (means, predictions and moved "
                "ratings do not), so that nothing is pinned."
            )
        if not self.common_items:
            apart = "The releases have no item in common, so that no cells meet. "
        else:
            apart = ""
        return (
            f"{apart}A rating is pinned, its cells together leaving one value, for {self.certain} "
            f"of the people (by one release alone for {self._alone('certain')}; "
            f"{counted(self.cells_certain or 0, 'cell')} in all), {self._if()}."
        )

    def _if(self) -> str:
        return {
            "none": "ratings not having changed",
            "added": "ratings having been added at most",
            "revised": "ratings having been added or given anew",
        }[self.config["changes"]]

    def _named(self) -> str:
        if self.class_linkage is None or self.re_identification is None:
            return ""
        return (
            f"Who does not know the classes, but {self.knowledge['name']}, names the right joint "
            f"class in {self.class_linkage} of {counted(self.targets, 'case')} (one release alone: "
            f"{self._alone('class_linkage')}; the largest class without knowing anything: "
            f"{percent(self.class_baseline)}) and the right record in {self.re_identification} "
            f"(alone "
            f"{self._alone('re_identification')}; guessing {percent(self.record_baseline)})."
        )

    def _alone(self, name: str) -> str:
        """Write a figure of the releases by themselves."""
        rates = [rate.rate for each in self.per_release if (rate := getattr(each, name)) is not None]
        texts = list(dict.fromkeys(percent(rate) for rate in sorted(rates)))
        return " to ".join(texts[:: max(1, len(texts) - 1)]) if texts else "none"

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure, with its title, its unit and what high and low mean."""
        return self._of(*_SHOWN)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The same of each release alone."""
        names = ("below k", "alone", "certain", "right class", "right record")
        rows = [
            (str(j + 1), f"{each.classes:,}", *_shares(each)) for j, each in enumerate(self.per_release)
        ]
        rows.append(("together", f"{self.classes:,}", *_shares(self)))
        return (Table("Each release alone", ("release", "classes", *names), tuple(rows)),)

    def plot(self) -> Chart:
        """Draw what the releases tell together."""
        return found_chart(
            "What the releases tell together",
            f"{counted(self.releases, 'release')} of {counted(self.people, 'person', 'people')}",
            self.found,
            None if self.k is None else Level(1 / self.k, f"1 in {self.k}"),
        )

    def _headline(self) -> str:
        return f"{self.attack}: {counted(self.releases, 'release')}"


def _shares(of: OfRelease | CompositionResult) -> tuple[str, ...]:
    counts = (of.people_below_k, of.people_unique, of.people_certain)
    named = (of.class_linkage, of.re_identification)
    return (
        *(percent(None if n is None else n / of.people) for n in counts),
        *(percent(None if rate is None else rate.rate) for rate in named),
    )


def result_of(found: Composed, named: Sequence[Named | None], **more: Any) -> CompositionResult:
    """Put together what was counted and who was named, in each release and, last, in all."""
    joint, counts, seed = found.joint, found.counts, more["seed"]
    *alone, together = named
    people = counts.people
    return CompositionResult(
        releases=len(found.parts),
        in_all=found.in_all,
        items=found.items,
        common_items=found.common_items,
        k=found.k,
        below_k=_rate(counts.people_below_k, people),
        unique=wilson(counts.people_unique, people),
        class_baseline=int(joint.sizes.max()) / people,
        record_baseline=1 / people,
        per_release=tuple(
            OfRelease(**_figures(its, part.sizes, part.sizes, by, seed))
            for its, part, by in zip(found.each, found.parts, alone, strict=True)
        ),
        **_figures(counts, found.crowds, joint.sizes, together, seed),
        **more,
    )


def _figures(
    counts: Counts, crowds: Any, people: Any, named: Named | None, seed: int
) -> dict[str, Any]:
    by_class = bootstrap(np.repeat(1 / crowds, people), seed=seed)
    return {
        **asdict(counts),
        "certain": _rate(counts.people_certain, counts.people),
        "re_identification_in_class": replace(
            by_class, high=min(by_class.high, 1 / counts.smallest)
        ),
        "class_linkage": named and named.of_class,
        "re_identification": named and named.of_record,
    }


def _rate(n: int | None, people: int) -> Rate | None:
    return None if n is None else wilson(n, people)
