from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade.ratings.proximity.balls import ball_members, ball_sizes, ball_sums
from starshade.ratings.proximity.space import space_of
from tests.naive.balls import balls
from tests.strategies import ratings_tables

NULLS = ("strict", "ignore", "zero")
SEARCHES = ("tree", "slicing", "pairwise")
EPS = (0, 0.5, 1, 1.5, 2, 4, 5, 5.5, 20)


@pytest.mark.parametrize("nulls", NULLS)
@given(table=ratings_tables(max_users=20, with_days=False), data=st.data())
@settings(max_examples=700)
def test_every_search_finds_the_balls_that_comparing_pair_by_pair_finds(nulls, table, data):
    values = table.values()
    gaps = st.sampled_from([float(abs(v - values[0])) for v in values[:9]] or [0.0])
    eps = data.draw(st.one_of(st.sampled_from(EPS), gaps))
    items = np.arange(table.n_items)
    if len(items) > 1 and data.draw(st.booleans()):
        items = items[1:]
    near = balls(table, items, eps, nulls)
    sizes = near.sum(axis=1)
    space = space_of(table, items, eps, nulls)
    columns = np.arange(2 * len(near), dtype=np.int64).reshape(-1, 2) ** 2
    rows = np.array(data.draw(st.lists(st.integers(0, len(near) - 1), max_size=4)), np.int64)
    for search in SEARCHES:
        assert ball_sizes(space, search=search).tolist() == sizes.tolist()
        capped = ball_sizes(space, search=search, stop_at=3)
        assert capped.tolist() == np.minimum(sizes, 3).tolist()
        some = ball_sizes(space, search=search, rows=rows, stop_at=4)
        assert some.tolist() == np.minimum(sizes[rows], 4).tolist()
        assert (ball_sums(space, columns, search=search) == near @ columns).all()
    indptr, members = ball_members(space, rows)
    for i, row in enumerate(rows):
        assert members[indptr[i] : indptr[i + 1]].tolist() == np.flatnonzero(near[row]).tolist()
