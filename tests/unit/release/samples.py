"""Groupings to release: some table, some groups, cells that cover it, numbered at random."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.build import generalized_release
from starshade.release.cells import Cells, Symbols
from starshade.release.manifest import Claim
from starshade.release.table import Release
from tests.naive.generalized_release import Content, content, interval
from tests.naive.quasi import said
from tests.strategies import ratings_tables
from tests.unit.release.provenances import made_and_rest

NULL = float("-inf")


@dataclass(frozen=True)
class Grouping:
    original: Ratings
    groups: np.ndarray
    rows: list[list[Content]]  # plain contents of each group

    @property
    def sizes(self) -> list[int]:
        return np.bincount(self.groups).tolist()

    def cells(self, rng: np.random.Generator) -> Cells:
        """The same rows as CSR, symbols in random order, some twice, some unused."""
        scale = self.original.scale
        contents: list[Any] = sorted({c for row in self.rows for c in row if c}, key=repr)
        contents += contents[::2]
        rng.shuffle(contents)
        lengths = [len(c[1]) if c[0] == "set" else 0 for c in contents]
        members = [v for c in contents if c[0] == "set" for v in c[1] if v != NULL]
        null = [c[1][0] == NULL if c[0] == "set" else c[1] < scale.minimum - 1e-9 for c in contents]
        lengths = [
            n - (c[0] == "set" and c[1][0] == NULL) for n, c in zip(lengths, contents, strict=True)
        ]
        ends = [(np.nan, np.nan) if c[0] == "set" else c[1:] for c in contents]
        low, high = np.array(ends, dtype=np.float64).reshape(-1, 2).T
        symbols = Symbols(
            scale,
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.array(members, dtype=np.float64),
            np.array(null, dtype=np.bool_),
            low.copy(),
            high.copy(),
        )
        cells = [(g, i, c) for g, row in enumerate(self.rows) for i, c in enumerate(row) if c]
        where = {c: [s for s, other in enumerate(contents) if other == c] for _, _, c in cells}
        return Cells(
            items=self.original.items,
            sizes=np.array(self.sizes, dtype=np.int64),
            indptr=np.concatenate(
                [[0], np.cumsum([sum(c is not None for c in row) for row in self.rows])]
            ).astype(np.int64),
            columns=np.array([i for _, i, _ in cells], dtype=np.int32),
            codes=np.array([rng.choice(where[c]) for _, _, c in cells], dtype=np.uint16),
            symbols=symbols,
        )

    def release(self, seed: int = 0, **more: Any) -> Release:
        k = min(self.sizes)
        arguments = {
            "method": "some-method",
            "config": {"k": k, "hierarchy": "ndgh"},
            "claims": (Claim(model="k-anonymity", parameters={"k": k}),),
            "seed": 4_077_112_233,
            "rare_items": "keep",
        }
        made, rest = made_and_rest(arguments | more)
        cells = self.cells(np.random.default_rng(seed))
        return generalized_release(self.original, self.groups, cells, made, **rest)

    def relabelled(self, rng: np.random.Generator) -> Grouping:
        """The same people in another order, the same groups under other numbers."""
        original = self.original
        people, labels = rng.permutation(original.n_users), rng.permutation(len(self.rows))
        moved = original.keep_users(people)
        moved = replace(moved, users=Vocabulary(np.arange(original.n_users) + 1000))
        rows = [self.rows[g] for g in np.argsort(labels)]
        return Grouping(moved, labels[self.groups][people], rows)


def covering(original: Ratings, groups: np.ndarray, *, ranges: bool) -> Grouping:
    """Cells that hold exactly what each group gave, as sets or (on a real scale) as ranges."""
    dense, scale = original.dense(), original.scale
    rows: list[list[Content]] = []
    for g in range(groups.max() + 1):
        row: list[Content] = []
        for column in dense[groups == g].T:
            values, null = column[~np.isnan(column)].tolist(), bool(np.isnan(column).any())
            if ranges and values:
                low = scale.null_level if null else min(values)
                row.append(interval(low, max(values), scale.minimum))
            else:
                row.append(content(values, null))
        rows.append(row)
    return Grouping(original, groups, rows)


def spread(made: Grouping, name: str, k: int | None = None) -> list[Any]:
    """What each user's group has of an attribute: its range, or the list of its values."""
    column = made.original.attributes.column(name)
    values = [None if v != v else v for v in column.to_pylist()]
    numeric, k = pa.types.is_floating(column.type), k or min(made.sizes)
    groups = made.groups.tolist()
    of_group = {
        g: [v for v, other in zip(values, groups, strict=True) if other == g] for g in set(groups)
    }
    return [said(of_group[g], numeric, values, k) for g in groups]


