from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.files.checksum import parse, with_checksum, without_checksum

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(st.text().filter(lambda name: name != "checksum"), VALUES))
def test_what_was_written_is_what_is_read(facts):
    assert without_checksum(parse(json.dumps(with_checksum(facts)).encode())) == facts


def test_keys_that_json_makes_text():
    facts = {"levels": {10: "b", 9: "a"}, "pair": (1, 2)}
    read = without_checksum(parse(json.dumps(with_checksum(facts)).encode()))
    assert read == {"levels": {"10": "b", "9": "a"}, "pair": [1, 2]}


@pytest.mark.parametrize("facts", [{}, {"k": 5}, {"k": 5, "checksum": None}])
def test_without_one(facts):
    with pytest.raises(ValueError, match="checksum"):
        without_checksum(facts)


@pytest.mark.parametrize("depth", [500, 5_000, 200_000])
def test_a_depth_is_read_or_refused(depth):
    raw = b'{"a": ' + b"[" * depth + b"]" * depth + b"}"
    try:
        facts = parse(raw)
    except ValueError:
        return
    with pytest.raises(ValueError, match=r"checksum|deep"):
        without_checksum(facts | {"checksum": "0"})
