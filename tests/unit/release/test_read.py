from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from starshade import budget
from starshade.errors import ConfigError, ReleaseError
from starshade.release.folder.read import is_release, read_release
from tests.unit.release.damage import change, mend, permute, say, signed
from tests.unit.release.samples import plain_rows
from tests.unit.release.test_store import small
from tests.unit.release.test_verify import real  # noqa: F401 - a fixture

NULL = float("-inf")


@pytest.fixture
def saved(tmp_path):
    small().release().save(tmp_path / "out")
    return tmp_path / "out"


def test_a_release_is_known_by_its_manifest(saved, tmp_path):
    assert is_release(saved)
    assert not is_release(tmp_path)
    assert not is_release(saved / "README.md")


def write(folder: Path, tables: dict[str, pa.Table], **facts) -> Path:
    """Write a release folder by hand, from the description in the card alone."""
    folder.mkdir()
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet")
    for name in ("README.md", "croissant.json"):
        (folder / name).write_text("{}")
    files = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()}
    (folder / "release.json").write_text(signed({"format": 3, "files": files} | facts))
    return folder


SHOWN = {"generalized": (1 / 3, 1.0), "record": (1.0, 1.0), "profile": (None, None)}


def facts_of(layout: str, **more) -> dict:
    scale = {"minimum": 1, "maximum": 5, "step": 1}
    counts = {"records": 3, "items": 2, "classes": 2}
    shares = dict(
        zip(("users_rating_disclosed", "users_rating_exists"), SHOWN[layout], strict=True)
    )
    return {"method": "by-hand", "layout": layout, "scale": scale} | counts | shares | more


RECORDS = pa.table({"record": [0, 1, 2], "group": [0, 0, 1]})
ITEMS = pa.table({"item": ["10", "x"], "name": ["Ten", "Ten"]})


def by_record(cells: dict, **more) -> dict:
    cells = pa.table(cells).set_column(
        3, "members", pa.array(cells["members"], pa.binary(len(cells["members"][0])))
    )
    return {"records": RECORDS, "items": ITEMS, "cells": cells} | more


RECORD_CELLS = {
    "group": [0, 0, 1],
    "record": [0, 1, 2],
    "item": ["x", "x", "10"],
    "members": [b"\x08", b"\x08", b"\x20"],
}


def test_layout_record(tmp_path):
    release = read_release(write(tmp_path / "r", by_record(RECORD_CELLS), **facts_of("record")))
    assert release.item_names == ("Ten", "Ten")
    assert release.groups.tolist() == [0, 0, 1]
    assert release.classes.sizes.tolist() == [1, 1, 1]
    assert release.class_of_record.tolist() == [0, 1, 2]
    assert plain_rows(release.classes) == [
        [None, ("set", (3.0,))],
        [None, ("set", (3.0,))],
        [("set", (5.0,)), None],
    ]


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("group", [0, 1, 1], "groups differ from records.parquet"),
        ("record", [0, 1, 3], "a row is not in records.parquet"),
        ("record", [0, 0, 0], "the groups differ from records.parquet"),
        ("record", [1, 0, 2], "not sorted"),
        ("item", ["x", "10", "10"], "not the classes of equal records"),
        ("item", ["10", "10", "x"], "not the classes of equal records"),
        ("item", ["x", "y", "10"], "an item is not in items.parquet"),
        ("item", ["x", None, "10"], "a null in the column item"),
        ("members", [b"\x08", b"\x10", b"\x20"], "not the classes of equal records"),
        ("members", [b"\x06", b"\x06", b"\x20"], "not a single rating"),
        ("members", [b"\x09", b"\x09", b"\x20"], "not a single rating"),
        ("members", [b"\x08", b"\x01", b"\x20"], "can only be null has no row"),
        ("members", [b"\x08", b"\x00", b"\x20"], "can only be null has no row"),
        ("members", [b"\x08", b"\x41", b"\x20"], "beyond the 5 levels"),
        ("members", [b"\x08", None, b"\x20"], "a cell without members"),
        ("members", [b"\x06\x00", b"\x01\x00", b"\x20\x00"], "not a valid Parquet file"),
    ],
)
def test_layout_record_damaged(tmp_path, column, values, message):
    tables = by_record(RECORD_CELLS | {column: values})
    with pytest.raises(ReleaseError, match=message):
        read_release(write(tmp_path / "r", tables, **facts_of("record")))


