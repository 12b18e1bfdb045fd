"""What several ratings of one item become, and ids that a spreadsheet rounded."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from starshade.errors import ConfigError, InputError
from starshade.ratings.read import read_ratings
from starshade.ratings.shards.convert import convert_to_shards
from tests.unit.ratings.samples import values, write

#: u rated x three times, the second row the latest; y once
TWICE = "user,item,rating,timestamp\nu,x,2,1550000000\nu,x,5,1600000000\nu,x,1,1500000000\nu,y,3,\n"

Source = Callable[[str, Path], Any]


def _plain(text: str, folder: Path) -> Path:
    return write(folder / "r.csv", text)


def _gzipped(text: str, folder: Path) -> Path:
    return write(folder / "r.csv.gz", gzip.compress(text.encode()))


def _parquet(text: str, folder: Path) -> Path:
    table = pa.csv.read_csv(pa.BufferReader(text.encode()))
    pq.write_table(table, folder / "r.parquet")
    return folder / "r.parquet"


def _sqlite(text: str, folder: Path) -> Path:
    header, *rows = (line.split(",") for line in text.splitlines())
    with closing(sqlite3.connect(folder / "r.db")) as db, db:
        db.execute(f"CREATE TABLE ratings ({', '.join(header)} REAL)")
        marks = ", ".join("?" * len(header))
        cells = [[_number(cell) for cell in row] for row in rows]
        db.executemany(f"INSERT INTO ratings VALUES ({marks})", cells)
    return folder / "r.db"


def _number(cell: str) -> Any:
    try:
        return float(cell) if cell else None
    except ValueError:
        return cell


EVERYWHERE = pytest.mark.parametrize("source", [_plain, _gzipped, _parquet, _sqlite])


@EVERYWHERE
@pytest.mark.parametrize(
    ("how", "rating"),
    [("first", 1), ("last", 5), ("latest", 5), ("mean", 8 / 3), ("sum", 8), ("max", 5)],
)
def test_dates_come_before_the_order_of_rows(
    source: Source, how: Any, rating: float, tmp_path: Path
) -> None:
    table = read_ratings(source(TWICE, tmp_path), on_duplicate=how)
    assert values(table) == {("u", "x"): pytest.approx(rating), ("u", "y"): 3}
    assert table.report.merged_duplicates == 2


def test_without_dates_the_last_row_counts_and_latest_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "user,item,rating\nu,x,2\nu,x,5\nu,x,1\nu,y,3\n")
    assert values(read_ratings(path, on_duplicate="last"))["u", "x"] == 1
    with pytest.raises(ConfigError, match="needs dates, and no dates are read"):
        read_ratings(path, on_duplicate="latest")


def test_a_row_without_a_date_gives_way_to_one_with_a_date(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "user,item,rating,date\nu,x,2,2020-01-02\nu,x,5,\nu,y,3,\n")
    for how in ("first", "last", "latest"):
        assert values(read_ratings(path, on_duplicate=how))["u", "x"] == 2  # type: ignore[arg-type]


def test_sums_may_leave_the_scale_that_was_found(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "user,item,rating\nu,x,2\nu,x,5\nu,y,3\n")
    table = read_ratings(path, on_duplicate="sum")
    assert str(table.scale) == "3:7:1"
    assert "sums of repeated ratings lie off the scale 2:5:1: the scale is 3:7:1" in (
        table.report.notes
    )
    with pytest.raises(InputError, match="sums of repeated ratings off the scale 1:5:1"):
        read_ratings(path, on_duplicate="sum", scale="1:5:1")


def test_the_message_names_every_choice(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_ratings(_plain(TWICE, tmp_path))
    assert "last (the latest date, then the last row), first, latest, mean, sum or max" in (
        caught.value.advice or ""
    )


@pytest.mark.parametrize("text", ["7.65612E+16", "7,65612E+16", "7.6561198e+16", "7E+16"])
def test_ids_that_a_spreadsheet_rounded_are_refused(text: str, tmp_path: Path) -> None:
    lines = f"user;item;rating\n{text};1;3\n{text};2;4\nb;1;4\n"
    with pytest.raises(InputError) as caught:
        read_ratings(write(tmp_path / "r.csv", lines))
    assert "user ids that a spreadsheet rounded" in caught.value.message
    assert text not in caught.value.message


def test_whole_decimals_beyond_exact_floats_are_refused(tmp_path: Path) -> None:
    big = 76561198012345680.0
    for source in (
        pa.table({"user": [big, 1.0], "item": [1, 1], "rating": [3, 4]}),
        write(tmp_path / "r.csv", f"user,item,rating\n{big:.1f},1,3\n1.0,1,4\n"),
    ):
        with pytest.raises(InputError, match="user ids that a spreadsheet rounded"):
            read_ratings(source)
    near = pa.table({"user": [2.0**53, 1.0], "item": [1, 1], "rating": [3, 4]})
    assert read_ratings(near).n_users == 2


#: u rated x and z twice on one day, z with one value; y on two days
ONE_DAY = (
    "user,item,rating,date\n"
    "u,x,5,2020-01-01 20:00:00\nu,x,2,2020-01-01 08:00:00\n"
    "u,y,5,2020-01-02 20:00:00\nu,y,2,2020-01-01 08:00:00\n"
    "u,z,3,2020-01-01 20:00:00\nu,z,3,2020-01-01 08:00:00\n"
    "v,x,1,2020-01-01 08:00:00\n"
)
IN_SECONDS = "user,item,rating,date\n1,1,5,1577908800\n1,1,2,1577865600\n2,1,1,1577865600\n"


@pytest.mark.parametrize("text", [ONE_DAY, IN_SECONDS])
@pytest.mark.parametrize(
    ("how", "day"), [("first", "earliest"), ("last", "latest"), ("latest",) * 2]
)
def test_that_the_order_of_rows_decided_within_a_day_is_said(
    text: str, how: Any, day: str, tmp_path: Path
) -> None:
    said = (
        f"1 repeated rating with different values on the {day} day: times of day are ignored, so "
        "the order of rows decided"
    )
    path = _plain(text, tmp_path)
    assert said in read_ratings(path, on_duplicate=how).report.notes
    convert_to_shards(path, tmp_path / "shards", 2, on_duplicate=how)
    assert said in read_ratings(tmp_path / "shards").report.notes
    for other in ("mean", "max"):
        notes = read_ratings(path, on_duplicate=other).report.notes  # type: ignore[arg-type]
        assert not any("order of rows" in note for note in notes)


@EVERYWHERE
def test_days_that_decide_raise_no_note(source: Source, tmp_path: Path) -> None:
    notes = read_ratings(source(TWICE, tmp_path), on_duplicate="last").report.notes
    assert not any("order of rows" in note for note in notes)


@pytest.mark.parametrize("word", ["NULL", "nan"])
@pytest.mark.parametrize("is_frame", [False, True])
def test_rows_of_no_user_are_to_be_left_out_before_any_are_merged(
    word: str, is_frame: bool, tmp_path: Path
) -> None:
    columns = {
        "user": [word if i % 7 == 0 else f"u{i}" for i in range(70)],
        "item": [i % 3 for i in range(70)],
        "rating": [i % 5 + 1 for i in range(70)],
    }
    rows = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    text = "\n".join(["user,item,rating", *rows]) + "\n"
    source = pa.table(columns) if is_frame else _plain(text, tmp_path)
    for read in (read_ratings, lambda rows: convert_to_shards(rows, tmp_path / "shards", 2)):
        with pytest.raises(InputError, match="that repeat a user and an item") as caught:
            read(source)
        assert (caught.value.advice or "").startswith(
            "First remove rows whose user id is a word for a missing value, such as NULL or nan"
        )


def test_respondents_without_an_id_are_no_repeated_ones(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "id,a,b\nNULL,1,2\nu,1,3\nNULL,3,4\nu,1,1\n")
    with pytest.raises(InputError) as caught:
        read_ratings(path, wide=True)
    assert "respondents with more than one row\n  " in caught.value.message
    assert "line 5: again" in caught.value.message
    assert "whose id is a word for a missing value, such as NULL or nan\n" in caught.value.message
    assert "Remove those rows" in (caught.value.advice or "")


@EVERYWHERE
def test_rows_rated_twice_are_named_where_shards_are_written(
    source: Source, tmp_path: Path
) -> None:
    path = source(TWICE, tmp_path)
    with pytest.raises(InputError, match="that repeat a user and an item") as caught:
        convert_to_shards(path, tmp_path / "shards", 2)
    with pytest.raises(InputError) as alone:
        read_ratings(path)
    assert caught.value.message == alone.value.message
