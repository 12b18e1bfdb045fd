"""What NS's text says, sentence by sentence, with our figure beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

from starshade.attack.knowledge import Knowledge
from starshade.attack.result import AttackResult
from starshade.attack.sparsity.sparsity import SparsityResult
from starshade.audit.reproduction.figures import Figure, Point, Series
from starshade.audit.reproduction.ns.figures import Runs, complement, mean_bits
from starshade.audit.reproduction.ns.plan import (
    BITS,
    NETFLIX_BITS,
    OFF_TOP,
    SUCCESS,
    TOP1,
    lines_of,
)
from starshade.figure import Rate
from starshade.ratings.describe import OffTop
from starshade.ratings.table import Ratings


@dataclass(frozen=True)
class Statement:
    """One sentence of the paper that has a figure of ours."""

    figure: str  # "Fig. 4", "table §5", …
    what: str  # of what the figures are
    says: str  # the paper's words, or its number in words
    paper: float | None  # the number; None where the paper has only words
    ours: float | None  # None where the data cannot give it
    unit: Literal["share", "bits", "users", "times"]
    # `low`, `high`: 95 % interval of ours
    low: float | None = None
    high: float | None = None
    knowledge: str | None = None  # the adversary's, by name

    @property
    def ours_in_words(self) -> str:
        """Our number with its interval."""
        if self.ours is None:
            return "not on these data"
        text = _in_words(self.ours, self.unit)
        if self.low is None or self.high is None:
            return text
        return f"{text} [{_in_words(self.low, self.unit)}, {_in_words(self.high, self.unit)}]"


def _in_words(value: float, unit: str) -> str:
    if unit == "share":
        return f"{100 * value:.1f} %"
    if unit == "users":
        return f"{value:,.0f}"
    return f"{value:.2f} {'×' if unit == 'times' else unit}"


def statements_of(
    ratings: Ratings,
    sparsity: SparsityResult,
    off_top: tuple[OffTop, ...],
    runs: Runs,
    star: float,
) -> tuple[Statement, ...]:
    """Put our figures beside the paper's words."""
    return (
        *_of_the_data(ratings, sparsity, off_top),
        *_of_dated_attacks(runs, ratings),
        *_of_undated_attacks(runs, ratings, star),
        *_of_noisy_attacks(runs, star),
    )


def _of_the_data(
    ratings: Ratings, sparsity: SparsityResult, off_top: tuple[OffTop, ...]
) -> Iterator[Statement]:
    for curve in sparsity.neighbours:
        rate = curve.delta(0.5)
        yield _beside(
            "Fig. 1",
            f"records with no other above Sim 0.5 ({curve.name})",
            "“the vast majority”",
            None,
            complement(rate),
        )
    many = int((ratings.user_support > 1000).sum())
    says = "“thousands”, of 480,189"
    yield Statement("Figs. 2, 3", "users with more than 1,000 ratings", says, None, many, "users")
    for row in off_top:
        for least, share in row.at_least.items():
            paper = OFF_TOP.get(row.top, {}).get(least)
            what = f"users who rated at least {least} not in the {row.top:,} most rated"
            says = "" if paper is None else f"{100 * paper:.0f} %"
            ours = share if row.items else None
            yield Statement("Table §5", what, says, paper, ours, "share")


def _of_dated_attacks(runs: Runs, ratings: Ratings) -> Iterator[Statement]:
    much = Knowledge(known=8, wrong=2, day_error=14)
    little = Knowledge(known=2, day_error=3)
    for knowledge, says, paper in ((much, "99 %", 0.99), (little, "68 %", 0.68)):
        if knowledge in runs:
            yield from _best_guess("Fig. 4", runs[knowledge], says, paper)
    if much in runs and (absent := runs[much].false_match_absent) is not None:
        says = "“with high probability”"
        yield _beside("Fig. 5", "no answer when absent", says, None, complement(absent), runs[much])
    if little in runs:
        outcomes = runs[little].per_target
        rest = mean_bits(outcomes.entropy_bits[~outcomes.success], runs[little].seed)
        what, says = "bits missing, those who do not stand out", "“around 3 bits”"
        yield _beside("Fig. 6", what, says, 3, rest, runs[little], "bits")
    if much in runs:
        bits = mean_bits(runs[much].per_target.entropy_bits, runs[much].seed)
        says = "“a fraction of a bit”"
        yield _beside("Fig. 6", "bits missing", says, None, bits, runs[much], "bits")
    prior = math.log2(max(ratings.n_users, 1))
    what = "bits missing, knowing nothing"
    yield Statement("Fig. 6", what, "19 bits", NETFLIX_BITS, prior, "bits")


def _of_undated_attacks(runs: Runs, ratings: Ratings, star: float) -> Iterator[Statement]:
    rare = Knowledge(known=8, wrong=2, day_error=None, outside_top=500)
    if rare in runs:
        yield from _best_guess("Fig. 8", runs[rare], "84 %", 0.84)
    prior = math.log2(max(ratings.n_users, 1))
    settings = [k for line in lines_of("11", star) for k in line.settings if k in runs]
    if settings and prior:
        worst = max(settings, key=lambda k: runs[k].entropy_bits.mean)
        yield Statement(
            "Fig. 11",
            "bits missing in the worst case, of those before",
            "“less than half”",
            None,
            runs[worst].entropy_bits.mean / prior,
            "share",
            knowledge=worst.name,
        )


