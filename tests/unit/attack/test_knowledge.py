from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.attack.knowledge import Knowledge
from starshade.errors import ConfigError
from starshade.kernels.attack.postings import NO_DAY
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from tests.naive.knowledge import known_of
from tests.strategies import ratings_tables, table
from tests.unit.attack.test_scoreboard_rh import some_table

KNOWLEDGE = st.builds(
    lambda known_wrong, **settings: Knowledge(*known_wrong, **settings),
    st.tuples(st.integers(1, 4), st.integers(0, 3)).filter(lambda p: p[1] <= p[0]),
    wrong_kind=st.sampled_from(["value", "item"]),
    rating_error=st.sampled_from([0.0, 0.5, 1.0, 1.3]),
    day_error=st.sampled_from([None, 0, 3, 14]),
    outside_top=st.integers(0, 2),
    except_items=st.sampled_from([(), ("2",), ("1", "no such item")]),
    about_count=st.booleans(),
)


@given(ratings_tables(min_users=2), KNOWLEDGE, st.integers(0, 99))
def test_knowledge_is_drawn_as_the_twin_draws_it(
    ratings: Ratings, knowledge: Knowledge, seed: int
) -> None:
    users = np.flatnonzero(knowledge.eligible_users(ratings))
    if not len(users):
        return
    known = knowledge.draw(ratings, users, seed)
    settings = dataclasses.asdict(knowledge)
    del settings["about_count"], settings["ratings"], settings["dates"]
    for t, user in enumerate(users.tolist()):
        with np.errstate(over="ignore"):
            clues, told = known_of(ratings, user, seed, **settings)
        assert known.items[t].tolist() == [item for item, _, _ in clues]
        assert known.ratings[t].tolist() == pytest.approx([r for _, r, _ in clues], abs=1e-12)
        assert known.days[t].tolist() == [NO_DAY if d is None else d for _, _, d in clues]
        assert (known.rating_counts is not None) == knowledge.about_count
        if known.rating_counts is not None:
            assert known.rating_counts[t] == told
            n = ratings.user_support[user]
            assert n <= 2 * told <= 3 * n  # so the target's own record stays a candidate


@given(ratings_tables(min_users=2, with_days=True), KNOWLEDGE)
def test_what_is_drawn_is_what_was_asked(ratings: Ratings, knowledge: Knowledge) -> None:
    users = np.flatnonzero(knowledge.eligible_users(ratings))
    if not len(users):
        return
    known = knowledge.draw(ratings, users, 1)
    truth = ratings.dense()
    top = set(ratings.most_rated(knowledge.outside_top).tolist())
    keys = list(ratings.items)
    for t, user in enumerate(users.tolist()):
        items = known.items[t].tolist()
        assert len(set(items)) == knowledge.known
        assert not set(items) & top
        assert not {keys[i] for i in items} & set(knowledge.except_items)
        assert ratings.scale.contains(known.ratings[t]).all()
        for j, item in enumerate(items):
            true = truth[user, item]
            if j < knowledge.wrong and knowledge.wrong_kind == "item":
                assert np.isnan(true)
            elif j < knowledge.wrong:
                far = np.abs(ratings.values() - true) > knowledge.rating_error + 1e-9
                off = abs(known.ratings[t, j] - true) > knowledge.rating_error
                assert off == far.any()
            else:
                assert abs(known.ratings[t, j] - true) <= knowledge.rating_error + 1e-9


@given(ratings_tables(min_users=3, max_users=6), st.integers(0, 9))
def test_a_draw_depends_on_the_seed_and_the_target_alone(ratings: Ratings, seed: int) -> None:
    knowledge = Knowledge(known=1, rating_error=1, about_count=True)
    users = np.flatnonzero(knowledge.eligible_users(ratings))
    if not len(users):
        return
    together = knowledge.draw(ratings, users, seed)
    for t in range(len(users)):
        alone = knowledge.draw(ratings, users[t : t + 1], seed)
        for field in ("items", "ratings", "days", "rating_counts"):
            assert np.array_equal(getattr(alone, field)[0], getattr(together, field)[t])


def test_another_seed_draws_something_else() -> None:
    ratings = some_table(80, 20)
    knowledge = Knowledge(known=2)
    users = np.flatnonzero(knowledge.eligible_users(ratings))
    a, b = (knowledge.draw(ratings, users, seed).items for seed in (1, 2))
    assert (a != b).any(axis=1).mean() > 0.5


def shares(values: np.ndarray[Any, Any]) -> dict[float, float]:
    levels, counts = np.unique(values, return_counts=True)
    return dict(zip(levels.tolist(), (counts / len(values)).tolist(), strict=True))


def many(row: dict[int, float], n: int = 4000, **settings: Any) -> Any:
    """What is known of many people with the same row; the first also rated 1, 3, 3, 3."""
    rows = [{0: 1.0, 1: 3.0, 2: 3.0, 3: 3.0}] + [row] * n
    days = [dict.fromkeys(range(4), 100)] + [dict.fromkeys(row, 50)] * n
    ratings = table(rows, Scale(1, 5, 1), n_items=4, days=days)
    return Knowledge(**settings).draw(ratings, np.arange(1, n + 1), 7)


