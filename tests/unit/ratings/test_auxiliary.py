"""Somebody's public ratings: any subset of columns comes in, and what is wrong is named by line."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from starshade.errors import ConfigError, InputError, UserError
from starshade.ratings.auxiliary.auxiliary import Auxiliary, read_auxiliary
from starshade.ratings.auxiliary.item_mapping import read_item_mapping
from starshade.ratings.auxiliary.repeats import one_row_each
from starshade.ratings.readers.recognise.aliases import ALIASES, PUBLIC
from starshade.ratings.staging import NO_DAY
from tests.unit.ratings.samples import listening, write

HEAD = "name,item,rating,date\n"
DAY = 18_263  # 2020-01-02
SECRETS = ("anna", "alien", "berta", "brazil")


def rows(auxiliary: Auxiliary) -> list[tuple[str, str, float | None, int | None]]:
    """Return (name, item, rating, day) as they stand."""
    return [
        (
            auxiliary.names[auxiliary.person[r]],
            auxiliary.items[auxiliary.item[r]],
            None if np.isnan(auxiliary.ratings[r]) else float(auxiliary.ratings[r]),
            None if auxiliary.days[r] == NO_DAY else int(auxiliary.days[r]),
        )
        for r in range(len(auxiliary))
    ]


GOOD: dict[str, tuple[str, list[Any]]] = {
    "all columns": (HEAD + "anna,alien,4,2020-01-02\n", [("anna", "alien", 4, DAY)]),
    "empty cells": (
        HEAD + "anna,alien,,2020-01-02\nanna,brazil,3.5,\nberta,alien,,\n",
        [
            ("anna", "alien", None, DAY),
            ("anna", "brazil", 3.5, None),
            ("berta", "alien", None, None),
        ],
    ),
    "other order and names": (
        "Stars;Title;User name;Date rated\n8;Alien;anna;2020-01-02\n",
        [("anna", "Alien", 8, DAY)],
    ),
    "other words": (
        "handle,film,stars10,written_on\nanna,alien,8,2020-01-02\n",
        [("anna", "alien", 8, DAY)],
    ),
    "a name before a handle, a date before a posting": (
        "name,handle,item,date,posted\nanna,@a,alien,2020-01-02,2021-01-01\n",
        [("anna", "alien", None, DAY)],
    ),
    "a catalogue's number": ("name,tconst,title\nanna,tt1,Alien\n", [("anna", "tt1", None, None)]),
    "an id before a catalogue's number": (
        "userId,movieId,imdbId\n1,7,tt1\n",
        [("1", "7", None, None)],
    ),
    "one person, items called twice": ("movieId,title,rating\n7,Alien,4\n", [("1", "7", 4, None)]),
    "no header, somebody called Nick": ("nick,alien,4\n", [("nick", "alien", 4, None)]),
    "an id before a title": (
        "userId,movieId,title,rating\n1,7,Alien,4\n",
        [("1", "7", 4, None)],
    ),
    "no rating": ("name\titem\tdate\nanna\talien\t2020-01-02\n", [("anna", "alien", None, DAY)]),
    "item alone": ("item\nalien\n007\n7\n", [("1", i, None, None) for i in ("alien", "007", "7")]),
    "item and rating": ("movie,stars\nalien,4\n", [("1", "alien", 4, None)]),
    "no header, item": ("tt001\ntt002\n", [("1", "tt001", None, None), ("1", "tt002", None, None)]),
    "no header, three": ("anna,alien,4\n", [("anna", "alien", 4, None)]),
    "no header, four": ("9\t7\t4\t1577923200\n", [("9", "7", 4, DAY)]),
    "quoted, with a line end": (
        'name,item\nanna,"al\nien"\nberta,alien\n',
        [("anna", "al\nien", None, None), ("berta", "alien", None, None)],
    ),
}


@pytest.mark.parametrize("case", GOOD)
def test_any_subset_of_columns(case: str, tmp_path: Path) -> None:
    content, expected = GOOD[case]
    assert rows(read_auxiliary(write(tmp_path / "public.csv", content))) == expected


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", 'name,item\n\nanna,"al\nien"\nberta,alien\n')
    auxiliary = read_auxiliary(path)
    assert auxiliary.lines.tolist() == [3, 5]
    assert auxiliary.locate(1) == f"{path}, line 5"


def test_columns_by_name_and_by_number(tmp_path: Path) -> None:
    named = write(tmp_path / "named.csv", "who,what,how\nanna,alien,4\n")
    found = read_auxiliary(named, name_col="who", item_col="what", rating_col="how")
    assert rows(found) == [("anna", "alien", 4, None)]
    bare = write(tmp_path / "bare.csv", "alien,anna\nbrazil,anna\n")
    found = read_auxiliary(bare, name_col="2", item_col="1")
    assert rows(found) == [("anna", "alien", None, None), ("anna", "brazil", None, None)]


def test_frames_parquet_and_packed_text(tmp_path: Path) -> None:
    frame = pa.table({"name": ["anna", "anna"], "item": [7, 8], "rating": [4.5, None]})
    expected = [("anna", "7", 4.5, None), ("anna", "8", None, None)]
    pq.write_table(frame, tmp_path / "p.parquet")
    packed = write(tmp_path / "p.csv.gz", gzip.compress(b"name,item,rating\nanna,7,4.5\nanna,8,\n"))
    for source in (frame, tmp_path / "p.parquet", packed):
        assert rows(read_auxiliary(source)) == expected
    assert read_auxiliary(frame).locate(1) == "pyarrow table, row 2"


def test_what_was_taken_for_what_is_said(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", "item,rating,title\nalien,4,x\nbrazil,,y\n")
    listener, watching = listening()
    with watching:  # type: ignore[attr-defined]
        read_auxiliary(path)
    assert listener.notes == [
        f"{path}: public ratings; item = item, rating = rating",
        "columns not read: 'title' (if one of them holds the date, name it: day_col)",
        "no column of names: all rows belong to one user, named 1",
        "1 row without a rating",
    ]


def test_dates_and_null_values_can_be_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", HEAD + "anna,alien,-1,2020-01-02\n")
    found = read_auxiliary(path, dates=False, null_values=["-1"])
    assert rows(found) == [("anna", "alien", None, None)]
    assert not found.has_days
    assert not found.has_ratings


def test_columns_left_are_named_with_their_options(tmp_path: Path) -> None:
    listener, watching = listening()
    with watching:  # type: ignore[attr-defined]
        read_auxiliary(write(tmp_path / "p.csv", "name,item,am,wie\nanna,alien,2020-01-02,4\n"))
        read_auxiliary(write(tmp_path / "q.csv", HEAD[:-1] + ",x\nanna,alien,4,2020-01-02,y\n"))
        read_auxiliary(write(tmp_path / "r.csv", "anna,alien,4,7\n"), name_col="1", item_col="2")
    named = [sentence for sentence in listener.notes if "not read" in sentence]
    options = "(if one of them holds the rating or date, name it: rating_col, day_col)"
    assert named == [
        f"columns not read: 'am', 'wie' {options}",
        "columns not read: 'x'",
        f"columns not read: '3', '4' {options}",
    ]


def test_one_person_is_told_from_one_name(tmp_path: Path) -> None:
    assert not read_auxiliary(write(tmp_path / "p.csv", "item,rating\nalien,4\n")).named
    assert read_auxiliary(write(tmp_path / "q.csv", "name,item\n1,alien\n")).named


def test_ratings_are_read_as_before() -> None:
    """What public ratings may be called besides is nothing to `read_ratings`."""
    besides = {"handle", "nick", "tconst", "const", "stars10", "posted", "created"}
    assert not besides & set().union(*ALIASES.values())
    assert besides <= set().union(*(names for sets in PUBLIC.values() for names in sets))


BAD: dict[str, tuple[str | bytes, dict[str, Any], list[str]]] = {
    "empty": ("", {}, ["empty: it contains no public ratings"]),
    "header alone": (HEAD, {}, ["it contains no public ratings"]),
    "no item column": (
        "name,rating\nanna,4\n",
        {},
        ["no column is recognised as the item", "the columns are 'name', 'rating'", "item_col"],
    ),
    "columns that may be names": (
        "wer,film,zehn,am\nanna,alien,8,2020-01-02\n",
        {},
        [
            "no column is recognised as the name, so all rows would belong to one user",
            "would not be read: 'wer', 'zehn', 'am'",
            "name_col, item_col, rating_col, day_col",
        ],
    ),
    "fields that may be names": (
        "anna,alien,8\n",
        {"item_col": "2"},
        ["would not be read: '1', '3'", "name_col"],
    ),
    "two handles": (
        "handle,nick,item\nanna,a,alien\n",
        {},
        ["several columns may be the name: 'handle', 'nick'"],
    ),
    "two item columns": ("movie,book\nalien,4\n", {}, ["several columns may be the item"]),
    "a column that is not there": (
        HEAD + "anna,alien,4,\n",
        {"item_col": "film"},
        ["no column 'film' for the item"],
    ),
    "one column for two roles": (
        HEAD + "anna,alien,4,\n",
        {"name_col": "item", "item_col": "item"},
        ["cannot be item and name at once"],
    ),
    "two fields without a header": (
        "anna,alien7\nberta,8\n",
        {},
        ["no header, and 2 fields in a row", "name_col=1, item_col=2"],
    ),
    "word as rating": (
        HEAD + "anna,alien,4,\nberta,brazil,good,\n",
        {},
        ["ratings that are not finite numbers", "line 3: rating 'good'"],
    ),
    "infinite rating": (HEAD + "anna,alien,inf,\n", {}, ["line 2: rating 'inf'"]),
    "decimal comma": ("item;rating\nalien;3,5\n", {}, ["decimal comma", "line 2: rating '3,5'"]),
    "not a date": (
        HEAD + "anna,alien,4,2020-01-02\nberta,brazil,3,yesterday\n",
        {},
        ["dates of another form than the first one", "line 3: date 'yesterday'"],
    ),
    "no item": (HEAD + "anna,alien,4,\nberta, ,3,\n", {}, ["without item id", "line 3"]),
    "no name": (HEAD + "anna,alien,4,\n,brazil,3,\n", {}, ["without person id", "line 3"]),
    "short row": (HEAD + "anna,alien,4,\nberta,brazil\n", {}, ["line 3: 2 fields", "expected 4"]),
    "not UTF-8": (HEAD.encode() + b"anna,\xe9lien,4,\n", {}, ["line 2: not UTF-8 text"]),
    "binary": (b"name,item\n\0\1\2", {}, ["contains zero bytes"]),
    "workbook": (b"\xd0\xcf\x11\xe0aaaaaaaa", {}, ["an Excel workbook"]),
    "another rating": (
        HEAD + "anna,alien,4,\nberta,alien,4,\nanna,alien,5,\n",
        {},
        [
            "rows that repeat an item of their user with another rating or date",
            "line 4: this user already has the item, at",
            "last (the latest date, then the last row), first",
        ],
    ),
    "another date": (
        HEAD + "anna,alien,4,2020-01-02\nanna,alien,4,2020-01-03\n",
        {},
        ["line 3: this user already has the item"],
    ),
    "a rating after none": (HEAD + "anna,alien,,\nanna,alien,4,\n", {}, ["line 3: this user"]),
    "several kinds at once": (
        HEAD + "anna,,bad,\n",
        {},
        ["without item id", "ratings that are not finite numbers"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_by_line_and_without_values(case: str, tmp_path: Path) -> None:
    content, options, parts = BAD[case]
    with pytest.raises(InputError) as caught:
        read_auxiliary(write(tmp_path / "public.csv", content), **options)
    said = str(caught.value)
    for part in parts:
        assert part in said
    assert not [secret for secret in SECRETS if secret in said]


def test_contradictions_are_named_in_the_order_of_the_file(tmp_path: Path) -> None:
    lines = [f"{name},{name},{k}," for k in (1, 2) for name in "gfedcba"]
    path = write(tmp_path / "p.csv", HEAD + "\n".join(lines))
    with pytest.raises(InputError) as caught:
        read_auxiliary(path)
    said = str(caught.value).splitlines()
    named = [f"  {path}, line {k}: this user already has the item, at {path}, line {k - 7}"
             for k in range(9, 14)]  # fmt: skip
    assert said[1:6] == named
    assert said[6] == "  … 7 rows in all"


def test_bad_requests() -> None:
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        ("", {}, "an empty path"),
        (7, {}, "cannot be read from int"),
        ("nowhere.csv", {}, "No such file"),
        ("x.csv", {"on_duplicate": "median"}, "on_duplicate = 'median'"),
        ("x.csv", {"name_col": ""}, "name_col: empty"),
    ]
    for source, options, said in wrong:
        with pytest.raises(UserError, match=said):
            read_auxiliary(source, **options)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it is a folder"):
        read_auxiliary(tmp_path)


REPEATED = (
    HEAD + "anna,alien,4,2020-01-02\nberta,alien,1,\nanna,alien,,2020-01-05\n"
    "anna,brazil,2,\nanna,alien,5,\n"
)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("first", [(0, 4.0, DAY), (3, 2.0, None), (1, 1.0, None)]),
        ("last", [(3, 2.0, None), (2, None, DAY + 3), (1, 1.0, None)]),
        ("mean", [(3, 2.0, None), (2, 4.5, DAY + 3), (1, 1.0, None)]),
        ("sum", [(3, 2.0, None), (2, 9.0, DAY + 3), (1, 1.0, None)]),
        ("max", [(3, 2.0, None), (4, 5.0, None), (1, 1.0, None)]),
    ],
)
def test_repeats_become_one_row(rule: Any, expected: list[Any], tmp_path: Path) -> None:
    found = read_auxiliary(write(tmp_path / "p.csv", REPEATED), on_duplicate=rule)
    assert len(found) == 5  # they are settled when it is known which items are one
    kept, ratings, days = one_row_each(found, found.item)
    days_of = [None if day == NO_DAY else int(day) for day in days]
    persons = [found.names[p] for p in found.person[kept]]
    assert persons == ["anna", "anna", "berta"]
    known = [None if rating != rating else rating for rating in ratings.tolist()]
    together = zip(kept.tolist(), known, days_of, strict=True)
    assert sorted(together) == sorted(expected)


def test_rows_that_say_the_same_are_one(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", HEAD + "anna,alien,4,\nanna,alien,4.0,\nanna,dune,,\n" * 2)
    found = read_auxiliary(path)
    assert one_row_each(found, found.item)[0].tolist() == [0, 2]


# mappings

PAIRS: dict[str, tuple[str, dict[str, Any]]] = {
    "header": ("aux,item\ntt1,7\ntt2,8\n", {}),
    "known head": ("imdbId\tmovieId\ntt1\t7\ntt2\t8\n", {}),
    "no header": ("tt1,7\ntt2,8\n", {}),
    "no header and no number": ("tt1;seven\ntt2;eight\n", {}),
    "header asked for": ("this,that\ntt1,7\ntt2,8\n", {"header": True}),
    "columns by name": (
        "movieId,imdbId,tmdbId\n7,tt1,\n8,tt2,5\n",
        {"aux_col": "imdbId", "data_col": "movieId"},
    ),
    "columns by number": ("7,x,tt1\n8,x,tt2\n", {"aux_col": "3", "data_col": "1"}),
    "the same pair again": ("tt1,7\ntt2,8\ntt1,7\n", {}),
}


@pytest.mark.parametrize("case", PAIRS)
def test_mappings(case: str, tmp_path: Path) -> None:
    content, options = PAIRS[case]
    found = read_item_mapping(write(tmp_path / "map.csv", content), **options)
    expected = {"tt1": "7", "tt2": "8"}
    assert found == ({"tt1": "seven", "tt2": "eight"} if ";" in content else expected)


def test_editions_may_be_one_item() -> None:
    frame = pa.table({"aux": ["dvd", "tape"], "item": [7, 7]})
    assert read_item_mapping(frame) == {"dvd": "7", "tape": "7"}


BAD_PAIRS: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "empty": ("", {}, ["empty: it contains no pairs of items"]),
    "header alone": ("aux,item\n", {}, ["it contains no pairs of items"]),
    "one column": ("aux\nalien\n", {}, ["1 columns instead of two"]),
    "three columns": ("a,b,1\n", {}, ["3 columns instead of two", "aux_col"]),
    "three named columns": (
        "movieId,imdbId,tmdbId\n7,tt1,\n",
        {},
        ["the columns are 'movieId', 'imdbId', 'tmdbId'", "aux_col, data_col"],
    ),
    "twice": (
        "aux,item\nalien,7\nbrazil,8\nalien,9\n",
        {},
        ["items that an earlier line maps to another item", "line 4: again"],
    ),
    "no id": ("aux,item\nalien,7\nbrazil,\n", {}, ["without item id", "line 3"]),
    "not there": ("aux,item\nalien,7\n", {"aux_col": "x", "data_col": "item"}, ["no column 'x'"]),
}


@pytest.mark.parametrize("case", BAD_PAIRS)
def test_bad_mappings(case: str, tmp_path: Path) -> None:
    content, options, parts = BAD_PAIRS[case]
    with pytest.raises(InputError) as caught:
        read_item_mapping(write(tmp_path / "map.csv", content), **options)
    said = str(caught.value)
    for part in parts:
        assert part in said
    assert not [secret for secret in SECRETS if secret in said]


@pytest.mark.parametrize("options", [{"aux_col": "a"}, {"aux_col": "a", "data_col": "a"}])
def test_a_mapping_names_both_columns_or_none(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="name both columns"):
        read_item_mapping("map.csv", **options)