def _of_noisy_attacks(runs: Runs, star: float) -> Iterator[Statement]:
    plain = Knowledge(known=8, wrong=2, rating_error=star)
    rare = Knowledge(known=8, wrong=2, rating_error=star, outside_top=500)
    if plain in runs and rare in runs:
        yield Statement(
            "Fig. 9",
            "success outside the top 500, against any items (both of those of whom so much can be "
            f"known: {runs[rare].targets:,} and {runs[plain].targets:,} targets)",
            "“not dramatic”",
            None,
            _times(runs[rare].success.rate, runs[plain].success.rate),
            "times",
            knowledge=rare.name,
        )
    measured = [
        k for line in lines_of("12", star) for k in line.settings if k in runs and k.about_count
    ]
    gains = [
        (times, k)
        for k in measured
        if (times := _times(runs[k].success.rate, runs[replace(k, about_count=False)].success.rate))
        is not None
    ]
    if gains:
        most, knowledge = max(gains, key=lambda pair: pair[0])
        what = "success with the number of ratings, against without, at most"
        says = "“can more than double”"
        yield Statement("Fig. 12", what, says, 2, most, "times", knowledge=knowledge.name)


def _best_guess(figure: str, result: AttackResult, says: str, paper: float) -> Iterator[Statement]:
    yield _beside(figure, "stands out and is right", says, paper, result.success, result)
    yield _beside(figure, "right when made to answer", says, paper, result.expected_top1, result)


def _beside(
    figure: str,
    what: str,
    says: str,
    paper: float | None,
    rate: Rate | None,
    result: AttackResult | None = None,
    unit: Literal["share", "bits"] = "share",
) -> Statement:
    ours, low, high = (None,) * 3 if rate is None else (rate.rate, rate.low, rate.high)
    known = None if result is None else str(result.knowledge["name"])
    return Statement(figure, what, says, paper, ours, unit, low, high, known)


def _times(one: float, other: float) -> float | None:
    return one / other if other > 0 else None


_CHECKED = (SUCCESS, TOP1, BITS)


@dataclass(frozen=True)
class Check:
    """One line that should rise (bits: fall) with what is known, or one pair with error."""

    figure: str
    # what grows: the known cells along a line, or the error between two lines
    against: Literal["known", "error"]
    what: str  # the line, or the two lines, and the measure
    # no step, between neighbouring points or over several, goes the wrong way by more than the
    # intervals allow: no later interval lies wholly on the wrong side of an earlier one
    holds: bool
    strictly: bool  # no step goes the wrong way at all
    broken: tuple[str, ...]  # the steps that go the wrong way at all


def check_figures(figures: tuple[Figure, ...]) -> tuple[Check, ...]:
    """Check every line along its points, and every two lines that differ in one error alone.

    An error is the number of wrong cells, their kind, or how far off ratings or days may be.
    Lines are also compared across figures, where only the error differs.
    """
    lines = [
        (figure, series)
        for figure in figures
        for series in figure.series
        if series.measure in _CHECKED and series.points and series.points[0].knowledge
    ]
    known = [
        _check(
            figure.number, "known", series.full_name, series, list(combinations(series.points, 2))
        )
        for figure, series in lines
        if len(series.points) > 1
    ]
    return (*known, *_by_error(lines))


def _by_error(lines: list[tuple[Figure, Series]]) -> Iterator[Check]:
    seen = set()
    for (figure, one), (other_figure, other) in combinations(lines, 2):
        if one.measure != other.measure:
            continue
        for first, second in ((one, other), (other, one)):
            steps = [
                (a, b)
                for a in first.points
                for b in second.points
                if a.knowledge and b.knowledge and _one_error_more(a.knowledge, b.knowledge)
            ]
            compared = tuple((a.knowledge, b.knowledge, first.measure) for a, b in steps)
            if steps and compared not in seen:  # the same line stands in several figures
                seen.add(compared)
                numbers = dict.fromkeys((figure.number, other_figure.number))
                names = f"{first.full_name} → {second.full_name}"
                flipped = [(b, a) for a, b in steps]
                yield _check(", ".join(numbers), "error", names, first, flipped)


def _one_error_more(easier: Knowledge, harder: Knowledge) -> bool:
    """Tell whether the second differs from the first in one error alone, a greater one."""
    if harder.wrong > easier.wrong:
        same_kind = easier.wrong == 0 or easier.wrong_kind == harder.wrong_kind
        return same_kind and _same(easier, harder, "wrong", "wrong_kind")
    if harder.wrong_kind == "item" and easier.wrong_kind == "value" and easier.wrong:
        return _same(easier, harder, "wrong_kind")
    if harder.rating_error > easier.rating_error:
        return _same(easier, harder, "rating_error")
    days = [float("inf") if k.day_error is None else k.day_error for k in (easier, harder)]
    return days[1] > days[0] and _same(easier, harder, "day_error")


def _same(one: Knowledge, other: Knowledge, *but: str) -> bool:
    changes: dict[str, Any] = {name: getattr(other, name) for name in but}
    return replace(one, **changes) == other


def _check(
    figure: str,
    against: Literal["known", "error"],
    name: str,
    series: Series,
    steps: list[tuple[Point, Point]],
) -> Check:
    """Check steps from a point to one at which the adversary should do at least as well."""
    down = series.measure == BITS
    wrong = [(a, b) for a, b in steps if (b.y > a.y if down else b.y < a.y)]
    plainly = [(a, b) for a, b in wrong if (b.lowest > a.highest if down else b.highest < a.lowest)]
    return Check(
        figure,
        against,
        f"{name}: {series.measure}",
        not plainly,
        not wrong,
        tuple(f"{a.label} {a.y:.4g} → {b.label} {b.y:.4g}" for a, b in wrong),
    )
