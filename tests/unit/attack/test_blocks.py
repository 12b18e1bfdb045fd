"""Rows given block by block: the same bits as all at once."""

from __future__ import annotations

from itertools import pairwise

import numba
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade.attack.knowledge import Known
from starshade.attack.scoreboard_rh.scoring import Pricing, block_of, goal_of, prepare
from starshade.attack.view import View, look
from starshade.kernels.attack.postings import NO_DAY
from starshade.kernels.attack.scoreboard import Block, attack, score, scores, weigh
from starshade.kernels.attack.summary import merge
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
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


def many_users(n: int) -> Ratings:
    """Item 0 rated by nearly all, 1 by a third, 2 by seven at the edges of windows, 3 by none."""
    rated = np.zeros((n, 4), dtype=bool)
    rated[: n - 9, 0] = True
    rated[::3, 1] = True
    rated[[0, 5, 65_535, 65_536, 131_071, 131_072, n - 1], 2] = True
    users, columns = np.nonzero(rated)
    return Ratings(
        Scale(1, 5, 1),
        Vocabulary(np.arange(n)),
        Vocabulary(np.arange(4)),
        np.concatenate([[0], np.cumsum(rated.sum(axis=1))]),
        columns.astype(np.int32),
        ((users * 7 + columns) % 5).astype(np.uint8),
        np.arange(1.0, 6.0),
        (users * 31 % 900).astype(np.uint16),
    )


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="takes minutes where run interpreted")
def test_more_rows_than_fit_one_window() -> None:
    ratings = many_users(140_000)
    view = look(ratings, None, None)
    known = Known(
        np.array([65_535, 139_999]),
        np.array([[0, 1, 2, 3], [2, 3, 0, 1]], dtype=np.int32),
        np.array([[1.0, 5.0, 3.0, 2.0], [4.0, 4.0, np.nan, 1.0]]),
        np.array([[30, NO_DAY, 700, 5], [899, 1, 450, NO_DAY]], dtype=np.int32),
    )
    aux, tables = prepare(view, known, PRICING)
    expected = np.zeros((2, 140_000))
    of_item = ratings.by_item
    for t, j in np.ndindex(known.items.shape):
        cells = slice(*of_item.indptr[known.items[t, j] : known.items[t, j] + 2])
        day, rating = known.days[t, j], known.ratings[t, j]
        near = np.nan_to_num(np.exp(-abs(of_item.codes[cells] + 1.0 - rating) / 1.5))
        if day != NO_DAY:
            near = near + np.exp(-abs(of_item.days[cells] - float(day)) / 30.0)
        expected[t, of_item.users[cells]] += near * aux.weight[t, j]
    found = scores(block_of(view), aux, tables) / tables.unit
    assert np.allclose(found, expected, rtol=0, atol=4e-6)
    for absent in (False, True):
        check(view, known, [1, 65_536, 70_000], 1.0, absent=absent)
    # few raters: only their rows are looked at
    rare = Known(known.users[1:], known.items[1:, :2], known.ratings[1:, :2], known.days[1:, :2])
    check(view, rare, [65_535, 131_072], 1.0, absent=False)
    block, told = block_of(view), prepare(view, rare, PRICING)
    summaries, _ = attack(block, *told, goal_of(view, 1.0, absent=False))
    assert summaries["total"][0] == scores(block, *told).sum() > 0
