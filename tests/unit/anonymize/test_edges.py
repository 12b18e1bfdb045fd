"""Where the methods for records and profiles decide: a scale that shrank, fills, fake edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.anonymize.predictive.diversity_repair import diverse_profiles
from starshade.anonymize.predictive.homogenize import simple_profiles
from starshade.errors import UnmetError
from starshade.kernels.interval.interval import clip_groups, clip_groups_real
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings, ReadReport
from starshade.recommend.padded import Padded
from starshade.release.profiles import quantize
from tests.strategies import table
from tests.unit.recommend.padding import some_factors


def found_in_data(rows: list[dict[int, float]], scale: Scale) -> Ratings:
    return table(rows, scale).annotate(report=ReadReport(scale_inferred=True))


def shrinking(first: int, second: int) -> list[dict[int, float]]:
    """Seven people; the 1 that only one of them gave is moved away, and the scale begins at 2.

    Null then counts as 1: whoever rated the first item alone with 3 is 2 from who rated the
    second alone with 3, where it was 3 before.
    """
    return [
        {0: 3, 3: 2}, {0: 5, 3: 4},
        {1: 3, 3: first}, {1: 5, 3: second},
        {2: 1, 3: 3}, {2: 4, 3: 2}, {2: 4, 3: 6},
    ]  # fmt: skip


def test_a_spread_that_only_the_wider_scale_has_is_unmet() -> None:
    make = IntervalAnonymizer(k=2, eps=2, l=1, sensitive=["4"], nulls="zero")
    rows, wide = shrinking(3, 5), Scale(1, 6, 1)
    declared = make.anonymize(table(rows, wide), rng=0)
    assert str(declared.scale) == "1:6:1"
    # the ball of the first holds 2 and 4, and by the new scale a 3: they spread by less than 1
    with pytest.raises(UnmetError, match="reached on the scale 1:6:1") as caught:
        make.anonymize(found_in_data(rows, wide), rng=0)
    assert "2:6:1" in caught.value.message
    # with other sensitive ratings it does hold on the new one as well
    far = make.anonymize(found_in_data(shrinking(6, 4), wide), rng=0)
    assert str(far.scale) == "2:6:1"
    without = IntervalAnonymizer(k=2, eps=2, sensitive=["4"], nulls="zero")
    assert str(without.anonymize(found_in_data(rows, wide), rng=0).scale) == "2:6:1"


@pytest.mark.parametrize(
    ("rated", "filler"),
    [
        ([1.0, 2.0], 1.0),  # the lower median
        ([1.0, 1.5, 2.0], 1.5),
        ([1.0, 1.25, 1.75, 2.0], 1.25),
        ([1.0, 1.0, 1.0, 2.0], 1.0),
    ],
)
def test_nulls_are_filled_with_the_lower_median(rated: list[float], filler: float) -> None:
    n = len(rated) + 1
    numbers, one = np.zeros(1, np.uint64), np.array([0, n])
    values = np.array([[v] for v in [*rated, np.nan]])
    out = np.empty_like(values)
    clip_groups_real(values, np.arange(n), one, eps=1.0, null_cost=5.0, numbers=numbers, out=out)
    assert out[:, 0].tolist() == [*rated, filler]
    # the same in steps of a quarter
    codes = np.array([[round(4 * v) - 3] for v in rated] + [[0]], dtype=np.uint8)
    moved = np.empty_like(codes)
    clip_groups(
        codes, np.arange(n), one, n_levels=9, width=4, null_cost=20.0, numbers=numbers, out=moved
    )
    assert moved[-1, 0] == round(4 * filler) - 3


@given(seed=st.integers(0, 999), f=st.integers(0, 2))
def test_fake_edges_are_means_of_real_ratings_and_predictions(seed: int, f: int) -> None:
    """Where too few rated an item for it to be shown, their ratings count in the mean none less."""
    rng = np.random.default_rng(seed)
    scale, step = Scale(1, 5, 1), 0.25
    rated = rng.random((8, 4)) < 0.4
    rated[0] = True
    ratings = table(
        [{i: float(rng.integers(1, 6)) for i in np.flatnonzero(row)} for row in rated], scale,
        n_items=4,
    )  # fmt: skip
    padded = Padded(ratings, some_factors(ratings, f, seed))
    groups = np.repeat(np.arange(4), 2)
    members = (np.array([0, 2, 4, 6, 8]), np.arange(8))
    levels = simple_profiles(ratings, members, step, 2)
    if len(np.unique(levels, axis=0)) < 4:
        return  # equal profiles are joined first
    after, found = diverse_profiles(
        padded, groups, levels.copy(), step, b=1, l=3, min_raters=2, fake_edges="mean", seed=0
    )
    if len(found) < 4:
        return
    rows = padded.block(np.arange(8))
    real = ratings.dense()
    rows = np.where(np.isnan(real), rows, real)
    for group in range(4):
        before = levels[group]
        own = np.flatnonzero(groups == group)
        place = after[own[0]]
        expected = quantize(rows[own].mean(axis=0), scale, step)
        added = (before == 0) & (found[place] > 0)
        assert (found[place][added] == expected[added]).all()
        assert (found[place][~added] == before[~added]).all()
