"""Riyana & Natwichai's study on small data: what is run, what is left out, what is said of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from starshade.anonymize.baselines import KMember, Mondrian
from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.tracker.tracker import TrackerAttack
from starshade.audit.attempts import seeds_of
from starshade.audit.reproduction.configurations import settings_of
from starshade.audit.reproduction.estimates import Untestable, estimate
from starshade.audit.reproduction.figures import Figure, Point, Series
from starshade.audit.reproduction.kl import readings
from starshade.audit.reproduction.kl.bench import Bench
from starshade.audit.reproduction.kl.claims import CLAIMS, WAYS
from starshade.audit.reproduction.kl.configurations import CHOICES
from starshade.audit.reproduction.kl.lines import (
    DGH_A,
    DGH_B,
    DGH_C,
    EXCHANGE,
    LIKENESS,
    MEMBER,
    MONDRIAN,
    PRINTED,
    RELAXED,
    lines_of,
)
from starshade.audit.reproduction.kl.statistics import (
    agreeing,
    asked_ratio,
    away,
    course,
    spread,
    summed,
    wider,
    worked,
)
from starshade.audit.reproduction.kl.study import GeneralizationStudy, reproduce_kl
from starshade.audit.reproduction.parts import Parts
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.utility.losses import Discernibility, GeneralizationLoss
from starshade.utility.query_error import QueryError
from tests.strategies import table

STARS = Scale(1, 5, 1)
NAMES = [LIKENESS, MEMBER, MONDRIAN, RELAXED, EXCHANGE, DGH_B, DGH_A, DGH_C, PRINTED]


@pytest.fixture(scope="module", autouse=True)
def few_draws() -> Iterator[None]:
    """Draw few times for intervals, which `test_claims.py` tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(estimate.__kwdefaults__, "draws", 40)
        yield


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return synthesize(n_users=80, n_items=30, n_ratings=900, rng=1)


@pytest.fixture(scope="module")
def found(ratings: Ratings) -> GeneralizationStudy:
    return reproduce_kl(ratings, items=top_items(4), k=[3, 2], runs=2, draws=5, rng=5)


def figure_of(found: GeneralizationStudy, number: str) -> Figure:
    (figure,) = [figure for figure in found.figures if figure.number == number]
    return figure


def line_of(found: GeneralizationStudy, number: str, measure: str, name: str) -> Series:
    (series,) = [
        s for s in figure_of(found, number).series if (s.measure, s.name) == (measure, name)
    ]
    return series


def test_every_figure_and_every_line_is_there(found: GeneralizationStudy) -> None:
    assert [f.number for f in found.figures] == [*map(str, range(10, 17)), "16a"]
    names = {series.name for series in figure_of(found, "10").series}
    assert names == {*NAMES} - {RELAXED}  # whose figures are in `losses`
    assert {row["line"] for row in found.losses[1:]} == {*NAMES}
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
    again = reproduce_kl(ratings, items=top_items(4), k=[2, 3], runs=2, draws=5, rng=5)
    assert again.queries == found.queries
    assert again.losses == found.losses
    assert again.grids == found.grids
    assert again.claims == found.claims


def test_without_a_number_to_average_there_are_no_queries(ratings: Ratings) -> None:
    bare = replace(ratings, attributes=None)
    found = reproduce_kl(bare, items=top_items(2), k=[2], runs=1, rng=1)
    assert [f.number for f in found.figures] == ["10", "11", "12", "16", "16a"]
    assert "no numeric personal attribute" in found.skipped[0].reason
    assert found.attribute is None
    assert found.queries == []


def test_what_only_one_k_shows_holds_of_no_k() -> None:
    found = reproduce_kl(table([{0: 3.0, 1: 4.0}, {1: 2.0}], Scale(1, 5, 1)), runs=1, rng=1)
    told = {each.claim.number: (each.verdict, each.reason) for each in found.claims}
    for number in ("kl-19", "kl-22", "kl-32"):
        verdict = "cannot be tested", "released only at k = 2: one point is not a curve"
        assert told[number] == verdict


