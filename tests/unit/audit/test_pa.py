"""The predictive paper's study on small data: what is run, and what is left out."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any, cast

import numpy as np
import pytest

from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.audit.attempts import seeds_of
from starshade.audit.reproduction.pa import measured
from starshade.audit.reproduction.pa.measured import (
    LINES,
    MODEL,
    ORIGINAL,
    PADDED,
    SIMPLE,
    measure_errors,
)
from starshade.audit.reproduction.pa.reproduce import reproduce_pa
from starshade.audit.reproduction.pa.result import PredictiveStudy, find
from starshade.errors import ConfigError
from starshade.ratings.holdout import hold_out
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.utility.held_out.nearest import SimilarUserDeviation
from starshade.utility.held_out.recommender_error import TargetDeviation, errors_of
from tests.strategies import table

pytestmark = pytest.mark.slow

NAMES = [line.name for line in LINES]


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return synthesize(n_users=90, n_items=40, n_ratings=1500, rng=1)


@pytest.fixture(scope="module")
def found(ratings: Ratings) -> PredictiveStudy:
    return reproduce_pa(ratings, ks=[10, 5], runs=2, rng=5)


def test_every_table_and_figure_is_there(found: PredictiveStudy) -> None:
    assert [figure.number for figure in found.figures] == ["3", "4", "5", "6"]
    for reading in ("release", "refit"):
        rows = [row for row in found.tables if (row.table, row.reading) == ("1", reading)]
        assert [(row.line, row.k) for row in rows] == [(name, k) for name in NAMES for k in (5, 10)]
    assert {row.line for row in found.tables if row.table == "3"} >= {PADDED, SIMPLE}
    assert [row.level for row in found.histogram] == [None, 1, 2, 3, 4, 5]
    assert found.skipped == ()


def test_it_goes_into_json_and_names_nobody(found: PredictiveStudy) -> None:
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["reproduces"] == "pa"
    assert (told["data"]["items"], told["runs"], told["share"]) == (40, 2, 0.1)
    assert told["tables"][0]["line"] == ORIGINAL


def test_the_original_is_a_recommender_on_what_was_not_held_out(
    found: PredictiveStudy, ratings: Ratings
) -> None:
    (row,) = find(found.tables, "1", ORIGINAL, "original")
    assert row.paper == measured.ORIGINAL_RMSE
    for seed, rmse in zip(seeds_of(5, 2), row.ours, strict=True):
        train, probe = hold_out(ratings, 0.1, rng=seed)
        fitted = PredictiveAnonymizer(k=5).padding().fit(train, rng=seed)
        users = np.repeat(np.arange(90), probe.user_support)
        known = train.user_support[users] > 0  # others are not in any release
        predicted = fitted.predict(users[known], probe.columns[known])
        error = errors_of(predicted, probe.values()[known])
        assert error is not None
        assert rmse == pytest.approx(error[0])


def test_errors_are_the_measures_of_the_releases(found: PredictiveStudy, ratings: Ratings) -> None:
    seed = seeds_of(5, 2)[1]
    train, probe = hold_out(ratings, 0.1, rng=seed)
    by_name = {line.name: line for line in LINES}
    for name in (PADDED, SIMPLE, MODEL):
        line, profile = by_name[name], {PADDED: "padded", SIMPLE: "simple", MODEL: "model"}[name]
        method = PredictiveAnonymizer(
            k=5, profile=cast(Any, profile), rare_items="keep", **line.settings
        )
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
            assert row.ours[1] == pytest.approx(figure), (name, table_, reading)
            theirs = measured.TARGET if table_ == "1" else measured.SIMILAR_USER
            assert row.paper == (theirs.get((name, 5)) if reading == "release" else None)


def test_what_releases_look_like(found: PredictiveStudy) -> None:
    assert [(row["line"], row["k"]) for row in found.releases] == [
        (name, k) for name in NAMES for k in (5, 10)
    ]
    for row in found.releases:
        assert 1 <= row["groups"] <= 90 / row["k"]
        assert (row["nulls"] > 0) == (row["line"] == SIMPLE)
        assert row["seconds"] > 0
        if row["line"] == SIMPLE:
            assert 0 < row["one_rater"] < 1


def test_the_same_seed_finds_the_same(ratings: Ratings) -> None:
    few = ratings.keep_users(np.arange(40))
    one, again, other = (reproduce_pa(few, ks=[8], runs=1, rng=seed) for seed in (5, 5, 6))
    assert again.tables == one.tables
    assert again.histogram == one.histogram
    assert again.figures == one.figures
    assert other.tables != one.tables


def test_a_point_is_the_mean_of_the_runs(found: PredictiveStudy) -> None:
    (row,) = find(found.tables, "1", MODEL, "release", 5)
    (six,) = [figure for figure in found.figures if figure.number == "6"]
    (line,) = [s for s in six.series if (s.name, s.measure) == (MODEL, "read from the release")]
    ratios = [mine / base for mine, base in zip(row.ours, row.base, strict=True)]
    point = line.points[0]
    assert (point.x, point.y, point.low, point.high) == (5, fmean(ratios), *sorted(ratios))


def test_a_refusal_is_left_out_with_the_reason() -> None:
    few = synthesize(n_users=8, n_items=20, n_ratings=100, rng=1)
    found = reproduce_pa(few, ks=[4, 50], runs=1, rng=1)
    told = {entry.what: entry.reason for entry in found.skipped}
    assert set(told) >= {f"{name}, k = 50" for name in NAMES}
    assert {row.k for row in found.tables} == {None, 4}


def test_half_stars_and_real_scales() -> None:
    rows = [{i: 0.5 * (1 + (u * i) % 10) for i in range(u % 3, 12)} for u in range(24)]
    found = reproduce_pa(table(rows, Scale(0.5, 5, 0.5)), ks=[4], runs=1, rng=1)
    assert len(found.histogram) == 11
    rows = [{i: 0.37 * ((u * i) % 10) for i in range(u % 3, 12)} for u in range(24)]
    found = reproduce_pa(table(rows, Scale(-10, 10)), ks=[4], runs=1, rng=1)
    assert found.histogram == ()
    assert found.tables


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"runs": 0}, "runs 0"),
        ({"ks": []}, "at least one"),
        ({"ks": [1]}, "2 or more"),
        ({"share": 1.5}, "share"),
    ],
)
def test_what_is_wrong_is_refused(ratings: Ratings, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        reproduce_pa(ratings, **arguments)


def test_without_ratings_there_is_nothing() -> None:
    with pytest.raises(ConfigError, match="nothing to reproduce"):
        reproduce_pa(table([{}, {}], Scale(1, 5, 1), n_items=2))


def test_without_data_ratings_are_made_up() -> None:
    found = reproduce_pa(n_users=200, n_items=100, ks=[5], runs=1, rng=1)
    assert found.data["synthetic"] is True
    assert (found.data["users"], found.data["items"]) == (200, 100)


@pytest.mark.real
@pytest.mark.parametrize("which", ["ml100k_dir", "ml_latest_small_dir"])
def test_the_order_of_the_paper_s_tables_on_movielens(
    which: str, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(which)
    source = folder / "u.data" if which == "ml100k_dir" else folder
    ratings = top_items(1500).apply(read_ratings(source))
    rows = measure_errors(ratings, LINES[:2], (5, 50), seeds=(0,), share=0.1).rows
    (original,) = find(rows, "1", ORIGINAL, "original")
    assert original.mean <= 0.93
    for k in (5, 50):
        (padded,) = find(rows, "1", PADDED, "release", k)
        (simple,) = find(rows, "1", SIMPLE, "release", k)
        assert original.mean < padded.mean < 1.06 * original.mean
        assert simple.mean > 1.2 * padded.mean  # few nulls are left at k = 50
        (padded,) = find(rows, "3", PADDED, "release", k)
        (simple,) = find(rows, "3", SIMPLE, "release", k)
        assert padded.mean < simple.mean
    five, fifty = (row.mean for row in find(rows, "1", PADDED, "release"))
    assert fifty < 1.02 * five
