from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given

from starshade.ratings.describe import describe
from starshade.ratings.scale import Scale
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from tests.strategies import ratings_tables, table

STARS = Scale(1, 5, 1)


def test_by_hand() -> None:
    days = [{0: 3, 1: UNKNOWN_DAY}, {0: 10}, {}]
    found = describe(table([{0: 1.0, 1: 5.0}, {0: 5.0}, {}], STARS, n_items=4, days=days))
    assert (found.users, found.items, found.ratings) == (3, 4, 3)
    assert found.sparsity == pytest.approx(0.75)
    assert (found.first_day, found.last_day) == ("1970-01-04", "1970-01-11")
    assert found.days_unknown == pytest.approx(1 / 3)
    assert found.long_tail == {
        "top_1_percent": pytest.approx(2 / 3),
        "top_10_percent": pytest.approx(2 / 3),
    }
    assert [n for _, _, n in found.histogram] == [1, 0, 0, 0, 2]
    assert found.ratings_per_user["median"] == 1


def test_a_real_scale_is_cut_into_bins() -> None:
    found = describe(table([{0: -10.0, 1: -9.0}, {0: 10.0}], Scale(-10, 10)))
    assert len(found.histogram) == 10
    assert found.histogram[0] == (-10.0, -8.0, 2)
    assert found.histogram[-1] == (8.0, 10.0, 1)


def test_no_date_is_known() -> None:
    found = describe(table([{0: 1.0}], STARS, days=[{}]))
    assert (found.first_day, found.days_unknown) == (None, 1.0)


@given(ratings_tables(min_users=1))
def test_everything_is_counted_once(ratings: Ratings) -> None:
    found = describe(ratings)
    assert sum(n for _, _, n in found.histogram) == ratings.n_ratings
    assert 0 <= found.sparsity <= 1
    assert found.ratings_per_user["mean"] * ratings.n_users == pytest.approx(ratings.n_ratings)
    assert 0 <= found.long_tail["top_1_percent"] <= found.long_tail["top_10_percent"] <= 1
    json.dumps(found.to_dict())
    dense = ratings.dense()
    if ratings.scale.step is not None:
        expected = [int((dense == level).sum()) for level in ratings.levels]
        assert [n for _, _, n in found.histogram] == expected
    support = np.sort((~np.isnan(dense)).sum(axis=0))[::-1]
    first = int(np.ceil(0.1 * len(support)))
    share = support[:first].sum() / max(ratings.n_ratings, 1)
    assert found.long_tail["top_10_percent"] == pytest.approx(share)
