"""Readers and writers under Hypothesis: any text ids, any scale, rows in any order."""

from __future__ import annotations

import csv
import datetime
import io
import random
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.errors import ConfigError
from starshade.ratings.read import read_ratings
from starshade.ratings.table import Ratings
from starshade.ratings.write import write_ratings
from tests.unit.ratings.samples import cells, values, write

# an id is any text but nothing, blanks alone, zero bytes and lone surrogates
NASTY = st.sampled_from(
    [
        *("7", "007", " 7", "0x7", "-7", "7.0", "é", "#a", "'", "NULL", "nan", "user", "𝔘"),
        *("a,b", 'a"b', '"', "a\nb", "a\r\nb", "a\tb", "a::b", "a;b", "a|b", "a\u2028b"),
        *("\ufeffa", "9223372036854775807", "9223372036854775808"),
    ]
)
ANY = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6
)
IDS = st.one_of(NASTY, ANY.filter(lambda text: text.strip() != ""), st.integers(0, 12).map(str))
PLAIN_IDS = st.one_of(st.integers(0, 12).map(str), st.text("abcü-_.", min_size=1, max_size=4))
HALF_STARS = st.integers(1, 10).map(lambda half: half / 2)
REAL = st.floats(-10, 10, allow_nan=False).map(lambda value: round(value, 6) + 0.0)
DATES = st.none() | st.dates(datetime.date(1971, 1, 1), datetime.date(2099, 12, 31))
RATINGS = st.one_of(
    *(
        st.dictionaries(st.tuples(ids, ids), st.tuples(rating, DATES), min_size=1, max_size=12)
        for ids in (IDS, PLAIN_IDS)
        for rating in (HALF_STARS, REAL)
    )
)


def rows_of(table, seed: int) -> list[tuple[str, str, float, datetime.date | None]]:
    rows = [(user, item, *cell) for (user, item), cell in table.items()]
    random.Random(seed).shuffle(rows)
    return rows


def frame_of(rows) -> pa.Table:
    users, items, ratings, dates = zip(*rows, strict=True)
    date = pa.array(dates, pa.date32())
    return pa.table({"user": users, "item": items, "rating": ratings, "date": date})


def expected(table):
    dated = any(day is not None for _, day in table.values())
    return {key: (value, day if dated else None) for key, (value, day) in table.items()}


@given(
    RATINGS,
    st.integers(0, 99),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_text(tmp_path, table, seed: int, delimiter: str, end: str) -> None:
    out = io.StringIO()
    # the csv module leaves a carriage return unquoted where it does not end its lines
    lone = any("\r" in text for pair in table for text in pair)
    quoting = csv.QUOTE_ALL if lone else csv.QUOTE_MINIMAL
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow(["user", "item", "rating", "date"])
    writer.writerows(rows_of(table, seed))
    path = write(tmp_path / "x.csv", out.getvalue())
    assert cells(read_ratings(path, delimiter=delimiter)) == expected(table)


@given(RATINGS, st.integers(0, 99))
def test_the_delimiter_is_found(tmp_path, table, seed: int) -> None:
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(["user", "item", "rating", "date"])
    writer.writerows(rows_of(table, seed))
    assert cells(read_ratings(write(tmp_path / "x.csv", out.getvalue()))) == expected(table)


@given(RATINGS, st.integers(0, 99))
def test_parquet_and_frames(tmp_path, table, seed: int) -> None:
    frame = frame_of(rows_of(table, seed))
    assert cells(read_ratings(frame)) == expected(table)
    pq.write_table(frame, tmp_path / "x.parquet", row_group_size=3)
    assert cells(read_ratings(tmp_path / "x.parquet")) == expected(table)


@given(RATINGS, st.integers(0, 99))
def test_the_order_of_the_rows_changes_nothing(table, seed: int) -> None:
    one, other = (
        read_ratings(frame_of(rows_of(table, 0))),
        read_ratings(frame_of(rows_of(table, seed))),
    )
    assert_equal(one, other)


@given(RATINGS, st.integers(0, 99))
def test_wide_tables(tmp_path, table, seed: int) -> None:
    users = list(dict.fromkeys(user for user, _ in table))
    items = list(dict.fromkeys(item for _, item in table))
    random.Random(seed).shuffle(items)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["the respondent", *items])
    for user in users:
        writer.writerow([user, *(table.get((user, item), ("",))[0] for item in items)])
    path = write(tmp_path / "x.csv", out.getvalue())
    if "the respondent" not in items:
        read = read_ratings(path, wide=True, id_col="the respondent", delimiter=",")
        assert values(read) == {key: value for key, (value, _) in table.items()}


# ------------------------------------------------------------------------------- write → read


def assert_equal(one: Ratings, other: Ratings) -> None:
    assert cells(one) == cells(other)
    assert one.users == other.users
    assert one.items == other.items
    assert one.scale == other.scale
    assert one.indptr.tolist() == other.indptr.tolist()
    assert one.columns.tolist() == other.columns.tolist()
    assert one.codes.tolist() == other.codes.tolist()


def written_and_read(tmp_path, ratings: Ratings, name: str, kind: str | None, **options) -> Ratings:
    path = tmp_path / name
    for old in tmp_path.glob("*"):
        old.unlink()
    write_ratings(ratings, path, kind)
    assert path.stat().st_mode & 0o777 == 0o600
    return read_ratings(path, scale=ratings.scale, **options)


@given(table=RATINGS)
@pytest.mark.parametrize(
    ("name", "kind"), [("x.csv", None), ("x.parquet", None), ("x.tsv", None), ("x.inter", None)]
)
def test_written_and_read_again(tmp_path, table, name: str, kind: str | None) -> None:
    ratings = read_ratings(frame_of(rows_of(table, 0)))
    options = {"delimiter": {"x.csv": ","}.get(name, "tab")} if name != "x.parquet" else {}
    assert_equal(ratings, written_and_read(tmp_path, ratings, name, kind, **options))


@given(table=RATINGS)
@pytest.mark.parametrize("kind", ["movielens-100k", "movielens-dat", "movielens-csv", "amazon"])
def test_dialects_hold_the_ratings_or_refuse(tmp_path, table, kind: str) -> None:
    ratings = read_ratings(frame_of(rows_of(table, 0)))
    ids = "".join(key for pair in table for key in pair)
    quoted = kind in ("movielens-csv", "amazon")
    if not quoted and any(mark in ids for mark in "\t\n\r:\ufeff"):
        with suppress(ConfigError):  # a lone colon may pass where it is no delimiter
            assert_equal(ratings, written_and_read(tmp_path, ratings, "x", kind, format=kind))
        return
    assert_equal(ratings, written_and_read(tmp_path, ratings, "x", kind, format=kind))
