"""Tables with moved ratings, and releases of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from starshade.ratings.table import Ratings
from starshade.release.build import record_release
from starshade.release.manifest import Claim
from starshade.release.table import Release
from tests.strategies import ratings_tables, table
from tests.unit.release.provenances import made_and_rest

Row = dict[int, float]


def rows_of(ratings: Ratings) -> list[Row]:
    values = ratings.values()
    return [
        dict(zip(ratings.columns[a:b].tolist(), values[a:b].tolist(), strict=True))
        for a, b in zip(ratings.indptr[:-1], ratings.indptr[1:], strict=True)
    ]


def records_of(release: Release) -> list[Row]:
    """The released ratings, record by record."""
    cells = release.classes
    member = cells.symbols.members[cells.symbols.offsets[:-1]][cells.codes]
    return [
        dict(zip(cells.columns[a:b].tolist(), member[a:b].tolist(), strict=True))
        for a, b in zip(cells.indptr[:-1], cells.indptr[1:], strict=True)
    ]


def released(original: Ratings, rows: list[Row] | None = None, **more: Any) -> Release:
    """Release rows in place of the original's own."""
    shown = original
    if rows is not None:
        made = table(rows, original.scale, n_items=original.n_items)
        shown = replace(made, users=original.users, items=original.items)
    arguments: dict[str, Any] = {
        "method": "some-method",
        "config": {"k": 2},
        "claims": (),
        "seed": 4_077_112_233,
        "rare_items": "keep",
    }
    made, rest = made_and_rest(arguments | more)
    return record_release(original, shown, made, **rest)


def k_eps(k: int, eps: float, nulls: str = "strict", **more: Any) -> Claim:
    model = "k-eps-l" if "l" in more else "k-eps"
    return Claim(model=model, parameters={"k": k, "eps": eps, "nulls": nulls} | more)


@st.composite
def moved_tables(draw: st.DrawFn, **tables: Any) -> tuple[Ratings, list[Row]]:
    """Some table, with or without personal attributes, and rows that became of its own."""
    original = draw(ratings_tables(**tables))
    n = original.n_users
    rows = [dict(row) for row in rows_of(original)]
    values = original.levels.tolist()
    for row in rows:
        for item in range(original.n_items):
            what = draw(st.sampled_from(["keep", "keep", "move", "null"]))
            if what == "null":
                row.pop(item, None)
            elif what == "move" and values:
                row[item] = draw(st.sampled_from(values))
    if draw(st.booleans()):
        job = st.lists(st.sampled_from([None, "", "Ärztin", "a"]), min_size=n, max_size=n)
        people = pa.table({"job": pa.array(draw(job), pa.string())})
        original = replace(original, attributes=people)
    return original, rows


def files_of(release: Release, folder: Path) -> dict[str, bytes]:
    release.save(folder)
    return {p.name: p.read_bytes() for p in folder.iterdir()}
