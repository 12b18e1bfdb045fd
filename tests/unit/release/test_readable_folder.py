"""The readable tables of a release folder: there up to a size, and nothing but what it says."""

from __future__ import annotations

import csv
import json
import shutil
import stat
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unicodedata import category

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.errors import ReleaseError
from starshade.progress import Reporter, watch
from starshade.ratings.scale import Scale
from starshade.release.folder.read import read_release
from starshade.release.readable.write import MOST_ROWS, _Harmless
from starshade.release.table import Release
from starshade.release.verify.table import _harmless
from starshade.release.verify.verify import verify_folder
from tests.strategies import table
from tests.unit.release import test_profile_files, test_quasi
from tests.unit.release.changes import released
from tests.unit.release.damage import READABLE, mend, without_readable
from tests.unit.release.samples import covering

ROWS = [{0: 1, 1: 2}, {0: 1, 1: 5}, {0: 4}, {0: 5, 1: 3}, {1: 3}]
REAL = [{0: -3.5, 1: 2.0}, {0: 4.25}, {0: 1.0, 1: 1.0}, {1: 2.5}]


def sets(names: tuple[str, ...] | None = ("=One", "Two")) -> Release:
    original = replace(table(ROWS, Scale(1, 5, 1)), item_names=names)
    return covering(original, np.array([0, 0, 1, 1, 1]), ranges=False).release()


def real(ranges: bool) -> Release:
    original = table(REAL, Scale(-10, 10))
    return covering(original, np.array([0, 0, 1, 1]), ranges=ranges).release()


