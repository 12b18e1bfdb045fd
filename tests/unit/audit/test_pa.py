"""The predictive paper's study on small data: what is run, and what is left out."""

from __future__ import annotations

import itertools
import json
from math import sqrt
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from starshade.anonymize.predictive import predictive
from starshade.audit.attempts import seeds_of
from starshade.audit.reproduction.claims import Judged, judge
from starshade.audit.reproduction.configurations import settings_of
from starshade.audit.reproduction.estimates import Untestable
from starshade.audit.reproduction.pa import bench as bench_module
from starshade.audit.reproduction.pa import looks, questions, released
from starshade.audit.reproduction.pa.bench import Bench
from starshade.audit.reproduction.pa.claims import CLAIMS, WAYS
from starshade.audit.reproduction.pa.configurations import (
    AT_ONCE,
    CHOICES,
    DIVIDED,
    LINES,
    OURS,
    PRINTED,
    READ,
    SIMPLE,
    WEIGHTED,
)
from starshade.audit.reproduction.pa.figures import ORIGINAL, rows_of
from starshade.audit.reproduction.pa.measures import ORIGINAL_RMSE
from starshade.audit.reproduction.pa.reproduce import reproduce_pa
from starshade.audit.reproduction.pa.result import PredictiveStudy, find
from starshade.audit.reproduction.pa.worked import worked_tables
from starshade.audit.reproduction.parts import Parts
from starshade.errors import ConfigError
from starshade.naming import speak
from starshade.ratings.holdout import hold_out
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.utility.held_out.nearest import SelfRank, SimilarUserDeviation
from starshade.utility.held_out.recommender_error import TargetDeviation
from tests.strategies import table

ERRATA = Path(__file__).parents[3] / "docs" / "errata.md"


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return synthesize(n_users=90, n_items=40, n_ratings=1500, rng=1)


@pytest.fixture(scope="module")
def found(ratings: Ratings) -> PredictiveStudy:
    return reproduce_pa(ratings, k=[9, 5], runs=2, rng=5)


def test_every_table_and_figure_is_there(found: PredictiveStudy) -> None:
    assert [figure.number for figure in found.figures] == ["3", "4", "5", "6"]
    for reading in ("release", "refit"):
        rows = [row for row in found.tables if (row.table, row.reading) == ("1", reading)]
        assert {row.line for row in rows} == set(LINES)
        assert {(row.line, row.k) for row in rows} >= {(READ, 5), (READ, 9), (PRINTED, 9)}
    assert {row.line for row in found.tables if row.table == "3"} == {PRINTED, READ, SIMPLE, OURS}
    assert [row.level for row in found.histogram] == [None, 1, 2, 3, 4, 5]
    assert found.skipped == ()
    assert [judged.claim for judged in found.claims] == list(CLAIMS)
    one, three, two, shapes, changes = found.grids[:5]
    assert [each.title.split(":")[0] for each in (one, two, three)] == [
        f"Table {n}" for n in (1, 2, 3)
    ]
    assert one.rows[0][-2:] == ("0.9518", "1.0000")
    assert [row[0] for row in two.rows] == ["null", "1", "2", "3", "4", "5"]
    assert {row[0] for row in shapes.rows} == set(LINES)
    assert "Effect of each change" in changes.title
    assert [row[0] for row in changes.rows] == list(LINES)


def test_it_goes_into_json_and_names_nobody(found: PredictiveStudy) -> None:
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["reproduces"] == "pa"
    assert (told["data"]["items"], told["runs"], told["share"]) == (40, 2, 0.1)
    assert told["tables"][0]["line"] == ORIGINAL
    assert {each["verdict"] for each in told["claims"]} <= {
        "holds", "does not hold", "cannot be tested",
    }  # fmt: skip


