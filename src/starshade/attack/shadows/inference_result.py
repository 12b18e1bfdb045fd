"""`InferenceResult`: what a release tells of people because they are in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from starshade.attack.result import RECORDS
from starshade.attack.shadows.result import ASKED, SHADOWS_MADE, ShadowFound
from starshade.chart import Chart
from starshade.chart.shapes import Axis, Dot, dot_chart
from starshade.figure import Figure, Rate, Renamed, Table
from starshade.plain import counted, percent


@dataclass(frozen=True)
class Compared(Renamed):
    """The same questions asked of releases that somebody is in, and of those without them.

    `with_person`, `without_person`: means over the people. `baseline`: what popularity, or the items' mean
    ratings, answer without knowing the person. `gain`: inside less outside, with its 95 %
    interval over people.
    """

    with_person: float
    without_person: float
    baseline: float
    gain: float
    low: float
    high: float

    @property
    def gained(self) -> Rate:
        """The difference of two shares, which may be below 0."""
        return Rate(self.gain, self.low, self.high)

    @property
    def saved(self) -> tuple[float, float, float]:
        """How much smaller an error is, with the ends of its interval."""
        return -self.gain, -self.high, -self.low


@dataclass(frozen=True)
class Way:
    """Answers by one adversary.

    `by`: "all" weighs all classes or profiles, "best" believes the likeliest, "residual" takes what
    a model of rank 4 leaves of it. `rated`: the share
    of pairs in which the rated item is named; `value`: the share of ratings named, None on a scale
    without steps; `error`: in ratings. None: nothing was asked.
    """

    by: Literal["all", "best", "residual"]
    rated: Compared | None
    value: Compared | None
    error: Compared | None


_IN_WORDS = {
    "all": "weighing all that may be theirs",
    "best": "believing the likeliest",
    "residual": "by what a model of rank 4 leaves of the likeliest",
}
_RATED = Figure(
    "rated_gained",
    "More items known to be rated, by being in it",
    "share",
    True,
    "Share of pairs of a rated and an unrated item; 0 is nothing told because of the person.",
)
_VALUE = Figure(
    "value_gained",
    "More ratings known, by being in it",
    "share",
    True,
    "Share of ratings named; 0 is nothing told because of the person.",
)
_SAVED = Figure(
    "error_saved",
    "Error saved in ratings, by being in it",
    "text",
    True,
    "In the scale's units; 0 is nothing told because of the person.",
)


@dataclass(frozen=True, kw_only=True)
class InferenceResult(ShadowFound):
    """What a release tells of people's other ratings because they are in it.

    It is the method that is measured, on releases of random halves of the people (definitions,
    "inference").

    Attributes
    ----------
    attack, seconds, read_seconds, config, digest, version
        As in `AttackResult`.
    records : int
        Of the release under attack.
    targets, ineligible : int
        People asked about, and the other users of the original.
    shadows : int
        One less than the releases.
    catalogue : int
        Items that all of them have.
    known : int
        Ratings known of each.
    adversaries : tuple of Way
        By each adversary, what was answered.
    knowledge : dict
    seed : int
    """

    known: int
    adversaries: tuple[Way, ...]

    @property
    def rated_gained(self) -> Rate | None:
        """The most that some adversary gains in items known to be rated."""
        return _most([way.rated for way in self.adversaries])

    @property
    def value_gained(self) -> Rate | None:
        """The most that some adversary gains in ratings known."""
        return _most([way.value for way in self.adversaries])

    @property
    def saved(self) -> Compared | None:
        """The errors of the adversary who saves most."""
        errors = [way.error for way in self.adversaries if way.error is not None]
        return min(errors, key=lambda each: each.gain, default=None)

    @property
    def error_saved(self) -> str | None:
        """How much smaller the error is, as a text with its interval."""
        return None if self.saved is None else "{:.3f} [{:.3f}, {:.3f}]".format(*self.saved.saved)

    def __str__(self) -> str:
        return " ".join(self._told())

    def _told(self) -> Iterator[str]:
        yield (
            f"{self.attack} on {counted(self.records, 'record')}: of "
            f"{counted(self.targets, 'person', 'people')}, "
            f"{counted(self.known, 'rating')} known of each, others were asked of "
            f"{self.shadows + 1:,} releases of random halves of the people: of those that they are "
            "in and of those that they are not in."
        )
        for way in self.adversaries:
            parts = list(_parts(way))
            if parts:
                yield f"{_IN_WORDS[way.by].capitalize()}, an adversary {'; '.join(parts)}."
        yield (
            "The difference is what is told of somebody because they are in it; the rest would be "
            "told without them. It measures the method at half of the people."
        )

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure, with its title, its unit and what high and low mean."""
        known = Figure("known", "Ratings known of each", "count", None, "The others are asked for.")
        return self._of(RECORDS, SHADOWS_MADE, ASKED, known, _RATED, _VALUE, _SAVED)

    @property
    def tables(self) -> tuple[Table, ...]:
        """What each adversary answers, beside the reference and the crowd."""
        rows = []
        for way in self.adversaries:
            for what, each, show in (
                ("the rated one of two items", way.rated, percent),
                ("the rating", way.value, percent),
                ("error of the rating", way.error, "{:.3f}".format),
            ):
                if each is not None:
                    sides = (each.with_person, each.without_person, each.baseline)
                    rows.append((f"{what}, {_IN_WORDS[way.by]}", *map(show, sides)))
        head = ("answered", "in it", "not in it", "by the crowd")
        return (Table("Ratings that were not known", head, tuple(rows)),)

    def plot(self) -> Chart:
        """Draw what is gained by somebody being in the release; 0 is nothing."""
        dots = []
        for way in self.adversaries:
            for what, each in (("items", way.rated), ("ratings", way.value)):
                if each is not None:
                    dots.append(Dot(f"{what}, {way.by}", each.gain, each.low, each.high))
        return dot_chart(
            "What is told because somebody is in it?",
            f"{counted(self.targets, 'person', 'people')}, {self.known} known of each",
            dots,
            Axis("more answers right than without them", share=True),
        )

    def _headline(self) -> str:
        return f"{self.attack}: what is told because somebody is in it"


def _most(compared: list[Compared | None]) -> Rate | None:
    gained = [each.gained for each in compared if each is not None]
    return max(gained, key=lambda rate: rate.rate, default=None)


def _parts(way: Way) -> Iterator[str]:
    if way.rated is not None:
        each = way.rated
        yield (
            f"tells the rated one of two items in {each.with_person:.1%} of the cases with them in it "
            f"and in {each.without_person:.1%} without, {_points(each)} (guessing: 50 %, by popularity "
            f"{each.baseline:.1%})"
        )
    if way.value is not None:
        each = way.value
        yield (
            f"names the rating in {each.with_person:.1%} and {each.without_person:.1%}, {_points(each)} "
            f"(the item's mean: {each.baseline:.1%})"
        )
    if way.error is not None:
        saved, low, high = way.error.saved
        yield (
            f"errs by {way.error.with_person:.3f} and {way.error.without_person:.3f}, {saved:.3f} "
            f"[{low:.3f}, {high:.3f}] saved (the item's mean: {way.error.baseline:.3f})"
        )


def _points(each: Compared) -> str:
    points = (100 * value for value in (each.gain, each.low, each.high))
    return "{:+.1f} points [{:+.1f}, {:+.1f}]".format(*points)
