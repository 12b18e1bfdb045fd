"""PA Thm 6.3 on data that meet its assumptions, and on data that do not.

The theorem takes people to rate independently of each other, an item with a probability p ≤ 1/g
that the adversary knows, and a released edge to say that one of the group rated it.
"""

from __future__ import annotations

import numpy as np
import pytest

from starshade.attack.link_existence.link_existence import (
    LinkExistence,
    link_existence_bound,
    link_existence_exact,
)
from starshade.ratings.table import Ratings
from starshade.stats import bootstrap
from tests.strategies import table
from tests.unit.attack.profiles import FIVE, averaged

G = 5
ITEMS = 150  # so many that no two groups say the same and become one class
CHANCES = (0.02, 0.1, 0.2)  # at most 1/5


def drawn(rated: np.ndarray) -> Ratings:
    rows = [{int(i): 3.0 for i in np.flatnonzero(row)} for row in rated]
    return table(rows, FIVE, n_items=rated.shape[1])


def independent(p: float, n_users: int = 500) -> np.ndarray:
    return np.random.default_rng(8).random((n_users, ITEMS)) < p


def alike(p: float, n_users: int = 500) -> np.ndarray:
    """Everybody rates half of what their four neighbours rate, and little else."""
    rng = np.random.default_rng(8)
    taste = np.repeat(rng.random((n_users // G, ITEMS)) < 2 * p, G, axis=0)
    return taste & (rng.random(taste.shape) < 0.5)


def confidence(rated: np.ndarray) -> np.ndarray:
    """j/g of every edge, a group's together: mean per group that shows anything."""
    raters = rated.reshape(-1, G, ITEMS).sum(axis=1)
    return np.array([row[row > 0].mean() / G for row in raters if row.any()])


@pytest.mark.parametrize("p", CHANCES)
def test_independent_people_stay_within_the_bound(p: float) -> None:
    rated = independent(p)
    original = drawn(rated)
    groups = np.arange(original.n_users) // G
    released = averaged(original, groups, "simple", step=1.0)
    result = LinkExistence(prior=p).run(released, original=original)
    assert result.bounded == 1
    assert result.bound == pytest.approx(float(link_existence_bound(p, G)))
    assert result.exact == pytest.approx(float(link_existence_exact(p, G)))
    assert result.confidence is not None
    # the interval of what was seen holds the exact figure, and does not reach beyond the bound
    seen = bootstrap(confidence(rated), seed=0)
    assert seen.low <= result.confidence <= seen.high
    assert seen.low <= result.exact <= seen.high
    assert seen.low <= result.bound
    assert result.confidence <= result.bound + (seen.high - seen.low) / 2


@pytest.mark.parametrize("p", CHANCES)
def test_people_who_are_alike_do_not(p: float) -> None:
    rated = alike(p)
    original = drawn(rated)
    groups = np.arange(original.n_users) // G
    result = LinkExistence(prior=p).run(
        averaged(original, groups, "simple", step=1.0), original=original
    )
    seen = bootstrap(confidence(rated), seed=0)
    assert result.bound is not None
    assert result.confidence is not None
    assert min(seen.low, result.confidence) > result.bound
