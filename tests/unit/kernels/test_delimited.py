from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.kernels.text.delimited import NO_QUOTE, SHOWN, Structure, scan_structure
from tests.naive import delimited as naive

# few characters, so that quotes meet delimiters and line ends often
TEXTS = st.text(alphabet='a",\n\r', max_size=40)


def scan(
    text: str, n_fields: int = 2, cut: int = 7, quote: int = ord('"'), wanted=None
) -> Structure:
    data = np.frombuffer(text.encode(), dtype=np.uint8)
    blocks = [data[i : i + cut] for i in range(0, len(data), cut)]
    return scan_structure(blocks, delimiter=ord(","), quote=quote, n_fields=n_fields, wanted=wanted)


@given(TEXTS, st.integers(1, 3), st.integers(1, 9), st.booleans())
def test_like_the_slow_twin(text: str, n_fields: int, cut: int, quoted: bool) -> None:
    twin = naive.structure(text, ",", '"' if quoted else "", n_fields)
    starts = twin["starts"]
    wanted = np.arange(len(starts) + 1)
    found = scan(text, n_fields, cut, ord('"') if quoted else NO_QUOTE)
    assert found.records == twin["records"]
    assert found.ragged == len(twin["ragged"])
    assert list(zip(found.ragged_lines, found.ragged_fields, strict=True)) == twin["ragged"][:SHOWN]
    assert found.loose == len(twin["loose"])
    assert list(found.loose_lines) == twin["loose"][:SHOWN]
    assert found.open_line == twin["open_line"]
    lines = scan(text, n_fields, cut, ord('"') if quoted else NO_QUOTE, wanted).lines
    assert lines.tolist() == [*starts, 0]


FIELD = st.text(alphabet='a",\n é', max_size=5)


@given(st.lists(st.tuples(FIELD, FIELD), max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_what_a_csv_writer_wrote_is_sound(rows: list[tuple[str, str]], end: str) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator=end).writerows(rows)
    found = scan(out.getvalue())
    assert found.is_sound
    assert found.records == len(rows)


@pytest.mark.parametrize(
    ("text", "ragged", "loose", "open_line"),
    [
        ("a,b\nc\nd,e,f\n", [(2, 1), (3, 3)], [], 0),
        ('a,"b"c\n', [], [1], 0),
        ('a,b\nc,"d\ne,f\n', [], [], 2),
        ('a,"x\n\ny"\n\nb\n', [(5, 1)], [], 0),
        ('a,b"c\nd,e\n', [], [], 0),
        ("a,b\n \n", [(2, 1)], [], 0),
    ],
)
def test_faults_by_hand(text, ragged, loose, open_line) -> None:
    found = scan(text)
    assert list(zip(found.ragged_lines, found.ragged_fields, strict=True)) == ragged
    assert list(found.loose_lines) == loose
    assert found.open_line == open_line
    assert found.is_sound == (not ragged and not loose and not open_line)


def test_more_faults_than_are_shown_are_counted() -> None:
    found = scan("a\n" * 9)
    assert found.ragged == 9
    assert found.ragged_lines == (1, 2, 3, 4, 5)


def test_nothing_at_all() -> None:
    assert scan("").records == 0
    assert scan("\n\r\n\n").records == 0
