"""What people are called decides nothing: not their ids, not the order that these give.

Every method, in every way that it can be asked, makes the same bytes of a table whose users have
other ids, in another order. The lineage, which is random, is held fixed (there is none).
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.registry import ENTRIES
from starshade.errors import UnmetError, UserError
from starshade.kernels import arrays
from starshade.kernels.csr import keep_rows
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.registry import find
from tests.contract.cast import CAST
from tests.strategies import ratings_tables

_TOLD = {
    "none": {},
    "quasi": {"attributes": "generalized", "quasi_identifiers": ["age", "town"]},
    "l": {
        "attributes": "generalized",
        "quasi_identifiers": ["town"],
        "sensitive_attributes": ["job"],
        "l": 2,
    },
    "t": {
        "attributes": "generalized",
        "quasi_identifiers": ["age"],
        "sensitive_attributes": ["job", "age 2"],
        "t": 0.4,
    },
    "sensitive": {"attributes": "generalized", "sensitive_attributes": ["job", "age 2"]},
    "blank": {
        "attributes": "generalized",
        "sensitive_attributes": ["job", "age 2"],
        "rare_values": "blank",
    },
    "exact": {"attributes": "exact"},
}
_SHAPES = {"": {}, " range": {"hierarchy": "range"}, " dgh": {"hierarchy": "dgh"}}
_GROUPED = {
    told + shape: {"k": 3, **_TOLD[told], **_SHAPES[shape]}  # 3: more than a row and its twin
    for told in _TOLD
    for shape in (_SHAPES if told == "none" else ("",))
} | {
    "k 2": {"k": 2},
    "rare": {"k": 2, "rare_items": "keep"},
}
_NEAR = {
    "strict": {"nulls": "strict"},
    "ignore": {"nulls": "ignore"},
    "zero": {"nulls": "zero"},
    "exact": {"nulls": "ignore", "attributes": "exact"},
    "spread": {"nulls": "ignore", "l": 0.4, "sensitive": ["2"]},
    "spread zero": {"nulls": "zero", "l": 0.2, "sensitive": ["2"]},
}
_SVD = {"k": 2, "factors": 2, "sweeps": 2}
WAYS: dict[str, dict[str, dict[str, Any]]] = {
    **dict.fromkeys(("k-exchange", "k-likeness", "k-member", "mondrian"), _GROUPED),
    "mondrian-relaxed": _GROUPED,
    "interval": {
        f"{name} {partition}": {"k": 3, "eps": 1, "partition": partition, **way}
        for name, way in _NEAR.items()
        for partition in ("cluster", "whole")
    },
    "suppress": {name: {"k": 2, "eps": 2, **way} for name, way in _NEAR.items()},
    "predictive": {
        **{
            f"{profile} {grouping}": {**_SVD, "profile": profile, "grouping": grouping}
            for profile in ("padded", "model", "pooled", "simple")
            for grouping in ("exchange", "t-means")
        },
        "cells": {**_SVD, "grouping": "t-means", "clip": "cells", "profile": "model"},
        "closeness": {**_SVD, "grouping": "t-means", "dissimilarity": "closeness-0.5"},
        "weighted": {**_SVD, "grouping": "t-means", "dissimilarity": "weighted-sq"},
        "uniform": {**_SVD, "weights": "uniform"},
        "no biases": {**_SVD, "biases": False},
        "settled": {"k": 2, "factors": 3},
        "diverse": {**_SVD, "profile": "simple", "b": 2, "l": 2},
        "raters": {**_SVD, "profile": "simple", "min_raters": 2, "rare_items": "keep"},
    },
}
PAIRS = [(method, way) for method, ways in WAYS.items() for way in ways]
every_way = pytest.mark.parametrize(("method", "way"), PAIRS)


def personal(n: int, seed: int) -> pa.Table:
    """Draw attributes of n people: numbers and texts that repeat, with nulls, and one's own."""
    rng = np.random.default_rng(seed)

    def some(values: list[Any]) -> list[Any]:
        return [values[i] for i in rng.integers(0, len(values), n)]

    return pa.table(
        {
            "age": pa.array(some([18.0, 25.0, 25.5, 61.0, None]), pa.float64()),
            "town": pa.array(some(["Aa", "Ab", "B", None]), pa.string()),
            "job": pa.array(some(["clerk", "nurse", "", None]), pa.string()),
            "age 2": pa.array(some([-1.0, 0.0, 2.0]), pa.float64()),
        }
    )


def of(ratings: Ratings, seed: int = 5) -> Ratings:
    return ratings.annotate(attributes=personal(ratings.n_users, seed))