def test_ratings_are_uniform_within_the_scale_not_clipped() -> None:
    known = many({0: 5.0}, known=1, rating_error=1, day_error=2)
    assert shares(known.ratings[:, 0]) == {
        4: pytest.approx(0.5, abs=0.03),
        5: pytest.approx(0.5, abs=0.03),
    }
    days = shares(known.days[:, 0])
    assert sorted(days) == [48, 49, 50, 51, 52]
    assert all(share == pytest.approx(0.2, abs=0.03) for share in days.values())


def test_ratings_on_a_real_scale_are_uniform_where_the_interval_meets_it() -> None:
    ratings = table([{0: 9.5}] * 4000, Scale(-10, 10))
    drawn = Knowledge(known=1, rating_error=2).draw(ratings, np.arange(4000), 1).ratings[:, 0]
    assert 7.5 <= drawn.min() < 7.6
    assert 9.9 < drawn.max() <= 10
    assert drawn.mean() == pytest.approx(8.75, abs=0.05)


def test_cells_are_chosen_evenly_and_so_are_the_wrong_ones() -> None:
    known = many({0: 5.0, 1: 4.0, 2: 3.0, 3: 2.0}, known=2, wrong=1)
    for j in range(2):
        assert all(s == pytest.approx(0.25, abs=0.03) for s in shares(known.items[:, j]).values())


def test_wrong_items_are_spread_evenly() -> None:
    known = many({1: 5.0}, known=1, wrong=1, wrong_kind="item")
    assert sorted(shares(known.items[:, 0])) == [0, 2, 3]
    assert all(s == pytest.approx(1 / 3, abs=0.03) for s in shares(known.items[:, 0]).values())


def test_several_wrong_items_are_different_ones() -> None:
    rows = [{0: 1.0, 1: 2.0, 2: 3.0}] * 2000
    ratings = table(rows, Scale(1, 5, 1), n_items=7)
    knowledge = Knowledge(known=3, wrong=3, wrong_kind="item")
    items = knowledge.draw(ratings, np.arange(2000), 1).items
    assert all(len(set(row)) == 3 for row in items.tolist())
    counts = {item: share * 3 for item, share in shares(items.ravel()).items()}
    assert counts == {item: pytest.approx(3 / 4, abs=0.04) for item in (3, 4, 5, 6)}


def test_the_number_told_is_within_half() -> None:
    told = many({0: 5.0, 1: 4.0, 2: 3.0, 3: 2.0}, known=1, about_count=True).rating_counts
    expected = {2: 1 / 8, 3: 1 / 4, 4: 1 / 4, 5: 1 / 4, 6: 1 / 8}
    assert shares(told) == {n: pytest.approx(s, abs=0.03) for n, s in expected.items()}


def test_what_is_not_known_is_not_drawn() -> None:
    ratings = some_table(20, 8)
    users = np.flatnonzero(ratings.user_support >= 2)
    assert np.isnan(Knowledge(known=2, ratings=False).draw(ratings, users, 0).ratings).all()
    for blind in ({"dates": False}, {"day_error": None}, {"day_error": math.inf}):
        assert (Knowledge(known=2, **blind).draw(ratings, users, 0).days == NO_DAY).all()
    undated = dataclasses.replace(ratings, days=None)
    assert (Knowledge(known=2).draw(undated, users, 0).days == NO_DAY).all()


def test_eligible_users_have_enough_eligible_items() -> None:
    ratings = table([{0: 1, 1: 1, 2: 1}, {0: 1, 1: 1}, {0: 1}, {}], Scale(1, 5, 1), n_items=3)
    assert Knowledge(known=2).eligible_users(ratings).tolist() == [True, True, False, False]
    outside = Knowledge(known=1, outside_top=1)
    assert outside.eligible_users(ratings).tolist() == [True, True, False, False]
    wrong_items = Knowledge(known=1, wrong=1, wrong_kind="item")
    assert wrong_items.eligible_users(ratings).tolist() == [False, True, True, False]


def test_names_are_stable() -> None:
    assert Knowledge(known=8, wrong=1, day_error=None, outside_top=100).name == (
        "8 known, 1 wrong value, ratings exact, no days, outside top 100"
    )
    assert Knowledge(known=2, dates=False, except_items=["7"]).name == (  # type: ignore[arg-type]
        "2 known, ratings exact, no days, except 1 item"
    )
    told = Knowledge(
        known=4, wrong=2, wrong_kind="item", rating_error=0.5, day_error=0, about_count=True
    )
    assert told.name == "4 known, 2 wrong items, ratings ±0.5, days exact, number of ratings ±50 %"
    assert Knowledge(known=2, ratings=False, dates=False).name == "2 known, no ratings, no days"
    assert Knowledge(day_error=math.inf) == Knowledge(day_error=None)


@pytest.mark.parametrize(
    "settings",
    [
        {"known": 0},
        {"known": 2.5},
        {"known": math.nan},
        {"wrong": -1},
        {"known": 2, "wrong": 3},
        {"wrong_kind": "values"},
        {"rating_error": -0.5},
        {"rating_error": math.inf},
        {"rating_error": math.nan},
        {"day_error": -1},
        {"day_error": 1.5},
        {"day_error": math.nan},
        {"day_error": 65_535},
        {"outside_top": -1},
        {"except_items": "17"},
    ],
)
def test_settings_outside_their_range_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=list(settings)[-1]):
        Knowledge(**settings)
