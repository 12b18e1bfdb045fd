"""NULL and NaN in a rating column mean "not rated"."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from starshade.engine.local import Local
from starshade.errors import InputError
from starshade.ratings.read import read_ratings
from starshade.ratings.shards.convert import convert_to_shards
from tests.unit.ratings.samples import values, write

USERS, ITEMS = ["a", "a", "b", "b"], ["x", "y", "x", "y"]
LEFT = {("a", "x"): 4.0, ("b", "y"): 2.0}
NAN = float("nan")


def _sqlite(column: str, ratings: list[Any], folder: Path) -> Path:
    with closing(sqlite3.connect(folder / "r.db")) as db, db:
        db.execute(f"CREATE TABLE r (user, item, rating {column})")
        db.executemany("INSERT INTO r VALUES (?, ?, ?)", zip(USERS, ITEMS, ratings, strict=True))
    return folder / "r.db"


def _parquet(ratings: pa.Array, folder: Path) -> Path:
    pq.write_table(
        pa.table({"user": USERS, "item": ITEMS, "rating": ratings}), folder / "r.parquet"
    )
    return folder / "r.parquet"


SOURCES: dict[str, Any] = {
    "parquet null": lambda folder: _parquet(pa.array([4, None, None, 2]), folder),
    "parquet NaN": lambda folder: _parquet(pa.array([4.0, NAN, None, 2.0]), folder),
    "parquet text": lambda folder: _parquet(pa.array(["4", None, None, "2"]), folder),
    "sqlite": lambda folder: _sqlite("REAL", [4, None, None, 2], folder),
    "sqlite text": lambda folder: _sqlite("TEXT", ["4", None, None, "2"], folder),
    "pandas": lambda _: pytest.importorskip("pandas").DataFrame(
        {"user": USERS, "item": ITEMS, "rating": [4, NAN, NAN, 2]}
    ),
    "polars": lambda _: pytest.importorskip("polars").DataFrame(
        {"user": USERS, "item": ITEMS, "rating": [4, None, None, 2]}
    ),
}


@pytest.mark.parametrize("source", SOURCES)
def test_they_are_left_out_and_counted(source: str, tmp_path: Path) -> None:
    ratings = read_ratings(SOURCES[source](tmp_path))
    assert values(ratings) == LEFT
    assert "2 rows not rated: skipped" in ratings.report.notes


def test_they_count_with_declared_values(tmp_path: Path) -> None:
    path = _parquet(pa.array([4.0, NAN, 99, 2.0]), tmp_path)
    ratings = read_ratings(path, null_values=["99"])
    assert (values(ratings), ratings.report.notes) == (LEFT, ("2 rows not rated: skipped",))


def test_files_read_apart_name_the_row_that_repeats(tmp_path: Path) -> None:
    for name, users in (("1", ["a", "a", "b"]), ("2", ["b", "c", "b"])):
        columns = {"user": users, "item": ["x", "y", "x"], "rating": [4, None, 2]}
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    files = sorted(tmp_path.glob("*.parquet"))
    with pytest.raises(InputError) as caught:
        convert_to_shards(files, tmp_path / "out", 2, engine=Local())
    with pytest.raises(InputError) as expected:
        read_ratings(files)
    assert caught.value.message == expected.value.message
    assert "2.parquet, row 1" in caught.value.message


def test_a_blank_in_a_text_file_is_still_questioned(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "user,item,rating\na,x,4\na,y,\n")
    with pytest.raises(InputError, match="rows without a rating"):
        read_ratings(path)
