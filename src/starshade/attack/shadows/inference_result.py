"""`InferenceResult`: attribute inference attributable to participation."""

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
    """The same inferences from releases with and without the person.

    `with_person`, `without_person`: means over the people. `baseline`: inference by popularity, or
    by the items' mean ratings, without knowledge of the person. `gain`: with minus without, with
    its 95 % interval over people.
    """

    with_person: float
    without_person: float
    baseline: float
    gain: float
    low: float
    high: float

    @property
    def gained(self) -> Rate:
        """The gain with its interval, which may be below 0."""
        return Rate(self.gain, self.low, self.high)

    @property
    def saved(self) -> tuple[float, float, float]:
        """Error reduction, with the ends of its interval."""
        return -self.gain, -self.high, -self.low


@dataclass(frozen=True)
class Way:
    """Inferences of one adversary.

    `by`: "all" weighs all classes or profiles by posterior, "best" uses the most likely one,
    "residual" the residual of a rank-4 model in it. `rated`: share of pairs in which the rated item
    is named; `value`: share of ratings inferred correctly, None on a scale without steps; `error`:
    in ratings. None: not measured.
    """

    by: Literal["all", "best", "residual"]
    rated: Compared | None
    value: Compared | None
    error: Compared | None


_IN_WORDS = {
    "all": "all classes weighted by posterior",
    "best": "most likely class only",
    "residual": "residual of a rank-4 model in the most likely class",
}
_RATED = Figure(
    "rated_gained",
    "Inference gain from participation: rated items (points)",
    "share",
    True,
    "Pairs of a rated and an unrated item; 0: no gain from participation.",
)
_VALUE = Figure(
    "value_gained",
    "Inference gain from participation: ratings (points)",
    "share",
    True,
    "Ratings inferred correctly; 0: no gain from participation.",
)
_SAVED = Figure(
    "error_saved",
    "Error reduction from participation",
    "text",
    True,
    "In units of the scale; 0: no gain from participation.",
)


@dataclass(frozen=True, kw_only=True)
class InferenceResult(ShadowFound):
    """Result of inference: what releases disclose of people's ratings because they take part.

    The attack measures the method, on releases of random halves of the people (definitions,
    "inference").

    Attributes
    ----------
    attack, seconds, read_seconds, config, digest, version
        As in `AttackResult`.
    records : int
        Records of the attacked release.
    targets, ineligible : int
        People tested, and the other users of the original.
    shadows : int
        Shadow releases per target release.
    catalogue : int
        Items of all of them.
    known : int
        Known ratings per person.
    adversaries : tuple of Way
        Inferences of each adversary.
    knowledge : dict
    seed : int
    """

    known: int
    adversaries: tuple[Way, ...]

    @property
    def rated_gained(self) -> Rate | None:
        """The largest gain of an adversary in rated items."""
        return _most([way.rated for way in self.adversaries])

    @property
    def value_gained(self) -> Rate | None:
        """The largest gain of an adversary in ratings."""
        return _most([way.value for way in self.adversaries])

    @property
    def saved(self) -> Compared | None:
        """The errors of the adversary with the largest error reduction."""
        errors = [way.error for way in self.adversaries if way.error is not None]
        return min(errors, key=lambda each: each.gain, default=None)

    @property
    def error_saved(self) -> str | None:
        """Error reduction, as a text with its interval."""
        return None if self.saved is None else "{:.3f} [{:.3f}, {:.3f}]".format(*self.saved.saved)

    def __str__(self) -> str:
        return " ".join(self._told())

    def _told(self) -> Iterator[str]:
        yield (
            f"{self.attack} on {counted(self.records, 'record')}: further ratings of "
            f"{counted(self.targets, 'person', 'people')} ({counted(self.known, 'rating')} known "
            f"of each) are inferred from {self.shadows + 1:,} releases of random halves of the "
            "people, with and without the person."
        )
        for way in self.adversaries:
            parts = list(_parts(way))
            if parts:
                how = _IN_WORDS[way.by]
                yield f"{how[0].upper()}{how[1:]}: {'; '.join(parts)}."
        yield (
            "The gain is attributable to participation; the rest is inferred without the person. "
            "The method is measured at half of the people."
        )

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure, with its title, its unit and what high and low mean."""
        known = Figure(
            "known", "Known ratings per person", "count", None, "The others are inferred."
        )
        return self._of(RECORDS, SHADOWS_MADE, ASKED, known, _RATED, _VALUE, _SAVED)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Correct inferences of each adversary, with and without the person, and the baseline."""
        rows = []
        for way in self.adversaries:
            for what, each, show in (
                ("rated item of a pair", way.rated, percent),
                ("rating", way.value, percent),
                ("error of the rating", way.error, "{:.3f}".format),
            ):
                if each is not None:
                    sides = (each.with_person, each.without_person, each.baseline)
                    rows.append((f"{what}, {_IN_WORDS[way.by]}", *map(show, sides)))
        head = ("inferred", "with the person", "without", "baseline")
        return (Table("Inference of unknown ratings", head, tuple(rows)),)

    def plot(self) -> Chart:
        """Draw the inference gain from participation; 0 is none."""
        dots = []
        for way in self.adversaries:
            for what, each in (("items", way.rated), ("ratings", way.value)):
                if each is not None:
                    dots.append(Dot(f"{what}, {way.by}", each.gain, each.low, each.high))
        return dot_chart(
            "Inference gain from participation",
            f"{counted(self.targets, 'person', 'people')}, {self.known} known ratings each",
            dots,
            Axis("gain in correct inferences", share=True),
        )

    def _headline(self) -> str:
        gain = max(filter(None, (self.rated_gained, self.value_gained)), key=_rate, default=None)
        points = "not measured" if gain is None else f"{100 * gain.rate:+.1f} points"
        return f"Inference gain from participation: {points}"


def _rate(rate: Rate) -> float:
    return rate.rate


def _most(compared: list[Compared | None]) -> Rate | None:
    gained = [each.gained for each in compared if each is not None]
    return max(gained, key=_rate, default=None)


def _parts(way: Way) -> Iterator[str]:
    if way.rated is not None:
        each = way.rated
        yield (
            f"rated item of a pair named in {each.with_person:.1%} of cases with the person and "
            f"{each.without_person:.1%} without, gain {_points(each)} (guessing: 50 %, by "
            f"popularity: {each.baseline:.1%})"
        )
    if way.value is not None:
        each = way.value
        yield (
            f"rating inferred in {each.with_person:.1%} and {each.without_person:.1%}, gain "
            f"{_points(each)} (by the item's mean: {each.baseline:.1%})"
        )
    if way.error is not None:
        saved, low, high = way.error.saved
        yield (
            f"error {way.error.with_person:.3f} and {way.error.without_person:.3f}, reduction "
            f"{saved:.3f} [{low:.3f}, {high:.3f}] (by the item's mean: {way.error.baseline:.3f})"
        )


def _points(each: Compared) -> str:
    points = (100 * value for value in (each.gain, each.low, each.high))
    return "{:+.1f} points [{:+.1f}, {:+.1f}]".format(*points)