def twins() -> Ratings:
    """Everybody twice: equal in all but one attribute, which has another of its values."""
    rows = CAST["ordinary"]
    order = np.tile(np.arange(rows.n_users), 2)
    told = personal(rows.n_users, 1).take(order).to_pydict()
    others = {"age": (18.0, 25.0), "town": ("Aa", "B"), "job": ("clerk", None), "age 2": (0.0, 2.0)}
    for place in range(rows.n_users, 2 * rows.n_users):
        name = list(others)[place % 4]
        first, second = others[name]
        told[name][place] = second if told[name][place] == first else first
    cells = keep_rows(rows.indptr, rows.columns, rows.codes, None, order)
    return replace(
        rows,
        users=Vocabulary(np.arange(len(order))),
        **dict(zip(("indptr", "columns", "codes"), cells, strict=False)),
        attributes=pa.table(told),
    )


def renamed(ratings: Ratings, seed: int) -> Ratings:
    """Give everybody another id, some of them texts, so that they stand in another order."""
    rng = np.random.default_rng(seed)
    n = ratings.n_users
    order = rng.permutation(n)
    drawn = rng.choice(10**6, n, replace=False).tolist()
    ids = [str(i) if i % 3 else f"{i:x} é" for i in drawn]
    told = ratings.attributes
    indptr, columns, codes, days = keep_rows(
        ratings.indptr, ratings.columns, ratings.codes, ratings.days, order
    )
    return replace(
        ratings,
        users=Vocabulary.of(ids),
        indptr=indptr,
        columns=columns,
        codes=codes,
        days=days,
        attributes=None if told is None else told.take(order),
    )


def made(method: str, asked: dict[str, Any], ratings: Ratings, threads: int = 1) -> Any:
    """Return the files of a release, or what was said instead of one."""
    with budget.limits(threads=threads), tempfile.TemporaryDirectory() as place:
        try:
            release = find(ENTRIES, method, "method").load()(**asked).anonymize(ratings, rng=3)
        except (UserError, UnmetError) as error:
            return type(error), str(error)
        release.save(Path(place) / "out")
        return {file.name: file.read_bytes() for file in (Path(place) / "out").iterdir()}


def test_every_method_is_looked_at() -> None:
    assert sorted(WAYS) == sorted(entry.name for entry in ENTRIES)


@every_way
def test_among_twins(method: str, way: str) -> None:
    ratings = twins()
    first = made(method, WAYS[method][way], ratings)
    assert isinstance(first, dict), first
    for seed in range(2):
        assert made(method, WAYS[method][way], renamed(ratings, seed)) == first


@every_way
@pytest.mark.parametrize("name", ["half stars", "real scale"])
def test_among_other_people(method: str, way: str, name: str) -> None:
    ratings = of(CAST[name])
    first = made(method, WAYS[method][way], ratings)
    assert made(method, WAYS[method][way], renamed(ratings, 1)) == first


@pytest.mark.parametrize("name", CAST)
@pytest.mark.parametrize("method", WAYS)
def test_every_table_of_the_cast(method: str, name: str) -> None:
    asked = next(iter(WAYS[method].values()))
    first = made(method, asked, CAST[name])
    assert made(method, asked, renamed(CAST[name], 2)) == first


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(PAIRS), ratings_tables(min_users=4, max_users=24), st.integers(0, 99))
def test_among_any_people(pair: tuple[str, str], ratings: Ratings, seed: int) -> None:
    method, way = pair
    people = of(ratings, seed)
    first = made(method, WAYS[method][way], people)
    assert made(method, WAYS[method][way], renamed(people, seed)) == first


@pytest.mark.parametrize("method", WAYS)
def test_on_any_number_of_threads(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "_WORTH_IT", 1)  # the smallest work is shared, too
    asked = next(iter(WAYS[method].values()))
    ratings = twins()
    found = [made(method, asked, renamed(ratings, threads), threads) for threads in (1, 2, 5)]
    assert isinstance(found[0], dict)
    assert found[1:] == found[:1] * 2


@pytest.mark.parametrize("method", WAYS)
def test_the_order_of_the_lines_that_are_read_decides_nothing(method: str) -> None:
    """The whole way from rows: ids given anew, and rows in any order."""
    ratings = CAST["half stars"]
    rng = np.random.default_rng(0)
    users = np.repeat(np.arange(ratings.n_users), ratings.user_support)
    items = np.array(list(ratings.items))[ratings.columns]
    asked = next(iter(WAYS[method].values()))
    found = []
    for _ in range(3):
        names = np.array([f"u{i}" for i in rng.choice(10**6, ratings.n_users, replace=False)])
        order = rng.permutation(len(users))
        rows = names[users][order], items[order], ratings.values()[order]
        found.append(made(method, asked, Ratings.from_arrays(*rows)))
    assert isinstance(found[0], dict)
    assert found[1:] == found[:1] * 2