def test_another_scale_has_two_halves_in_the_place_of_dgh_b() -> None:
    lines, skipped = lines_of(Scale(0.5, 5, 0.5))
    assert [line.name for line in lines] == [*NAMES[:6], PRINTED]
    assert lines[5].hierarchy == "dgh"
    assert [entry.what for entry in skipped] == [DGH_A, DGH_C]
    half_stars = table(
        [{0: 0.5 * (1 + u % 10), 1: 0.5 * (1 + u % 3)} for u in range(12)], Scale(0.5, 5, 0.5)
    )
    found = reproduce_kl(half_stars, k=[2, 3], runs=1, rng=1)
    assert {row["line"] for row in found.losses} >= {DGH_B, PRINTED}
    reasons = {each.claim.number: each.reason for each in found.claims}
    assert "scale 1-5" in reasons["kl-20"]
    assert "scale 1-5" not in reasons["kl-28"]  # over the lines that there are


def test_a_refusal_is_left_out_with_the_reason(ratings: Ratings) -> None:
    few = top_items(2).apply(ratings).keep_users(np.arange(4))
    found = reproduce_kl(few, k=[2, 4, 5], runs=1, draws=2, rng=1)
    told = [entry.what for entry in found.skipped if entry.figure == "10-12, 16"]
    assert f"{LIKENESS}, k = 5" in told
    assert len(told) == len(NAMES)
    assert any(entry.figure == "13-15" for entry in found.skipped)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"runs": 0}, "runs 0"),
        ({"draws": 0}, "draws 0"),
        ({"k": []}, r"k = \[\]: give one or more values"),
        ({"k": [1, 2]}, "2 or more"),
        ({"attribute": "Gender"}, "attribute 'Gender': not numeric"),
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
        rich, items=top_items(2), k=[2], runs=1, draws=2, attribute="Salary", rng=1
    )
    assert found.attribute == "Salary"
    assert "AVG(Salary)" in figure_of(found, "13").y_title
    assert any(row["error"] > 0 for row in found.queries)


@pytest.fixture(scope="module")
def bench(ratings: Ratings) -> Bench:
    table = top_items(4).apply(ratings)
    lines = lines_of(table.scale)[0]
    seeds = tuple(seeds_of(5, 3))
    return Bench(ratings, table, lines, (2, 3, 5), 5, seeds, Parts(), "Age", 5)


def released(bench: Bench, method: Any, k: int) -> list[Any]:
    return [
        replace(method, k=k, rare_items="keep").anonymize(bench.table, rng=seed)
        for seed in bench.seeds
    ]


def test_sums_over_k_are_those_of_the_public_measures(bench: Bench) -> None:
    dm = dict[str, float]()
    for name, method in ((LIKENESS, KLikeness(2)), (MONDRIAN, Mondrian(2))):
        found = [
            Discernibility().measure(release).figures["dm"]
            for k in bench.ks
            for release in released(bench, method, k)
        ]
        dm[name] = float(sum(each for each in found if each is not None))
    measured = summed("dm", [MONDRIAN], [LIKENESS])(bench, "")
    assert measured.value == pytest.approx(dm[MONDRIAN] / dm[LIKENESS])
    assert measured.low <= measured.value <= measured.high
    assert (measured.seeds, measured.users) == (3, bench.table.n_users)


def test_the_furthest_apart_and_the_spread_are_those_of_the_measures(bench: Bench) -> None:
    loss = {
        (name, k): np.mean(
            [
                GeneralizationLoss().measure(release, bench.table).figures["gen_iloss"] or 0
                for release in released(bench, method, k)
            ]
        )
        for name, method in ((LIKENESS, KLikeness(2)), (MEMBER, KMember(2)))
        for k in bench.ks
    }
    apart = [abs(loss[LIKENESS, k] / loss[MEMBER, k] - 1) for k in (2, 3)]
    found = away("gen_iloss", LIKENESS, MEMBER, range(2, 4))(bench, "")
    assert found.value == pytest.approx(max(apart))
    own = [loss[MEMBER, k] for k in bench.ks]
    assert spread("gen_iloss", [MEMBER])(bench, "").value == pytest.approx(max(own) / min(own))
    assert course("gen_iloss", [MEMBER], min)(bench, "").value == 1  # it rises


