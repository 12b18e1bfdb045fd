"""What the verifier counts, by hand: distances of classes, rare values, sets of items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from starshade.ratings.scale import Scale
from starshade.release.verify.claims import _farthest, judge_diversity
from starshade.release.verify.profiles import Shown
from starshade.release.verify.rare import _blanked, _in_words, _of_lists, _of_ranges
from tests.strategies import table

NAN = float("nan")


@pytest.mark.parametrize(
    ("groups", "values", "numbers", "texts"),
    [
        ([0, 0, 1, 1], [0, 0, 1, 1], 1 / 2, 1 / 2),
        ([0, 0, 1, 1], [0, 1, 2, 2], 3 / 8, 1 / 2),
        ([0, 0, 1, 1, 1, 1], [0, 2, 0, 1, 1, 2], 1 / 6, 1 / 3),
        ([0, 0, 1, 1], [0, 1, 0, 1], 0, 0),
        ([0, 1], [0, 0], 0, 0),
    ],
)
def test_the_farthest_class_is_measured_by_the_earth_movers_distance(
    groups: list[int], values: list[int], numbers: float, texts: float
) -> None:
    """The second: of a third of a step and of two thirds, over the two steps that there are."""
    arrays = np.array(groups), np.array(values)
    assert _farthest(*arrays, True) == pytest.approx(numbers)
    assert _farthest(*arrays, False) == pytest.approx(texts)


@pytest.mark.parametrize(
    ("values", "joined", "left"),
    [
        ("aaa", False, "aaa"),
        ("aabc", False, "aa--"),
        ("aab", False, "---"),  # one null alone would be as rare
        ("ab-", True, "---"),  # so would the one value that is left
        ("ab", True, "ab"),
        ("aab-", True, "aa--"),
        ("aa-", False, "---"),
    ],
)
def test_values_that_fewer_than_two_have_are_blanked(values: str, joined: bool, left: str) -> None:
    given, wanted = ([None if v == "-" else v for v in text] for text in (values, left))
    assert _blanked(given, 2, joined=joined) == wanted


@pytest.mark.parametrize(
    ("counts", "k", "words"),
    [
        ([1, 5], 2, "1 value that fewer than k = 2 people have (1 person)"),
        ([1, 2, 3], 3, "2 values that fewer than k = 3 people have (3 people)"),
        ([0, 3], 3, ""),
        ([], 3, ""),
    ],
)
def test_rare_values_are_counted(counts: list[int], k: int, words: str) -> None:
    assert _in_words(counts, k) == words


def test_who_has_a_number_is_bounded_by_what_classes_list() -> None:
    """Of 3 all have one, of 4 some have and some have not, of 2 none has."""
    entries = [(True, 1, 2, False), (True, 1, 2, True), (False, NAN, NAN, True)]
    assert _of_ranges(entries, [3, 4, 2], None) == [3 + 2, 3 + 3]
    assert _of_ranges(entries, [3, 4, 2], [None, 3.0, 4.0]) == [1, 2]


def test_who_has_a_text_is_bounded_by_what_classes_list() -> None:
    a, b, c, null = (True, "a"), (True, "b"), (True, "c"), (False, "")
    entries: Any = [[a], [a, b], [null, b]]
    assert _of_lists(entries, [2, 3, 4], None, joined=False) == [2 + 2, 2 + 3, 3]
    assert _of_lists(entries, [2, 3, 4], ["a", "a", "b", None], joined=False) == [2, 1, 1]
    entries = [[a, b], [c], [null]]
    assert _of_lists(entries, [3, 1, 1], None, joined=True) == []
    nulls, *sets = _of_lists(entries, [3, 1, 1], ["a", "a", "b", "c", None], joined=True)
    assert (nulls, sorted(sets)) == (1, [1, 3])


@pytest.mark.parametrize(
    ("b", "l", "known", "counted", "holds"),
    [
        (1, 2, True, {"fewest_groups": 2}, True),
        (1, 3, True, {"fewest_groups": 2}, False),
        (2, 2, True, {"fewest_groups": 1}, False),  # the two are together in one class
        (2, 1, True, {"fewest_groups": 1}, True),
        (2, 2, False, {"fewest_groups": 2, "sizes_counted": 1}, True),
    ],
)
def test_sets_of_items_are_counted_in_classes(
    b: int,
    l: int,  # noqa: E741
    known: bool,
    counted: dict[str, int],
    holds: bool,
) -> None:
    """Of three classes one shows both items, each of the others shows one."""
    bits = np.packbits([[True, True, False], [True, False, True]], axis=1)
    original = table([{0: 5, 1: 4}], Scale(1, 5, 1)) if known else None
    shown = Shown(3, np.array([2, 2]), bits if known else None)
    found = judge_diversity({"parameters": {"b": b, "l": l}}, shown, original)
    assert (found.verified, found.holds) == (counted, holds)
