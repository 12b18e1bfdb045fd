"""What the paper's text says, sentence by sentence, with our figure beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from starshade.attack.knowledge import Knowledge
from starshade.attack.result import AttackResult
from starshade.attack.sparsity.sparsity import SparsityResult
from starshade.audit.reproduction.ns.attacks import Runs, complement, mean_bits
from starshade.audit.reproduction.ns.paper import NETFLIX_BITS, OFF_TOP
from starshade.audit.reproduction.ns.plan import lines_of
from starshade.figure import Rate
from starshade.ratings.habits import OffTop
from starshade.ratings.table import Ratings

__all__ = ["Statement", "statements_of"]


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
