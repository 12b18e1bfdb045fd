"""Sums over the balls of deleted records, however they are cut; what a found scale proves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize import suppress_core
from starshade.anonymize.suppress import SuppressAnonymizer
from starshade.anonymize.suppress_core import largest_core, parts, sums_of_deleted
from starshade.errors import UnmetError
from starshade.ratings.proximity.space import space_of
from starshade.ratings.scale import Scale
from starshade.ratings.table import ReadReport
from tests.naive.balls import balls
from tests.strategies import ratings_tables, table


@given(
    ratings=ratings_tables(min_users=1, max_users=12, max_items=3),
    eps=st.sampled_from([0.0, 1.0, 2.0]),
    nulls=st.sampled_from(["strict", "ignore", "zero"]),
    most=st.sampled_from([1, 3, 1 << 23]),
    full=st.sampled_from([0, 1 << 20]),
    data=st.data(),
)
def test_sums_are_those_of_the_definition(
    ratings: Any, eps: float, nulls: Any, most: int, full: int, data: st.DataObject
) -> None:
    items = np.arange(ratings.n_items)
    space = space_of(ratings, items, eps, nulls)
    near = balls(ratings, items, eps, nulls)
    first = space.kinds.row
    gone = np.array(sorted(data.draw(st.sets(st.integers(0, len(first) - 1), min_size=1))))
    columns = np.arange(1, 2 * len(gone) + 1).reshape(-1, 2)
    expected = near[np.ix_(first, first[gone])] @ columns
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suppress_core, "_MEMBERS", most)
        patch.setattr(suppress_core, "_FULL", full)
        touched, share = sums_of_deleted(space, gone, columns, near.sum(axis=1)[first[gone]])
    found = np.zeros_like(expected)
    found[touched] = share
    assert found.tolist() == expected.tolist()
    assert touched.tolist() == np.flatnonzero(expected.any(axis=1)).tolist()


@pytest.mark.parametrize(
    ("sizes", "most", "expected"),
    [
        ([1, 1, 1, 1], 1, [[0], [1], [2], [3]]),
        ([1, 1, 1, 1], 2, [[0], [1, 2], [3]]),
        ([1, 1, 1, 1], 5, [[0, 1, 2, 3]]),
        ([9, 1, 1], 3, [[0, 1, 2]]),
        ([9, 1, 1, 1], 3, [[0, 1, 2], [3]]),
        ([3], 1, [[0]]),
    ],
)
def test_each_record_is_in_one_part(
    monkeypatch: pytest.MonkeyPatch, sizes: list[int], most: int, expected: list[list[int]]
) -> None:
    monkeypatch.setattr(suppress_core, "_MEMBERS", most)
    found = [part.tolist() for part in parts(np.array(sizes))]
    assert found == expected
    # the first of a part may be large by itself; what follows it fits
    assert all(sum(sizes[i] for i in part[1:]) <= most for part in found)


@pytest.mark.parametrize("most", [1, 1 << 23])
def test_who_loses_a_few_in_each_round_is_missed_at_last(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(suppress_core, "_MEMBERS", most)
    # three, then two, then the last two, who lost one in either round
    points = [(2, 4), (3, 1), (5, 1), (2, 1), (4, 2), (1, 1), (3, 3)]
    people = table([{0: float(x), 1: float(y)} for x, y in points], Scale(1, 5, 1))
    found = largest_core(space_of(people, np.arange(2), 1, "strict"), 3)
    assert [r.deleted for r in found.rounds] == [3, 2, 2]
    for seed in range(40):
        drawn = np.random.default_rng(seed).integers(1, 9, (40, 2)).astype(float)
        people = table([dict(enumerate(row)) for row in drawn.tolist()], Scale(1, 8, 1))
        near = balls(people, np.arange(2), 1, "strict")
        stays = np.ones(len(near), np.bool_)
        while (few := stays & ((near & stays).sum(axis=1) < 5)).any():
            stays &= ~few
        found = largest_core(space_of(people, np.arange(2), 1, "strict"), 5)
        assert found.stays.tolist() == stays.tolist()


@pytest.mark.parametrize(
    ("l", "sensitive", "said"),
    [
        (0.0, (), "All 3 records would be deleted: 3 have fewer than 2 records within eps"),
        (1.0, ("2",), "All 4 records would be deleted: 2 have fewer than 2 records within eps"),
    ],
)
def test_why_nobody_may_stay(l: float, sensitive: tuple[str, ...], said: str) -> None:  # noqa: E741
    apart = [{0: 1.0, 1: 2.0}, {0: 6.0, 1: 2.0}, {0: 3.0, 1: 2.0}]
    # the 6 is alone; of the others one goes, and another, and the last is alone then
    flat = [*[{0: 1.0, 1: 2.0}] * 3, {0: 6.0, 1: 6.0}]
    people = table(flat if l else apart, Scale(1, 6, 1))
    with pytest.raises(UnmetError) as caught:
        SuppressAnonymizer(2, 1, l, sensitive).suppress(people)
    message = caught.value.message
    assert said in message
    assert ("2 are near sensitive ratings that spread by less than 1" in message) == bool(l)
    assert (", l = 1," in message) == bool(l)
    assert ("a smaller l" in str(caught.value.advice)) == bool(l)


def test_what_was_least_on_one_scale_is_not_proven_on_another() -> None:
    """Under "zero" a null counts as the level below the scale, which moves with its minimum."""
    # with 1 on the scale a null counts as 0, and is 3 away from 3; without, as 2
    rows = [{0: 1.0}, *[{0: 3.0, 1: 3.0}] * 3, {0: 3.0}, {1: 3.0}]
    people = table(rows, Scale(1, 3, 1))
    guessed = people.annotate(report=ReadReport(scale_inferred=True))
    make = SuppressAnonymizer(2, 1, nulls="zero", rare_items="keep")
    declared, found = make.suppress(people), make.suppress(guessed)
    assert str(declared.ratings.scale) == "1:3:1"
    assert declared.least
    assert "; proven to be the minimum" in str(declared)
    # the level 1 went with who gave it: those who were deleted for it may have been alike
    assert str(found.ratings.scale) == "3:3:1"
    assert not found.least
    assert "not proven to be the minimum" in str(found)
    again = make.suppress(people.annotate(report=ReadReport(scale_inferred=False)))
    assert again.least
