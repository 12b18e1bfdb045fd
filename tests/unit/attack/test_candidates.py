"""The attacks by candidates against their slow twin, on tables and on rows with multiplicity."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade.attack.candidates.candidates import (
    Hunt,
    LabelAttack,
    Scoreboard,
    clues_of,
    judge,
    seen_by,
)
from starshade.attack.candidates.result import CandidateOutcomes
from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.scoreboard_rh.scoring import goal_of
from starshade.attack.view import View, look
from starshade.kernels.attack.candidates import Thresholds, _leap, candidates
from starshade.kernels.attack.postings import NO_DAY
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.cells import Symbols
from starshade.release.table import Release
from tests.naive import candidates as naive
from tests.naive import scoreboard_rh as records_of
from tests.strategies import ratings_tables, table
from tests.unit.attack.samples import release, releases
from tests.unit.attack.test_scoreboard_rh import clues, knowledge_of, some_table

WITHIN = st.builds(
    naive.Within,
    rating=st.sampled_from([0.0, 0.5, 1.0, 2.5, math.inf]),
    day=st.sampled_from([0, 3, 14, math.inf]),
)
THETAS = st.sampled_from([1.0, 0.5])


def hunt(view: View, known: Known, within: naive.Within, theta: float, *, absent: bool) -> Hunt:
    days = -1 if within.day == math.inf else int(within.day)
    return Hunt.of(view, known, Thresholds(within.rating, days), theta, absent=absent)


def differences(fast: CandidateOutcomes, t: int, slow: naive.Found) -> list[str]:
    """Name what differs for target t; bits may differ by 1e-12."""
    mine: dict[str, Any] = {name: getattr(fast, name)[t] for name in
                            ("credit", "false_match", "disclosed", "entropy_bits",
                             "entropy_bits_profile")}  # fmt: skip
    mine["records"] = fast.candidates[t]
    return [
        name
        for name, value in mine.items()
        if not np.isclose(float(value), float(getattr(slow, name)), rtol=1e-12, atol=1e-12)
    ]


def check_against_twin(
    data: Ratings | Release,
    original: Ratings,
    known: Known,
    within: naive.Within,
    theta: float,
    *,
    absent: bool,
) -> None:
    view = look(data, None if data is original else original, None)
    outcomes, _ = judge(hunt(view, known, within, theta, absent=absent))
    slow = records_of.Attack(
        view.cells.symbols.scale, theta=theta, dated=view.cells.days is not None
    )
    records, own_of, truths = told_to_the_twin(view, data, original)
    for t, user in enumerate(known.users.tolist()):
        own = own_of.get(user)
        if view.credit == "linked" and own is None:
            continue  # such users are never targets
        told = None if known.rating_counts is None else int(known.rating_counts[t])
        about = clues(known, view, t)
        found = naive.find(records, about, truths[user], within, slow, own=own, told=told)
        assert not differences(outcomes, t, found), (t, found)
        if absent and own is not None:
            left = naive.matches_without(records, about, within, slow, own=own, told=told)
            assert outcomes.some_absent is not None
            assert outcomes.some_absent[t] == left


def told_to_the_twin(
    view: View, data: Ratings | Release, original: Ratings
) -> tuple[list[records_of.Record], dict[int, int], list[records_of.Record]]:
    """Every record, the record of each user, and each user's truth on the released items."""
    records = records_of.records_of(view.cells)
    if isinstance(data, Ratings):
        own_of = dict(enumerate(range(data.n_users)))
    else:
        link = data.private.link if data.private else None
        own_of = {} if link is None else dict(enumerate(link.record.tolist()))
    truths = [
        {int(view.item_of[i]): cell for i, cell in row.items() if view.item_of[i] >= 0}
        for row in records_of.records_of_table(original)
    ]
    return records, own_of, truths


@given(st.data(), ratings_tables(max_users=7, max_items=4), WITHIN, THETAS, st.booleans())
def test_a_table_is_attacked_as_the_paper_says(
    data: st.DataObject, ratings: Ratings, within: naive.Within, theta: float, absent: bool
) -> None:
    assume(ratings.n_ratings > 0)
    known = data.draw(knowledge_of(ratings))
    check_against_twin(ratings, ratings, known, within, theta, absent=absent)