def levels(*rows: list[int] | None) -> dict:
    width = len(rows[0])
    told = [None if row is None else bytes(row) for row in rows]
    return {"profile": pa.array(told, pa.binary(width))}


def profiles(**changed) -> dict:
    columns = {
        "group": [0, 1],
        "size": [2, 1],
        "profile": pa.array([bytes([0, 2]), bytes([9, 1])], pa.binary(2)),
    }
    return {"records": RECORDS, "items": ITEMS, "profiles": pa.table(columns | changed)}


def test_layout_profile(tmp_path):
    facts = facts_of("profile", profile_step=0.5)
    release = read_release(write(tmp_path / "p", profiles(), **facts))
    assert release.classes.sizes.tolist() == [2, 1]
    assert release.classes.levels.tolist() == [[0, 2], [9, 1]]
    assert release.manifest.profile is None  # as an earlier version may have written it
    assert plain_rows(release.cells()) == [
        [None, ("set", (1.5,))],
        [("set", (5.0,)), ("set", (1.0,))],
    ]
    assert release.n_records == 3


@pytest.mark.parametrize(
    ("changed", "facts", "message"),
    [
        ({}, {}, "profile_step"),
        ({}, {"profile_step": 0.0}, "profile_step"),
        ({}, {"profile_step": 0.001}, "more than 255 levels"),
        ({}, {"profile_step": 1.0}, "a level beyond the scale"),
        ({"size": [1, 2]}, {"profile_step": 0.5}, "sizes differ from records.parquet"),
        ({"group": [1, 0]}, {"profile_step": 0.5}, "the groups are not 0, 1"),
        ({"group": [0, None]}, {"profile_step": 0.5}, "a null in a key"),
        ({"size": ["a", "b"]}, {"profile_step": 0.5}, "not a valid Parquet file"),
        ({}, {"profile_step": 0.7}, "does not divide"),
        ({}, {"profile_step": 0.5, "profile": "padded"}, "a null in a profile of kind 'padded'"),
        ({}, {"profile_step": 0.5, "profile": "carrot"}, "release.json: profile"),
        (levels([0, 2], [0, 2]), {"profile_step": 0.5}, "two classes are equal"),
        (levels([9, 1], [0, 2]), {"profile_step": 0.5}, "not sorted by content"),
        (levels([0, 2], [10, 1]), {"profile_step": 0.5}, "a level beyond the scale"),
        (levels([0, 2, 1], [9, 1, 1]), {"profile_step": 0.5}, "not a valid Parquet file"),
        (levels([0], [9]), {"profile_step": 0.5}, "not a valid Parquet file"),
        (levels([0, 2], None), {"profile_step": 0.5}, "a null in the column profile"),
    ],
)
def test_layout_profile_damaged(tmp_path, changed, facts, message):
    with pytest.raises(ReleaseError, match=message):
        read_release(write(tmp_path / "p", profiles(**changed), **facts_of("profile", **facts)))


def test_profiles_of_any_width_or_order_of_columns_are_not_guessed(tmp_path):
    tables = profiles()
    other = {"profiles": tables["profiles"].select(["size", "group", "profile"])}
    facts = facts_of("profile", profile_step=0.5)
    with pytest.raises(ReleaseError, match="columns are not group, size, profile"):
        read_release(write(tmp_path / "a", tables | other, **facts))
    loose = {"profiles": pa.table(tables["profiles"].to_pydict())}  # strings of any length
    with pytest.raises(ReleaseError, match="not a valid Parquet file"):
        read_release(write(tmp_path / "b", tables | loose, **facts))
    more = {"profiles": pa.concat_tables([tables["profiles"]] * 2)}
    with pytest.raises(ReleaseError, match="not one row per class"):
        read_release(write(tmp_path / "c", tables | more, **facts))


@pytest.mark.parametrize("layout", SHOWN)
@pytest.mark.parametrize("place", [0, 1])
def test_a_share_that_the_files_do_not_show(tmp_path, layout, place):
    name = ("users_rating_disclosed", "users_rating_exists")[place]
    step = {"profile_step": 0.5} if layout == "profile" else {}
    tables = profiles() if layout == "profile" else by_record(RECORD_CELLS)
    if layout == "generalized":
        tables["cells"] = CLASS_CELLS
    read_release(write(tmp_path / "true", tables, **facts_of(layout, **step)))
    folder = write(tmp_path / "false", tables, **facts_of(layout, **step, **{name: 0.5}))
    with pytest.raises(ReleaseError, match=f"{name} contradicts the files"):
        read_release(folder)


