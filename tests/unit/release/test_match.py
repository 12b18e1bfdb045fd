"""Ratings that a release was not made of are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.knowledge import Knowledge
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.ratings.select import listed_items
from starshade.ratings.table import Ratings
from starshade.release.match.match import Match
from tests.strategies import ratings_tables, table

SCALE = Scale(1, 5, 1)
ROWS = [{0: 1, 1: 1}, {0: 1, 1: 1}, {0: 5}, {0: 5}]
MADE = KLikeness(k=2, rare_items="keep").anonymize(table(ROWS, SCALE), rng=0)


def test_its_own_ratings_are_welcome() -> None:
    Match(MADE, table(ROWS, SCALE)).refuse_unknown_users()
    assert Match(MADE, table(ROWS, SCALE)).part.n_ratings == 6


@given(ratings_tables(min_users=4), st.sampled_from(["ndgh", "dgh"]))
def test_whatever_it_was_made_of_is_welcome(ratings: Ratings, hierarchy: str) -> None:
    if (ratings.user_support > 0).sum() < 2:
        return
    release = KLikeness(2, hierarchy, rare_items="keep").anonymize(ratings, rng=0)
    Match(release, ratings).refuse_unknown_users()
    Match(release, ratings.keep_items(np.array([0]))).refuse_unknown_users()


@pytest.mark.parametrize(
    "row",
    [{0: 2, 1: 1}, {0: 5, 1: 1}, {1: 1}, {0: 1}],
    ids=["other rating", "of two classes", "rating missing", "null where all rated"],
)
def test_a_user_who_fits_no_class(row: dict[int, float]) -> None:
    others = table([*ROWS[:3], row], SCALE)
    with pytest.raises(ConfigError, match="1 of 4 sampled users of the ratings fit no class"):
        Match(MADE, others).refuse_unknown_users()
    with pytest.raises(ConfigError, match="not made of them"):
        ScoreboardRH().run(MADE, Knowledge(known=1), original=others, rng=0)


def test_a_table_with_more_users() -> None:
    Match(MADE, table([*ROWS, {0: 2, 1: 1}], SCALE)).refuse_unknown_users()
    with pytest.raises(ConfigError, match="5 of 5"):
        Match(MADE, table([{0: 3}] * 5, SCALE, n_items=2)).refuse_unknown_users()


def test_what_only_a_link_tells() -> None:
    ratings, alone = table(ROWS, SCALE), replace(MADE, private=None)
    known = Match(MADE, ratings).row_of_user
    assert known is not None
    again = Match(alone, ratings, MADE.private.link).row_of_user
    assert np.array_equal(again, known)
    assert [len(set(known[pair])) for pair in (slice(2), slice(2, 4), slice(1, 3))] == [1, 1, 2]
    more = Match(MADE, table([*ROWS, {0: 5}], SCALE)).row_of_user
    assert np.array_equal(more, [*known, -1])
    assert Match(alone, ratings).row_of_user is None
    assert Match(alone, ratings).changes is None
    assert Match(MADE, ratings).changes is None  # no record by itself


def test_some_of_its_items() -> None:
    Match(MADE, listed_items(["1"]).apply(table(ROWS, SCALE))).refuse_unknown_users()


def test_no_item_in_common() -> None:
    others = table([{5: 1}] * 4, SCALE, n_items=6).keep_items(np.array([5]))
    with pytest.raises(ConfigError, match="share no item"):
        Match(MADE, others).refuse_unknown_users()