@given(st.data(), st.booleans(), WITHIN, THETAS, st.booleans())
def test_a_release_is_attacked_as_the_paper_says(
    data: st.DataObject, linked: bool, within: naive.Within, theta: float, absent: bool
) -> None:
    original, release = data.draw(releases(linked=linked))
    known = data.draw(knowledge_of(original))
    check_against_twin(release, original, known, within, theta, absent=absent and linked)


@given(st.data(), st.integers(1, 4))
def test_rows_are_found_in_long_lists(data: st.DataObject, known: int) -> None:
    """Lists long enough for the search to leap; a true fact fits at least the target."""
    ratings = some_table(150, 12, data.draw(st.integers(0, 5)), Scale(1, 5, 1))
    users = np.flatnonzero(ratings.user_support >= known)
    about = Knowledge(known=known).draw(ratings, users, data.draw(st.integers(0, 100)))
    view = look(ratings, None, None)
    seen = seen_by(view, goal_of(view, 1.0, absent=False))
    values = ratings.dense()
    for t, user in enumerate(users.tolist()):
        found = candidates(seen, clues_of(view, about), Thresholds(1.0, -1), t)
        near = np.abs(values[:, about.items[t]] - about.ratings[t]) <= 1
        assert found.tolist() == np.flatnonzero(near.all(axis=1)).tolist()
        assert user in found


@given(st.lists(st.integers(0, 400), unique=True), st.integers(-1, 401), st.integers(0, 5))
def test_leaping_ends_where_a_search_does(numbers: list[int], value: int, start: int) -> None:
    ascending = np.sort(np.array(numbers, dtype=np.int32))
    start = min(start, len(ascending))
    found = _leap(ascending, start, len(ascending), np.int32(value))
    assert found == max(start, np.searchsorted(ascending, value))


def test_few_among_many_are_found_by_leaping_and_many_by_marking() -> None:
    """A rare item beside ones that nearly everybody rated, in any order."""
    rng = np.random.default_rng(1)
    rows = [{i: float(rng.integers(1, 4)) for i in (0, 1)} for _ in range(600)]
    for user in rng.choice(600, 12, replace=False).tolist():
        rows[user] |= {2: 3.0}
    for user in rng.choice(600, 100, replace=False).tolist():
        del rows[user][0]
    ratings = table(rows, Scale(1, 5, 1))
    view = look(ratings, None, None)
    seen = seen_by(view, goal_of(view, 1.0, absent=False))
    values = ratings.dense()
    known = [2.0, 3.0, 3.0]
    for items in ([2, 0, 1], [0, 1, 2], [1, 0], [0, 2]):
        about = Known(
            np.array([0]),
            np.array([items], dtype=np.int32),
            np.array([[known[i] for i in items]]),
            np.full((1, len(items)), NO_DAY, dtype=np.int32),
        )
        for error in (0.0, 1.0, math.inf):
            near = np.abs(values[:, items] - [known[i] for i in items]) <= error
            found = candidates(seen, clues_of(view, about), Thresholds(error, -1), 0)
            assert found.tolist() == np.flatnonzero(near.all(axis=1)).tolist()


def test_more_contents_than_raters_change_nothing() -> None:
    """On a fine scale the contents that occur are judged, not all there are."""
    ratings = some_table(40, 6, 3, Scale(-10, 10, 0.1))
    assert len(ratings.levels) > ratings.item_support.max()
    known = Knowledge(known=1).draw(ratings, np.flatnonzero(ratings.user_support), 1)
    check_against_twin(ratings, ratings, known, naive.Within(rating=2.5), 1.0, absent=True)


def test_threads_do_not_change_a_bit() -> None:
    ratings = some_table(200, 60)
    knowledge = Knowledge(known=2, wrong=1, rating_error=0.5, about_count=True)
    before = numba.get_num_threads()
    found = []
    try:
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(threads)
            found.append(Scoreboard(absent=True).run(ratings, knowledge, rng=5).per_target)
    finally:
        numba.set_num_threads(before)
    assert len(found[0].users) > 100
    for field in dataclasses.fields(CandidateOutcomes):
        assert np.array_equal(getattr(found[0], field.name), getattr(found[1], field.name))


