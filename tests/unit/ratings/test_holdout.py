from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade import budget
from starshade.errors import ConfigError
from starshade.kernels import arrays
from starshade.ratings.holdout import hold_out
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from tests.naive import holdout as naive
from tests.strategies import ratings_tables, table


@pytest.fixture(params=[1, 1 << 16], ids=["many lanes", "one lane"])
def lane_sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "_WORTH_IT", request.param)


def cells(ratings: Ratings) -> dict[tuple[int, int], tuple[float, int]]:
    """Every rating and its day, by row and column."""
    values = ratings.values()
    days = ratings.days if ratings.days is not None else np.zeros(ratings.n_ratings, int)
    return {
        (u, int(ratings.columns[p])): (float(values[p]), int(days[p]))
        for u, (low, high) in enumerate(pairwise(ratings.indptr))
        for p in range(low, high)
    }


@pytest.mark.usefixtures("lane_sizes")
@given(ratings_tables(), st.floats(0.01, 0.99), st.integers(0, 2**63 - 1))
def test_as_drawn_one_by_one(ratings: Ratings, share: float, seed: int) -> None:
    count = round(share * ratings.n_ratings)
    assume(0 < count < ratings.n_ratings)
    train, probe = hold_out(ratings, share, rng=seed)
    assert set(cells(probe)) == naive.held_out(ratings, share, seed)
    assert cells(train) | cells(probe) == cells(ratings)
    assert train.n_ratings + probe.n_ratings == ratings.n_ratings
    for part in train, probe:
        assert (part.users, part.items) == (ratings.users, ratings.items)
        assert all(np.diff(part.columns[a:b]).min(initial=1) > 0 for a, b in pairwise(part.indptr))


def test_a_user_alone_is_drawn_as_among_others() -> None:
    whole = synthesize(n_users=40, n_items=30, n_ratings=600, rng=1)
    _, probe = hold_out(whole, 0.5, rng=3)
    few = whole.keep_users(np.arange(20))
    _, fewer = hold_out(few, probe.keep_users(np.arange(20)).n_ratings / few.n_ratings, rng=3)
    among = {cell for cell in cells(probe) if cell[0] < 20}
    # the border between drawn and kept moves a little; the order of the ratings does not
    assert len(among ^ set(cells(fewer))) <= 0.2 * len(among)


def test_what_was_computed_from_all_cells_is_not_kept() -> None:
    ratings = synthesize(n_users=20, n_items=10, n_ratings=100, rng=0)
    assert ratings.by_item.indptr[-1] == ratings.item_support.sum() == 100
    train, probe = hold_out(ratings, 0.2, rng=0)
    assert (train.by_item.indptr[-1], probe.item_support.sum()) == (80, 20)


def test_the_threads_do_not_matter() -> None:
    ratings = synthesize(n_users=2000, n_items=200, n_ratings=100_000, rng=0)
    with budget.limits(threads=1):
        one = hold_out(ratings, 0.3, rng=5)[1]
    two = hold_out(ratings, 0.3, rng=5)[1]
    assert np.array_equal(one.columns, two.columns)
    assert np.array_equal(one.indptr, two.indptr)


def test_exactly_so_many_where_highest_bits_agree() -> None:
    ratings = synthesize(n_users=2000, n_items=200, n_ratings=200_000, rng=0)
    for seed in range(10):  # about three numbers share their highest 16 bits
        assert hold_out(ratings, 0.25, rng=seed)[1].n_ratings == 50_000


@pytest.mark.parametrize("share", [0, 1, -0.1, float("nan"), True])
def test_no_share(share: float) -> None:
    with pytest.raises(ConfigError, match=r"above 0 and below 1|a finite number"):
        hold_out(table([{0: 1.0}], Scale(1, 5, 1)), share)


def test_too_few_ratings() -> None:
    with pytest.raises(ConfigError, match="of 1 ratings: 0 would be held out"):
        hold_out(table([{0: 1.0}], Scale(1, 5, 1)), 0.1)


def test_too_little_memory() -> None:
    ratings = synthesize(n_users=20, n_items=10, n_ratings=100, rng=0)
    with budget.limits(memory=1000), pytest.raises(ConfigError, match=r"needs 1\.6 MB of memory"):
        hold_out(ratings)
