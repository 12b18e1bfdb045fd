"""`CompositionResult`: the figures of a composition attack."""

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
    """Class linkage and re-identification by auxiliary knowledge; ties are shared."""

    of_class: Rate
    of_record: Rate


@dataclass(frozen=True, kw_only=True)
class OfRelease(Renamed):
    """Figures of a single release; as in `CompositionResult`."""

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
    Figure("releases", "Releases", "count", None, "Of the same people, including this one."),
    Figure("people", "People in any release", "count"),
    Figure("in_all", "People in all releases", "count"),
    Figure("common_items", "Items in all releases", "count"),
    Figure("classes", "Joint classes", "count", True, "The same class, or absence, in each."),
    Figure("smallest", "Smallest joint class", "count", False),
    Figure(
        "below_k",
        "People in a joint class below k",
        "share",
        True,
        "Each release alone gives classes of k or more; their composition does not.",
    ),
    Figure(
        "unique", "People unique in their joint class", "share", True, "All others are excluded."
    ),
    Figure(
        "re_identification_in_class",
        "Re-identification with known classes",
        "share",
        True,
        "A single release allows at most 1/k.",
    ),
    Figure(
        "certain",
        "People with a certain rating",
        "share",
        True,
        "With known classes, their cells leave a single possible rating.",
    ),
    Figure("cells_certain", "Cells with one possible rating", "count", True),
    Figure(
        "class_linkage",
        "Class linkage (joint class)",
        "share",
        True,
        "Of targets, by auxiliary knowledge; ties are shared.",
    ),
    Figure(
        "re_identification",
        "Re-identification",
        "share",
        True,
        "Of targets, by auxiliary knowledge; ties are shared.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class CompositionResult(Found):
    """Result of a composition attack on several releases (definitions, "composition").

    Attributes
    ----------
    attack, seconds, read_seconds, config, digest, version
        As in `AttackResult`.
    records : int
        Of the last release.
    targets, ineligible : int
        Users of the original who were attacked; users with too few ratings, or in no release.
    releases : int
        Number of releases, including this one.
    people, in_all : int
        People in any release, and people in all releases.
    items, common_items : int
        Items of any release, and of all releases.
    k : int or None
        The smallest claimed k; None: no claim.
    classes, smallest : int
        Joint classes, and people in the smallest.
    people_below_k, people_unique, people_certain : int or None
        People in a joint class of fewer than k; unique in theirs; with a rating for which the
        cells of their joint class leave one value. None: no k is claimed, or no release has cells
        that hold true ratings.
    below_k, unique, certain : Rate or None
        The same as shares of `people`; intervals treat them as a sample.
    cells, cells_certain : int or None
        Pairs of person and item for which a rating is possible; for which one alone is.
    re_identification_in_class : Rate
        Mean of 1 / the size of the joint class: re-identification by an adversary who knows the
        classes and nothing else; the upper bound is 1 / the smallest joint class.
    class_linkage, re_identification : Rate or None
        Share of targets whose joint class, and record in it, has the highest likelihood given the
        auxiliary knowledge; ties are shared.
    class_baseline, record_baseline : float
        The same for an adversary without knowledge of the targets.
    per_release : tuple of OfRelease
        The same of each release alone, this one last.
    knowledge : dict
        The adversary's knowledge, with its name.
    known_from : {"all items", "released items"}
        Items that the known ratings are of: those of the releases, where cells are intersected.
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
            f"{self.attack} of {what}{in_all}. An adversary who knows a person's class in each "
            f"release has {counted(self.classes, 'joint class', 'joint classes')}"
        )
        if self.k is None:
            text += f" (no k is claimed): {self.unique} of people are unique in theirs"
        else:
            text += (
                f": {self.below_k} of people are in one below the claimed k = {self.k}, "
                f"{self.unique} are unique"
            )
        return (
            f"{text}. This adversary re-identifies "
            f"{percent(self.re_identification_in_class.rate)} "
            f"(single release: {self._alone('re_identification_in_class')})."
        )

    def _cells(self) -> str:
        if self.certain is None:
            return (
                "No release has cells that hold true ratings (means, predictions and moved "
                "ratings do not), so no rating becomes certain."
            )
        if not self.common_items:
            apart = "The releases have no item in common, so no cells are intersected. "
        else:
            apart = ""
        return (
            f"{apart}The intersected cells make a rating certain for {self.certain} "
            f"of people (single release: {self._alone('certain')}; "
            f"{counted(self.cells_certain or 0, 'cell')} in all), {self._if()}."
        )

    def _if(self) -> str:
        return {
            "none": "if ratings did not change",
            "added": "if ratings were at most added",
            "revised": "if ratings were at most added or revised",
        }[self.config["changes"]]

    def _named(self) -> str:
        if self.class_linkage is None or self.re_identification is None:
            return ""
        return (
            f"An adversary who knows ratings instead of classes ({self.knowledge['name']}) links "
            f"{self.class_linkage} of {counted(self.targets, 'target')} to the right joint class "
            f"(single release: {self._alone('class_linkage')}; baseline, the largest class: "
            f"{percent(self.class_baseline)}) and re-identifies {self.re_identification} "
            f"(single release: {self._alone('re_identification')}; guessing: "
            f"{percent(self.record_baseline)})."
        )

    def _alone(self, name: str) -> str:
        """Write a figure of the single releases."""
        found = [getattr(each, name) for each in self.per_release]
        rates = [rate.rate for rate in found if rate is not None]
        texts = list(dict.fromkeys(percent(rate) for rate in sorted(rates)))
        return " to ".join(texts[:: max(1, len(texts) - 1)]) if texts else "none"

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure, with its title, its unit and what high and low mean."""
        return self._of(*_SHOWN)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The same of each release alone."""
        names = ("below k", "unique", "certain rating", "class linkage", "re-identification")
        rows = [
            (f"{j}", f"{each.classes:,}", *_shares(each))
            for j, each in enumerate(self.per_release, start=1)
        ]
        rows.append(("composition", f"{self.classes:,}", *_shares(self)))
        head = ("release", "classes", *names)
        return (Table("Single releases and composition", head, tuple(rows)),)

    def plot(self) -> Chart:
        """Draw the figures of the composition."""
        return found_chart(
            "Composition attack",
            f"{counted(self.releases, 'release')} of {counted(self.people, 'person', 'people')}",
            self.found,
            None if self.k is None else Level(1 / self.k, f"1 in {self.k}"),
        )

    def _headline(self) -> str:
        return (
            f"Composition of {counted(self.releases, 'release')}: re-identification with known "
            f"classes {percent(self.re_identification_in_class.rate)}"
        )


def _shares(of: OfRelease | CompositionResult) -> tuple[str, ...]:
    counts = (of.people_below_k, of.people_unique, of.people_certain)
    named = (of.class_linkage, of.re_identification)
    return (
        *(percent(None if n is None else n / of.people) for n in counts),
        *(percent(None if rate is None else rate.rate) for rate in named),
    )


def result_of(found: Composed, named: Sequence[Named | None], **more: Any) -> CompositionResult:
    """Return the result of the counts and of the linkage in each release and, last, in all."""
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