def test_a_way_changes_one_thing(bench: Bench) -> None:
    """A reading changes the line, not the data; the data change and no line."""
    letter = bench.under("tuples-k")
    assert letter.table is bench.table
    sizes = letter.curve(letter.line(LIKENESS), 5, 0, "size")
    assert sizes is not None
    assert np.median(sizes) == 6
    thinned = bench.under("thinned")
    assert thinned.lines == bench.lines
    assert thinned.table.n_ratings == bench.table.n_ratings // 2
    assert bench.under("anew") is bench


def test_groups_that_are_released_alike_are_one_class(bench: Bench) -> None:
    formed, line = bench.under("groups"), bench.line(DGH_C)
    for k in bench.ks:
        groups = formed.curve(formed.line(DGH_C), k, 0, "classes")
        classes = bench.curve(line, k, 0, "classes")
        assert groups is not None
        assert classes is not None
        assert groups[0] == bench.table.n_users // k
        assert classes[0] < groups[0] or k < 5


def test_with_nobody_left_over_all_classes_have_k(bench: Bench) -> None:
    even = bench.under("divisible")
    for k in bench.ks:
        sizes = even.curve(even.line(MEMBER), k, 1, "size")
        assert sizes is not None
        assert len(sizes) == bench.table.n_users // k * k
        assert (sizes % k == 0).all()
    assert [one.left for one in bench.work("divisible")] == [0, 0, 0]


def test_many_users_are_not_compared_pair_by_pair(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readings, "MOST", 70)
    many = replace(bench, parts=Parts())
    with pytest.raises(Untestable, match=f"{bench.table.n_users} records.*up to 70"):
        summed("dm", [PRINTED], [LIKENESS])(many, "")
    assert summed("dm", [MEMBER], [LIKENESS])(many, "").value > 0


