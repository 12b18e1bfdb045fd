"""What the verifier counts, by hand: distances of classes, rare values, sets of items."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from starshade.ratings.scale import Scale
from starshade.release.verify.claims import _farthest, judge_diversity
from starshade.release.verify.profiles import Shown
from starshade.release.verify.rare import _blanked, _in_words, _of_lists, _of_ranges
from starshade.release.verify.rows import Failed, _check_attribute_order, read_real
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
    ("b", "least", "known", "counted", "holds"),
    [
        (1, 2, True, {"fewest_classes": 2}, True),
        (1, 3, True, {"fewest_classes": 2}, False),
        (2, 2, True, {"fewest_classes": 1}, False),  # the two are together in one class
        (2, 1, True, {"fewest_classes": 1}, True),
        (2, 2, False, {"fewest_classes": 2, "sizes_counted": 1}, True),
    ],
)
def test_sets_of_items_are_counted_in_classes(
    b: int,
    least: int,
    known: bool,
    counted: dict[str, int],
    holds: bool,
) -> None:
    """Of three classes one shows both items, each of the others shows one."""
    bits = np.packbits([[True, True, False], [True, False, True]], axis=1)
    original = table([{0: 5, 1: 4}], Scale(1, 5, 1)) if known else None
    shown = Shown(3, np.array([2, 2]), bits if known else None)
    found = judge_diversity({"parameters": {"b": b, "l": least}}, shown, original)
    assert (found.verified, found.holds) == (counted, holds)


@pytest.mark.parametrize(
    ("ends", "cell"),
    [
        ((1.0, 3.0, False), (1.0, 1.0, 3.0, 0.0)),
        ((2.0, 2.0, False), (1.0, 2.0, 2.0, 0.0)),
        ((-1.0, 3.0, True), (1.0, -1.0, 3.0, 1.0)),
        ((-1.0, 3.0, False), "null flag of a range is wrong"),
        ((1.0, 3.0, True), "null flag of a range is wrong"),
        ((-2.0, -1.0, True), "null flag of a range is wrong"),
        ((None, 3.0, False), "without ends"),
        ((1.0, None, False), "without ends"),
        ((3.0, 1.0, False), "without ends"),
        ((NAN, 1.0, False), "without ends"),
    ],
)
def test_a_range_is_read_with_both_ends(ends: Any, cell: Any) -> None:
    """On a scale from 0: what lies below it stands for null."""
    (low, high, null), written = ends, SimpleNamespace(minimum=0.0)
    read = read_real(written)  # type: ignore[arg-type]
    if isinstance(cell, str):
        with pytest.raises(Failed, match=cell):
            read(low, high, None, null)
    else:
        assert read(low, high, None, null) == cell


@pytest.mark.parametrize("null", [True, False])
@pytest.mark.parametrize("values", [[1.0], [1.0, 2.0], [], [2.0, 1.0], [1.0, 1.0], [1.0, 3.0, 2.0]])
def test_a_list_of_values_ascends(values: list[float], null: bool) -> None:
    read = read_real(SimpleNamespace(minimum=0.0))  # type: ignore[arg-type]
    if values in ([1.0], [1.0, 2.0]):
        kind, *rest = read(None, None, values, null)
        assert (kind, rest[null:]) == (0.0, values)
        assert len(rest) == len(values) + null
    else:
        with pytest.raises(Failed, match="empty or not sorted"):
            read(None, None, values, null)


@pytest.mark.parametrize(
    ("ages", "jobs", "groups", "sorted_"),
    [
        ([None, 1, 2], "aaa", [0, 0, 0], True),
        ([1, 2, 1], "aaa", [0, 0, 1], True),
        ([2, 1, 1], "aaa", [0, 0, 1], False),
        ([1, None, 1], "aaa", [0, 0, 1], False),
        ([1, 1, 2], "aba", [0, 0, 0], True),
        ([1, 1, 2], "baa", [0, 0, 0], False),
        ([-1, 0, 1], "aaa", [0, 0, 0], True),
    ],
)
def test_records_of_a_class_ascend_by_their_attributes(
    ages: list[int | None], jobs: str, groups: list[int], sorted_: bool
) -> None:
    attributes = pa.table({"age": ages, "job": list(jobs)})
    if sorted_:
        _check_attribute_order(attributes, np.array(groups))
    else:
        with pytest.raises(Failed, match="not sorted by their attributes"):
            _check_attribute_order(attributes, np.array(groups))
