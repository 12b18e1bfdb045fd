"""Random queries, as SQL and as a function of a row, and small releases to ask them of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import assume
from hypothesis import strategies as st

from starshade.anonymize.generalize import generalize
from starshade.anonymize.hierarchy.hierarchy import resolve
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.build import Provenance, generalized_release
from starshade.release.manifest import Claim
from starshade.release.table import Release
from tests.naive import query as naive
from tests.strategies import ratings_tables, table

STEPPED = (Scale(1, 5, 1), Scale(0.5, 5, 0.5), Scale(3, 3, 1), Scale(0, 1, 1))


@dataclass(frozen=True)
class Said:
    """A condition in both forms."""

    sql: str
    formula: naive.Formula


def release_of(
    ratings: Ratings, groups: np.ndarray, hierarchy: str, k: int, **more: Any
) -> Release:
    """Generalize given groups."""
    null_occurs = ratings.n_ratings < ratings.n_users * ratings.n_items
    cells = generalize(resolve(hierarchy, ratings.scale, null_occurs=null_occurs), ratings, groups)
    return generalized_release(
        ratings,
        groups,
        cells,
        Provenance(
            method="by-hand", seed=0, claims=(Claim(model="k-anonymity", parameters={"k": k}),)
        ),
        attributes="none" if ratings.attributes is None else "exact",
        **more,
    )


@st.composite
def people(draw: st.DrawFn, n: int) -> pa.Table:
    """Some attributes: few distinct values, ties, negative ones, nulls."""
    ages = draw(
        st.lists(st.one_of(st.none(), st.integers(-3, 9), st.just(0.1)), min_size=n, max_size=n)
    )
    cities = draw(st.lists(st.sampled_from([None, "a", "B", "é", ""]), min_size=n, max_size=n))
    return pa.table(
        {
            "Age": pa.array([None if a is None else float(a) for a in ages], pa.float64()),
            "City of birth": pa.array(cities, pa.string()),
        }
    )


@dataclass(frozen=True)
class Published:
    """An original and a release of it."""

    original: Ratings
    release: Release
    k: int


@st.composite
def at_the_ends(draw: st.DrawFn, ratings: Ratings) -> Ratings:
    """Move about half of the ratings to the ends of the scale, where null begins on one side."""
    scale, n = ratings.scale, ratings.n_ratings
    kept = [None, None, scale.minimum, scale.maximum]
    moved = iter(draw(st.lists(st.sampled_from(kept), min_size=n, max_size=n)))
    rows = [
        {i: v if (end := next(moved)) is None else end for i, v in enumerate(row) if v is not None}
        for row in plain_rows(ratings)
    ]
    return table(rows, scale, n_items=ratings.n_items)


@st.composite
def published(
    draw: st.DrawFn, *, scales: tuple[Scale, ...] = STEPPED, max_users: int = 9, max_items: int = 4
) -> Published:
    """Groups by a random order, of k to 2k - 1 records."""
    original = draw(
        ratings_tables(
            scales=scales, min_users=2, max_users=max_users, max_items=max_items, with_days=False
        )
    )
    assume(original.n_ratings)  # methods leave out who rated nothing
    if original.scale.step is None:
        original = draw(at_the_ends(original))
    original = replace(original, attributes=draw(people(original.n_users)))
    k = draw(st.integers(2, max(2, original.n_users // 2)))
    order = np.array(draw(st.permutations(range(original.n_users))))
    groups = np.minimum(np.arange(original.n_users) // k, max(original.n_users // k - 1, 0))
    of_user = np.empty(original.n_users, np.int64)
    of_user[order] = groups
    hierarchy = draw(st.sampled_from(["ndgh", "range", "dgh"]))
    return Published(original, release_of(original, of_user, hierarchy, k), k)


def constants(scale: Scale) -> st.SearchStrategy[float]:
    """Ratings of the scale, numbers between them, and some outside."""
    real = scale.step is None
    levels = [1.0, -2.0, 0.5, scale.minimum, scale.maximum] if real else scale.levels.tolist()
    return st.sampled_from([*levels, scale.minimum - 1, scale.maximum + 1, scale.minimum + 0.25])


@st.composite
def conditions(draw: st.DrawFn, scale: Scale, n_items: int, depth: int = 3) -> Said:
    """A random condition; the same items in many places."""
    if depth and draw(st.integers(0, 3)):
        kind = draw(st.sampled_from(["AND", "OR", "NOT"]))
        if kind == "NOT":
            part = draw(conditions(scale, n_items, depth - 1))
            return Said(f"NOT ({part.sql})", naive.negation(part.formula))
        parts = draw(st.lists(conditions(scale, n_items, depth - 1), min_size=2, max_size=3))
        made = naive.conjunction if kind == "AND" else naive.disjunction
        return Said(
            f" {kind} ".join(f"({part.sql})" for part in parts),
            made([part.formula for part in parts]),
        )
    return draw(comparisons(scale, n_items))


@st.composite
def comparisons(draw: st.DrawFn, scale: Scale, n_items: int) -> Said:
    item = draw(st.integers(0, n_items - 1))
    name, c = f'"{item + 1}"', constants(scale)
    kind = draw(st.sampled_from(["compare", "mirrored", "between", "in", "null"]))
    if kind == "null":
        return Said(f"{name} IS NULL", naive.is_null(item))
    if kind == "between":
        low, high = draw(c), draw(c)
        return Said(f"{name} BETWEEN {low} AND {high}", naive.between(item, low, high))
    if kind == "in":
        listed = draw(st.lists(c, min_size=1, max_size=3))
        return Said(f"{name} IN ({', '.join(map(str, listed))})", naive.one_of(item, listed))
    operator, constant = draw(st.sampled_from(list(naive.OPERATORS))), draw(c)
    if kind == "mirrored":
        turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
        return Said(f"{constant} {turned} {name}", naive.compare(item, operator, constant))
    return Said(f"{name} {operator} {constant}", naive.compare(item, operator, constant))


def members(release: Release) -> list[list[list[float | None]]]:
    """The members of each cell of each record, read off the release item by item."""
    cells = release.classes
    symbols = cells.symbols
    assert not symbols.is_range.any()
    rows: list[list[list[float | None]]] = []
    for row in range(cells.n_groups):
        own: list[list[float | None]] = [[None] for _ in range(cells.n_items)]
        for at in range(cells.indptr[row], cells.indptr[row + 1]):
            s = int(cells.codes[at])
            listed: list[float | None] = list(
                symbols.members[symbols.offsets[s] : symbols.offsets[s + 1]].tolist()
            )
            own[cells.columns[at]] = listed + ([None] if symbols.null[s] else [])
        rows += [own] * int(cells.sizes[row])
    return rows


def plain_rows(ratings: Ratings) -> list[list[float | None]]:
    """The rows of an original."""
    return [[None if np.isnan(v) else float(v) for v in row] for row in ratings.dense()]