def test_parts_of_another_table_are_others(bench: Bench) -> None:
    own = bench.curve(bench.line(LIKENESS), 2, 0, "loss")
    few = bench.under("few")
    other = few.curve(few.line(LIKENESS), 2, 0, "loss")
    assert own is not None
    assert other is not None
    assert (len(own), len(other)) == (bench.table.n_users, bench.table.n_users // 4)


def test_records_of_a_class_are_nearer_than_others(bench: Bench) -> None:
    part = bench.released(bench.line(LIKENESS), 3, 1)
    rows = np.nan_to_num(bench.table.dense())
    away = np.abs(rows[:, None] - rows[None]).sum(axis=2)
    same = part["class"][:, None] == part["class"][None]
    np.fill_diagonal(same, False)
    within = (away * same).sum(axis=1) / same.sum(axis=1)
    everybody = away.sum() / len(rows) / (len(rows) - 1)
    assert bench.figure(part, 3, "alike") == pytest.approx(within / everybody)


def test_errors_are_compared_where_both_were_asked(bench: Bench) -> None:
    found = asked_ratio("or", [MONDRIAN], [LIKENESS], sizes=[1, 2])(bench, "")
    errors = {
        name: [
            next(
                step.error or 0
                for step in QueryError(attribute="Age", draws=5, seed=seed)
                .measure(
                    replace(method, attributes="exact").anonymize(bench.table, rng=seed),
                    bench.table,
                )
                .steps
                if (step.kind, step.size) == ("or", size)
            )
            for size in (1, 2)
            for seed in bench.seeds
        ]
        for name, method in (
            (MONDRIAN, Mondrian(2, rare_items="keep")),
            (LIKENESS, KLikeness(2, rare_items="keep")),
        )
    }
    assert found.value == pytest.approx(sum(errors[MONDRIAN]) / sum(errors[LIKENESS]))


def test_errors_have_an_interval_over_conditions(bench: Bench) -> None:
    """One run alone has one: other conditions might have been asked."""
    one = replace(bench, seeds=bench.seeds[:1], parts=Parts())
    found = asked_ratio("or", [MONDRIAN], [LIKENESS])(one, "")
    assert found.low < found.value < found.high
    rows = [n for k, n in _conditions(one) if k == "or"]
    assert (found.seeds, found.users, found.of) == (1, sum(rows), "condition")


def _conditions(bench: Bench) -> list[tuple[str, int]]:
    part = bench.answers(bench.line(LIKENESS), 2, 0)
    return list(zip(part["kind"].tolist(), part["conditions"].tolist(), strict=True))


def test_what_is_true_or_false_of_a_user_has_wilson_s_interval(bench: Bench) -> None:
    part = bench.released(bench.line(LIKENESS), 2, 0)
    assert bench.figure(part, 2, "exact").dtype == np.bool_
    found = bench.singled_out()
    rate = TrackerAttack(conditions=4).run(bench.table).at_risk
    assert (found.value, found.users) == (rate.rate, bench.table.n_users)
    everybody = replace(bench, parts=Parts())
    everybody.parts.of("tracker ", lambda: {"who": np.ones(bench.table.n_users, np.bool_)})
    assert everybody.singled_out().low < 1


def test_more_items_are_a_release_of_their_own(bench: Bench) -> None:
    loss = [
        np.mean(
            [
                GeneralizationLoss()
                .measure(KLikeness(2, rare_items="keep").anonymize(own, rng=seed), own)
                .figures["gen_iloss"]
                or 0
                for seed in bench.seeds
            ]
        )
        for own in (bench.table, top_items(1).apply(bench.table))
    ]
    assert wider(LIKENESS)(bench, "").value == pytest.approx(loss[0] - loss[1])


def test_trends_are_those_of_loss_and_of_work(bench: Bench, monkeypatch: Any) -> None:
    assert bench.same_order(4).value == 6  # the same items
    work = Bench.work
    monkeypatch.setattr(
        Bench,
        "work",
        lambda own: [
            replace(one, likeness=-one.likeness, member=-one.member, mondrian=-one.mondrian)
            if own.changed
            else one
            for one in work(own)
        ],
    )
    assert bench.same_order(4).value == 3  # none of the work's


def test_without_a_release_nothing_is_said_of_it(bench: Bench) -> None:
    one = replace(bench, table=bench.table.keep_users(np.arange(1)), parts=Parts())
    with pytest.raises(Untestable, match="not even one group"):
        wider(LIKENESS)(one, "")


def test_what_agrees_counts_pairs_that_differ() -> None:
    assert agreeing([1, 2, 3], [5, 6, 7]) == 1
    assert agreeing([1, 2, 3], [5, 4, 7]) == pytest.approx(2 / 3)
    assert agreeing([2, 2, 3], [9, 1, 10]) == 1  # of the equal ones nothing is asked
    assert agreeing([1, 2], [3, 3]) == 0.5
    with pytest.raises(Untestable, match="one point"):
        agreeing([1], [2])


def test_work_is_judged_by_counts(bench: Bench) -> None:
    ratio = worked(lambda w: sum(x.member for x in w) / sum(x.likeness for x in w))
    kept, anew = ratio(bench, ""), ratio(bench, "anew")
    assert kept.low == kept.value == kept.high
    assert anew.value > kept.value


def test_every_claim_of_the_paper_is_there_once(found: GeneralizationStudy) -> None:
    numbers = [claim.number for claim in CLAIMS]
    assert len(set(numbers)) == len(numbers) == len(found.claims)
    assert {way for claim in CLAIMS for way in claim.ways} == set(WAYS)
    for figure in range(10, 17):
        assert any(f"Fig. {figure}" in claim.place for claim in CLAIMS)
    for claim in CLAIMS:
        assert claim.lost or (claim.measure is not None and claim.why)
    assert {"kl-13", "kl-14"} <= {claim.number for claim in CLAIMS if claim.about}


def test_claims_that_rest_on_no_ratings(found: GeneralizationStudy) -> None:
    judged = {each.claim.number: each for each in found.claims}
    for number in ("kl-01", "kl-03", "kl-04", "kl-05", "kl-08"):
        assert judged[number].verdict == "holds", number
    loss = judged["kl-06"]
    assert loss.verdict == "does not hold"
    assert loss.ours == "0.406"
    assert loss.cause == "holds when the class of four is counted as three: 0.348"
    assert judged["kl-07"].verdict == "cannot be tested"
    assert "about MovieLens 100K" in judged["kl-14"].reason


def test_every_line_says_under_which_configuration(found: GeneralizationStudy) -> None:
    lines = {s.name: s.configuration for f in found.figures for s in f.series if f.number == "10"}
    assert lines[LIKENESS] == "as-read"
    assert lines[PRINTED] == "as-printed"
    assert lines[EXCHANGE] == "ours"
    assert all(s.configuration for f in found.figures for s in f.series)
    assert settings_of(CHOICES, "as-printed")["tuples"] == "k"


def test_the_grid_has_a_row_for_each_reading(found: GeneralizationStudy) -> None:
    readings, work, lost, wrong = found.grids
    assert len(readings.rows) == 25
    named = {row[0]: row for row in readings.rows}
    assert named["k tuples join a nucleus"][1] != named["as-read"][1]
    closest = readings.rows[-1]
    assert closest[0].startswith(f"closest to even of all {13 * 7 * 4} combinations: ")
    far = [max(abs(float(end) - 1) for end in row[1].split(" to ")) for row in readings.rows]
    assert far[-1] == min(far)
    # a DGH charges the same groups more, and so k-Likeness against it less
    assert float(named["k-Member released by DGH (b)"][2]) < float(named["as-read"][2])
    assert float(named["released by DGH (b)"][2]) > float(named["as-read"][2])
    assert [row[0] for row in work.rows] == ["2", "3"]
    # every line, also the one that has no place in the figures; at every k of the paper's queries
    assert {row[0] for row in lost.rows} == {*NAMES}
    assert {row[1:3] for row in wrong.rows} == {
        (kind, k) for kind in ("AND", "OR", "range") for k in ("2", "5")
    }
    own = [r["gen_iloss"] for r in found.losses if (r["line"], r["k"]) == (RELAXED, 2)]
    (shown,) = [row[4] for row in lost.rows if row[:2] == (RELAXED, "2")]
    assert shown.startswith(f"{sum(own) / len(own):.4g}")


def test_seconds_stand_in_times_alone(found: GeneralizationStudy) -> None:
    codes = ("as printed, compiled", "as printed, interpreted", "starshade's own")
    assert list(found.times) == [f"all k, {code}" for code in codes]
    for code in found.times.values():
        one, other, ratio = code.values()
        assert ratio == pytest.approx(other / one)
    assert not any("second" in key for row in found.losses for key in row)
    assert figure_of(found, "16").unit == "seconds"
    assert figure_of(found, "16a").unit == "number"


def test_what_was_kept_is_not_measured_again(
    tmp_path: Path, ratings: Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def study() -> dict[str, Any]:
        options: dict[str, Any] = {"items": top_items(3), "k": [2], "runs": 2, "draws": 2}
        return reproduce_kl(ratings, **options, parts=Parts(tmp_path / "parts"), rng=1).to_dict()

    first = study()
    monkeypatch.setattr(Bench, "_release", None)
    monkeypatch.setattr(Bench, "_ask", None)
    again = study()
    for told in (first, again):
        told.pop("times")
        told["figures"] = [each for each in told["figures"] if each["unit"] != "seconds"]
    assert again == first


def test_it_says_whether_the_data_are_the_paper_s(found: GeneralizationStudy) -> None:
    assert found.data["paper_data"] is False
    assert "paper's own data" not in str(found)
    own = replace(found, data=found.data | {"paper_data": True})
    assert "These are the paper's own data." in str(own)
