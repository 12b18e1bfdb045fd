from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.kernels import fingerprint
from starshade.kernels.fingerprint import first_equal_row
from starshade.ratings.table import Ratings
from tests.strategies import ratings_tables


def slow(table: Ratings) -> list[int]:
    def row(u: int) -> list[tuple[int, ...]]:
        cells = range(table.indptr[u], table.indptr[u + 1])
        days = [0] * table.n_ratings if table.days is None else table.days.tolist()
        return [(int(table.columns[p]), int(table.codes[p]), days[p]) for p in cells]

    rows = [row(u) for u in range(table.n_users)]
    return [rows.index(r) for r in rows]


@given(ratings_tables(max_users=8, max_items=2))
def test_equal_rows_are_found(table: Ratings) -> None:
    found = first_equal_row(table.indptr, table.columns, table.codes, table.days)
    assert found.tolist() == slow(table)


@given(ratings_tables(max_users=8, max_items=2), st.integers(1, 2))
def test_rows_that_share_a_hash_are_told_apart(table: Ratings, n_hashes: int) -> None:
    days = np.empty(0, np.uint16) if table.days is None else table.days
    hashes = np.arange(table.n_users, dtype=np.uint64) % n_hashes
    hashes = hashes[slow(table)]  # equal rows have equal hashes
    order = np.argsort(hashes, kind="stable")
    found = fingerprint._first_equal(order, hashes, table.indptr, table.columns, table.codes, days)
    assert found.tolist() == slow(table)


def test_no_rows_at_all() -> None:
    none = np.empty(0, dtype=np.int32)
    assert len(first_equal_row(np.zeros(1, np.int64), none, none.astype(np.uint8), None)) == 0


@pytest.mark.parametrize("other", [1, 2])
def test_a_hash_depends_on_every_part_of_a_row(other: int) -> None:
    indptr = np.array([0, 2, 4])
    parts = {"columns": [0, 3, 0, 3], "codes": [1, 1, 1, 1], "days": [7, 7, 7, 7]}

    def distinct(**change: list[int]) -> bool:
        c = {k: np.array(v) for k, v in (parts | change).items()}
        args = (
            c["columns"].astype(np.int32),
            c["codes"].astype(np.uint8),
            c["days"].astype(np.uint16),
        )
        return bool(first_equal_row(indptr, *args)[1] == 1)

    assert not distinct()
    assert distinct(columns=[0, 3, 0, 3 + other])
    assert distinct(codes=[1, 1, 1, 1 + other])
    assert distinct(days=[7, 7, 7, 7 + other])