def generalized(
    made: Grouping, quasi: tuple[str, ...], sensitive: tuple[str, ...] = (), **more: Any
) -> Release:
    """Release a grouping with some attributes generalized and some as they are."""
    people = made.original.attributes
    asked = [claim.parameters["k"] for claim in more.get("claims", ()) if "k" in claim.parameters]
    columns = {name: pa.array(spread(made, name, *asked[:1]), type=None) for name in quasi}
    for name in quasi:
        if not pa.types.is_floating(people.column(name).type):
            columns[name] = columns[name].cast(pa.list_(pa.string()))
        else:
            ends = [("low", pa.float64()), ("high", pa.float64()), ("null", pa.bool_())]
            columns[name] = columns[name].cast(pa.struct(ends))
    columns |= {name: people.column(name) for name in sensitive}
    arguments = {
        "attributes": "generalized",
        "generalized": pa.table(columns),
        "quasi_identifiers": quasi,
        "sensitive_attributes": sensitive,
    }
    return made.release(**arguments | more)


@st.composite
def groupings(draw: st.DrawFn, people: bool | None = None, **tables: Any) -> Grouping:
    """Some table, with or without personal attributes, in some groups."""
    original = draw(ratings_tables(**tables))
    label = st.integers(0, 3)
    n = original.n_users
    labels = draw(st.lists(label, min_size=n, max_size=n))
    _, groups = np.unique(labels, return_inverse=True)
    if draw(st.booleans()) if people is None else people:
        age = st.lists(st.sampled_from([None, 0.0, -0.0, 20.0, 31.5, -1.0]), min_size=n, max_size=n)
        job = st.lists(st.sampled_from([None, "", "Ärztin", "a", "B"]), min_size=n, max_size=n)
        told = {"Age": pa.array(draw(age), pa.float64()), "job": pa.array(draw(job), pa.string())}
        original = replace(original, attributes=pa.table(told))
    if draw(st.booleans()):
        name = st.sampled_from(["Amélie", "星", 'a "quoted", one', "a|b\n", ""])
        names = draw(st.lists(name, min_size=original.n_items, max_size=original.n_items))
        original = replace(original, item_names=tuple(names))
    ranges = original.scale.step is None and draw(st.booleans())
    return covering(original, groups, ranges=ranges)


def plain_rows(cells: Cells) -> list[list[Content]]:
    """Cells as plain contents."""
    s = cells.symbols
    out: list[list[Content]] = []
    for g in range(cells.n_groups):
        row: list[Content] = [None] * cells.n_items
        for p in range(cells.indptr[g], cells.indptr[g + 1]):
            c = cells.codes[p]
            if s.is_range[c]:
                row[cells.columns[p]] = ("range", float(s.low[c]), float(s.high[c]))
            else:
                members = s.members[s.offsets[c] : s.offsets[c + 1]].tolist()
                row[cells.columns[p]] = ("set", tuple([NULL] * bool(s.null[c]) + members))
        out.append(row)
    return out


def contents_of(folder: Any) -> dict[str, bytes]:
    """File name -> bytes."""
    return {p.name: p.read_bytes() for p in folder.iterdir()}
