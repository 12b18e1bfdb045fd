"""The homogeneity attack against its slow twin, and small cases by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade.attack.candidates.homogeneity import (
    HomogeneityAttack,
    HomogeneityResult,
    _shared,
)
from starshade.attack.candidates.sensitive import Alike, SensitiveItem
from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.view import Groups, groups_of, look
from starshade.errors import ConfigError
from starshade.kernels.attack.homogeneity import SHARED
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.cells import Symbols
from starshade.release.table import Link, Release
from tests.naive import candidates as candidates_of
from tests.naive import homogeneity as naive
from tests.naive import scoreboard_rh as records_of
from tests.strategies import ratings_tables, table
from tests.unit.attack.samples import release, releases
from tests.unit.attack.test_candidates import WITHIN, hunt, told_to_the_twin
from tests.unit.attack.test_scoreboard_rh import clues, knowledge_of

FIVE = Scale(1, 5, 1)


def check_against_twin(
    data: Ratings | Release, original: Ratings, known: Known, within: candidates_of.Within
) -> None:
    view = look(data, None if data is original else original, None)
    found = _shared(hunt(view, known, within, 1.0, absent=False))
    slow = records_of.Attack(view.cells.symbols.scale, dated=view.cells.days is not None)
    records, _, truths = told_to_the_twin(view, data, original)
    for t, user in enumerate(known.users.tolist()):
        about = clues(known, view, t)
        told = None if known.rating_counts is None else int(known.rating_counts[t])
        matching = candidates_of.matching_set(records, about, within, slow, told)
        items = {clue.item for clue in about}
        expected = naive.shared(
            [records[i] for i in matching], items, truths[user], slow, within.rating
        )
        for name in SHARED.names or ():
            assert found[t][name] == getattr(expected, name), (t, name)


@given(st.data(), ratings_tables(max_users=7, max_items=5), WITHIN)
def test_tables_share_what_the_twin_says(
    data: st.DataObject, ratings: Ratings, within: candidates_of.Within
) -> None:
    assume(ratings.n_ratings > 0)
    check_against_twin(ratings, ratings, data.draw(knowledge_of(ratings)), within)


@given(st.data(), st.booleans(), WITHIN)
def test_releases_share_what_the_twin_says(
    data: st.DataObject, linked: bool, within: candidates_of.Within
) -> None:
    original, released = data.draw(releases(linked=linked))
    check_against_twin(released, original, data.draw(knowledge_of(original)), within)


def given_away(original: Ratings, item: int, groups: Groups) -> SensitiveItem:
    (found,) = Alike.of(original, [item], groups).given_away([item], groups.sizes)
    return found


@given(releases(linked=True), st.integers(0, 3))
def test_groups_give_an_item_away_as_the_twin_says(
    case: tuple[Ratings, Release], item: int
) -> None:
    original, released = case
    assume(item < original.n_items)
    groups = groups_of(released, look(released, original, None))
    truths = records_of.records_of_table(original)
    members = [[truths[u] for u in np.flatnonzero(groups.of_user == g)] for g in range(len(groups))]
    expected = naive.profile_disclosure(members, item)
    found = given_away(original, item, groups)
    assert found.classes == pytest.approx(np.mean(expected))
    in_them = sum(len(group) for group, away in zip(members, expected, strict=True) if away)
    assert found.users == pytest.approx(in_them / released.n_records)


def pairs() -> tuple[Ratings, Release]:
    """Two classes of two: one says A = 5, B = 4; the other A = 5, B = 4 or null, C = 1.

    B of the last user is wrong: the release says 4 or null, they gave 2.
    """
    original = table([{0: 5, 1: 4}, {0: 5, 1: 4}, {0: 5, 2: 1}, {0: 5, 1: 2, 2: 1}], FIVE)
    contents = Symbols.sets(FIVE, [np.array([v]) for v in (5.0, 4.0, 4.0, 1.0)],
                            np.array([0, 0, 1, 0], bool))  # fmt: skip
    link = Link(original.users, np.arange(4))
    rows = [{0: 0, 1: 1}, {0: 0, 1: 2, 2: 3}]
    return original, release(rows, [2, 2], contents, original.items, link)


def test_two_classes_by_hand() -> None:
    """Known of everybody: A. All four fit, and share nothing else."""
    original, released = pairs()
    every_a = Known(
        np.arange(4), np.zeros((4, 1), np.int32), np.full((4, 1), 5.0), np.full((4, 1), -(2**31))
    )
    everything = candidates_of.Within(0.0)
    found = _shared(hunt(look(released, original, None), every_a, everything, 1.0, absent=False))
    assert found["cells"].tolist() == [0, 0, 0, 0]
    assert not found["identical"].any()
    # C is known of the third and the fourth: B is said to be 4 or null, which it is for one
    of_c = Known(
        np.arange(2, 4), np.full((2, 1), 2, np.int32), np.ones((2, 1)), np.full((2, 1), -(2**31))
    )
    found = _shared(hunt(look(released, original, None), of_c, everything, 1.0, absent=False))
    assert found["identical"].all()
    assert found["cells"].tolist() == [2, 2]
    assert found["true"].tolist() == [2, 1]
    assert found["single"].tolist() == found["single_true"].tolist() == [1, 1]
    assert found["single_rated"].tolist() == found["single_near"].tolist() == [1, 1]
    assert found["hidden"].tolist() == [1, 2]


def known_items(result: HomogeneityResult, original: Ratings) -> np.ndarray[Any, Any]:
    """What was known of the last target."""
    return Knowledge(known=2).draw(original, result.per_target.users, result.seed).items[-1]


def test_a_result_by_hand() -> None:
    original, released = pairs()
    result = HomogeneityAttack(sensitive=[0, 1, 2]).run(
        released, Knowledge(known=2), original=original, rng=0
    )
    # of the first two A and B are known, which fits all four; of the third A and C, which fits
    # the second class; of the fourth any two, and B = 2 fits nobody
    assert result.targets == 4
    told = result.to_dict()
    assert [entry["classes"] for entry in told["sensitive"]] == [1, 0.5, 0.5]
    assert [entry["users"] for entry in told["sensitive"]] == [1, 0.5, 0.5]
    assert told["config"]["sensitive"] == [0, 1, 2]
    fits = (known_items(result, original) != 1).all()
    assert result.per_target.credit.tolist() == [1 / 4, 1 / 4, 1 / 2, 1 / 2 if fits else 0]
    assert result.profile_disclosed.rate == (0.5 if fits else 0.25)
    assert "Sensitive item 2 (as given): all members rated it the same in 50.0%" in str(result)
    assert told["classes"] == 2


def test_without_a_link_nobody_can_say_who_rated_alike() -> None:
    original, released = pairs()
    blind = Release(released.manifest, released.classes)
    result = HomogeneityAttack(sensitive=[0]).run(
        blind, Knowledge(known=1), original=original, rng=0
    )
    assert result.sensitive is None
    assert result.to_dict()["sensitive"] is None


def test_a_group_with_a_null_gives_nothing_away() -> None:
    original = table([{0: 5}, {1: 2}, {0: 5}, {0: 5}, {1: 2}, {1: 2}], FIVE)
    link = Link(original.users, np.arange(6))
    contents = Symbols.sets(FIVE, [np.array([5.0])], np.array([True]))
    released = release([{0: 0}, {0: 0}, {}], [2, 2, 2], contents, original.items, link)
    groups = groups_of(released, look(released, original, None))
    assert given_away(original, 0, groups).classes == pytest.approx(1 / 3)
    assert given_away(original, 1, groups).classes == pytest.approx(1 / 3)


def test_equal_rows_share_everything_but_what_was_known() -> None:
    result = HomogeneityAttack().run(
        table([{0: 5, 1: 4, 2: 3}] * 3, FIVE), Knowledge(known=1), rng=0
    )
    cells = result.cells_disclosed
    assert (cells.mean, cells.share, cells.true, cells.ratings_disclosed) == (2, 1, 1, 1)
    assert (cells.single_mean, cells.single_true) == (2, 1)
    assert result.profile_disclosed.rate == 1
    assert "for 2.0 further items per target on average; all are correct, since" in str(result)
    assert "discloses 100.00% of the targets' further ratings exactly." in str(result)
    assert "wider cell" not in str(result)


def test_a_wide_cell_around_the_truth_is_nothing_learnt() -> None:
    """Known of two people: A. Of B their class says 3 or 4, which holds for both."""
    original = table([{0: 5, 1: 4}, {0: 5, 1: 3}, {1: 3}], FIVE)
    contents = Symbols.sets(FIVE, [np.array([5.0]), np.array([3.0, 4.0])], np.zeros(2, bool))
    link = Link(original.users.take(np.arange(2)), np.arange(2))
    released = release([{0: 0, 1: 1}], [2], contents, original.items, link)
    knows_a = Knowledge(known=1, except_items=[original.items[1]])
    result = HomogeneityAttack().run(released, knows_a, original=original, rng=0)
    cells = result.cells_disclosed
    assert (cells.mean, cells.true, cells.single_mean, cells.ratings_disclosed) == (1, 1, 0, 0)
    assert "The candidates share no further single rating" in str(result)
    assert "For 1.0 more items per target they show the same wider cell" in str(result)


def test_single_ratings_of_others_are_told_from_the_target_s() -> None:
    """Who misremembers A is taken for somebody else, whose B is another."""
    people = table([{0: rating, 1: rating} for rating in (1, 2, 3, 4, 5)], FIVE)
    misled = HomogeneityAttack().run(people, Knowledge(known=1, wrong=1), rng=0)
    assert misled.cells_disclosed.single_true == misled.cells_disclosed.ratings_disclosed == 0
    assert "0.0% of them are the target's true rating" in str(misled)


def test_an_invented_rating_is_no_rating_learnt() -> None:
    """A release says B = 4 of two people who rated A alone."""
    original = table([{0: 5}, {0: 5}], FIVE, n_items=2)
    link = Link(original.users, np.arange(2))
    contents = Symbols.exact(FIVE, FIVE.levels)
    released = release([{0: 4, 1: 3}], [2], contents, original.items, link)
    result = HomogeneityAttack().run(released, Knowledge(known=1), original=original, rng=0)
    cells = result.cells_disclosed
    assert (cells.single_mean, cells.single_true, cells.ratings_disclosed) == (1, 0, None)
    assert "0.0% of them are the target's true rating." in str(result)
    assert "This discloses" not in str(result)


def test_on_ratings_nobody_is_in_a_group() -> None:
    ratings = table([{0: 5, 1: 4}, {0: 3}, {1: 4}, {1: 1}], FIVE)
    result = HomogeneityAttack(sensitive=[0]).run(ratings, Knowledge(known=1), rng=0)
    assert result.classes == 4
    assert "Sensitive item 1 (as given): rated by 50.0% of people;" in str(result)
    assert "of classes" not in str(result)


def test_a_cell_that_says_null_alone_is_not_shared() -> None:
    scale = Scale(-10, 10)
    symbols = Symbols.ranges(scale, np.array([-11.0, 0]), np.array([-10.5, 3]))
    original = table([{0: 1.0, 1: 1.0}], scale)
    released = release(
        [{0: 1, 1: 0}], [1], symbols, original.items, Link(original.users, np.arange(1))
    )
    about = Known(
        np.array([0]), np.zeros((1, 1), np.int32), np.ones((1, 1)), np.full((1, 1), -(2**31))
    )
    view = look(released, original, None)
    found = _shared(hunt(view, about, candidates_of.Within(0.0), 1.0, absent=False))
    assert found["identical"].all()
    assert (found["cells"][0], found["hidden"][0]) == (0, 1)


def test_nothing_shared_leaves_no_share() -> None:
    ratings = table([{0: 5}, {0: 5}, {0: 5, 1: 1}], FIVE)
    result = HomogeneityAttack().run(ratings, Knowledge(known=1), targets=1, rng=0)
    cells = result.cells_disclosed
    assert (cells.mean, cells.true, cells.single_true) == (0, None, None)
    assert "The candidates share no further single rating" in str(result)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"by": "name"}, "by"),
        ({"tolerance": -1}, "tolerance"),
        ({"theta": 2}, "theta"),
        ({"k": 0}, "k = 0"),
        ({"sensitive": [-1]}, "sensitive"),
        ({"sensitive": [0.5]}, "sensitive"),
    ],
)
def test_settings_outside_their_range_are_refused(settings: dict[str, object], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        HomogeneityAttack(**settings)  # type: ignore[arg-type]


def test_an_item_that_is_not_there_is_refused() -> None:
    original, _ = pairs()
    with pytest.raises(ConfigError, match="sensitive 3: must be from 0 to 2"):
        HomogeneityAttack(sensitive=[3]).run(original, Knowledge(known=1))