def test_small_batches_change_nothing() -> None:
    ratings = some_table(40, 12)
    whole = LabelAttack(tolerance=0.5).run(ratings, Knowledge(known=1), rng=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("starshade.attack.candidates.candidates._BATCH", 7)
        parts = LabelAttack(tolerance=0.5).run(ratings, Knowledge(known=1), rng=3)
    assert whole.expected_top1 == parts.expected_top1
    assert np.array_equal(whole.per_target.candidates, parts.per_target.candidates)


@pytest.mark.parametrize(
    ("rating", "error", "fitting"),
    [
        (-8.0, 0.0, [1]),
        (-10.0, 0.6, [1]),  # the part below the scale is null, and null is no rating
        (-10.5, 0.0, []),
        (4.0, 0.5, []),
        (4.0, 1.0, [2]),
        (-1.0, 0.5, []),
        (-1.0, 1.0, [2]),
        (-6.5, 1.0, [1]),
        (np.nan, 0.0, [1, 2]),
        (9.0, math.inf, [1, 2]),
    ],
)
def test_a_range_fits_from_end_to_end(rating: float, error: float, fitting: list[int]) -> None:
    scale = Scale(-10, 10)
    symbols = Symbols.ranges(scale, np.array([-11.0, -11, 0]), np.array([-10.5, -7.5, 3]))
    original = table([{0: -8.0}], scale)
    rows = release([{0: 0}, {0: 1}, {0: 2}], [1, 1, 1], symbols, original.items)
    view = look(rows, original, None)
    seen = seen_by(view, goal_of(view, 1.0, absent=False))
    about = Known(
        np.array([0]),
        np.zeros((1, 1), np.int32),
        np.array([[rating]]),
        np.full((1, 1), NO_DAY, np.int32),
    )
    found = candidates(seen, clues_of(view, about), Thresholds(error, -1), 0)
    assert found.tolist() == fitting


def test_a_cell_that_says_null_alone_is_no_rating_of_the_row() -> None:
    scale = Scale(-10, 10)
    symbols = Symbols.ranges(scale, np.array([-11.0, 0]), np.array([-10.5, 3]))
    original = table([{0: 1.0, 1: 1.0, 2: 1.0}], scale)
    rows = release([{0: 1, 1: 0, 2: 0}, {0: 1, 1: 1, 2: 1}], [1, 1], symbols, original.items)
    view = look(rows, original, None)
    seen = seen_by(view, goal_of(view, 1.0, absent=False))
    about = Known(
        np.array([0]),
        np.zeros((1, 1), np.int32),
        np.ones((1, 1)),
        np.full((1, 1), NO_DAY, np.int32),
        np.array([1]),
    )
    assert candidates(seen, clues_of(view, about), Thresholds(0.0, -1), 0).tolist() == [0]


def test_a_cell_without_a_day_fits_no_known_day() -> None:
    ratings = table([{0: 3.0}, {0: 3.0}, {0: 3.0}], Scale(1, 5, 1), days=[{0: 10}, {}, {0: 13}])
    view = look(ratings, None, None)
    seen = seen_by(view, goal_of(view, 1.0, absent=False))
    about = Known(
        np.array([0, 0]),
        np.zeros((2, 1), np.int32),
        np.array([[3.0], [3.0]]),
        np.array([[11], [NO_DAY]], np.int32),
    )
    for error, found in ((0, []), (1, [0]), (2, [0, 2]), (99_999, [0, 2]), (-1, [0, 1, 2])):
        assert candidates(seen, clues_of(view, about), Thresholds(0.0, error), 0).tolist() == found
    # a day that is not known is no condition
    assert candidates(seen, clues_of(view, about), Thresholds(0.0, 0), 1).tolist() == [0, 1, 2]


def test_the_comparer_sees_every_kind_of_difference() -> None:
    ratings = some_table(30, 10)
    view = look(ratings, None, None)
    known = Knowledge(known=2).draw(ratings, np.flatnonzero(ratings.user_support >= 2)[:1], 0)
    within = naive.Within(0.0)
    outcomes, _ = judge(hunt(view, known, within, 1.0, absent=False))
    records, own_of, truths = told_to_the_twin(view, ratings, ratings)
    user = int(known.users[0])
    slow = records_of.Attack(ratings.scale, dated=True)
    found = naive.find(records, clues(known, view, 0), truths[user], within, slow, own=own_of[user])
    assert not differences(outcomes, 0, found)
    wrong: dict[str, Any] = {
        "records": found.records + 1,
        "credit": found.credit / 2 + 0.1,
        "false_match": not found.false_match,
        "disclosed": not found.disclosed,
        "entropy_bits": found.entropy_bits + 1e-6,
        "entropy_bits_profile": found.entropy_bits_profile + 1e-6,
    }
    for name, value in wrong.items():
        worse = dataclasses.replace(found, **{name: value})
        assert differences(outcomes, 0, worse) == [name]
