"""SQLite, and folders that say columns: nothing lost or merged silently, rows named."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from starshade.errors import ConfigError, InputError, UserError
from starshade.ratings.read import read_ratings
from starshade.ratings.readers.addresses import databases
from tests.unit.ratings.samples import values, write

ROWS = [("ann", 1, 4), ("bob", 1, 3.5), ("bob", 2, 5)]


def database(path: Path, rows: Any = ROWS, table: str = "ratings") -> str:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(f'CREATE TABLE "{table}" (user, item, rating)')
        connection.executemany(f'INSERT INTO "{table}" VALUES (?, ?, ?)', rows)
    connection.close()
    return str(path)


def said(source: Any, kind: type[UserError] = InputError, **options: Any) -> str:
    with pytest.raises(kind) as caught:
        read_ratings(source, **options)
    return str(caught.value)


IDS = st.one_of(st.integers(0, 30), st.sampled_from(["007", "7", " 7", "ann", "30"]))


@given(st.lists(st.tuples(IDS, IDS, st.sampled_from([1, 2.5, 4])), min_size=1, max_size=30))
def test_it_reads_what_a_plain_loop_reads(rows: list[tuple[Any, Any, Any]]) -> None:
    expected: dict[tuple[str, str], float] = {}
    for user, item, rating in rows:
        expected.setdefault((str(user), str(item)), float(rating))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(databases, "_ROWS", 2)
        place = database(Path(folder) / "x.db", rows)
        found = read_ratings(place, on_duplicate="first", scale="0.5:5:0.5")
    assert values(found) == expected


def test_a_table_a_query_and_the_only_table(tmp_path: Path) -> None:
    place = database(tmp_path / "x.sqlite")
    expected = {("ann", "1"): 4, ("bob", "1"): 3.5, ("bob", "2"): 5}
    ways: list[tuple[str, str | None]] = [
        (place, None), (f"sqlite:///{place}", "ratings"),
        (place, "/* all */ SELECT rating, item, user FROM ratings;"),
        (place, "WITH x AS (SELECT * FROM ratings) SELECT * FROM x"),
    ]  # fmt: skip
    for source, query in ways:
        ratings = read_ratings(source, query=query)
        assert values(ratings) == expected
        assert (ratings.report.source, ratings.report.format) == (source, "sqlite")


def test_relative_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    database(tmp_path / "x.db")
    assert read_ratings("sqlite:///x.db").n_ratings == 3
    assert "no such file" in said("sqlite:///y.db")
    write(tmp_path / "y.db", "user,item,rating\n")
    assert "not an SQLite database" in said("sqlite:///y.db")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("nope", "no such table: nope"),
        ("SELECT nope FROM ratings", "no such column: nope"),
        ("WITH x AS (SELECT 1) DELETE FROM ratings", "readonly"),
        ("SELECT 1; SELECT 2", "one statement at a time"),
        ("SELECT * FROM ratings WHERE item > 7", "it contains no ratings"),
        ("SELECT * FROM ratings UNION ALL SELECT 'ann', 1, 4", "row 4 of the query's result: the"),
        ("SELECT nullif(user, 'ann') user, item, rating FROM ratings", "row 1 of the query's"),
        ("SELECT user, item, 'many' rating FROM ratings", "rating 'many'"),
        ("SELECT iif(item = 1, user, 2.5) user, item, rating FROM ratings", "of several types"),
        ("SELECT CAST(x'ff' AS TEXT) user, item, rating FROM ratings", "decode"),
        ("SELECT user, user, rating FROM ratings", "user"),
    ],
)
def test_queries_that_are_refused(tmp_path: Path, query: str, expected: str) -> None:
    place = database(tmp_path / "x.db")
    message = said(place, query=query)
    assert expected in message
    assert not any(name in message for name in ("ann", "bob", "\\xff"))
    assert read_ratings(place).n_ratings == 3


def test_queries_that_are_none(tmp_path: Path) -> None:
    place = database(tmp_path / "x.db")
    assert "neither a SELECT" in said(place, ConfigError, query="DROP TABLE ratings")
    assert "applies to files" in said(place, ConfigError, format="csv")
    text = write(tmp_path / "x.csv", "user,item,rating\na,b,3\n")
    assert "applies to databases" in said(text, ConfigError, query="ratings")
    database(tmp_path / "x.db", table="other")
    assert "several tables: other, ratings" in said(place)


def test_a_damaged_database(tmp_path: Path) -> None:
    rows = [(f"user {i}", i, 3) for i in range(9000)]
    place = Path(database(tmp_path / "x.db", rows))
    content = bytearray(place.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 9000] = b"\x7f" * 9000
    place.write_bytes(content)
    message = said(str(place))
    assert "malformed" in message
    assert "user 4" not in message


TABLE = pa.table({"user": ["ann", "ann", "bob"], "item": [1, 2, 1], "stars": [3, 4, 5]})
EXPECTED = {("ann", "1"): 3, ("ann", "2"): 4, ("bob", "1"): 5}


@pytest.mark.parametrize("column", ["user", "item", "stars"])
@pytest.mark.parametrize("as_pattern", [False, True])
def test_folders_say_a_column(tmp_path: Path, column: str, as_pattern: bool) -> None:
    parquet.write_to_dataset(TABLE, tmp_path / "t", partition_cols=[column])
    (tmp_path / "t" / "_SUCCESS").touch()
    source = tmp_path / "t" / "*" / "*.parquet" if as_pattern else tmp_path / "t"
    assert values(read_ratings(str(source))) == EXPECTED


def test_texts_in_folders(tmp_path: Path) -> None:
    write(tmp_path / "t/film=A%20b/x.csv", "user,rating\nann,3\n")
    write(tmp_path / "t/film=c/x.csv", "user,rating\nann,4\nbob,5\nbob,4\n")
    place = tmp_path / "t"
    message = said(place, item_col="film")
    assert "film=c/x.csv, line 4: the user already rated this item" in message
    write(tmp_path / "t/film=c/x.csv", "user,rating\nann,4\n")
    found = read_ratings(place, item_col="film")
    assert values(found) == {("ann", "A b"): 3, ("ann", "c"): 4}


def test_a_part_without_a_value_has_no_id(tmp_path: Path) -> None:
    write(tmp_path / "t/user=__HIVE_DEFAULT_PARTITION__/x.csv", "item,rating\n1,3\n")
    assert "x.csv, line 2: no user id" in said(tmp_path / "t")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"y=1/a.csv": "user,item,rating\na,b,3\n", "m=1/a.csv": "user,item,rating\na,c,3\n"},
         "its folders name other columns"),
        ({"y=1/a.csv": "user,item,rating\na,b,3\n", "y=2/a.csv": "user,item,stars\na,c,3\n"},
         "its header differs from that"),
        ({"y=1/a.csv": "a\tb\t3\n"}, "has no header"),
        ({"y=1/a.csv": "user,item,rating\na,b,3\n", "b.csv": "user,item,rating\na,c,3\n"},
         "b.csv is next to folders"),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    for name, text in files.items():
        write(tmp_path / name, text)
    assert expected in said(tmp_path)