def test_every_line_of_a_figure_names_its_configuration(found: PredictiveStudy) -> None:
    names = {*LINES, ""}
    assert {each.configuration for figure in found.figures for each in figure.series} <= names
    before = [s for figure in found.figures for s in figure.series if "before" in s.measure]
    assert {each.configuration for each in before} == {""}  # the data as they are


def test_the_configurations_are_what_runs() -> None:
    for name in (PRINTED, READ, OURS):
        method, settings = LINES[name].at(7), settings_of(CHOICES, name)
        for key in ("dissimilarity", "clip", "biases", "factors", "grouping", "weights", "profile"):
            assert getattr(method, key) == settings[key], (name, key)
        assert (method.k, method.rare_items) == (7, "keep")
    read = LINES[READ].settings
    singles = [line for line in LINES.values() if line.name.startswith("as-read, but")]
    assert all(sum(line.settings[k] != read[k] for k in read) == 1 for line in singles)


def test_errata_that_choices_name_are_there() -> None:
    text = ERRATA.read_text("utf-8")
    chang = text[text.index("## Chang") :]
    for choice in CHOICES:
        assert not choice.erratum or f"| {choice.erratum} |" in chang, choice.key


def test_claims_are_counted_once_and_can_be_judged() -> None:
    numbers = [claim.number for claim in CLAIMS]
    assert len(set(numbers)) == len(numbers)
    for claim in CLAIMS:
        assert (claim.measure is None) == bool(claim.lost), claim.number
        assert claim.lost or (claim.why and (claim.least, claim.most) != (None, None))
        assert set(claim.ways) <= set(WAYS), claim.number


def test_claims_on_users_have_intervals_over_them(found: PredictiveStudy) -> None:
    judged = {each.claim.number: each.found for each in found.claims}
    for number in ("pa-03", "pa-04", "pa-05", "pa-11", "pa-36"):
        ours = judged[number]
        assert ours is not None
        assert (ours.users or 0) > 50, number
        assert ours.low < ours.high, number
    for number in ("pa-15", "pa-21", "pa-46", "pa-52"):  # of whole releases
        ours = judged[number]
        assert ours is None or ours.users is None, number


def test_errors_are_the_measures_of_the_releases(found: PredictiveStudy, ratings: Ratings) -> None:
    seed = seeds_of(5, 2)[1]
    train, probe = hold_out(ratings, 0.1, rng=seed)
    for name in (PRINTED, READ, SIMPLE, OURS):
        method = LINES[name].at(5)
        release = method.anonymize(train, rng=seed)
        learning: dict[str, Any] = {"recommender": method.padding(), "seed": seed}
        target = TargetDeviation(**learning).measure(release, original=train, probe=probe).figures
        similar = SimilarUserDeviation(**learning).measure(release, original=train, probe=probe)
        for table_, reading, figure in (
            ("1", "release", target["target_deviation_release"]),
            ("1", "refit", target["target_deviation_refit"]),
            ("3", "release", similar.figures["similar_user_deviation_release"]),
        ):
            (row,) = find(found.tables, table_, name, reading, 5)
            assert row.ours[1] == pytest.approx(figure, rel=1e-6), (name, table_, reading)


def test_self_ranks_are_the_measure_s(found: PredictiveStudy, ratings: Ratings) -> None:
    seed = seeds_of(5, 2)[0]
    train, probe = hold_out(ratings, 0.1, rng=seed)
    method = LINES[READ].at(5)
    release = method.anonymize(train, rng=seed)
    measure = SelfRank(recommender=method.padding(), seed=seed)
    ranks = measure.measure(release, original=train, probe=probe)
    (five,) = [figure for figure in found.figures if figure.number == "5"]
    (line,) = [s for s in five.series if (s.configuration, s.name) == (READ, "k = 5")]
    assert [point.y / 100 for point in line.points] == pytest.approx(list(ranks.within))


def twin_weighted_squares(x: np.ndarray, y: np.ndarray) -> float:
    """1 − Σ (1 − d)² / n, as PA §4.2 prints it."""
    return float(1 - ((1 - np.abs(x - y) / 4) ** 2).sum() / len(x))


