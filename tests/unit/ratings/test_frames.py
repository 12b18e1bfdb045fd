"""Ratings as frames of other libraries."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade import budget
from starshade.errors import ConfigError
from starshade.ratings import write
from starshade.ratings.read import read_ratings
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from tests.strategies import ratings_tables


def plain(ratings: Ratings) -> list[dict[str, Any]]:
    """A row per rating, by loops."""
    rows = []
    for user in range(ratings.n_users):
        for p in range(ratings.indptr[user], ratings.indptr[user + 1]):
            row: dict[str, Any] = {
                "user": ratings.users[user],
                "item": ratings.items[int(ratings.columns[p])],
                "rating": float(ratings.levels[ratings.codes[p]]),
            }
            if ratings.days is not None:
                day = int(ratings.days[p])
                after = timedelta(days=ratings.first_day + day)
                row["day"] = None if day == UNKNOWN_DAY else date(1970, 1, 1) + after
            rows.append(row)
    return rows


@given(ratings_tables(), st.sampled_from([1, 2, 1 << 20]))
def test_a_row_per_rating(ratings, block):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(write, "ROWS", block)
        found = ratings.to_arrow().to_pylist()
    assert [{**row, "user": str(row["user"]), "item": str(row["item"])} for row in found] == plain(
        ratings
    )


def small() -> Ratings:
    return Ratings.from_arrays(["b", "a", "a"], [1, 1, 7], [4, 5, 1], scale="1:5:1")


def test_every_library_takes_it():
    polars, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    ratings = small()
    rows = [("a", 1, 5.0), ("a", 7, 1.0), ("b", 1, 4.0)]
    assert [tuple(row.values()) for row in plain(ratings)] == [(u, str(i), r) for u, i, r in rows]
    assert polars.DataFrame(ratings).rows() == ratings.to_polars().rows() == rows
    assert [tuple(row.values()) for row in pa.table(ratings).to_pylist()] == rows
    assert duckdb.sql("select * from ratings").fetchall() == rows
    pytest.importorskip("pandas")
    assert list(ratings.to_pandas().itertuples(index=False, name=None)) == rows
    assert plain(read_ratings(ratings.to_arrow(), scale="1:5:1")) == plain(ratings)


def test_memory_is_planned():
    with (
        budget.limits(memory=20),
        pytest.raises(ConfigError, match="more memory than the 20 bytes"),
    ):
        small().to_arrow()
