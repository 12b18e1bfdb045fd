"""Riyana & Natwichai's study on small data: what is run, what is left out, what is said of it."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from starshade.anonymize.baselines import Mondrian
from starshade.anonymize.k_likeness import KLikeness
from starshade.audit.attempts import seeds_of
from starshade.audit.reproduction.figures import Figure, Point, Series
from starshade.audit.reproduction.kl.checks import check_figures
from starshade.audit.reproduction.kl.measured import (
    DGH_A,
    DGH_B,
    DGH_C,
    EXCHANGE,
    LIKENESS,
    MEMBER,
    MONDRIAN,
    RELAXED,
    lines_of,
)
from starshade.audit.reproduction.kl.study import GeneralizationStudy, reproduce_kl
from starshade.audit.reproduction.study import Check, told_apart
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.utility.losses import Discernibility, GeneralizationLoss
from starshade.utility.query_error import QueryError
from tests.strategies import table

pytestmark = pytest.mark.slow

STARS = Scale(1, 5, 1)
NAMES = [LIKENESS, MEMBER, MONDRIAN, RELAXED, EXCHANGE, DGH_B, DGH_A, DGH_C]


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return synthesize(n_users=80, n_items=30, n_ratings=900, rng=1)


@pytest.fixture(scope="module")
def found(ratings: Ratings) -> GeneralizationStudy:
    return reproduce_kl(ratings, items=top_items(4), ks=[3, 2], runs=2, draws=5, rng=5)


def figure_of(found: GeneralizationStudy, number: str) -> Figure:
    (figure,) = [figure for figure in found.figures if figure.number == number]
    return figure


def line_of(found: GeneralizationStudy, number: str, measure: str, name: str) -> Series:
    (series,) = [
        s for s in figure_of(found, number).series if (s.measure, s.name) == (measure, name)
    ]
    return series


def test_every_figure_and_every_line_is_there(found: GeneralizationStudy) -> None:
    assert [f.number for f in found.figures] == [str(n) for n in range(10, 17)]
    names = list(dict.fromkeys(series.name for series in figure_of(found, "10").series))
    assert names == NAMES
    asked = {(s.measure, s.name) for s in figure_of(found, "14").series}
    assert asked == {
        (f"k = {k}", name) for k in (2, 5) for name in NAMES if name not in (DGH_A, DGH_C)
    }
    assert found.skipped == ()


def test_it_goes_into_json_and_names_nobody(found: GeneralizationStudy) -> None:
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["reproduces"] == "kl"
    assert (told["data"]["items"], told["runs"], told["attribute"]) == (4, 2, "Age")
    assert "depend on the machine" in str(found)


def test_losses_are_the_measures_of_the_releases(
    found: GeneralizationStudy, ratings: Ratings
) -> None:
    part = top_items(4).apply(ratings)
    seeds = seeds_of(5, 2)
    assert len(set(seeds)) == 2
    for name, hierarchy in ((LIKENESS, "ndgh"), (DGH_A, "dgh-a")):
        rows = [row for row in found.losses if (row["line"], row["k"]) == (name, 3)]
        assert [row["run"] for row in rows] == [1, 2]
        for row, seed in zip(rows, seeds, strict=True):
            method = KLikeness(k=3, hierarchy=hierarchy, rare_items="keep")
            release = method.anonymize(part, rng=seed)
            assert row["dm"] == Discernibility().measure(release).figures["dm"]
            loss = GeneralizationLoss().measure(release, part).figures["gen_iloss"]
            assert row["gen_iloss"] == loss
            assert row["c_avg"] == release.n_records / (release.manifest.classes * 3)
            assert row["grouping_seconds"] > 0
            assert row["seconds"] > 0
        measure = "methods" if name == LIKENESS else "k-Likeness under each hierarchy"
        point = line_of(found, "12", measure, name).points[2]
        losses = [row["gen_iloss"] for row in rows]
        assert point == Point(3, sum(losses) / 2, min(losses), max(losses))


def test_the_first_point_is_the_original(found: GeneralizationStudy, ratings: Ratings) -> None:
    part = top_items(4).apply(ratings)
    distinct, sizes = np.unique(np.nan_to_num(part.dense()), axis=0, return_counts=True)
    for number, value in (
        ("10", (sizes**2).sum()),
        ("11", part.n_users / len(distinct)),
        ("12", 0),
    ):
        for series in figure_of(found, number).series:
            assert [point.x for point in series.points] == [1, 2, 3]
            assert series.points[0].y == value


def test_errors_are_those_of_the_queries(found: GeneralizationStudy, ratings: Ratings) -> None:
    part = top_items(4).apply(ratings)
    seed = seeds_of(5, 2)[1]
    method = Mondrian(k=5, hierarchy="range", rare_items="keep", attributes="exact")
    measure = QueryError(attribute="Age", draws=5, seed=seed)
    steps = measure.measure(method.anonymize(part, rng=seed), part).steps
    rows = {
        (row["kind"], row["size"]): row
        for row in found.queries
        if (row["line"], row["k"], row["run"]) == (MONDRIAN, 5, 2)
    }
    assert rows.keys() == {(step.kind, step.size) for step in steps}
    for step in steps:
        row = rows[step.kind, step.size]
        assert (row["error"], row["error_of_truth"]) == (step.error, step.error_of_truth)
        assert row["conditions"] == step.conditions
    assert [p.x for p in line_of(found, "13", "k = 2", LIKENESS).points] == [1, 2, 3, 4]
    assert [p.x for p in line_of(found, "15", "k = 2", LIKENESS).points] == [0, 1, 2, 3, 4, 5]


def test_the_same_seed_finds_the_same(found: GeneralizationStudy, ratings: Ratings) -> None:
    again = reproduce_kl(ratings, items=top_items(4), ks=[2, 3], runs=2, draws=5, rng=5)
    assert again.queries == found.queries
    for row, other in zip(again.losses, found.losses, strict=True):
        own = {key: value for key, value in row.items() if not key.endswith("seconds")}
        assert own == {key: other[key] for key in own}


def test_without_a_number_to_average_there_are_no_queries(ratings: Ratings) -> None:
    bare = replace(ratings, attributes=None)
    found = reproduce_kl(bare, items=top_items(2), ks=[2], runs=1, rng=1)
    assert [f.number for f in found.figures] == ["10", "11", "12", "16"]
    assert "no numeric personal attribute" in found.skipped[0].reason
    assert found.attribute is None
    assert found.queries == []


def test_another_scale_has_two_halves_in_the_place_of_dgh_b() -> None:
    lines, skipped = lines_of(Scale(0.5, 5, 0.5))
    assert [line.name for line in lines] == NAMES[:6]
    assert lines[5].hierarchy == "dgh"
    assert [entry.what for entry in skipped] == [DGH_A, DGH_C]
    half_stars = table(
        [{0: 0.5 * (1 + u % 10), 1: 0.5 * (1 + u % 3)} for u in range(12)], Scale(0.5, 5, 0.5)
    )
    found = reproduce_kl(half_stars, ks=[2], runs=1, rng=1)
    assert found.losses[-1]["line"] == DGH_B


def test_a_refusal_is_left_out_with_the_reason(ratings: Ratings) -> None:
    few = top_items(2).apply(ratings).keep_users(np.arange(4))
    found = reproduce_kl(few, ks=[2, 4, 5], runs=1, draws=2, rng=1)
    told = [entry.what for entry in found.skipped if entry.figure == "10-12, 16"]
    assert f"{LIKENESS}, k = 5" in told
    assert len(told) == len(NAMES)
    assert any(entry.figure == "13-15" for entry in found.skipped)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"runs": 0}, "runs 0"),
        ({"draws": 0}, "draws 0"),
        ({"ks": []}, "at least one"),
        ({"ks": [1, 2]}, "2 or more"),
        ({"attribute": "Gender"}, "is text"),
        ({"items": top_items(31)}, "30 items"),
    ],
)
def test_what_is_wrong_is_refused(ratings: Ratings, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        reproduce_kl(ratings, **arguments)


def test_an_attribute_may_be_chosen(ratings: Ratings) -> None:
    people = pa.table({"Age": [30.0] * 80, "Salary": np.arange(80, dtype=np.float64)})
    rich = replace(ratings, attributes=people)
    found = reproduce_kl(
        rich, items=top_items(2), ks=[2], runs=1, draws=2, attribute="Salary", rng=1
    )
    assert found.attribute == "Salary"
    assert "AVG(Salary)" in figure_of(found, "13").y_title
    assert any(row["error"] > 0 for row in found.queries)


def points(*ys: float, first: int = 1, spread: float = 0.0) -> tuple[Point, ...]:
    return tuple(Point(first + i, y, y - spread, y + spread) for i, y in enumerate(ys))


def figure(number: str, measure: str = "methods", **lines: tuple[Point, ...]) -> Figure:
    named = {"likeness": LIKENESS, "member": MEMBER, "mondrian": MONDRIAN, "ours": EXCHANGE,
             "a": DGH_A, "b": DGH_B, "c": DGH_C}  # fmt: skip
    series = tuple(Series(named[name], measure, line) for name, line in lines.items())
    return Figure(number, "t", "x", "y", "number", series)


def judged(figure: Figure, says: str, where: str) -> Check:
    (check,) = [
        check
        for check in check_figures([figure])
        if says in check.says and check.where.endswith(where)
    ]
    return check


def test_dm_is_judged_line_by_line() -> None:
    fig = figure(
        "10",
        likeness=points(10, 20, 30, 40),
        member=points(10, 20, 31, 51),
        mondrian=points(10, 35, 34, 50),
        c=points(10, 30, 60, 90),
        b=points(10, 20, 30, 41),
        a=points(10, 20, 30, 45),
    )
    assert judged(fig, "increased when the k", LIKENESS).holds
    falls = judged(fig, "increased when the k", MONDRIAN)
    assert not falls.holds
    assert "1 plainly fall" in falls.ours
    assert judged(fig, "higher impact … than the other", f"{LIKENESS} – {MONDRIAN}").holds
    assert not judged(fig, "higher impact … than the other", f"{MEMBER} – {MONDRIAN}").holds
    beaten = judged(fig, "higher impact … than the other", f"{DGH_C} – {MONDRIAN}")
    assert not beaten.holds
    assert "1 of 3" in beaten.ours
    assert judged(fig, "lowest impact", f"{LIKENESS} – {MEMBER}").holds
    assert not judged(fig, "comparable", MEMBER).holds  # 40 against 51
    assert not judged(fig, "data utility is higher", f"{DGH_B} – {DGH_A}").holds  # equal at 2, 3
    assert judged(fig, "data utility is higher", f"{DGH_B} – {DGH_C}").holds


def test_runs_that_overlap_neither_rise_nor_fall() -> None:
    ups_and_downs = points(10, 20, 19, 40, spread=2)
    assert judged(figure("10", likeness=ups_and_downs), "increased", LIKENESS).holds
    flat = points(10, 11, 10, 11, spread=2)
    assert not judged(figure("10", likeness=flat), "increased", LIKENESS).holds


def test_c_avg_is_judged_without_the_original() -> None:
    fig = figure(
        "11",
        likeness=points(9, 1.0, 1.01, 1.02),
        member=points(9, 1.0, 1.0, 1.09),
        mondrian=points(9, 1.2, 1.3, 1.6),
        ours=points(9, 1.0, 1.2, 1.0),
    )
    assert judged(fig, "rather stable", LIKENESS).holds
    assert not judged(fig, "rather stable", MONDRIAN).holds
    assert not judged(fig, "very close", MEMBER).holds  # 1.02 against 1.09
    assert judged(fig, "rather high", f"{LIKENESS} – {MONDRIAN}").holds
    assert judged(fig, "close to the optimal point", MEMBER).holds
    ours = judged(fig, "ours: close to 1", EXCHANGE)
    assert ours.is_ours
    assert not ours.holds


def test_loss_is_the_same_only_from_2_to_7() -> None:
    member = points(0, *(1.0,) * 9)
    fig = figure("12", likeness=points(0, *(1.04,) * 6, 2, 2, 2), member=member)
    assert judged(fig, "same data utility", MEMBER).holds
    fig = figure("12", likeness=points(0, *(1.04,) * 5, 1.06, 2, 2, 2), member=member)
    same = judged(fig, "same data utility", MEMBER)
    assert not same.holds
    assert "+4 to +6 %" in same.ours
    fig = figure("12", ours=points(0, 0.9, 1.1), member=points(0, 1, 1.2), likeness=points(0, 1, 1))
    assert judged(fig, "ours: k-exchange below", f"{EXCHANGE} – {MEMBER}").holds
    assert not judged(fig, "ours: k-exchange below", f"{EXCHANGE} – {LIKENESS}").holds


def test_queries_are_judged_at_the_papers_k() -> None:
    lines = {
        "likeness": points(3.9, 2, 1),
        "member": points(4.2, 2.5, 0.9),
        "ours": points(3, 2, 1),
    }
    fig = figure("13", "k = 2", **lines)
    assert judged(fig, "less than 4 %", LIKENESS).holds
    assert judged(fig, "the more attributes", LIKENESS).holds
    assert not judged(fig, "outperforms", f"{LIKENESS} – {MEMBER}").holds
    assert judged(fig, "it on average", f"{EXCHANGE} – {MEMBER}").ours == "2 against 2.53 %"
    other = check_figures([figure("13", "k = 5", **lines)])
    assert other
    assert all(check.is_ours for check in other)
    assert not judged(figure("14", "k = 2", **lines), "also increased", LIKENESS).holds


def test_ranges_are_limited_above_a_width_of_one() -> None:
    wide = figure("15", "k = 2", likeness=points(4, 3, 0.9, 0.8, first=0))
    assert judged(wide, "less than 1.0 %", LIKENESS).holds
    wide = figure("15", "k = 2", likeness=points(4, 3, 1.1, 0.8, first=0))
    assert not judged(wide, "less than 1.0 %", LIKENESS).holds


def test_times_differ_when_a_tenth_apart() -> None:
    whole = "from ratings to release"
    fig = figure(
        "16",
        whole,
        likeness=points(0.10, 0.095, 0.06, first=2),
        member=points(0.40, 0.30, 0.20, first=2),
        mondrian=points(0.05, 0.052, 0.07, first=2),
    )
    assert judged(fig, "is decreased", LIKENESS).holds
    assert not judged(fig, "is decreased", MONDRIAN).holds
    assert not judged(fig, "is increased", MEMBER).holds
    faster = judged(fig, "more than three times", whole)
    assert faster.holds  # 0.9 s against 0.255 s
    assert "3.5 times as fast over all k (3.2 to 4)" in faster.ours
    assert not judged(fig, "most efficient", f"{MONDRIAN} – {LIKENESS}").holds


def test_every_check_of_the_study_says_something(found: GeneralizationStudy) -> None:
    numbers = [int(check.figure) for check in found.checks]
    assert all(a <= b for a, b in pairwise(numbers))
    assert set(numbers) == set(range(10, 17))
    assert all(check.ours and check.where for check in found.checks)
    assert any(check.is_ours for check in found.checks)


def test_the_paper_s_sentences_and_our_claims_are_counted_apart(found: GeneralizationStudy) -> None:
    said = [("“rises”", True), ("“falls”", False), ("ours: below", False), ("ours: near", True)]
    checks = [Check("12", says, "k", "figures", holds) for says, holds in [*said, said[2]]]
    text = told_apart(checks)
    assert "in 2 places; it holds in 1." in text
    assert "Our own claims were held in 3 places; they hold in 1." in text
    assert "Our own" not in told_apart(checks[:2])
    assert told_apart(found.checks) in str(found)
