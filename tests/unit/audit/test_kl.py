"""Riyana & Natwichai's study on small data: what is run, what is left out, what is said of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from starshade.anonymize.baselines import Mondrian
from starshade.anonymize.k_likeness import KLikeness
from starshade.audit.attempts import seeds_of
from starshade.audit.reproduction.claims import Untestable
from starshade.audit.reproduction.configurations import NAMES
from starshade.audit.reproduction.figures import Figure, Point, Series
from starshade.audit.reproduction.kl.bench import Bench
from starshade.audit.reproduction.kl.claims import CLAIMS, WAYS
from starshade.audit.reproduction.kl.configurations import CHOICES
from starshade.audit.reproduction.kl.looks import rank_correlation
from starshade.audit.reproduction.kl.readings import (
    AS_PRINTED,
    DGH_A,
    DGH_B,
    DGH_C,
    EXCHANGE,
    HALVES,
    LIKENESS,
    MEMBER,
    MONDRIAN,
    READINGS,
    lines_of,
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

pytestmark = pytest.mark.slow

LINES = [LIKENESS, MEMBER, MONDRIAN, HALVES, EXCHANGE, AS_PRINTED, DGH_B, DGH_A, DGH_C]
RAN = {"ks": [4, 3, 2], "runs": 2, "draws": 5, "rng": 5}


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return synthesize(n_users=80, n_items=30, n_ratings=900, rng=1)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parts")


@pytest.fixture(scope="module")
def found(ratings: Ratings, kept: Path) -> GeneralizationStudy:
    return reproduce_kl(ratings, items=top_items(4), parts=Parts(kept), **RAN)


@pytest.fixture
def bench(ratings: Ratings) -> Bench:
    lines, _ = lines_of(ratings.scale)
    part = top_items(4).apply(ratings)
    named = {line.name: line for line in lines}
    return Bench(part, ratings, named, (2, 3, 4), (7, 8), 5, "Age", Parts())


def figure_of(found: GeneralizationStudy, number: str) -> Figure:
    (figure,) = [figure for figure in found.figures if figure.number == number]
    return figure


def line_of(found: GeneralizationStudy, number: str, measure: str, name: str) -> Series:
    (series,) = [
        s for s in figure_of(found, number).series if (s.measure, s.name) == (measure, name)
    ]
    return series


def test_every_figure_and_every_line_is_there(found: GeneralizationStudy) -> None:
    assert {f.number for f in found.figures} == {*(str(n) for n in range(10, 17)), "16a"}
    names = list(dict.fromkeys(series.name for series in figure_of(found, "10").series))
    assert names == LINES
    asked = {(s.measure, s.name) for s in figure_of(found, "14").series}
    assert asked == {
        (f"k = {k}", name) for k in (2, 5) for name in LINES if name not in (DGH_A, DGH_C)
    }
    assert found.skipped == ()
    for figure in found.figures:
        for series in figure.series:
            assert series.configuration.startswith(tuple(NAMES)), series.name


def test_it_goes_into_json_names_nobody_and_knows_its_data(found: GeneralizationStudy) -> None:
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["reproduces"] == "kl"
    assert (told["data"]["items"], told["runs"], told["attribute"]) == (4, 2, "Age")
    assert told["data"]["paper_data"] is False
    assert "depend on the machine" in str(found)
    assert "own data" not in str(found)
    own = replace(found, data=found.data | {"paper_data": True})
    assert "paper's own data" in str(own)


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
            assert row["gen_iloss"] == pytest.approx(loss)
            assert row["c_avg"] == release.n_records / (release.manifest.classes * 3)
        measure = "methods" if name == LIKENESS else "k-Likeness under each hierarchy"
        point = line_of(found, "12", measure, name).points[2]
        losses = [row["gen_iloss"] for row in rows]
        assert point == Point(3, sum(losses) / 2, min(losses), max(losses))


def test_a_release_of_a_reading_is_measured_as_its_groups_are(bench: Bench) -> None:
    for name in (AS_PRINTED, *READINGS):
        part = bench.losses(name, 3, 7)
        release = bench.line(name).at(3).anonymize(bench.ratings, rng=7)
        loss = GeneralizationLoss().measure(release, bench.ratings).figures["gen_iloss"]
        assert part["loss"].mean() == pytest.approx(loss), name
        assert part["dm"] == Discernibility().measure(release).figures["dm"], name
    assert bench.losses(AS_PRINTED, 3, 7)["classes"] < bench.losses(LIKENESS, 3, 7)["classes"]


def test_who_is_nearer_to_the_own_class(bench: Bench) -> None:
    rows = np.nan_to_num(bench.ratings.dense())
    method = KLikeness(k=3, hierarchy="ndgh", rare_items="keep", attributes="none")
    part, release = bench.losses(LIKENESS, 3, 7), method.anonymize(bench.ratings, rng=7)
    groups = release.exact.groups
    assert 0 < part["near"].mean() <= 1
    assert groups * 3 <= len(rows)
    level, loss = part["level"].mean(), part["loss"].mean()
    assert 0 < level <= loss  # {0, 5} has a level of 1 and a width of 5


def test_the_first_point_is_the_original(found: GeneralizationStudy, ratings: Ratings) -> None:
    part = top_items(4).apply(ratings)
    distinct, sizes = np.unique(np.nan_to_num(part.dense()), axis=0, return_counts=True)
    for number, value in (
        ("10", (sizes**2).sum()),
        ("11", part.n_users / len(distinct)),
        ("12", 0),
    ):
        for series in figure_of(found, number).series:
            assert [point.x for point in series.points] == [1, 2, 3, 4]
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


def test_a_run_that_goes_on_says_the_same(
    found: GeneralizationStudy, ratings: Ratings, kept: Path
) -> None:
    for place in sorted(kept.glob("*.npz"))[::3]:
        place.unlink()
    again = reproduce_kl(ratings, items=top_items(4), parts=Parts(kept), **RAN)
    assert again.apart()[0] == found.apart()[0]
    assert {f.number for f in found.clocked} == {"16"}


def test_claims_are_each_judged_and_their_ways_known(found: GeneralizationStudy) -> None:
    assert [each.claim for each in found.claims] == list(CLAIMS)
    assert [claim.number for claim in CLAIMS] == [f"kl-{n:02d}" for n in range(1, len(CLAIMS) + 1)]
    assert {way for claim in CLAIMS for way in claim.ways} == set(WAYS)
    for each in found.claims:
        assert each.claim.lost or each.claim.why, each.claim.number
        assert bool(each.claim.measure) != bool(each.claim.lost), each.claim.number
        if each.claim.about:
            assert each.verdict == "cannot be tested"
    by_number = {each.claim.number: each for each in found.claims}
    for number in ("kl-01", "kl-02", "kl-03", "kl-08", "kl-10"):
        assert by_number[number].verdict == "holds", number
    assert by_number["kl-04"].cause.startswith("holds with the class of four")


def test_every_way_that_changes_data_or_lines_changes_something(bench: Bench) -> None:
    for way in ("filled", "thinned", "users", "twenty"):
        changed = bench.changed(way).ratings
        assert (changed.n_ratings, changed.n_users) != (
            bench.ratings.n_ratings,
            bench.ratings.n_users,
        )
    filled = bench.changed("filled").ratings
    assert filled.n_ratings == filled.n_users * filled.n_items
    before, after = bench.ratings.dense(), filled.dense()
    rated = ~np.isnan(before)
    np.testing.assert_array_equal(after[rated], before[rated])


def test_claims_under_every_way_have_an_answer_or_a_reason(bench: Bench) -> None:
    answered = set()
    for claim in CLAIMS:
        for way in claim.ways:
            try:
                estimate = claim.measure(bench, way)  # type: ignore[misc]
            except Untestable:
                continue
            assert estimate.low <= estimate.value <= estimate.high
            answered.add(way)
    assert answered == set(WAYS)


def test_grids_say_which_reading_gives_which_figure(found: GeneralizationStudy) -> None:
    readings, data, work = found.grids
    assert data.rows[0][0] == "as they are"
    assert readings.rows[0][1:] == data.rows[0][1:]
    assert len(work.rows) == 3
    for row in readings.rows:
        assert row[-1] in ("neither", "Fig. 12", "Fig. 16", "Fig. 12 and Fig. 16")
        if row[1] != "–":
            within = abs(float(row[1]) - 1) <= 0.05 and abs(float(row[2]) - 1) <= 0.05
            assert ("Fig. 12" in row[-1]) == within
            assert ("Fig. 16" in row[-1]) == (float(row[4]) > 3)


def test_times_are_apart(found: GeneralizationStudy) -> None:
    assert "forming groups alone: k-Likeness, NDGH" in found.times
    steady, times = found.apart()
    assert "seconds" not in json.dumps(steady)
    assert [figure["figure"] for figure in times["figures"]] == ["16"]


def test_choices_say_where_and_why(found: GeneralizationStudy) -> None:
    assert found.choices == CHOICES
    errata = (Path(__file__).parents[3] / "docs" / "errata.md").read_text(encoding="utf-8")
    for choice in CHOICES:
        assert not choice.erratum or f"| {choice.erratum} |" in errata, choice.erratum
        if choice.as_printed is None:
            assert choice.why


def test_without_a_number_to_average_there_are_no_queries(ratings: Ratings) -> None:
    bare = replace(ratings, attributes=None)
    found = reproduce_kl(bare, items=top_items(2), ks=[2], runs=1, rng=1)
    assert {f.number for f in found.figures} == {"10", "11", "12", "16", "16a"}
    assert "no numeric personal attribute" in found.skipped[0].reason
    assert found.attribute is None
    assert found.queries == []
    (claim,) = [each for each in found.claims if each.claim.number == "kl-36"]
    assert (claim.verdict, "no numeric" in claim.reason) == ("cannot be tested", True)


def test_another_scale_has_two_halves_in_the_place_of_dgh_b() -> None:
    lines, skipped = lines_of(Scale(0.5, 5, 0.5))
    assert [line.name for line in lines] == LINES[:7]
    assert lines[6].hierarchy == "dgh"
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
    assert len(told) == len(LINES)
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


@pytest.mark.parametrize(
    ("ys", "found"),
    [([1, 2, 3, 4], 1.0), ([4, 3, 2, 1], -1.0), ([2, 1, 4, 3], 0.6), ([5, 5, 5, 5], 0.0)],
)
def test_ranks_correlate_as_by_hand(ys: list[float], found: float) -> None:
    """1 − 6 Σd²/(n(n² − 1)): of 2, 1, 4, 3 it is 1 − 24/60."""
    assert rank_correlation([1, 2, 3, 4], ys) == pytest.approx(found)
