"""Hierarchies of categorical attributes: joining beside the twin, order, files that are none."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.hierarchy.attribute import (
    parse_attribute_hierarchy,
    read_attribute_hierarchy,
)
from starshade.anonymize.personal.quasi import quasi_columns
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from tests.naive.quasi import joined
from tests.strategies import table

ZIPS = """55401;554**;55***;*
02139;021**;02***;*
55402;554**;55***;*
55125;551**;55***;*
"""


@st.composite
def hierarchies(draw: st.DrawFn) -> dict:
    """Nested names of up to eight values on one to three levels."""
    values = draw(
        st.lists(st.sampled_from(["a", "b", "B", "é", "10", "9", "x y"]), min_size=1).map(
            lambda told: list(dict.fromkeys(told))
        )
    )
    names: dict = {value: [] for value in values}
    part = dict.fromkeys(values, 0)
    for level in range(draw(st.integers(0, 2))):  # from the top
        part = {v: 10 * p + draw(st.integers(0, 2)) for v, p in part.items()}
        for value in values:
            names[value].insert(0, f"{level}-{part[value]}")
    return {value: (*own, "*") for value, own in names.items()}


@given(hierarchies(), st.data())
def test_values_are_joined_as_the_twin_joins_them(rows, data):
    text = "\n".join(";".join([value, *names]) for value, names in rows.items())
    hierarchy = parse_attribute_hierarchy(text)
    members = data.draw(st.lists(st.sampled_from([*rows, None]), min_size=1))
    assert list(hierarchy.join(members)) == joined(rows, members, [], 0)
    assert sorted(hierarchy.values) == sorted(rows)
    assert parse_attribute_hierarchy("\n".join(hierarchy.to_text())) == hierarchy
    for level in range(len(next(iter(rows.values())))):  # who has one name stands together
        told = [rows[value][level] for value in hierarchy.values]
        assert len(set(told)) == 1 + sum(a != b for a, b in pairwise(told))


def test_by_hand():
    zips = parse_attribute_hierarchy(ZIPS)
    assert zips.join(["55401"]) == ("55401",)
    assert zips.join(["55402", "55401"]) == ("55401", "55402")
    assert zips.join(["55402", "55125"]) == ("55125", "55401", "55402")
    assert zips.join(["55402", "02139"]) == ("02139", "55125", "55401", "55402")
    assert zips.join(["55402", None]) == (None, "55402")
    assert zips.join([None]) == (None,)
    assert zips.values == ("55401", "55402", "55125", "02139")


def test_values_stand_in_the_order_of_the_hierarchy():
    people = table([{0: 5.0}] * 4, Scale(1, 5, 1)).annotate(
        attributes=pa.table({"zip": ["02139", None, "55401", "55125"]})
    )
    zips = {"zip": parse_attribute_hierarchy(ZIPS)}
    assert quasi_columns(people, ["zip"], zips)[:, 0].tolist() == [5, 0, 1, 3]
    assert quasi_columns(people, ["zip"])[:, 0].tolist() == [1, 0, 5, 3]
    assert quasi_columns(people, ["zip"], zips).dtype == np.int64


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "h.csv: it contains no value"),
        ("a;x;*\nb;*", "h.csv, line 2: 2 columns; 3 are needed"),
        ("a", "h.csv, line 1: 1 columns; 2 are needed"),
        ("a;*\n ;*", "h.csv, line 2: an empty value"),
        ("a;*\n\na;*", "h.csv, line 3: its value occurs a second time"),
        (
            "a;x;*\nb;y;*\nc;x;+",
            "line 3: values with one name on level 1 have different names on a later level",
        ),
        ("a;x\nb;y", "h.csv: the last level has more than one name"),
    ],
)
def test_a_file_that_is_none_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        parse_attribute_hierarchy(text, "h.csv")


def test_files(tmp_path):
    path = tmp_path / "zip.csv"
    path.write_bytes(b"\xef\xbb\xbf" + ZIPS.replace("\n", "\r\n").encode())
    assert read_attribute_hierarchy(path) == parse_attribute_hierarchy(ZIPS)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_attribute_hierarchy(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_attribute_hierarchy(tmp_path)