def test_a_claim_with_another_least_class(saved):
    claim = {"model": "k-anonymity", "parameters": {"k": 2}, "verified": {"smallest_class": 3}}
    say(saved, claims=[claim])
    with pytest.raises(ReleaseError, match="k-anonymity states a wrong class size"):
        read_release(saved)


def test_profiles_that_do_not_fit_are_refused_with_the_figure(tmp_path):
    folder = write(tmp_path / "p", profiles(), **facts_of("profile", profile_step=0.5))
    with budget.limits(memory=4):
        read_release(folder)
    with (
        budget.limits(memory=3),
        pytest.raises(ConfigError, match="4 bytes needed, 3 bytes allowed"),
    ):
        read_release(folder)


CLASS_CELLS = pa.table(
    {
        "group": pa.array([0, 0, 1], pa.int64()),
        "item": pa.array(["10", "x", "10"], pa.large_string()).dictionary_encode(),
        "members": pa.array([b"\x06", b"\x09", b"\x20"], pa.binary(1)),
    }
)


def test_a_folder_written_by_other_tools_is_read(tmp_path):
    """Large strings, 64-bit numbers, several row groups, a dictionary: all the same."""
    folder = write(
        tmp_path / "g",
        {"records": RECORDS, "items": ITEMS, "cells": CLASS_CELLS},
        **facts_of("generalized"),
    )
    pq.write_table(CLASS_CELLS, folder / "cells.parquet", row_group_size=1)
    mend(folder)
    assert plain_rows(read_release(folder).classes) == [
        [("set", (1.0, 2.0)), ("set", (NULL, 3.0))],
        [("set", (5.0,)), None],
    ]


def set_in(column: str, row: int, value):
    def how(columns):
        columns[column][row] = value

    return how


@pytest.mark.parametrize(
    ("name", "how", "message"),
    [
        ("records.parquet", set_in("record", 0, 1), "the records are not 0, 1, 2"),
        ("records.parquet", set_in("record", 0, None), "a null in the column record"),
        ("records.parquet", set_in("group", 0, 1), "the groups are not 0, 0"),
        ("records.parquet", set_in("group", 4, 2), "states 2 classes, the files hold 3"),
        (
            "records.parquet",
            lambda c: permute(c, [0, 1, 2, 3]),
            "states 5 records, the files hold 4",
        ),
        ("items.parquet", lambda c: permute(c, [1, 0]), "not in canonical order"),
        ("items.parquet", lambda c: permute(c, [0, 0]), "keys repeat"),
        ("items.parquet", set_in("item", 1, "3"), "an item is not in items.parquet"),
        ("cells.parquet", lambda c: permute(c, [1, 0, 2, 3]), "not sorted"),
        ("cells.parquet", lambda c: permute(c, [0, 0, 2, 3]), "a cell repeats"),
        ("cells.parquet", set_in("group", 3, 7), "a row is not in records.parquet"),
        ("cells.parquet", lambda c: c.pop("item") and None, "its columns are not group, item"),
    ],
)
def test_content_that_contradicts_itself(saved, name, how, message):
    change(saved, name, how)
    with pytest.raises(ReleaseError, match=message) as caught:
        read_release(saved)
    assert str(saved) in caught.value.message
    assert caught.value.advice


def test_a_small_file_of_very_many_rows_is_not_read(saved, monkeypatch):
    """Its end says how many: 10 MB may hold a thousand million equal rows."""
    zeros = pa.array([0] * 100_000, pa.int32())
    change(saved, "records.parquet", lambda _: pa.table({"record": zeros, "group": zeros}))
    read, files = pq.ParquetFile.read, []
    monkeypatch.setattr(pq.ParquetFile, "read", lambda file: files.append(file) or read(file))
    with pytest.raises(ReleaseError, match="states 5 records, the files hold 100,000"):
        read_release(saved)
    assert len(files) == 1  # items.parquet


