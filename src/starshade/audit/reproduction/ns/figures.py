"""NS's figures and tables on any data: what attacks find, and what the data say without one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge
from starshade.attack.result import AttackResult
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.scoreboard_rh.tradeoff import TradeOff
from starshade.attack.sparsity.few_facts import facts_needed, lineup_facts
from starshade.attack.sparsity.information_gain import InformationGain
from starshade.attack.sparsity.sparsity import SparsityResult
from starshade.audit.reproduction.figures import Figure, Level, Point, Series, Skipped
from starshade.audit.reproduction.ns.plan import (
    ABSENT,
    BITS,
    BITS_OF_OTHERS,
    DATED,
    NETFLIX_BITS,
    NETFLIX_RECORDS,
    NOT_FOUND,
    NUMBERS,
    OMEGA,
    SUCCESS,
    TOP1,
    Line,
    label_of,
    lines_of,
    marks_of,
    title_of,
)
from starshade.figure import Rate
from starshade.progress import task
from starshade.ratings.describe import users_by_activity
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from starshade.stats import bootstrap

#: what each setting came to
Runs = Mapping[Knowledge, AttackResult]
_LARGEST_PHI = 6
_Measure = Callable[[AttackResult], Rate | None]


def is_dated(ratings: Ratings) -> bool:
    """Tell whether any rating has a known day."""
    return ratings.days is not None and bool((ratings.days != UNKNOWN_DAY).any())


def run_settings(
    ratings: Ratings, star: float, *, targets: int | None, seed: int
) -> tuple[Runs, tuple[Skipped, ...]]:
    """Attack with every setting that the figures need and the data allow.

    Skipped are whole figures, and single points, that the data cannot give.
    """
    dated = is_dated(ratings)
    absent: dict[Knowledge, bool] = {}
    skipped = []
    for figure in NUMBERS:
        if figure in DATED and not dated:
            skipped.append(Skipped(figure, "the whole figure", "the data have no dates"))
            continue
        for line in lines_of(figure, star):
            reasons = {k: _impossible(ratings, k) for k in line.settings}
            skipped.extend(_skipped(figure, line, reasons))
            for knowledge in line.settings:
                if not reasons[knowledge]:
                    absent[knowledge] = absent.get(knowledge, False) or figure in ABSENT
    runs = {}
    with task("reproducing NS", len(absent)) as step:
        for knowledge, leave_out in absent.items():
            attack = ScoreboardRH(absent=leave_out)
            runs[knowledge] = attack.run(ratings, knowledge, targets=targets, rng=seed)
            step(1)
    return runs, tuple(skipped)


def _skipped(figure: str, line: Line, reasons: Mapping[Knowledge, str]) -> list[Skipped]:
    """Name the points of a line that the data cannot give; the line, if all for one reason."""
    name = f"{line.name}, {line.mistakes}"
    if len(set(reasons.values())) == 1:
        reason = next(iter(reasons.values()))
        return [Skipped(figure, name, reason)] if reason else []
    return [Skipped(figure, f"{name}: {label_of(k)}", why) for k, why in reasons.items() if why]


def attack_figures(ratings: Ratings, runs: Runs, star: float) -> tuple[Figure, ...]:
    """Draw up the figures of attacks; those without any point are left out."""
    dated = is_dated(ratings)
    figures = (
        _figure(number, runs, star, ratings.n_users)
        for number in NUMBERS
        if dated or number not in DATED
    )
    return tuple(figure for figure in figures if figure.series)


def error_figures(runs: Runs) -> tuple[Figure, ...]:
    """Fig. 5b, ours: both errors over φ (Def. 3, footnote 4), up to φ = 6; none without dates."""
    series = [
        Series(name, f"{label_of(knowledge)}: {_equal(result.tradeoff)}", points)
        for knowledge, result in runs.items()
        if result.tradeoff is not None and (knowledge.known, knowledge.day_error) == (8, 14)
        for name, points in _errors(result.tradeoff).items()
    ]
    if not series:
        return ()
    return (
        Figure(
            number="5b",
            title="Both errors over φ, dates ±14 days (ours)",
            x_title="φ, least eccentricity of a match",
            y_title="share of targets",
            unit="share",
            series=tuple(series),
        ),
    )


def _errors(curve: TradeOff) -> dict[str, tuple[Point, ...]]:
    def points(shares: tuple[float, ...]) -> tuple[Point, ...]:
        pairs = zip(curve.phi, shares, strict=True)
        return tuple(Point(phi, share) for phi, share in pairs if phi <= _LARGEST_PHI)

    return {
        "present, and not found": points(curve.false_negative),
        "absent, and somebody named": points(curve.false_match_absent),
    }


def _equal(curve: TradeOff) -> str:
    if curve.equal_error_phi is None:
        return "nowhere equal"
    return f"equal at φ = {curve.equal_error_phi:.2f}, {curve.equal_error_rate:.1%}"


def _figure(number: str, runs: Runs, star: float, records: int) -> Figure:
    measures = _MEASURES[number]
    series = [
        drawn
        for measure, read in measures.items()
        for line in lines_of(number, star)
        if (drawn := _series(line, measure, read, runs)).points
    ]
    prior = math.log2(max(records, 1))
    levels = (Level(prior, "knowing nothing"), Level(NETFLIX_BITS, "knowing nothing, Netflix"))
    if number == "11":
        levels = (Level(prior, "knowing nothing"), Level(prior / 2, "half of that"))
    bits = BITS in measures
    return Figure(
        number=number,
        title=title_of(number, star),
        x_title="known cells",
        y_title="bits still missing" if bits else "share of targets",
        unit="bits" if bits else "share",
        series=tuple(series),
        marks=marks_of(number),
        levels=levels if bits else (),
    )


def _series(line: Line, measure: str, read: _Measure, runs: Runs) -> Series:
    points = tuple(
        Point.of(
            knowledge.known,
            rate,
            label=label_of(knowledge),
            knowledge=knowledge,
            targets=result.targets,
            ineligible=result.ineligible,
        )
        for knowledge in line.settings
        if (result := runs.get(knowledge)) is not None and (rate := read(result)) is not None
    )
    return Series(line.name, measure, points, line.mistakes)


def _impossible(ratings: Ratings, knowledge: Knowledge) -> str:
    """Say why nobody can be attacked so; empty if somebody can."""
    if knowledge.outside_top >= ratings.n_items:
        return f"there are only {ratings.n_items:,} items"
    if knowledge.eligible_users(ratings).any():
        return ""
    return f"no user has what is to be known ({knowledge.name})"


def _no_answer_absent(result: AttackResult) -> Rate | None:
    wrong = result.false_match_absent
    return None if wrong is None else complement(wrong)


def _omega(result: AttackResult) -> Rate | None:
    none = _no_answer_absent(result)
    return None if none is None else min(result.success, none, key=lambda rate: rate.rate)


def _bits(result: AttackResult) -> Rate | None:
    return mean_bits(result.per_target.entropy_bits, result.seed)


def _bits_of_others(result: AttackResult) -> Rate | None:
    outcomes = result.per_target
    return mean_bits(outcomes.entropy_bits[~outcomes.success], result.seed)


def complement(rate: Rate) -> Rate:
    """Return the share of all others."""
    return Rate(1 - rate.rate, 1 - rate.high, 1 - rate.low)


def mean_bits(bits: NDArray[np.float64], seed: int) -> Rate | None:
    """Mean with a bootstrap interval; None over nobody."""
    if not len(bits):
        return None
    most = max(float(bits.max()), 1e-9)  # the bootstrap takes shares
    share = bootstrap(bits / most, seed=seed)
    return Rate(share.rate * most, share.low * most, share.high * most)


_BEST_GUESS: dict[str, _Measure] = {
    SUCCESS: lambda result: result.success,
    TOP1: lambda result: result.expected_top1,
}
#: figure → what it shows of each setting
_MEASURES: dict[str, dict[str, _Measure]] = {
    **dict.fromkeys(("4", "8", "9", "10", "12"), _BEST_GUESS),
    "5": {SUCCESS: _BEST_GUESS[SUCCESS], NOT_FOUND: _no_answer_absent, OMEGA: _omega},
    "6": {BITS: _bits, BITS_OF_OTHERS: _bits_of_others},
    "11": {BITS: _bits},
}


_EPS, _DELTAS, _LINEUP = 0.05, (0.2, 0.5), 10


def sparsity_figure(sparsity: SparsityResult) -> Figure:
    """Fig 1: share of records with a neighbour at least so alike."""
    grid = [i / 40 for i in range(41)]
    return Figure(
        number="1",
        title="How like its nearest neighbour a record is",
        x_title="similarity of the nearest neighbour, at least",
        y_title="share of records",
        unit="share",
        series=tuple(
            Series(
                curve.name,
                "share of records",
                tuple(Point.of(x, curve.at_least(x), targets=sparsity.targets) for x in grid),
            )
            for curve in sparsity.neighbours
        ),
    )


def activity_figures(ratings: Ratings) -> tuple[Figure, Figure]:
    """Figs 2 and 3: users with exactly X ratings; single users show, so internal."""
    counts = users_by_activity(ratings, 1000)
    return _activity("2", counts[:101]), _activity("3", counts)


def _activity(number: str, counts: NDArray[np.int64]) -> Figure:
    return Figure(
        number=number,
        title=f"Users with exactly X ratings, X up to {len(counts) - 1:,}",
        x_title="X, ratings of a user",
        y_title="users",
        unit="users",
        series=(Series.of("users", "users", range(len(counts)), counts.tolist()),),
    )


def gain_figure(gain: InformationGain) -> Figure:
    """Fig 7: bits that knowing one item gives, by the item's rank."""
    ranks = gain.shown_ranks()
    return Figure(
        number="7",
        title="What knowing one item tells",
        x_title="rank of the item (most rated first)",
        y_title="bits gained",
        unit="bits",
        series=tuple(
            Series.of(name, "bits gained", ranks.tolist(), curve[ranks - 1].tolist())
            for name, curve in gain.curves().items()
        ),
        levels=(
            Level(float(np.log2(gain.records)), "all there is to know"),
            Level(NETFLIX_BITS, "all there is to know, Netflix"),
        ),
        x_log=True,
    )


def theorem_rows(records: int) -> list[dict[str, float | int | str]]:
    """Facts that Theorems 1-4 ask for, on so many records and on Netflix's."""
    rows: list[dict[str, float | int | str]] = []
    for delta in _DELTAS:
        rows += [
            {
                "theorem": "1, 2, 4",
                "eps": _EPS,
                "delta": delta,
                "facts": facts_needed(records, _EPS, delta),
                "facts_netflix": facts_needed(NETFLIX_RECORDS, _EPS, delta),
            },
            {
                "theorem": "3",
                "lineup": _LINEUP,
                "delta": delta,
                "facts": lineup_facts(records, _LINEUP, delta),
                "facts_netflix": lineup_facts(NETFLIX_RECORDS, _LINEUP, delta),
            },
        ]
    return rows
