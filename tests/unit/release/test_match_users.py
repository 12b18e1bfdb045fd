"""Ratings that moved records cannot be made of are refused where that can be known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given

from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.release.match.match import Match
from starshade.release.table import Link
from tests.strategies import ratings_tables, table
from tests.unit.release.changes import k_eps, moved_tables, released

STARS = Scale(1, 5, 1)
ROWS = [{0: 5, 1: 3}, {0: 4, 1: 3}, {1: 2}, {1: 2}, {0: 4, 1: 3}]
MADE = table(ROWS, STARS)


@given(moved_tables())
def test_its_own_ratings_are_welcome(drawn) -> None:
    original, rows = drawn
    assume((original.user_support > 0).all())  # as methods leave nobody else
    release = released(original, rows)
    Match(release, original).refuse_unknown_users()
    Match(release, original.keep_items(np.array([0]))).refuse_unknown_users()
    Match(release, original).refuse_changed_link()
    some = original.keep_users(np.arange(original.n_users - 1))
    Match(release, some).refuse_changed_link()


@given(ratings_tables())
def test_unchanged_records_are_somebody_s(ratings) -> None:
    ratings = ratings.drop_empty_users()
    release = released(ratings, method="suppress")
    Match(release, ratings).refuse_unknown_users()
    Match(release, ratings.keep_items(np.array([0]))).refuse_unknown_users()
    Match(release, ratings).refuse_changed_link()


@pytest.mark.parametrize(
    ("row", "strange"),
    [({0: 5, 1: 4}, 1), ({0: 5}, 1), ({1: 2}, 1), ({0: 4, 1: 3}, 1)],
    ids=["another rating", "a rating less", "another's rating", "one copy too many"],
)
def test_every_unchanged_record_needs_a_user_of_its_own(row, strange) -> None:
    release = released(MADE, method="suppress")
    others = table([row, *ROWS[1:]], STARS)
    with pytest.raises(ConfigError, match=f"{strange} of 5 records match no user"):
        Match(release, others).refuse_unknown_users()
    Match(release, table([*ROWS, row], STARS)).refuse_unknown_users()


def test_sensitive_ratings_are_never_moved() -> None:
    moved = [{0: 4, 1: 3}, *ROWS[1:]]
    release = released(MADE, moved, claims=(k_eps(1, 1, sensitive=["2"]),))
    Match(release, MADE).refuse_unknown_users()
    Match(release, table([{0: 1, 1: 3}, *ROWS[1:]], STARS)).refuse_unknown_users()
    with pytest.raises(ConfigError, match="1 of 5 records"):
        Match(release, table([{0: 5, 1: 5}, *ROWS[1:]], STARS)).refuse_unknown_users()


def test_too_few_users() -> None:
    release = released(MADE, [{0: 4, 1: 3}, *ROWS[1:]])
    with pytest.raises(ConfigError, match="4 users in the ratings, 5 records"):
        Match(release, MADE.keep_users(np.arange(4))).refuse_unknown_users()


def test_a_link_shows_what_was_changed_or_invented() -> None:
    release = released(MADE, [{0: 4}, *ROWS[1:]])
    users = release.private.link.users
    other = Link(users, release.private.link.record[[2, 1, 0, 3, 4]])
    with pytest.raises(ConfigError, match=r"are imputed, the key file states 0\.00%"):
        Match(release, MADE, other).refuse_changed_link()
    unmoved = released(MADE, method="suppress")
    other = Link(users, unmoved.private.link.record[[2, 1, 0, 3, 4]])
    with pytest.raises(ConfigError, match="4 ratings differ where the method changes none"):
        Match(unmoved, MADE, other).refuse_changed_link()


def test_users_who_were_left_out() -> None:
    kept = MADE.keep_users(np.array([1, 2, 3, 4]))
    release = released(kept, method="suppress", users_deleted=1)
    assert Match(release, MADE).made_of.users == kept.users
    alone = replace(release, private=None)
    assert Match(alone, MADE).made_of.n_users == 5
    for one, said in ((release, "1 user:"), (alone, "users, 20 % or more:")):
        with pytest.raises(ConfigError, match=f"4 records and suppressed {said}"):
            _ = Match(one, kept).made_of
    more = alone.manifest.model_copy(update={"users_deleted": "under 5 %"})
    with pytest.raises(ConfigError, match="users, under 5 %: it was not"):
        _ = Match(replace(alone, manifest=more), MADE).made_of
    whole = released(kept, method="suppress")
    with pytest.raises(ConfigError, match="the users of the key file are not those"):
        _ = Match(whole, MADE).made_of
