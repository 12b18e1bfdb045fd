"""Measures of predictions, by hand: four people on A, B, C in two groups, `simple`.

u1 {A=5}, u2 {A=4, B=2}: profile A 4.5, B 2, C null. u3 {B=1, C=5}, u4 {B=2}: A null, B 1.5, C 5.
"""

from __future__ import annotations

import math

import pytest

from starshade.ratings.scale import Scale
from starshade.release.table import Release
from starshade.utility.held_out.nearest import SelfRank, SimilarUserDeviation
from starshade.utility.held_out.recommender_error import RecommenderError, TargetDeviation
from starshade.utility.rating_histogram import RatingHistogram
from tests.strategies import table
from tests.unit.utility.cases import probe_of, profiled

A, B, C = 0, 1, 2
ORIGINAL = table([{A: 5}, {A: 4, B: 2}, {B: 1, C: 5}, {B: 2}], Scale(1, 5, 1))
#: what the own profile says: 2 (1 off), null = 0 (1 off), null (2 off), null (4 off)
PROBE = probe_of(ORIGINAL, {(0, B): 3.0, (1, C): 1.0, (2, A): 2.0, (3, A): 4.0})
GIVEN = {"original": ORIGINAL, "probe": PROBE}


@pytest.fixture(scope="module")
def release() -> Release:
    return profiled(ORIGINAL, [[8, 3, 0], [0, 2, 9]], [0, 0, 1, 1], 0.5, "simple")


def test_from_their_own_profile(release: Release) -> None:
    found = TargetDeviation().measure(release, **GIVEN).figures
    assert found["target_deviation_release"] == pytest.approx(math.sqrt((1 + 1 + 4 + 16) / 4))
    same = RecommenderError().measure(release, **GIVEN).figures
    assert same["rmse_release"] == found["target_deviation_release"]
    assert same["rmse_refit"] == found["target_deviation_refit"]
    assert same["mae_release"] == pytest.approx(2)


def test_from_the_most_similar_profile(release: Release) -> None:
    # u4's 2 on B is that of the first profile (0) and not of the second (1 - (1 - .5/4)^2 = .234);
    # it says 4.5 on A. The others are nearest to their own: u1 .234 against 1 (nothing in common),
    # u2 .117 against .234, u3 .117 against .4375
    found = SimilarUserDeviation().measure(release, **GIVEN).figures
    assert found["similar_user_deviation_release"] == pytest.approx(
        math.sqrt((1 + 1 + 4 + 0.25) / 4)
    )
    assert found["similar_user_users"] == 4


def test_the_ranks_of_their_own_profiles(release: Release) -> None:
    result = SelfRank().measure(release, **GIVEN)
    assert result.figures == {
        "self_rank_mean": 62.5,
        "self_rank_median": 50.0,
        "self_rank_first": 0.75,
        "self_rank_users": 4,
        "self_rank_profiles": 2,
    }
    assert result.within[48:50] == (0, 0.75)
    assert result.within[99] == 1


def test_the_histograms(release: Release) -> None:
    # of twelve cells, before: 6 null, a 1, two 2, a 4, two 5; after: 4 null, four 2, four 5
    result = RatingHistogram().measure(release, original=ORIGINAL)
    assert result.before == pytest.approx([6 / 12, 1 / 12, 2 / 12, 0, 1 / 12, 2 / 12])
    assert result.after == pytest.approx([4 / 12, 0, 4 / 12, 0, 0, 4 / 12])
    assert result.figures["histogram_distance"] == pytest.approx(1 / 3)
    # of the six and the eight that are rated: 1/6, 2/6, 0, 1/6, 2/6 and 0, 4/8, 0, 0, 4/8
    assert result.figures["histogram_distance_rated"] == pytest.approx(4 / 6 / 2)


def test_the_histograms_of_ratings_alone() -> None:
    # every cell a 5: half of the cells, which were null, no longer count
    fives = profiled(ORIGINAL, [[9, 9, 9], [9, 9, 9]], [0, 0, 1, 1], 0.5, "padded")
    found = RatingHistogram().measure(fives, original=ORIGINAL).figures
    assert found["histogram_distance_rated"] == pytest.approx((1 + 2 + 1 + 4) / 6 / 2)
    assert found["histogram_distance"] == pytest.approx((6 + 1 + 2 + 1 + 10) / 12 / 2)
    empty = profiled(ORIGINAL, [[0, 0, 0], [0, 0, 0]], [0, 0, 1, 1], 0.5, "simple")
    found = RatingHistogram().measure(empty, original=ORIGINAL).figures
    assert found["histogram_distance_rated"] is None
    assert found["histogram_distance"] == pytest.approx(1 / 2)


def test_profiles_that_tie_share_the_middle_of_their_ranks() -> None:
    # both profiles say 5 on A, which is all that u1 and u3 rated
    original = table([{A: 5}, {A: 5, B: 1}, {A: 5}, {A: 5, B: 3}], Scale(1, 5, 1))
    release = profiled(original, [[9, 1], [9, 5]], [0, 0, 1, 1], 0.5, "simple")
    given = {"original": original, "probe": probe_of(original, {(0, B): 1.0, (2, B): 3.0})}
    ranks = SelfRank().measure(release, **given).figures
    assert ranks["self_rank_mean"] == ranks["self_rank_median"] == 75.0  # 1.5 of 2
    assert ranks["self_rank_first"] == 0
    # half the chance each: 0 or 2 off
    found = SimilarUserDeviation().measure(release, **given).figures
    assert found["similar_user_deviation_release"] == pytest.approx(math.sqrt(2))
