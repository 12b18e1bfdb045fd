"""Rows given block by block: the same bits as all at once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade.attack.knowledge import Known
from starshade.attack.scoring import Pricing, block_of, goal_of, prepare
from starshade.attack.view import View, look
from starshade.kernels.scoreboard import Block, attack, score, weigh
from starshade.kernels.summary import merge
from starshade.ratings.table import Ratings
from tests.strategies import ratings_tables
from tests.unit.attack.samples import releases
from tests.unit.attack.test_scoreboard_rh import knowledge_of, sparse_tables

PRICING = Pricing(1.5, 30.0)


def cut(view: View, edges: list[int]) -> list[Block]:
    out = []
    for start, stop in pairwise([0, *edges, view.cells.n_groups]):
        out.append(block_of(view, start, stop))
    return out


def check(view: View, known: Known, edges: list[int], theta: float, *, absent: bool) -> None:
    goal = goal_of(view, theta, absent=absent)
    aux, tables = prepare(view, known, PRICING, absent=absent)
    summaries, masses = attack(block_of(view), aux, tables, goal)
    blocks = cut(view, edges)
    merged = score(blocks[0], aux, tables, goal)
    for block in blocks[1:]:
        merged = merge(merged, score(block, aux, tables, goal))
    assert np.array_equal(merged, summaries)
    if absent:
        return
    shares = [weigh(b, aux, tables, goal, merged, view.cells.n_records) for b in blocks]
    for name in ("total", "agreeing"):
        assert np.array_equal(sum(share[name] for share in shares), masses[name]), name


@given(
    st.data(),
    ratings_tables(min_users=2, max_users=9, max_items=4) | sparse_tables(),
    st.sampled_from([1.0, 0.5]),
    st.booleans(),
)
def test_blocks_of_a_table(
    data: st.DataObject, ratings: Ratings, theta: float, absent: bool
) -> None:
    assume(ratings.n_ratings > 0)
    view = look(ratings, None, None)
    known = data.draw(knowledge_of(ratings)).take(slice(0, 8))
    places = st.integers(0, view.cells.n_groups)
    edges = sorted(data.draw(st.lists(places, min_size=1, max_size=3)))
    check(view, known, edges, theta, absent=absent)


@given(st.data(), st.booleans())
def test_blocks_of_a_release(data: st.DataObject, absent: bool) -> None:
    original, released = data.draw(releases(linked=True))
    view = look(released, original, None)
    known = data.draw(knowledge_of(original))
    places = st.integers(0, view.cells.n_groups)
    edges = sorted(data.draw(st.lists(places, min_size=1, max_size=3)))
    check(view, known, edges, 1.0, absent=absent)