@pytest.mark.parametrize("name", [PRINTED, WEIGHTED])
def test_users_of_a_bin_are_in_the_cluster_of_the_nearest_centre(name: str) -> None:
    """Two kinds of people, far apart in every cell: no group has both."""
    kinds = [{i: 1.0 + 4.0 * ((u + i) % 2) for i in range(12)} for u in range(40)]
    train = table(kinds, Scale(1, 5, 1))
    release = LINES[name].at(5).anonymize(train, rng=3)
    values = release.classes.values()  # type: ignore[union-attr]
    assert set(np.unique(values)) == {1.0, 5.0}
    assert twin_weighted_squares(values[0], values[1]) == 1.0


def test_single_lines_group_as_they_say(ratings: Ratings) -> None:
    for name in (AT_ONCE, DIVIDED, "as-read, but groups at random"):
        release = LINES[name].at(6).anonymize(ratings, rng=2)
        assert release.classes.sizes.min() >= 6
        assert release.n_records == 90
    # at random: as many groups as there can be, all of 6
    assert release.classes.sizes.tolist() == [6] * 15


def test_what_releases_look_like(found: PredictiveStudy) -> None:
    for row in found.releases:
        assert 1 <= row["groups"] <= 90 / row["k"]
        assert (row["nulls"] > 0) == (row["line"] == SIMPLE)
        if row["line"] == SIMPLE:
            assert 0 < row["one_rater"] < 1


