from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.order import by_content, check_copy
from starshade.errors import ConfigError
from starshade.kernels import arrays, csr
from starshade.kernels.fingerprint import row_fingerprints
from starshade.ratings.levels import on_scale
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from tests.naive.generalize import records as rows_of
from tests.naive.rows import keyed_row
from tests.strategies import ratings_tables, table

STARS = Scale(1, 5, 1)


@given(ratings_tables(), st.integers(0, 3))
def test_records_are_the_rows_without_ids_and_days(ratings: Ratings, seed: int) -> None:
    met = by_content(ratings, seed)
    assert sorted(met.users.tolist()) == list(range(ratings.n_users))
    rows = rows_of(ratings)
    assert rows_of(met.ratings) == [rows[user] for user in met.users]
    assert met.ratings.users == Vocabulary(np.arange(ratings.n_users))
    assert met.ratings.days is None
    back = met.table_by_user(met.ratings, ratings.users)
    assert (back.users, rows_of(back)) == (ratings.users, rows)
    assert met.by_user(met.users).tolist() == list(range(ratings.n_users))


@given(ratings_tables(with_days=True), st.integers(0, 3), st.permutations(range(12)))
def test_the_rows_stand_in_one_order_wherever_they_stood(ratings, seed, order) -> None:
    order = np.array([i for i in order if i < ratings.n_users])
    indptr, columns, codes, days = csr.keep_rows(
        ratings.indptr, ratings.columns, ratings.codes, ratings.days, order
    )
    mixed = replace(ratings, indptr=indptr, columns=columns, codes=codes, days=days)
    assert rows_of(by_content(mixed, seed).ratings) == rows_of(by_content(ratings, seed).ratings)


def test_attributes_that_count_decide_between_equal_rows_alone() -> None:
    rng = np.random.default_rng(0)
    ratings = table([{0: float(rng.integers(1, 6))} for _ in range(60)], STARS)
    told = pa.table(
        {
            "age": pa.array(rng.integers(1, 9, 60).astype(float)),
            "name": [f"n{i}" for i in rng.permutation(60)],
        }
    )
    plain = by_content(ratings, 1)
    assert plain.ratings.attributes is None
    peopled = ratings.annotate(attributes=told)
    assert by_content(peopled, 1).ratings.attributes is None
    for names in (("age",), ("name",), ("age", "name")):
        met = by_content(peopled, 1, names)
        assert met.ratings.attributes.equals(told.select(list(names)).take(met.users))
        assert rows_of(met.ratings) == rows_of(plain.ratings)
        rows = list(zip(rows_of(met.ratings), met.ratings.attributes.to_pylist(), strict=True))
        runs = [row for row, before in zip(rows, [None, *rows], strict=False) if row != before]
        assert len(runs) == len({str(row) for row in rows})  # equal ones beside each other
        mixed = by_content(peopled, 9, ("age", "name")).ratings  # in another order
        again = by_content(mixed, 1, names)
        assert again.ratings.attributes.equals(met.ratings.attributes)


def test_the_seed_decides_the_order() -> None:
    ratings = table([{0: float(1 + i % 5), 1 + i // 5: 3.0} for i in range(100)], STARS)
    orders = [by_content(ratings, seed).users.tolist() for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    place = np.array([by_content(ratings, seed).by_user(np.arange(100)) for seed in range(400)])
    # a row's mean place over 400 seeds has SD sqrt(833.25 / 400) = 1.443
    assert np.abs(place.mean(axis=0) - 49.5).max() < 5 * 1.443


def test_what_nobody_gave_and_the_sign_of_zero_decide_nothing() -> None:
    rows = [{0: float(v), 1: float(v > 0)} for v in range(-2, 3)] * 2
    narrow, wide = (table(rows, Scale(low, 2, 1)) for low in (-2, -9))
    signed = replace(narrow, levels=np.where(narrow.levels == 0, -0.0, narrow.levels))
    orders = [by_content(t, 0).users.tolist() for t in (narrow, wide, signed)]
    assert orders[0] == orders[1] == orders[2]
    assert by_content(on_scale(wide, Scale(-2, 2, 1)), 0).users.tolist() == orders[0]


@given(ratings_tables(with_days=False), st.integers(0, 2**64 - 1), st.booleans())
def test_the_fingerprints_are_those_of_the_twin(ratings, key, shared) -> None:
    levels = ratings.levels.view(np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        if shared:
            patch.setattr(arrays, "_WORTH_IT", 1)
        found = row_fingerprints(
            ratings.indptr, ratings.columns, ratings.codes, levels, np.uint64(key)
        )
    for u, fingerprint in enumerate(found.tolist()):
        cells = slice(ratings.indptr[u], ratings.indptr[u + 1])
        told = levels[ratings.codes[cells]].tolist()
        row = list(zip(ratings.columns[cells].tolist(), told, strict=True))
        assert fingerprint == keyed_row(key, row)


@given(ratings_tables(), st.integers(1, 9), st.data())
def test_rows_are_moved_in_parts_of_any_size(ratings: Ratings, at_once: int, data) -> None:
    rows = np.array(
        data.draw(st.lists(st.integers(0, ratings.n_users - 1), max_size=20)), dtype=np.int64
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csr, "_AT_ONCE", at_once)
        indptr, *kept = csr.keep_rows(
            ratings.indptr, ratings.columns, ratings.codes, ratings.days, rows
        )
    cells = [c for u in rows for c in range(ratings.indptr[u], ratings.indptr[u + 1])]
    assert np.diff(indptr).tolist() == ratings.user_support[rows].tolist()
    whole = ratings.columns, ratings.codes, ratings.days
    for source, found in zip(whole, kept, strict=True):
        assert (found is None) == (source is None)
        assert source is None or found.tolist() == source[cells].tolist()
        assert source is None or found.dtype == source.dtype


def test_a_copy_beyond_the_budget_is_refused_with_the_figures() -> None:
    ratings = table([dict.fromkeys(range(50), 5.0)] * 40, STARS)  # 2,000 ratings of 5 bytes
    needed = 2 * 10_000 + 40 * 64
    with budget.limits(memory=needed):
        check_copy(ratings)
    with budget.limits(memory=needed - 1), pytest.raises(ConfigError, match="2,000 ratings"):
        check_copy(ratings)
