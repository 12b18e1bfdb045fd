"""Scoreboard-RH: worked cases, and what an independent implementation found on MovieLens 100K."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.scoreboard_rh.scoreboard_rh import Outcomes, ScoreboardRH
from starshade.attack.scoreboard_rh.scoring import Pricing, block_of, prepare
from starshade.attack.view import look
from starshade.kernels.attack.postings import NO_DAY
from starshade.kernels.attack.scoreboard import scores
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from tests.strategies import table

A, B, C, D = range(4)
SCALE = Scale(1, 5, 1)
FIVE = table(
    [{A: 5, B: 3}, {A: 4, C: 2}, {A: 5, B: 3, C: 2}, {C: 1}, {D: 4}],
    SCALE,
    days=[{A: 10, B: 20}, {A: 10, C: 5}, {A: 40, B: 20, C: 5}, {C: 100}, {D: 0}],
)
COPIES = table([{0: 5}, {0: 5}, {0: 1}, {1: 3}, {1: 2}], SCALE)


def known(user: int, *cells: tuple[int, float | None, int | None]) -> Known:
    items, ratings, days = zip(*cells, strict=True)
    return Known(
        np.array([user]),
        np.array([items], dtype=np.int32),
        np.array([[np.nan if r is None else r for r in ratings]]),
        np.array([[NO_DAY if d is None else d for d in days]], dtype=np.int32),
    )


def scored(data: Ratings, about: Known, *, absent: bool = False) -> np.ndarray[Any, Any]:
    """Every record's score, in record order."""
    view = look(data, None, None)
    aux, tables = prepare(view, about, Pricing(1.5, 30.0), absent=absent)
    found = scores(block_of(view), aux, tables)[0] / tables.unit
    return np.asarray(found[view.row_of_user])


def judged(data: Ratings, about: Known, **settings: Any) -> Outcomes:
    return ScoreboardRH(**settings).judge(look(data, None, None), about)[0]


def close(value: float) -> Any:
    return pytest.approx(value, abs=5e-5)


ABOUT_U3 = known(2, (A, 5, 40), (C, 2, 5))


def test_five_users_with_days() -> None:
    expected = [1.245098, 2.622669, 3.640957, 0.505693, 0]
    assert scored(FIVE, ABOUT_U3) == pytest.approx(expected, abs=2e-6)
    assert np.std(scored(FIVE, ABOUT_U3)) == pytest.approx(1.348687, abs=2e-6)
    found = judged(FIVE, ABOUT_U3)
    assert found.eccentricity[0] == close(0.7550)
    assert not found.matched[0]
    assert found.expected_top1[0] == 1
    assert found.entropy_bits[0] == close(0.8514)
    assert 2 ** -found.entropy_bits[0] == close(0.55424)


def test_five_users_without_days() -> None:
    about = known(2, (A, 5, None), (C, 2, None))
    expected = [0.910239, 1.377572, 1.820478, 0.467332, 0]
    assert scored(FIVE, about) == pytest.approx(expected, abs=2e-6)
    assert judged(FIVE, about).eccentricity[0] == close(0.6881)


def test_five_users_items_alone() -> None:
    about = known(2, (A, None, None), (C, None, None))
    assert scored(FIVE, about)[1:3] == pytest.approx([1.820478, 1.820478], abs=2e-6)
    found = judged(FIVE, about)
    assert found.eccentricity[0] == 0
    assert found.expected_top1[0] == 0.5
    assert found.entropy_bits[0] == close(1.3756)


def test_an_item_with_one_rater() -> None:
    about = known(4, (D, 4, 0))
    assert scored(FIVE, about)[4] == pytest.approx(2.885390, abs=2e-6)
    found = judged(FIVE, about)
    assert found.eccentricity[0] == close(2.5)
    assert found.success[0]
    assert found.entropy_bits[0] == close(0.4096)
    # five equal steps to the edge: an eccentricity of exactly φ is a match
    assert judged(FIVE, about, phi=2.5).success[0]


def test_the_target_removed() -> None:
    left = scored(FIVE, ABOUT_U3, absent=True)[[0, 1, 3, 4]]
    assert left == pytest.approx([1.973433, 4.156832, 0.801505, 0], abs=2e-6)
    for phi, answered in ((1.3946, True), (1.3948, False), (1.5, False)):
        found = judged(FIVE, ABOUT_U3, phi=phi, absent=True).matched_absent
        assert found is not None
        assert found[0] == answered


def test_copies() -> None:
    about = known(0, (0, 5, None))
    expected = [0.910239, 0.910239, 0.063247, 0, 0]
    assert scored(COPIES, about) == pytest.approx(expected, abs=2e-6)
    found = judged(COPIES, about)
    assert found.eccentricity[0] == 0
    assert found.entropy_bits[0] == close(1.2580)
    assert found.entropy_bits_profile[0] == close(0.2580)
    assert found.expected_top1[0] == 0.5
    assert found.profile_eccentricity[0] == close(2.1950)
    assert found.disclosed[0]
    assert not found.matched[0]


@pytest.fixture(scope="module")
def ml100k(ml100k_dir: Path) -> Ratings:
    return read_ratings(ml100k_dir / "u.data")


