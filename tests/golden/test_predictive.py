"""Profiles and (b, l) repair, computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from starshade.anonymize.predictive.diversity_repair import diverse_profiles
from starshade.anonymize.predictive.homogenize import mean_profiles, simple_profiles
from starshade.ratings.scale import Scale
from starshade.recommend.factors import Factors
from starshade.recommend.padded import Padded
from tests.strategies import table

STARS = Scale(1, 5, 1)
STEP = 0.05


def flat(ratings, user_bias=None) -> Factors:
    """Predictions that are 3 for everybody, and a user's bias more for that user."""
    m, n = ratings.n_users, ratings.n_items
    bias = np.zeros(m) if user_bias is None else np.array(user_bias, dtype=float)
    return Factors(
        ratings.users, ratings.items, ratings.scale, 3.0, bias, np.zeros(n),
        np.zeros((m, 0)), np.zeros((n, 0)),
    )  # fmt: skip


def stars(levels: np.ndarray) -> list[list[float]]:
    return np.where(levels == 0, np.nan, 1 + (levels - 1.0) * STEP).round(9).tolist()


def test_homogenize() -> None:
    ratings = table([{0: 5.0}, {0: 4.0, 1: 2.0}], STARS)
    group = np.array([0, 2]), np.array([0, 1])
    assert stars(simple_profiles(ratings, group, STEP)) == [[4.5, 2.0]]
    assert stars(mean_profiles(Padded(ratings, flat(ratings)), group, STEP)) == [[4.5, 2.5]]


@pytest.mark.parametrize(("b", "l", "fakes"), [(1, 1, 0), (1, 2, 4), (2, 1, 0), (2, 2, 4)])
def test_repair(b: int, l: int, fakes: int) -> None:  # noqa: E741
    """{u1: ab, u2: b}, {u3: bc, u4: b}; u3 would give 1 more than 3 to what she did not rate."""
    ratings = table([{0: 5.0, 1: 4.0}, {1: 2.0}, {1: 3.0, 2: 1.0}, {1: 5.0}], STARS)
    groups = np.array([0, 0, 1, 1])
    before = simple_profiles(ratings, (np.array([0, 2, 4]), np.arange(4)), STEP)
    padded = Padded(ratings, flat(ratings, [0, 0, 1, 0]))
    found, levels = diverse_profiles(
        padded, groups, before.copy(), STEP, b=b, l=l, fake_edges="mean", seed=0
    )
    rows = levels[found]  # of each user
    added = (rows > 0) & (before[groups] == 0)
    assert added.sum() == fakes
    if fakes:
        assert stars(rows) == [[5.0, 3.0, 3.0]] * 2 + [[3.5, 4.0, 1.0]] * 2