RELEASES = {
    "sets": sets,
    "values": lambda: real(False),
    "ranges": lambda: real(True),
    "records": lambda: released(table(ROWS, Scale(1, 5, 1))),
    "profiles": lambda: test_profile_files.small("simple").release(),
    "people": test_quasi.made,
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("releases")
    for name, make in RELEASES.items():
        make().save(folder / name)
    return folder


def lines_of(place: Path) -> list[list[Any]]:
    """Return the head and the rows of a table."""
    if place.suffix == ".parquet":
        told = pq.read_table(place)
        return [told.column_names, *map(list, zip(*told.to_pydict().values(), strict=True))]
    with place.open(newline="") as file:
        return list(csv.reader(file))


def write(place: Path, lines: list[list[Any]]) -> None:
    if place.suffix == ".parquet":
        schema = pq.read_schema(place)
        columns = [list(column) for column in zip(*lines[1:], strict=True)]
        pq.write_table(pa.table(columns, schema=schema), place, store_schema=False)
        return
    if place.name == "table.csv":
        place.write_text("".join(map(spelled, lines)), newline="")
        return
    with place.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


def spelled(line: list[Any]) -> str:
    """Write a line of table.csv, whose texts are quoted: here all that is no number."""
    return ",".join(map(_cell, line)) + "\n"


def _cell(text: str) -> str:
    bare = text in ("true", "false") or text.lstrip("-").replace(".", "").isdigit()
    return text if bare else f'"{text}"'


CASES = [(name, file) for name in RELEASES for file in ("table.parquet", "table.csv")]
CASES.append(("people", "records.csv"))


@pytest.fixture
def tampered(saved: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    name, file = request.param
    shutil.copytree(saved / name, tmp_path / name)
    return tmp_path / name / file


def refused(place: Path, lines: list[list[Any]]) -> None:
    write(place, lines)
    mend(place.parent)
    for read in (verify_folder, read_release):
        with pytest.raises(ReleaseError, match=rf"{place.name} contradicts the exact files"):
            read(place.parent)


def another(value: Any) -> Any:
    """Return another value of its kind."""
    if isinstance(value, bool) or value in ("true", "false"):
        return {True: False, False: True, "true": "false", "false": "true"}[value]
    if isinstance(value, int | float):
        return value + 1
    try:
        return str(int(value) + 1)
    except ValueError:
        return "5" if value != "5" else "4"


@pytest.mark.parametrize("tampered", CASES, indirect=True, ids=lambda case: "-".join(case))
def test_every_value_is_held(tampered: Path) -> None:
    verify_folder(tampered.parent)
    head, *rows = lines_of(tampered)
    assert len(rows) > 1
    for column in range(len(head)):
        row = column % len(rows)
        changed = [list(line) for line in rows]
        changed[row][column] = another(changed[row][column])
        refused(tampered, [head, *changed])


@pytest.mark.parametrize("tampered", CASES, indirect=True, ids=lambda case: "-".join(case))
def test_every_row_is_held_in_its_place(tampered: Path) -> None:
    head, *rows = lines_of(tampered)
    for changed in (rows[1:], rows[:-1], [*rows, rows[-1]], [rows[0], *rows], rows[::-1]):
        refused(tampered, [head, *changed])


OTHER_SPELLINGS = {
    "mark": lambda whole: "\ufeff" + whole,
    "line ends": lambda whole: whole.replace("\n", "\r\n"),
    "blank line": lambda whole: whole + "\n",
    "no last line end": lambda whole: whole[:-1],
    "hexadecimal": lambda whole: whole.replace("\n0,", "\n0x0,", 1),
    "zeros": lambda whole: whole.replace("\n0,", "\n00,", 1),
    "other digits": lambda whole: whole.replace("\n0,", "\n\u0660,", 1),
    "words": lambda whole: whole.replace("true", "TRUE", 1),
    "quotes": lambda whole: whole.replace("\n0,", '\n"0",', 1),
    "more digits": lambda whole: whole.replace(",3.5,", ",3.50,", 1),
    "another double": lambda whole: whole.replace(",4.25,", ",4.2500000000000009,", 1),
}


@pytest.mark.parametrize("file", ["table.csv", "records.csv"])
def test_a_csv_has_one_spelling(saved: Path, tmp_path: Path, file: str) -> None:
    tried = set()
    for name in RELEASES if file == "table.csv" else ("people",):
        shutil.copytree(saved / name, tmp_path / name)
        place = tmp_path / name / file
        whole = place.read_bytes().decode()
        for how, other in OTHER_SPELLINGS.items():
            if other(whole) != whole:
                tried.add(how)
                place.write_bytes(other(whole).encode())
                mend(place.parent)
                with pytest.raises(ReleaseError, match=f"{file} contradicts the exact files"):
                    verify_folder(place.parent)
    assert len(tried) >= (8 if file == "table.csv" else 6)


@pytest.mark.parametrize("name", ["values", "profiles"])
def test_numbers_of_parquet_are_exact(saved: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(saved / name, tmp_path / name)
    place = tmp_path / name / "table.parquet"
    head, *rows = lines_of(place)
    column = head.index("lowest" if name == "values" else "rating")
    rows[1][column] = float(np.nextafter(rows[1][column], 9))
    refused(place, [head, *rows])


def test_a_zero_with_a_sign_is_another_number(tmp_path: Path) -> None:
    original = table([{0: 0.0}, {0: 0.0}, {0: 1.0}, {0: 1.0}], Scale(-10, 10))
    covering(original, np.array([0, 0, 1, 1]), ranges=False).release().save(tmp_path / "out")
    place = tmp_path / "out" / "table.parquet"
    head, *rows = lines_of(place)
    rows[0][head.index("lowest")] = -0.0
    refused(place, [head, *rows])


LONG = {"name": ("x" * 1_000_000, "Two"), "attribute": ("One", "Two")}


@pytest.mark.parametrize("what", LONG)
def test_a_text_may_be_as_long_as_it_is(tmp_path: Path, what: str) -> None:
    jobs = (
        ["y" * 140_000, "a,b", 'q"', "\ufeffz", "l\r\n"] if what == "attribute" else list("aabbb")
    )
    people = pa.table({"job": jobs, "n": [-0.0, 0.5, 1e16, None, -2.0]})
    original = replace(table(ROWS, Scale(1, 5, 1)), item_names=LONG[what], attributes=people)
    made = covering(original, np.array([0, 0, 1, 1, 1]), ranges=False)
    made.release(attributes="exact").save(tmp_path / "out")
    assert verify_folder(tmp_path / "out")["records"] == 5
    assert csv.field_size_limit() == 131_072


FORMULAS = [
    *("=1", "+1", "-1", "@A", "\t1", "\r1", "\n1", " =1", "\u00a0=1", "\ufeff=1", "\u200b=1"),
    *(
        "\uff1d1",
        "\uff0b1",
        "\uff0d1",
        "\uff201",
        "\u22121",
        " \u200b\u2060\u3164@x",
        "'",
        "'=1",
        "''",
    ),
]


@given(st.one_of(st.sampled_from(FORMULAS), st.text(), st.text("=-+@' \ufeff\u200b\u3164\uff1da1")))
def test_an_apostrophe_in_front_is_always_ours(text: str) -> None:
    written = _Harmless()([text])[0]
    assert written in (text, f"'{text}")
    assert written == _harmless(text)
    assert written.removeprefix("'") == text  # and so no two are written alike
    assert text not in FORMULAS or written != text
    # a character that Unicode has not assigned is shown as a box
    seen = (c for c in text if (c.isprintable() or category(c) == "Cn") and not c.isspace())
    first = next(seen, "")
    assert written != text or first not in {*"=+-@\uff1d\uff0b\uff0d\uff20\u2212"}


def test_white_space_and_what_is_not_seen() -> None:
    unseen = {
        chr(n) for n in range(0x110000) if chr(n).isspace() or category(chr(n)) in ("Cc", "Zs")
    }
    unseen |= {*"\u00ad\u034f\u061c\u180e\u200e\u202e\u2066\u3164\ufe0f\ufeff\U000e0020"}
    texts = [f"a{c}=1" for c in unseen], [f"{c}=1" for c in unseen]
    assert _Harmless()(texts[0]) == texts[0] == list(map(_harmless, texts[0]))
    assert (
        _Harmless()(texts[1]) == [f"'{text}" for text in texts[1]] == list(map(_harmless, texts[1]))
    )
    for n in range(0x110000):
        text = f"{chr(n)}=1"
        assert _harmless(text) == _Harmless()([text])[0]


def test_items_that_differ_by_an_apostrophe(tmp_path: Path) -> None:
    original = replace(table(ROWS, Scale(1, 5, 1)), item_names=("=1", "'=1"))
    made = covering(original, np.array([0, 0, 1, 1, 1]), ranges=False)
    made.release().save(tmp_path / "out")
    names = {line[3] for line in lines_of(tmp_path / "out" / "table.csv")[1:]}
    assert names == {"'=1", "''=1"}
    told = " ".join((tmp_path / "out" / "README.md").read_text().split())
    assert "2 texts have an added apostrophe in front: a spreadsheet would run them" in told
    assert "as a formula, or they begin with an apostrophe." in told


@pytest.mark.parametrize("tampered", CASES, indirect=True, ids=lambda case: "-".join(case))
def test_bytes_that_are_no_table(tampered: Path) -> None:
    whole = tampered.read_bytes()
    for content in (b"", b"\xff\xfe", whole[: len(whole) // 2], b"a,b\n1,2\n"):
        tampered.write_bytes(content)
        mend(tampered.parent)
        with pytest.raises(ReleaseError, match=f"{tampered.name} contradicts the exact files"):
            verify_folder(tampered.parent)


@pytest.mark.parametrize("words", ["=One", "''=One", "One"])
def test_a_formula_must_be_harmless(saved: Path, tmp_path: Path, words: str) -> None:
    shutil.copytree(saved / "sets", tmp_path / "sets")
    place = tmp_path / "sets" / "table.csv"
    lines = lines_of(place)
    assert lines[1][3] == "'=One"
    lines[1][3] = words
    refused(place, lines)


def test_what_was_made_harmless_is_told(saved: Path) -> None:
    told = " ".join((saved / "sets" / "README.md").read_text().split())
    assert "In CSV, 1 text has an added apostrophe in front: a spreadsheet would run it as" in told
    assert "as a formula, or it begins with an apostrophe." in told
    assert "apostrophe" not in (saved / "profiles" / "README.md").read_text()
    negative = lines_of(saved / "values" / "table.csv")
    assert "'-3.5 or 4.25" in [line[-2] for line in negative]


@pytest.mark.parametrize("name", RELEASES)
def test_releases_of_before_have_none(saved: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(saved / name, tmp_path / name)
    without_readable(tmp_path / name)
    before = verify_folder(saved / name)
    assert verify_folder(tmp_path / name) == before
    assert read_release(tmp_path / name).n_records == before["records"]


def test_a_table_that_release_json_does_not_list(saved: Path, tmp_path: Path) -> None:
    shutil.copytree(saved / "sets", tmp_path / "sets")
    without_readable(tmp_path / "sets")
    shutil.copy(saved / "sets" / "table.csv", tmp_path / "sets")
    with pytest.raises(ReleaseError, match=r"table\.csv: not listed in release\.json"):
        read_release(tmp_path / "sets")
    with pytest.raises(ReleaseError, match="one is missing or unknown"):
        verify_folder(tmp_path / "sets")


@pytest.mark.parametrize("name", READABLE)
def test_another_table_under_an_old_hash(saved: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(saved / "people", tmp_path / "people")
    place = tmp_path / "people" / name
    place.write_bytes(place.read_bytes() + b"\n")
    with pytest.raises(ReleaseError, match=rf"{name}: changed: its SHA-256 is not"):
        read_release(place.parent)
    place.unlink()
    with pytest.raises(ReleaseError, match=rf"{name}: missing"):
        read_release(place.parent)


def test_above_a_size_the_command_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def said(most: dict[str, int]) -> tuple[set[str], str]:
        for name, rows in most.items():
            monkeypatch.setitem(MOST_ROWS, name, rows)
        place = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        sets().save(place)
        listed = json.loads((place / "release.json").read_text())["files"]
        assert {each.name for each in place.iterdir()} == {*listed, "release.json"}
        verify_folder(place)
        return {*listed} & {*READABLE}, " ".join((place / "README.md").read_text().split())

    assert said({})[0] == {"table.parquet", "table.csv"}
    there, card = said({"table.csv": 3})  # of four rows
    assert there == {"table.parquet"}
    assert "`starshade data convert FOLDER --out table.csv` writes CSV" in card
    there, card = said({"table.parquet": 3})
    assert there == set()
    assert "`starshade data convert FOLDER --out table.parquet` (or `.csv`) writes" in card


def test_what_is_for_queries_stays_with_its_owner(tmp_path: Path) -> None:
    people = pa.table({"=age": [40.0, None, 20.0, 20.0, 20.0], "job": list("c-bab")[:5]})
    original = replace(table(ROWS, Scale(1, 5, 1)), attributes=people)
    grouping = covering(original, np.array([0, 0, 1, 1, 1]), ranges=False)
    release = grouping.release(attributes="exact")
    release.save(tmp_path / "out")
    heard: list[str] = []
    watcher = SimpleNamespace(note=heard.append)
    with watch(cast("Reporter", watcher)):
        assert release.to_arrow().column_names[-1] == "null_possible"  # no attributes
        sets().to_arrow()
    assert heard == ["not for publication: this release may only be used behind the query service"]
    for name in READABLE:
        assert stat.S_IMODE((tmp_path / "out" / name).stat().st_mode) == 0o600
    head, *rows = lines_of(tmp_path / "out" / "records.csv")
    assert head == ["record", "class", "'=age", "job"]
    assert sorted(row[2:] for row in rows) == sorted(
        [["40", "c"], ["", "'-"], ["20", "b"], ["20", "a"], ["20", "b"]]
    )


def test_no_rows_and_no_items(tmp_path: Path) -> None:
    covering(table([{}, {}], Scale(1, 5, 1)), np.array([0, 0]), ranges=False).release().save(
        tmp_path / "out"
    )
    assert lines_of(tmp_path / "out" / "table.csv")[1:] == []
    verify_folder(tmp_path / "out")