def test_an_item_more_than_said(saved):
    def how(columns):
        columns["item"].append("3")
        columns["name"].append(None)

    change(saved, "items.parquet", how)
    with pytest.raises(ReleaseError, match="states 2 items, the files hold 3"):
        read_release(saved)


@pytest.mark.parametrize(
    ("folder", "column", "value", "message"),
    [
        ("sets", "values", [11.0], "outside the scale"),
        ("sets", "values", [2.0, 1.0], "not sorted"),
        ("sets", "values", [None], "outside the scale"),
        ("sets", "values", [], "can only be null has no row"),
        ("sets", "low", 0.0, "a range .* or a list"),
        ("sets", "null", None, "does not state whether null is possible"),
        ("ranges", "high", None, "a range .* or a list"),
        ("ranges", "high", 11.0, "does not end on the scale"),
        ("ranges", "low", 9.0, "does not end on the scale"),
        ("ranges", "low", -12.0, "null flag of a range contradicts"),
    ],
)
def test_damage_on_a_real_scale(real, folder, column, value, message):  # noqa: F811
    root, _ = real
    read_release(root / folder)

    def how(columns):
        row = next(i for i, null in enumerate(columns["null"]) if not null)
        columns[column][row] = value

    change(root / folder, "cells.parquet", how)
    with pytest.raises(ReleaseError, match=message):
        read_release(root / folder)


@pytest.mark.parametrize("name", ["README.md", "cells.parquet", "croissant.json"])
def test_files_changed_missing_or_unknown(saved, name):
    whole = (saved / name).read_bytes()
    (saved / name).write_bytes(whole[:-1])
    with pytest.raises(ReleaseError, match=f"{name}: changed: its SHA-256 is not"):
        read_release(saved)
    (saved / name).unlink()
    with pytest.raises(ReleaseError, match=f"{name}: missing"):
        read_release(saved)
    (saved / name).mkdir()
    with pytest.raises(ReleaseError, match=f"{name}: .*not a regular file"):
        read_release(saved)
    (saved / name).rmdir()
    (saved / name).write_bytes(whole)
    (saved / "extra.csv").touch()
    with pytest.raises(ReleaseError, match=r"extra\.csv: not listed in release\.json"):
        read_release(saved)


def test_a_file_that_is_no_parquet_under_a_true_hash(saved):
    (saved / "cells.parquet").write_bytes(b"no parquet at all")
    mend(saved)
    with pytest.raises(ReleaseError, match=r"cells.parquet: not a valid Parquet file"):
        read_release(saved)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"format": 5}, r"format 5; this version reads 3 and 4\n.*that wrote it"),
        ({"format": 2}, r"format 2; this version reads 3 and 4\n.*exact figures"),
        ({"format": 1}, r"format 1; this version reads 3 and 4\n.*with the same options"),
        ({"format": "1"}, "no format version"),
        ({"format": 0}, "no format version"),
        ({"shoe_size": 43}, "release.json: shoe_size"),
        ({"records": -1}, "release.json: records"),
        ({"scale": {"minimum": 1, "maximum": 5, "step": 3}}, "step does not divide"),
        ({"scale": {"minimum": 5, "maximum": 1, "step": None}}, "minimum is above"),
        ({"scale": {"minimum": -1e308, "maximum": 1e308, "step": 1}}, "too wide"),
        ({"scale": {"minimum": 1, "maximum": 1e308, "step": 1e-300}}, "more than 65,535"),
        ({"layout": "carrot"}, "release.json: layout"),
        ({"layout": "profile"}, r"profiles.parquet: missing"),
        ({"files": {}}, "without a hash"),
        ({"attribute_columns": ["age"]}, "personal attributes differ from release.json"),
    ],
)
def test_a_manifest_that_is_wrong(saved, facts, message):
    say(saved, **facts)
    with pytest.raises(ReleaseError, match=message):
        read_release(saved)


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"format": 3}', "\x00"])
def test_a_manifest_that_is_none(saved, text):
    (saved / "release.json").write_text(text)
    with pytest.raises(ReleaseError, match=r"release.json"):
        read_release(saved)


def test_files_that_no_layout_has(saved):
    facts = json.loads((saved / "release.json").read_text())
    say(saved, files=facts["files"] | {"more.parquet": "0"})
    with pytest.raises(ReleaseError, match=r"more.parquet: listed in release.json but not"):
        read_release(saved)