def lowest_ids(ratings: Ratings, m: int) -> Known:
    """Every user's m items of numerically lowest id, exactly, without days."""
    assert ratings.user_support.min() >= m
    cells = ratings.indptr[:-1, None] + np.arange(m)
    return Known(
        np.arange(ratings.n_users),
        ratings.columns[cells],
        ratings.values()[cells],
        np.full(cells.shape, NO_DAY, dtype=np.int32),
    )


@pytest.mark.real
def test_movielens_without_any_randomness(ml100k: Ratings) -> None:
    found = judged(ml100k, lowest_ids(ml100k, 4), absent=True)
    assert found.success.mean() == close(0.1485)
    assert found.expected_top1.mean() == close(0.8224)
    assert found.entropy_bits.mean() == close(4.1593)
    assert found.matched_absent is not None
    assert found.matched_absent.mean() == close(0.0138)
    assert judged(ml100k, lowest_ids(ml100k, 8)).success.mean() == close(0.5239)


NO_DATES = {"dates": False}
TWO_VALUES, TWO_ITEMS = {"wrong": 2}, {"wrong": 2, "wrong_kind": "item"}
NEAR = {"rating_error": 1}
ROWS: list[tuple[dict[str, Any], tuple[float, float, float, float]]] = [
    ({"known": 2, "day_error": 3}, (0.374, 0.912, 0, 2.19)),
    ({"known": 4, "day_error": 3}, (0.787, 0.997, 0, 1.00)),
    ({"known": 8} | TWO_VALUES, (0.821, 0.998, 0, 1.19)),
    ({"known": 8} | TWO_ITEMS, (0.689, 0.931, 0.021, 1.30)),
    ({"known": 8} | TWO_VALUES | NEAR, (0.514, 0.903, 0, 2.05)),
    ({"known": 8} | TWO_ITEMS | NEAR, (0.363, 0.737, 0.056, 2.33)),
    ({"known": 4} | NO_DATES, (0.490, 0.933, 0, 2.33)),
    ({"known": 6} | NO_DATES, (0.762, 0.994, 0, 1.65)),
    ({"known": 8} | NO_DATES, (0.883, 1, 0, 1.30)),
    ({"known": 8} | TWO_VALUES | NO_DATES, (0.631, 0.982, 0, 2.06)),
    ({"known": 8, "outside_top": 100} | TWO_VALUES | NO_DATES, (0.854, 0.996, 0, 0.92)),
    ({"known": 8, "outside_top": 100} | TWO_ITEMS | NO_DATES, (0.686, 0.906, 0.035, 1.23)),
    ({"known": 8, "day_error": 0}, (0.974, 1, 0, 0.40)),
]


@pytest.mark.real
@pytest.mark.parametrize(
    ("settings", "expected"), ROWS, ids=[Knowledge(**settings).name for settings, _ in ROWS]
)
def test_movielens_reference(
    ml100k: Ratings,
    settings: dict[str, Any],
    expected: tuple[float, float, float, float],
) -> None:
    """Means over five seeds, as the reference has them (definitions, "reference-values")."""
    knowledge = Knowledge(**settings)
    runs = [ScoreboardRH().run(ml100k, knowledge, rng=seed) for seed in range(5)]
    assert {run.targets for run in runs} == {943 - runs[0].ineligible}
    figures = [
        (run.success.rate, run.expected_top1.rate, run.false_match.rate, run.entropy_bits.mean)
        for run in runs
    ]
    success, expected_top1, false_match, bits = np.mean(figures, axis=0)
    assert success == pytest.approx(expected[0], abs=0.04)
    assert expected_top1 == pytest.approx(expected[1], abs=0.04)
    assert false_match == pytest.approx(expected[2], abs=0.04)
    assert bits == pytest.approx(expected[3], abs=0.15)


@pytest.mark.real
def test_movielens_number_of_ratings_helps(ml100k: Ratings) -> None:
    """NS Fig 12: knowing how many, within half, finds more people."""
    knowledge = Knowledge(known=4, wrong=1, rating_error=1)
    plain = ScoreboardRH().run(ml100k, knowledge, rng=0)
    told = ScoreboardRH().run(ml100k, dataclasses.replace(knowledge, about_count=True), rng=0)
    assert told.expected_top1.low > plain.expected_top1.rate


@pytest.mark.real
def test_a_release_of_movielens_hides_everybody_among_k(ml100k: Ratings) -> None:
    """k = 5, NDGH, the ten most rated items: nobody stands out, whatever is known of them."""
    items = ml100k.keep_items(ml100k.most_rated(10))
    release = KLikeness(k=5, hierarchy="ndgh").anonymize(items, rng=0)
    for linked in (True, False):
        data = release if linked else dataclasses.replace(release, private=None)
        for knowledge in (Knowledge(known=1, dates=False), Knowledge(known=4, dates=False)):
            found = ScoreboardRH().run(data, knowledge, original=items, rng=0)
            assert found.expected_top1.high <= 1 / 5
            assert found.success.rate == found.false_match.rate == 0
            assert found.records == 927
            assert found.entropy_bits.mean < np.log2(927)
            assert found.credit == ("linked" if linked else "compatible")
            assert found.entropy_bits.mean - found.entropy_bits_profile.mean >= np.log2(5)
