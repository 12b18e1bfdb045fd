"""NS's study on small data: what is run, what is left out, and what is said of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from starshade.attack.knowledge import Knowledge
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.audit.reproduction.claims import Claim, Judged
from starshade.audit.reproduction.estimates import Estimate, Untestable
from starshade.audit.reproduction.figures import Figure, Point
from starshade.audit.reproduction.ns.bench import Bench
from starshade.audit.reproduction.ns.claims import CLAIMS, WAYS
from starshade.audit.reproduction.ns.configurations import CHOICES
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
from starshade.audit.reproduction.ns.study import Reproduction, reproduce_ns
from starshade.audit.reproduction.parts import Parts
from starshade.errors import ConfigError
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from tests.strategies import table

STARS = Scale(1, 5, 1)
ERRATA = Path(__file__).parents[3] / "docs" / "errata.md"
RUNS = 2


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return synthesize(n_users=150, n_items=700, n_ratings=9000, rng=1)


@pytest.fixture(scope="module")
def found(ratings: Ratings) -> Reproduction:
    return reproduce_ns(ratings, targets=40, runs=RUNS, rng=5)


@pytest.fixture(scope="module")
def bench(ratings: Ratings) -> Bench:
    return Bench(ratings, 40, RUNS, 5)


def figure_of(found: Reproduction, number: str) -> Figure:
    return next(figure for figure in found.figures if figure.number == number)


def judged_of(found: Reproduction, number: str) -> Judged:
    return next(each for each in found.claims if each.claim.number == number)


def test_every_figure_is_there_in_order(found: Reproduction) -> None:
    numbers = [figure.number for figure in found.figures]
    ours = ["1", "1b", "2", "3", "4", "4b", "5", "5b", "5c", *map(str, range(6, 13)), "12b"]
    assert numbers == ours
    assert [entry.figure for entry in found.skipped] == ["§5, IMDb"]
    assert all(figure.series for figure in found.figures)


def test_every_line_says_under_which_configuration_it_was_run(found: Reproduction) -> None:
    for figure in found.figures:
        for series in figure.series:
            data_as_they_are = figure.number == "7"
            assert bool(series.configuration) is not data_as_they_are, figure.number
            if series.measure == TOP1:
                assert series.configuration == "ours"
    both = {series.configuration for series in figure_of(found, "2").series}
    assert both == {"as-printed", "as-read"}
    captions = [s for s in figure_of(found, "11").series if s.configuration == "as-printed"]
    assert {s.name for s in captions} == {"days ±3", "days ±14"}


def test_choices_name_errata_that_there_are() -> None:
    text = ERRATA.read_text(encoding="utf-8").split("## Riyana")[0]
    lines = set(re.findall(r"^\| (.*?) \|", text, re.M))
    assert {choice.erratum for choice in CHOICES if choice.erratum} <= lines
    assert len({choice.key for choice in CHOICES}) == len(CHOICES)


def test_claims_are_numbered_once_and_their_ways_have_words() -> None:
    assert len({claim.number for claim in CLAIMS}) == len(CLAIMS)
    assert len({claim.says for claim in CLAIMS}) == len(CLAIMS)
    used = {way for claim in CLAIMS for way in claim.ways}
    assert used == set(WAYS)
    for claim in CLAIMS:
        assert bool(claim.lost) != (claim.measure is not None), claim.number
        assert claim.why, claim.number


def test_of_what_is_seen_in_their_ratings_only_general_laws_are_about_any() -> None:
    seen = [claim for claim in CLAIMS if claim.place.startswith("§5, Fig") and not claim.ours]
    assert {claim.number for claim in seen if not claim.about and not claim.lost} == {
        "ns-45",  # more cells known, worse ones, an absent target
        "ns-46",
        "ns-49",
    }


def test_every_way_changes_what_some_claim_measures(bench: Bench) -> None:
    @cache
    def measured(claim: Claim, way: str) -> Estimate:
        assert claim.measure is not None
        return claim.measure(bench, way)

    told = {}
    for claim in CLAIMS:
        for way in claim.ways:
            with suppress(Untestable):
                told[claim.number, way] = measured(claim, way) != measured(claim, "")
    assert len(told) > 30
    changing = {way for (_, way), changed in told.items() if changed}
    assert (
        changing == {way for _, way in told} == set(WAYS) - {"quarter"}
    )  # nobody has a near neighbour


def test_it_goes_into_json(found: Reproduction) -> None:
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["reproduces"] == "ns"
    assert told["seed"] == 5
    assert {"figures", "table", "theorems", "few_facts", "claims", "grids", "worked"} <= told.keys()
    for figure in told["figures"]:
        for series in figure["series"]:
            assert series["points"], figure["figure"]
    assert "150 users" in str(found)
    assert re.search(r"\d+ claims of the paper decided by data: \d+ hold", str(found))


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


def value(found: Reproduction, number: str, measure: str, knowledge: Knowledge) -> Point:
    points = [
        point
        for series in figure_of(found, number).series
        for point in series.points
        if series.measure == measure and point.knowledge == knowledge
    ]
    assert len({point.y for point in points}) == 1
    return points[0]


def test_points_are_what_the_attack_says(
    ratings: Ratings, found: Reproduction, bench: Bench
) -> None:
    for number, measure in (("4", SUCCESS), ("9", TOP1), ("12", TOP1)):
        series = [s for s in figure_of(found, number).series if s.measure == measure][-1]
        point = series.points[-1]
        assert point.knowledge is not None
        rates = []
        for run in range(RUNS):
            who = bench.people(point.knowledge, run)
            known = point.knowledge.draw(ratings, who, bench.seed_of(run))
            outcomes, _ = ScoreboardRH().judge(bench.view(), known)
            rates.append(
                (outcomes.success if measure == SUCCESS else outcomes.expected_top1).mean()
            )
        assert point.y == pytest.approx(np.mean(rates))
        assert point.low is not None
        assert point.high is not None
        assert point.low <= point.y <= point.high
        able = int(point.knowledge.eligible_users(ratings).sum())
        assert point.targets == RUNS * min(40, able)
        assert point.ineligible == ratings.n_users - able


def test_bits_and_absence_are_what_the_attack_says(found: Reproduction, bench: Bench) -> None:
    knowledge = Knowledge(known=4, day_error=3)
    there, gone = bench.attacked(knowledge), bench.absent(knowledge)
    bits = np.concatenate([run["bits"] for run in there])
    success = np.concatenate([run["success"] for run in there])
    named = np.concatenate([run["named"] for run in gone])
    shown = value(found, "6", BITS, knowledge)
    assert shown.y == pytest.approx(bits.mean())
    assert shown.low is not None
    assert shown.high is not None
    assert shown.low < shown.y < shown.high
    others = [run["bits"][run["success"] == 0].mean() for run in there if not run["success"].all()]
    assert value(found, "6", BITS_OF_OTHERS, knowledge).y == pytest.approx(np.mean(others))
    assert value(found, "5", NOT_FOUND, knowledge).y == pytest.approx(1 - named.mean())
    lesser = min(success.mean(), 1 - named.mean())
    assert value(found, "5", OMEGA, knowledge).y == pytest.approx(lesser)


def test_claims_say_what_the_figures_show(found: Reproduction) -> None:
    many, few = Knowledge(known=8, wrong=2, day_error=14), Knowledge(known=2, day_error=3)
    rare = replace(many, day_error=None, outside_top=500)
    for number, figure, knowledge in (("41", "4", many), ("42", "4", few), ("52", "8", rare)):
        judged = judged_of(found, f"ns-{number}")
        assert judged.found is not None
        assert judged.found.value == pytest.approx(value(found, figure, SUCCESS, knowledge).y)
        assert judged.verdict == "cannot be tested", "it speaks of Netflix"
    bits = judged_of(found, "ns-44").found
    assert bits is not None
    assert bits.value == pytest.approx(value(found, "6", BITS, many).y)
    omega = judged_of(found, "ns-47").found
    assert omega is not None
    assert omega.value == pytest.approx(value(found, "5", OMEGA, many).y)
    alone = judged_of(found, "ns-06").found
    assert alone is not None
    over = {p.x: p.y for p in figure_of(found, "1").series[0].points}
    assert 1 - over[0.5] <= alone.value <= 1 - over[0.525]


def test_what_rests_on_some_people_has_an_interval_with_width(found: Reproduction) -> None:
    of_people = [each for each in found.claims if each.found and each.found.users]
    alike = {each.claim.number for each in of_people if each.found and each.found.value in (0, 1)}
    assert {"ns-30", "ns-33"} <= alike
    for each in of_people:
        assert each.found is not None
        assert each.found.low < each.found.high, each.claim.number


def test_a_tenth_rests_on_those_who_are_in_it(found: Reproduction) -> None:
    points = {
        series.name: point
        for series in figure_of(found, "5c").series
        for point in series.points
        if point.knowledge == Knowledge(known=4)
    }
    assert points["in the tenth"].targets == points["the same people among all"].targets
    assert points["in the tenth"].targets <= RUNS * 15
    assert points["outside the tenth"].targets == RUNS * 40
    assert points["in the tenth"].y >= points["the same people among all"].y


def test_open_questions_are_tables(found: Reproduction, bench: Bench) -> None:
    off_top, theorems, facts, tenths, readings, tuning, phis, work = found.grids
    many = Knowledge(known=8, wrong=2, day_error=14)
    rows = {row[:2]: row[2] for row in readings.rows}
    assert rows[many.name, "as-printed"] != rows[many.name, "as-read"]
    right = value(found, "4", SUCCESS, many).y
    assert rows[many.name, "as-read"].startswith(f"{right:.1%} ")
    noisy = value(found, "9", SUCCESS, replace(many, rating_error=1)).y
    paper = dict(zip(tuning.head, next(r for r in tuning.rows if r[0] == "ρ0 = 1.5"), strict=True))
    assert paper["d0 = 30"].startswith(f"{noisy:.1%} ")
    by_phi = {row[0]: row[1] for row in phis.rows}
    assert by_phi["1.5"].startswith(f"{right:.1%} [")
    equal = next(row for row in phis.rows if row[0].endswith("both errors are equal"))
    missed, named = (float(cell.split("%")[0]) for cell in (equal[1], equal[3]))
    assert 100 - missed == pytest.approx(named, abs=5), "so few people make steps as large"
    assert len(tenths.rows) == 3
    cells = {name: dict(zip(work.head, (name, *row), strict=True)) for name, *row in work.rows}
    looked_at = sum(
        int(bench.ratings.item_support[many.draw(bench.ratings, who, seed).items].sum())
        for run in range(RUNS)
        for who, seed in [(bench.people(many, run), bench.seed_of(run))]
    )
    people = sum(len(bench.people(many, run)) for run in range(RUNS))
    assert cells["any items"]["8 items"] == f"{looked_at / people:,.0f}"
    shown = {row.top: row.at_least for row in found.off_top}
    assert off_top.rows[1] == (
        "500", *(f"{shown[500][n]:.1%} ({paper}%)" for n, paper in ((1, 99), (5, 90), (10, 80)))
    )  # fmt: skip
    # by hand: 0.8^73 · 480,189 < 0.05 < 0.8^72 · 480,189; 0.5^16 · 480,189 < 9
    asked = {(row[0], row[3]): row[5] for row in theorems.rows}
    assert asked["1, 2, 4", "0.2"] == "73"
    assert 480_189 * 0.8**73 < 0.05 < 480_189 * 0.8**72
    assert asked["3", "0.5"] == "16"
    assert [row[0] for row in facts.rows] == [each.strictness for each in found.few_facts]


def test_measures_that_can_be_counted_by_hand() -> None:
    rows = [{0: 5.0, 1: 3.0}, {0: 5.0, 1: 4.0, 2: 1.0}, {0: 1.0}, {2: 2.0, 3: 2.0}]
    days = [dict.fromkeys(row, 5) for row in rows]
    small = Bench(table(rows, STARS, days=days), None, 1, 0)
    numbers = {claim.number: claim.measure for claim in CLAIMS}

    def of(number: str) -> float:
        measure = numbers[f"ns-{number}"]
        assert measure is not None
        return measure(small, "").value

    assert of("01") == 2 / 4
    assert of("02") == 3
    assert of("04") == 5 / 8  # of four items one is common, with three raters
    assert of("08") == 1
    assert of("10") == 0
    assert of("12") == 1
    assert of("15") == 2
    # nearest: 2/3, 2/3, 1/2, 1/4
    assert of("06") == 0.5
    # the third in the second and the fourth in the second: half of their cells, Sims 1/3 and 1/4
    assert of("19") == 2


def test_the_same_seed_gives_the_same_and_a_kill_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ratings = synthesize(n_users=60, n_items=150, n_ratings=1200, rng=1)

    def told(parts: Parts | None) -> dict[str, Any]:
        return reproduce_ns(ratings, targets=10, runs=1, rng=1, parts=parts).to_dict() | {
            "times": 0
        }

    whole = told(None)

    class KilledError(Exception):
        pass

    make = Parts.of
    left = [25]

    def until(parts: Parts, name: str, measure: Callable[[], Any]) -> Any:
        left[0] -= 1
        if not left[0]:
            raise KilledError
        return make(parts, name, measure)

    monkeypatch.setattr(Parts, "of", until)
    with pytest.raises(KilledError):
        told(Parts(tmp_path / "parts", {"seed": 1}))
    monkeypatch.undo()
    kept = len(list((tmp_path / "parts").glob("*.part")))
    assert kept > 5
    again = told(Parts(tmp_path / "parts", {"seed": 1}))
    assert json.dumps(again) == json.dumps(whole)


def test_without_dates_figures_that_need_them_are_left_out(ratings: Ratings) -> None:
    undated = reproduce_ns(replace(ratings, days=None), targets=10, runs=1, rng=0)
    assert [figure.number for figure in undated.figures] == ["1", "1b", "2", "3", "7", "8", "11"]
    left_out = {entry.figure for entry in undated.skipped if "no dates" in entry.reason}
    assert left_out == {"1", "7", "4", "4b", "5", "5b", "5c", "6", "9", "10", "12", "12b"}
    told = judged_of(undated, "ns-47")
    assert (told.verdict, told.reason) == ("cannot be tested", "the data have no dates")
    # a column of days of which none is known says nothing either
    unknown = replace(ratings, days=np.full(ratings.n_ratings, 65_535, np.uint16))
    assert [f.number for f in reproduce_ns(unknown, targets=10, runs=1, rng=0).figures] == [
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
    found = reproduce_ns(table(rows, STARS, days=days), targets=30, runs=1, rng=0)
    assert "8" not in [figure.number for figure in found.figures]
    reasons = {entry.reason for entry in found.skipped if entry.figure == "8"}
    assert reasons == {"the data have only 7 items"}
    few = {
        entry.figure
        for entry in found.skipped
        if entry.reason == "9 users: a sample takes 20 or more"
    }
    assert few == {"1b", "5c"} == {"1b", "5c"} - {figure.number for figure in found.figures}
    eight = [entry for entry in found.skipped if entry.what.endswith("of 8")]
    assert {entry.figure for entry in eight} >= {"4", "9", "10", "12"}
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    "rows",
    [
        [{0: 3.0}, {1: 3.0}],
        [{0: 3.0, 1: 3.0, 2: 3.0}] * 3,
        [{}, {0: 1.0, 1: 5.0}, {}, dict.fromkeys(range(12), 2.0)],
    ],
    ids=["two strangers", "equal users", "empty and giant users"],
)
def test_odd_data_come_through(rows: list[dict[int, float]]) -> None:
    days = [{i: 10 * i for i in row} for row in rows]
    found = reproduce_ns(table(rows, STARS, days=days), targets=30, runs=1, rng=0)
    json.dumps(found.to_dict(), allow_nan=False)
    assert len(found.claims) == len(CLAIMS)


def test_on_other_scales_a_star_is_a_quarter_of_the_width() -> None:
    rng = np.random.default_rng(0)
    rows = [{i: round(float(rng.uniform(-10, 10)), 2) for i in range(10)} for _ in range(12)]
    days = [dict.fromkeys(row, 3) for row in rows]
    found = reproduce_ns(table(rows, Scale(-10, 10), days=days), targets=30, runs=1, rng=0)
    noisy = figure_of(found, "9")
    errors = {p.knowledge.rating_error for s in noisy.series for p in s.points if p.knowledge}
    assert errors == {5.0}
    assert "±5" in noisy.title
    assert found.data["one_star"] == 5


def test_what_cannot_be_reproduced_is_refused(ratings: Ratings) -> None:
    with pytest.raises(ConfigError, match="nothing to reproduce"):
        reproduce_ns(table([{}], STARS, n_items=1))
    with pytest.raises(ConfigError, match="targets 0"):
        reproduce_ns(ratings, targets=0)
    with pytest.raises(ConfigError, match="runs 0"):
        reproduce_ns(ratings, runs=0)


@pytest.mark.real
def test_movielens_beside_the_reference(ml100k_dir: Path) -> None:
    bench = Bench(read_ratings(ml100k_dir), None, 5, 0)
    # definitions, "reference-values": an independent implementation; SD over seeds about 0.01
    for knowledge, success, top1 in (
        (Knowledge(known=2, day_error=3), 0.374, 0.912),
        (Knowledge(known=8, wrong=2), 0.821, 0.998),
    ):
        runs = bench.attacked(knowledge)
        assert bench.rate(runs, "success").rate == pytest.approx(success, abs=0.02)
        assert bench.rate(runs, "top1").rate == pytest.approx(top1, abs=0.02)


def test_of_few_strangers_no_theorem_holds() -> None:
    found = reproduce_ns(table([{0: 3.0}, {1: 4.0}], STARS), runs=1, rng=0)
    told = {each.claim.number: each.reason for each in found.claims}
    assert told["ns-19"] == "no record has half of another record's items"
    assert told["ns-22"] == told["ns-23"] == "no more than 10 records are a line-up in any case"