def test_rows_are_compared_in_blocks_of_any_size(
    ratings: Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_new_bench() -> dict[str, Any]:
        bench = Bench(ratings, (5,), (3,), 0.1, Parts(), tuple(LINES))
        return {name: value.tolist() for name, value in questions.readings(bench, 5, 3).items()}

    whole = of_new_bench()
    monkeypatch.setattr(questions, "_CELLS", 1)
    assert of_new_bench() == whole
    # a cell that is shown is read alike under every reading of a null
    own = {fill: np.array(whole[f"{questions.OWN} | {fill}"]) for fill in questions.FILLS}
    assert (own["left out"] <= np.minimum.reduce(list(own.values())) + 1e-9).all()


def test_a_recommender_may_learn_from_some_profiles(
    ratings: Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(released, "REFIT_CELLS", 6 * 40)
    bench = Bench(ratings, (5,), (3,), 0.1, Parts(), tuple(LINES))
    part = bench.release(READ, 5, 3)
    assert 0 < part["refit_n"].sum() < part["n"].sum()
    assert (part["refit_n"] <= part["n"]).all()


def test_few_are_compared_with_every_profile_and_held_against_their_own_errors(
    ratings: Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(released, "_LEAST", 5)
    monkeypatch.setattr(released, "_NEAR", 1)
    bench = Bench(ratings, (5,), (3,), 0.1, Parts(), (READ,))
    part = bench.release(READ, 5, 3)
    asked = part["asked"] > 0
    assert asked.sum() == 5
    assert part["near_original"].sum() == pytest.approx(part["original"][asked].sum())
    assert part["near_n"].sum() == part["n"][asked].sum() < part["n"].sum()
    (three,) = [row for row in rows_of(bench, [(READ, 5)]) if row.table == "3"]
    theirs = sqrt(part["original"][asked].sum() / part["n"][asked].sum())
    assert three.base == (pytest.approx(theirs),)


def test_what_compares_every_cell_is_run_on_drawn_users(
    ratings: Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_module, "_DRAWN", 40)
    bench = Bench(ratings, (5,), (3,), 0.1, Parts(), (PRINTED, READ))
    records = [float(bench.release(name, 5, 3)["records"][0]) for name in (PRINTED, READ, PRINTED)]
    assert records[::2] == [40, 40]
    assert records[1] > 80  # of 90


def test_lines_that_group_alike_group_once(ratings: Ratings) -> None:
    bench, grouped = Bench(ratings, (5,), (3,), 0.1, Parts(), tuple(LINES)), []
    of = bench.parts.of
    bench.parts.of = lambda name, make: of(name, lambda: grouped.append(name) or make())  # type: ignore[method-assign]
    for name in (READ, SIMPLE, OURS):
        bench.release(name, 5, 3)
    made = [name for name in grouped if name.startswith("all: groups")]
    assert made == [f"all: groups of {name}, k = 5, seed 3" for name in (READ, OURS)]


def test_links_are_counted_some_groups_at_a_time(
    ratings: Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def links() -> dict[str, list[float]]:
        bench = Bench(ratings, (5,), (3,), 0.1, Parts(), tuple(LINES))
        return {name: value.tolist() for name, value in looks.links(bench, SIMPLE, 5, 3).items()}

    whole = links()
    assert whole["links"][0] > whole["above"][0] > 0
    monkeypatch.setattr(looks, "_CELLS", 1)
    assert links() == {name: pytest.approx(value) for name, value in whole.items()}


def test_a_killed_run_goes_on(ratings: Ratings, tmp_path: Path) -> None:
    few = ratings.keep_users(np.arange(24))
    kept = tmp_path / "parts"
    first = reproduce_pa(few, k=[8], runs=1, rng=5, parts=Parts(kept))
    places = sorted(kept.glob("*.part"))
    for place in places[::2]:
        place.unlink()
    again = reproduce_pa(few, k=[8], runs=1, rng=5, parts=Parts(kept))
    told = [each.to_dict() | {"times": {}} for each in (first, again)]
    assert json.dumps(told[0]) == json.dumps(told[1])


def test_a_point_is_the_mean_of_the_runs(found: PredictiveStudy) -> None:
    (row,) = find(found.tables, "1", OURS, "release", 5)
    (six,) = [figure for figure in found.figures if figure.number == "6"]
    (line,) = [
        s for s in six.series if (s.configuration, s.measure) == (OURS, "read from the release")
    ]
    ratios = [mine / base for mine, base in zip(row.ours, row.base, strict=True)]
    point = line.points[0]
    assert (point.x, point.y, point.low, point.high) == (5, fmean(ratios), *sorted(ratios))


def test_the_original_is_a_recommender_on_what_was_not_held_out(
    found: PredictiveStudy, ratings: Ratings
) -> None:
    (row,) = find(found.tables, "1", ORIGINAL, "original")
    assert row.paper == ORIGINAL_RMSE
    for seed, rmse in zip(seeds_of(5, 2), row.ours, strict=True):
        train, probe = hold_out(ratings, 0.1, rng=seed)
        fitted = LINES[READ].at(5).padding().fit(train, rng=seed)
        users = np.repeat(np.arange(90), probe.user_support)
        known = train.user_support[users] > 0  # others are not in any release
        predicted = fitted.predict(users[known], probe.columns[known])
        off = (predicted - probe.values()[known]) ** 2
        assert rmse == pytest.approx(sqrt(off.mean()))


def test_a_refusal_is_left_out_with_the_reason() -> None:
    few = synthesize(n_users=8, n_items=20, n_ratings=100, rng=1)
    found = reproduce_pa(few, k=[4, 50], runs=1, rng=1)
    told = {entry.what: entry.reason for entry in found.skipped}
    assert {f"{name}, k = 50" for name in (PRINTED, READ, SIMPLE, OURS)} <= set(told)
    assert {row.k for row in found.tables} == {None, 4}
    with speak(lambda setting, value: f"--{setting}"):
        again = reproduce_pa(few, k=[4, 50], runs=1, rng=1)
    assert again.skipped == found.skipped  # in no door's words
    assert "--" not in str([each.reason for each in again.claims])


def test_a_k_that_leaves_few_groups_is_left_out_of_claims(ratings: Ratings) -> None:
    over_k = [claim for claim in CLAIMS if claim.number in ("pa-12", "pa-14", "pa-44")]

    def judged(*ks: int) -> list[Judged]:
        few = ratings.keep_users(np.arange(50))
        bench = Bench(few, ks, (3,), 0.1, Parts(), (READ, SIMPLE))
        return list(judge(over_k, bench, data="", ways=WAYS))

    assert [each.found for each in judged(5, 25)] == [each.found for each in judged(5)]
    assert {each.reason for each in judged(25)} == {
        "every k leaves fewer than 10 groups of these users"
    }
    small = reproduce_pa(ratings.keep_users(np.arange(30)), k=[2, 15], runs=1, rng=1)
    assert "k = 15" in {entry.what for entry in small.skipped if entry.figure == "claims"}


def test_what_two_people_both_rated() -> None:
    rng = np.random.default_rng(4)
    rows = [
        {int(i): 3.0 for i in rng.choice(15, rng.integers(3, 9), replace=False)} for _ in range(12)
    ]
    bench = Bench(table(rows, Scale(1, 5, 1)), (2,), (3,), 0.1, Parts(), tuple(LINES))
    train, _ = bench.held(3)
    sets = [set(train.columns[a:b].tolist()) for a, b in itertools.pairwise(train.indptr)]
    pairs = [len(a & b) / len(a | b) for a, b in itertools.combinations(sets, 2)]
    assert looks.overlap(bench, 3)["overlap"].mean() == pytest.approx(fmean(pairs))


def test_a_sample_represents_others_where_there_are_others(ratings: Ratings) -> None:
    many = synthesize(n_users=600, n_items=20, n_ratings=6000, rng=1)
    found = looks.represented(Bench(many, (5,), (3,), 0.1, Parts(), tuple(LINES)), READ, 3)
    assert 0.5 < found["outside"][0] / found["inside"][0] < 2
    with pytest.raises(Untestable, match="the sample holds all of them"):
        looks.represented(Bench(ratings, (5,), (3,), 0.1, Parts(), tuple(LINES)), READ, 3)


def test_half_stars_and_real_scales() -> None:
    rows = [{i: 0.5 * (1 + (u * i) % 10) for i in range(u % 3, 12)} for u in range(24)]
    found = reproduce_pa(table(rows, Scale(0.5, 5, 0.5)), k=[4], runs=1, rng=1)
    assert len(found.histogram) == 11
    rows = [{i: 0.37 * ((u * i) % 10) for i in range(u % 3, 12)} for u in range(24)]
    found = reproduce_pa(table(rows, Scale(-10, 10)), k=[4], runs=1, rng=1)
    assert found.histogram == ()
    assert "without steps" in " ".join(each.reason for each in found.skipped)
    assert found.tables


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"runs": 0}, "runs 0"),
        ({"k": []}, r"k = \[\]: give one or more values"),
        ({"k": [1]}, "2 or more"),
        ({"share": 1.5}, "share"),
    ],
)
def test_what_is_wrong_is_refused(ratings: Ratings, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        reproduce_pa(ratings, **arguments)


def test_without_ratings_there_is_nothing() -> None:
    with pytest.raises(ConfigError, match="nothing to reproduce"):
        reproduce_pa(table([{}, {}], Scale(1, 5, 1), n_items=2))


def test_where_everybody_rated_one_item_nothing_is_predicted_and_nobody_attacked() -> None:
    rated = table([{u % 5: 1.0 + u % 4} for u in range(30)], Scale(1, 5, 1))
    found = reproduce_pa(rated, k=[2, 40], runs=1, rng=3)
    left = {entry.what: entry.reason for entry in found.skipped}
    assert left["attacks"].startswith("no people to attack")
    assert left["ours, k = 40"].startswith("records = ")
    assert "original" not in {row.line for row in found.tables}


def test_without_data_ratings_are_made_up() -> None:
    found = reproduce_pa(n_users=60, n_items=40, k=[5], runs=1, rng=1)
    assert found.data["synthetic"] is True
    assert (found.data["users"], found.data["items"]) == (60, 40)


def test_the_small_examples_are_the_paper_s() -> None:
    for worked in worked_tables():
        assert worked.equal == worked.cells or "Netflix" in worked.title, worked.number


@pytest.mark.parametrize("dependent", [True, False])
def test_theorems_on_links_are_judged_where_ratings_are_independent(dependent: bool) -> None:
    rng, share = np.random.default_rng(2), np.linspace(0.04, 0.4, 20)
    # one in ten rates all the more, so that who rated an item rated others: 6.3 then fails
    eager = np.where(np.arange(80) % 10, 0.1, 9)[:, None] if dependent else np.ones((80, 1))
    rated = rng.random((80, 20)) < share * eager
    rows = [{int(i): float(rng.integers(1, 6)) for i in np.flatnonzero(r)} for r in rated]
    bench = Bench(table(rows, Scale(1, 5, 1)), (4,), (3,), 0.1, Parts(), tuple(LINES))
    asked = [claim for claim in CLAIMS if claim.number in ("pa-40", "pa-41")]
    link, prior = judge(asked, bench, data="", ways=WAYS)
    assert (link.verdict, prior.met) == ("does not hold", True)
    assert link.cause.startswith("holds as the proof has it: at least 1/k: 0")
    as_they_are = looks.links(bench, SIMPLE, 4, 3)
    assert (as_they_are["rare_true"] > as_they_are["rare_bound"]) == dependent


@pytest.mark.parametrize(
    ("halves", "right"),
    [
        (({0: 3.0, 1: 3.0}, {0: 3.0, 1: 3.0}), 1),
        (({0: 5.0, 1: 1.0}, {0: 1.0, 1: 5.0}), 0),  # 3 is nobody's rating
        (({0: 3.0}, {1: 3.0}), 1),  # of two links shown each has one
    ],
)
def test_what_simple_shows_is_so_where_link_and_rating_are(halves: Any, right: int) -> None:
    ratings = table([halves[u % 2] for u in range(40)], Scale(1, 5, 1))
    bench = Bench(ratings, (30,), (3,), 0.1, Parts(), tuple(LINES))
    train = bench.held(3)[0]
    shown = 2 * int((train.user_support > 0).sum())  # both items, of all in the one group
    (claim,) = (claim for claim in CLAIMS if claim.number == "pa-57")
    assert claim.measure is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Bench, "judged_ks", (30,))  # one group of all
        for refusal in ("refuse_one_group", "refuse_one_profile"):
            patch.setattr(predictive, refusal, lambda *_: None)
        found = claim.measure(bench, "").value
    assert found == pytest.approx(1 - right * train.n_ratings / shown)


def test_ratings_as_sparse_as_netflix_s() -> None:
    full = table([dict.fromkeys(range(60), 3.0)] * 60, Scale(1, 5, 1))
    bench = Bench(full, (5,), (3,), 0.1, Parts(), tuple(LINES))
    sparse = bench.changed("sparse")
    # 100,480,507 of 480,189 x 17,770 cells are rated: 42.4 of 3,600
    assert sparse.ratings.n_ratings in (42, 43)
    assert sparse.ratings.n_users == 60
    with pytest.raises(Untestable, match="as sparse"):
        sparse.changed("sparse")


def test_of_constant_ratings_nothing_is_divided_by_no_error() -> None:
    rated = table([dict.fromkeys(range(u % 4, 9), 3.0) for u in range(30)], Scale(1, 5, 1))
    found = reproduce_pa(rated, k=[2], runs=1, rng=3)
    assert "6" not in {figure.number for figure in found.figures}
    assert found.tables == ()
    left = {entry.figure: entry.reason for entry in found.skipped}
    assert left["4"].startswith("as-read, k = 2: all profiles are equal")
