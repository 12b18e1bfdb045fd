"""NS's case study on small data: what is run, what is left out, and what is said of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from starshade.attack.knowledge import Knowledge
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.audit.reproduction.figures import Figure, Point, Series
from starshade.audit.reproduction.ns.plan import (
    BITS,
    BITS_OF_OTHERS,
    NOT_FOUND,
    NUMBERS,
    OMEGA,
    SUCCESS,
    TOP1,
    lines_of,
)
from starshade.audit.reproduction.ns.sentences import check_figures
from starshade.audit.reproduction.ns.study import Reproduction, reproduce_ns
from starshade.errors import ConfigError
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from tests.strategies import table

pytestmark = pytest.mark.slow

STARS = Scale(1, 5, 1)


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return synthesize(n_users=150, n_items=700, n_ratings=9000, rng=1)


@pytest.fixture(scope="module")
def found(ratings: Ratings) -> Reproduction:
    return reproduce_ns(ratings, targets=60, rng=5)


def figure_of(found: Reproduction, number: str) -> Figure:
    return next(figure for figure in found.figures if figure.number == number)


def test_every_figure_is_there_in_order(found: Reproduction) -> None:
    numbers = [figure.number for figure in found.figures]
    assert numbers == [*"12345", "5b", *(str(n) for n in range(6, 13))]
    assert [entry.figure for entry in found.skipped] == ["§5, IMDb"]
    assert all(figure.series for figure in found.figures)


def test_it_goes_into_json(found: Reproduction) -> None:
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["reproduces"] == "ns"
    assert told["seed"] == 5
    assert {"figures", "table", "theorems", "few_facts", "statements", "monotone"} <= told.keys()
    for figure in told["figures"]:
        for series in figure["series"]:
            assert series["points"], figure["figure"]
    assert "150 users" in str(found)


def test_along_a_line_only_the_known_cells_grow() -> None:
    for number in NUMBERS:
        for line in lines_of(number, 1.0):
            known = [knowledge.known for knowledge in line.settings]
            assert known == sorted(set(known))
            assert len({replace(knowledge, known=8) for knowledge in line.settings}) == 1
            assert all(k.known - k.wrong >= 2 for k in line.settings if k.wrong)


def test_the_papers_settings_are_among_the_points() -> None:
    settings = {n: {k for line in lines_of(n, 1.0) for k in line.settings} for n in NUMBERS}
    assert (
        Knowledge(known=8, wrong=2, day_error=14) in settings["4"] & settings["5"] & settings["6"]
    )
    assert Knowledge(known=2, day_error=3) in settings["4"] & settings["6"]
    rare = Knowledge(known=8, wrong=2, day_error=None, outside_top=500)
    assert rare in settings["8"] & settings["11"]
    noisy = Knowledge(known=8, wrong=2, rating_error=1)
    assert noisy in settings["9"] & settings["12"]
    assert replace(noisy, wrong_kind="item") in settings["10"]
    assert replace(noisy, about_count=True) in settings["12"]
    assert {k.day_error for k in settings["8"]} == {None}


def test_points_are_what_the_attack_says(ratings: Ratings, found: Reproduction) -> None:
    for number, measure in (("4", SUCCESS), ("9", TOP1), ("12", TOP1)):
        series = [s for s in figure_of(found, number).series if s.measure == measure][-1]
        point = series.points[-1]
        assert point.knowledge is not None
        result = ScoreboardRH().run(ratings, point.knowledge, targets=60, rng=5)
        rate = result.success if measure == SUCCESS else result.expected_top1
        assert (point.y, point.low, point.high) == (rate.rate, rate.low, rate.high)
        assert (point.targets, point.ineligible) == (result.targets, result.ineligible)


def test_bits_and_absence_are_what_the_attack_says(ratings: Ratings, found: Reproduction) -> None:
    knowledge = Knowledge(known=4, day_error=3)
    result = ScoreboardRH(absent=True).run(ratings, knowledge, targets=60, rng=5)

    def shown(number: str, measure: str) -> Point:
        points = [
            point
            for series in figure_of(found, number).series
            for point in series.points
            if series.measure == measure and point.knowledge == knowledge
        ]
        assert len(points) == 1
        return points[0]

    bits = shown("6", BITS)
    assert bits.y == pytest.approx(result.entropy_bits.mean)
    assert bits.low is not None
    assert bits.high is not None
    assert bits.low < bits.y < bits.high
    others = result.per_target.entropy_bits[~result.per_target.success]
    assert shown("6", BITS_OF_OTHERS).y == pytest.approx(others.mean())
    absent = result.false_match_absent
    assert absent is not None
    assert shown("5", OMEGA).y == pytest.approx(min(result.success.rate, 1 - absent.rate))


def value(found: Reproduction, number: str, measure: str, knowledge: Knowledge) -> float:
    (y,) = {
        point.y
        for series in figure_of(found, number).series
        for point in series.points
        if series.measure == measure and point.knowledge == knowledge
    }
    return y


def test_the_papers_sentences_have_our_figures(ratings: Ratings, found: Reproduction) -> None:
    told = {(s.figure, s.what, s.knowledge): s for s in found.statements}
    assert len(told) == len(found.statements)
    many, few = Knowledge(known=8, wrong=2, day_error=14), Knowledge(known=2, day_error=3)
    noisy, rare = replace(many, rating_error=1), replace(many, day_error=None, outside_top=500)

    vast = "records with no other above Sim 0.5 (rated)"
    alone = 1 - found.sparsity.neighbours[0].delta(0.5).rate
    assert told["Fig. 1", vast, None].ours == pytest.approx(alone)
    assert told["Fig. 1", vast, None].low <= alone <= told["Fig. 1", vast, None].high  # type: ignore[operator]
    for figure_, knowledge, paper in (("4", many, 0.99), ("4", few, 0.68), ("8", rare, 0.84)):
        for measure in (SUCCESS, TOP1):
            statement = told[f"Fig. {figure_}", measure, knowledge.name]
            assert statement.ours == value(found, figure_, measure, knowledge)
            assert statement.paper == paper
    assert told["Fig. 5", "no answer when absent", many.name].ours == pytest.approx(
        value(found, "5", NOT_FOUND, many)
    )
    others = told["Fig. 6", "bits missing, those who do not stand out", few.name]
    assert others.ours == value(found, "6", BITS_OF_OTHERS, few)
    assert told["Fig. 6", "bits missing", many.name].ours == value(found, "6", BITS, many)
    prior = np.log2(ratings.n_users)
    assert told["Fig. 6", "bits missing, knowing nothing", None].ours == pytest.approx(prior)

    by_figure = {s.figure: s for s in found.statements}
    worst = max(p.y for s in figure_of(found, "11").series for p in s.points)
    assert by_figure["Fig. 11"].ours == pytest.approx(worst / prior)
    off_top = value(found, "9", SUCCESS, replace(noisy, outside_top=500))
    assert by_figure["Fig. 9"].ours == pytest.approx(off_top / value(found, "9", SUCCESS, noisy))
    ratios = [
        value(found, "12", SUCCESS, replace(p.knowledge, about_count=True)) / p.y
        for s in figure_of(found, "12").series
        for p in s.points
        if s.measure == SUCCESS and p.knowledge and not p.knowledge.about_count and p.y
    ]
    assert by_figure["Fig. 12"].ours == pytest.approx(max(ratios))


def test_the_same_seed_gives_the_same(ratings: Ratings) -> None:
    one, two = (reproduce_ns(ratings, targets=20, rng=1).to_dict() for _ in range(2))
    assert one | {"seconds": 0} == two | {"seconds": 0}


def test_without_dates_figures_that_need_them_are_left_out(ratings: Ratings) -> None:
    undated = reproduce_ns(replace(ratings, days=None), targets=20, rng=0)
    assert [figure.number for figure in undated.figures] == ["1", "2", "3", "7", "8", "11"]
    left_out = {entry.figure for entry in undated.skipped if "no dates" in entry.reason}
    assert left_out == {"1", "4", "5", "6", "7", "9", "10", "12"}
    assert not any("Fig. 4" in told.figure for told in undated.statements)
    # a column of days of which none is known says nothing either
    unknown = replace(ratings, days=np.full(ratings.n_ratings, 65_535, np.uint16))
    assert [f.number for f in reproduce_ns(unknown, targets=20, rng=0).figures] == [
        f.number for f in undated.figures
    ]


def test_both_errors_over_phi(found: Reproduction) -> None:
    drawn = figure_of(found, "5b")
    assert drawn.file_name == "figure-05b"
    assert figure_of(found, "10").file_name == "figure-10"
    missed, named = drawn.series[:2]
    assert missed.name.startswith("present")
    assert named.name.startswith("absent")
    assert [p.y for p in missed.points] == sorted(p.y for p in missed.points)
    assert [p.y for p in named.points] == sorted((p.y for p in named.points), reverse=True)
    five = [s for s in figure_of(found, "5").series if s.measure.startswith("no answer")]
    shown = {round(1 - p.y, 9) for s in five for p in s.points if p.x == 8}
    assert shown & {round(p.y, 9) for p in named.points if p.x == 1.5}


def test_on_few_items_what_nobody_meets_is_left_out() -> None:
    rng = np.random.default_rng(0)
    rows = [{i: int(rng.integers(1, 6)) for i in range(7)} for _ in range(9)]
    days = [{i: int(rng.integers(0, 99)) for i in range(7)} for _ in range(9)]
    found = reproduce_ns(table(rows, STARS, days=days), rng=0)
    assert "8" not in [figure.number for figure in found.figures]
    reasons = {entry.reason for entry in found.skipped if entry.figure == "8"}
    assert reasons == {"there are only 7 items"}
    eight = [entry for entry in found.skipped if entry.what.endswith("of 8")]
    assert {entry.figure for entry in eight} >= {"4", "9", "10", "12"}
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    "rows",
    [
        [{0: 3.0}],
        [{0: 3.0, 1: 3.0, 2: 3.0}] * 3,
        [{}, {0: 1.0, 1: 5.0}, {}, dict.fromkeys(range(12), 2.0)],
    ],
    ids=["one user", "equal users", "empty and giant users"],
)
def test_odd_data_come_through(rows: list[dict[int, float]]) -> None:
    days = [{i: 10 * i for i in row} for row in rows]
    found = reproduce_ns(table(rows, STARS, days=days), rng=0)
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.monotone in (True, False)


def test_on_other_scales_a_star_is_a_quarter_of_the_width() -> None:
    rng = np.random.default_rng(0)
    rows = [{i: round(float(rng.uniform(-10, 10)), 2) for i in range(10)} for _ in range(12)]
    days = [dict.fromkeys(row, 3) for row in rows]
    found = reproduce_ns(table(rows, Scale(-10, 10), days=days), rng=0)
    noisy = figure_of(found, "9")
    errors = {p.knowledge.rating_error for s in noisy.series for p in s.points if p.knowledge}
    assert errors == {5.0}
    assert "±5" in noisy.title
    assert found.data["one_star"] == 5


def test_what_cannot_be_reproduced_is_refused(ratings: Ratings) -> None:
    with pytest.raises(ConfigError, match="nothing to reproduce"):
        reproduce_ns(table([{}], STARS, n_items=1))
    with pytest.raises(ConfigError, match="targets = 0"):
        reproduce_ns(ratings, targets=0)


def line(measure: str, base: Knowledge, *ys: tuple[float, float, float]) -> Series:
    points = tuple(
        Point(m, y, low, high, knowledge=replace(base, known=m), label=f"{m}")
        for m, (y, low, high) in zip((4, 6, 8), ys, strict=True)
    )
    return Series(f"{base.wrong} wrong", measure, points)


def figure(*series: Series) -> Figure:
    return Figure("4", "", "", "", "share", series)


RISING = ((0.2, 0.12, 0.28), (0.4, 0.32, 0.48), (0.6, 0.52, 0.68))
FALLS_A_LITTLE = ((0.2, 0.12, 0.28), (0.15, 0.1, 0.25), (0.6, 0.52, 0.68))
FALLS = ((0.2, 0.12, 0.28), (0.05, 0.01, 0.09), (0.6, 0.52, 0.68))


@pytest.mark.parametrize(
    ("ys", "measure", "holds", "strictly"),
    [
        (RISING, SUCCESS, True, True),
        (FALLS_A_LITTLE, SUCCESS, True, False),
        (FALLS, SUCCESS, False, False),
        (RISING, BITS, False, False),
        (RISING[::-1], BITS, True, True),
        (RISING[::-1], TOP1, False, False),
    ],
)
def test_lines_are_checked_with_the_slack_of_the_intervals(
    ys: Any, measure: str, holds: bool, strictly: bool
) -> None:
    (check,) = check_figures((figure(line(measure, Knowledge(), *ys)),))
    assert (check.against, check.holds, check.strictly) == ("known", holds, strictly)
    assert bool(check.broken) is not strictly


HIGHER = tuple((y + 0.3, low + 0.3, high + 0.3) for y, low, high in RISING)


@pytest.mark.parametrize(
    ("easier", "harder", "compared"),
    [
        (Knowledge(), Knowledge(wrong=2), True),
        (Knowledge(wrong=2), Knowledge(wrong=2, wrong_kind="item"), True),
        (Knowledge(), Knowledge(wrong=2, wrong_kind="item"), True),
        (Knowledge(), Knowledge(rating_error=1), True),
        (Knowledge(day_error=3), Knowledge(day_error=14), True),
        (Knowledge(day_error=3), Knowledge(day_error=None), True),
        (Knowledge(day_error=3), Knowledge(day_error=14, wrong=2), False),  # two errors
        (Knowledge(day_error=3, wrong=2), Knowledge(day_error=14), False),
        (Knowledge(), Knowledge(outside_top=100), False),  # no error
        (Knowledge(), Knowledge(about_count=True), False),
    ],
)
def test_lines_that_differ_in_one_error_are_compared(
    easier: Knowledge, harder: Knowledge, compared: bool
) -> None:
    good = figure(line(SUCCESS, easier, *HIGHER), line(SUCCESS, harder, *RISING))
    bad = figure(line(SUCCESS, easier, *RISING), line(SUCCESS, harder, *HIGHER))
    for figures, holds in ((good, True), (bad, False)):
        found = [check for check in check_figures((figures,)) if check.against == "error"]
        assert [check.holds for check in found] == [holds] * compared


def test_the_same_line_in_two_figures_is_compared_once() -> None:
    one = figure(line(SUCCESS, Knowledge(), *HIGHER), line(SUCCESS, Knowledge(wrong=2), *RISING))
    again = replace(one, number="9")
    checks = check_figures((one, again))
    assert sum(check.against == "error" for check in checks) == 1


@pytest.mark.real
def test_movielens_beside_the_reference(ml100k_dir: Path) -> None:
    found = reproduce_ns(read_ratings(ml100k_dir), rng=0)
    told = {(s.figure, s.what, s.knowledge): s for s in found.statements}
    # definitions, "reference-values": an independent implementation; SD over seeds about 0.01
    for figure_, knowledge, success, top1 in (
        ("Fig. 4", Knowledge(known=2, day_error=3), 0.374, 0.912),
        ("Fig. 4", Knowledge(known=8, wrong=2), 0.821, 0.998),
    ):
        assert told[figure_, SUCCESS, knowledge.name].ours == pytest.approx(success, abs=0.04)
        assert told[figure_, TOP1, knowledge.name].ours == pytest.approx(top1, abs=0.04)
    assert told["Fig. 6", "bits missing, knowing nothing", None].paper == 19
    assert found.monotone, [check for check in found.checks if not check.holds]
    assert len(found.checks) > 50
