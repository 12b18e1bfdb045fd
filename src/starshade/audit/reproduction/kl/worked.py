"""KL's Tables 1 to 3, the queries of §1.1 and what its examples lose, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from starshade.anonymize.generalize import generalize
from starshade.anonymize.hierarchy.hierarchy import resolve
from starshade.anonymize.k_likeness import likeness_groups
from starshade.anonymize.points import dense_levels
from starshade.audit.reproduction.kl.theorem import COVERS, SETS, table_of
from starshade.audit.reproduction.worked import Worked
from starshade.query.query import Query
from starshade.ratings.table import Ratings
from starshade.release.build import Provenance, generalized_release
from starshade.release.cells import Cells
from starshade.release.manifest import Claim
from starshade.release.table import Release
from starshade.utility.losses import (
    AverageClassSize,
    Discernibility,
    GeneralizationLoss,
    column_ranges,
)

_BOOKS = ("Warcross", "Joy Ride", "Egomaniac", "Pachinko", "Geekerella")
_PEOPLE = ("Salary", "Age", "Marital status", "City", "Education")
_TABLE_1 = (
    ("4", "", "4", "1", "3", 42000, 25, "Married", "New York", "Bachelor"),
    ("5", "", "4", "", "3", 45000, 23, "Married", "Los Angeles", "Bachelor"),
    ("4", "", "3", "", "4", 50000, 27, "Single", "New York", "Master"),
    ("", "5", "5", "1", "2", 35000, 31, "Married", "San Antonio", "Bachelor"),
    ("", "5", "5", "1", "2", 40000, 35, "Single", "New York", "Doctoral"),
    ("", "5", "4", "2", "1", 50000, 25, "Single", "Los Angeles", "Master"),
    ("1", "5", "4", "", "2", 45000, 32, "Married", "Los Angeles", "Bachelor"),
    ("2", "4", "3", "", "", 47000, 29, "Married", "Los Angeles", "Doctoral"),
    ("2", "4", "3", "", "", 49000, 24, "Single", "Columbus", "Master"),
    ("2", "4", "3", "", "", 51000, 29, "Married", "Columbus", "Doctoral"),
)
_NULL = "null"
#: of tuples 1-3, 4-7, 8-10
_TABLE_2 = (
    ("[3,5]", _NULL, "[3,5]", "[0,2]", "[3,5]"),
    ("[0,2]", "5", "[3,5]", "[0,2]", "[0,2]"),
    ("2", "4", "3", _NULL, _NULL),
)
_TABLE_3 = (
    ("{4,5}", _NULL, "{3,4}", "{0,1}", "{3,4}"),
    ("{0,1}", "5", "{4,5}", "{0,1,2}", "{1,2}"),
    ("2", "4", "3", _NULL, _NULL),
)
_SIZES = (3, 4, 3)
_NUCLEI = (0, 3, 7)  # the tuples that the classes of Tables 2 and 3 begin with
_FIRST = "Warcross IS NOT NULL AND Egomaniac IS NOT NULL AND Pachinko IS NOT NULL AND Geekerella"
_SECOND = 'Warcross IS NOT NULL AND "Joy Ride" IS NOT NULL AND Egomaniac IS NOT NULL AND Geekerella'
#: what each query asks, and the paper's answer
_QUERIES = (
    ("AVERAGE(Age)", "Egomaniac = 5", "33"),
    ("COUNT(*)", f"{_FIRST} IS NOT NULL", "1"),
    ("COUNT(*)", f"{_SECOND} IS NOT NULL", "1"),
    ("AVERAGE(Age)", f"{_FIRST} IS NOT NULL", "25"),
    ("AVERAGE(Age)", f"{_SECOND} IS NOT NULL", "not 25"),
    ('MAX("Marital status")', f"{_FIRST} IS NOT NULL", "Married"),
    ("MAX(City)", f"{_FIRST} IS NOT NULL", "New York"),
    ("AVERAGE(Salary)", f"{_FIRST} IS NOT NULL", "42000"),
)


@cache
def table_1() -> Ratings:
    """Return Table 1 whole: books by name, people with their attributes."""
    cells = [
        (str(person), book, float(row[b]))
        for person, row in enumerate(_TABLE_1, 1)
        for b, book in enumerate(_BOOKS)
        if row[b]
    ]
    users, books, ratings = zip(*cells, strict=True)
    table = Ratings.from_arrays(list(users), list(books), list(ratings), scale="1:5:1")
    own = [[row[len(_BOOKS) + a] for row in _TABLE_1] for a in range(len(_PEOPLE))]
    columns = [pa.array(c, pa.string() if isinstance(c[0], str) else pa.float64()) for c in own]
    return replace(table, attributes=pa.table(columns, names=list(_PEOPLE)))


def groups() -> Any:
    """Return the classes that k-Likeness makes of Table 1 from the paper's nuclei, at k = 3."""
    rest = [row for row in range(len(_TABLE_1)) if row not in _NUCLEI]
    return likeness_groups(dense_levels(table_1()), 3, np.array([*_NUCLEI, *rest]))


@cache
def released(hierarchy: str) -> Release:
    """Return Table 1 at k = 3 under a hierarchy."""
    table = table_1()
    return generalized_release(
        table,
        groups(),
        _cells(hierarchy),
        Provenance(
            method="k-likeness", seed=0, claims=(Claim(model="k-anonymity", parameters={"k": 3}),)
        ),
        attributes="exact",
    )


def _cells(hierarchy: str) -> Cells:
    named = resolve(hierarchy, table_1().scale, null_occurs=True)
    return generalize(named, table_1(), groups())


def example(name: str, *, three: bool = False) -> float:
    """Return a figure of Table 2, or how many of the eight queries answer as printed.

    `three`: the class of four counted as three.
    """
    if name == "queries":
        return float(sum(_as_printed(paper, ours) for (*_, paper), ours in _answered(table_1())))
    if three:
        cells = _cells("dgh-b")
        low, high = cells.symbols.bounds
        rows = np.repeat(np.arange(cells.n_groups), np.diff(cells.indptr))
        column = column_ranges(table_1())[cells.columns]
        per_class = np.bincount(rows, (high - low)[cells.codes] / column)
        return float(3 * per_class.sum() / (len(_TABLE_1) * len(_BOOKS)))
    return _losses("dgh-b")[name]


def _book_places() -> list[int]:
    return [_BOOKS.index(book) for book in table_1().items]


def _losses(hierarchy: str) -> dict[str, float]:
    release = released(hierarchy)
    found = {
        **Discernibility().measure(release).figures,
        **AverageClassSize().measure(release).figures,
        **GeneralizationLoss().measure(release, table_1()).figures,
    }
    return {name: float(found[name] or 0) for name in ("dm", "c_avg", "gen_iloss")}


def _answered(table: Ratings | Release) -> list[tuple[tuple[str, str, str], str]]:
    mode: Literal["strict", "paper"] = "paper"
    return [
        (query, _text(Query(f"SELECT {query[0]} WHERE {query[1]}", mode=mode).run(table).value))
        for query in _QUERIES
    ]


def _as_printed(paper: str, ours: str) -> bool:
    return ours != paper.removeprefix("not ") if paper.startswith("not ") else ours == paper


def _text(value: Any) -> str:
    if value is None:
        return _NULL
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def worked_tables() -> tuple[Worked, ...]:
    """Return them."""
    return (
        _of_queries(),
        _generalized("Table 2", "dgh-b", _TABLE_2),
        _generalized("Table 3", "ndgh", _TABLE_3),
        _of_losses(),
        _of_proof(),
    )


def _of_queries() -> Worked:
    """Table 1 is what they are asked of."""
    ours = [
        (f"Query {n}", query[0], paper if _as_printed(paper, value) else value, released_)
        for n, ((query, value), (_, released_)) in enumerate(
            zip(_answered(table_1()), _answered(released("ndgh")), strict=True), 1
        )
        for paper in [query[2]]
    ]
    return Worked(
        "§1.1, queries 1 to 8",
        "What the eight queries tell, of Table 1 and of Table 3",
        ("", "asks for", "answer on Table 1", "on Table 3 (ours)"),
        tuple((f"Query {n}", q[0], q[2], "") for n, q in enumerate(_QUERIES, 1)),
        tuple(ours),
        "Query 8 asks for an average; the text says MAX, which of one person is the same. "
        "Query 5 gives 32.",
    )


def _generalized(number: str, hierarchy: str, printed: Sequence[Sequence[str]]) -> Worked:
    cells, places = _cells(hierarchy), _book_places()
    own = [[_NULL] * len(_BOOKS) for _ in range(cells.n_groups)]
    for group in range(cells.n_groups):
        for at in range(int(cells.indptr[group]), int(cells.indptr[group + 1])):
            book = places[int(cells.columns[at])]
            own[group][book] = _cell(cells, int(cells.codes[at]), interval=hierarchy != "ndgh")
    group_of = groups().tolist()
    first = [group_of[nucleus] for nucleus in _NUCLEI]
    rows = [g for g, size in enumerate(_SIZES) for _ in range(size)]
    paper = tuple((str(t), *printed[g]) for t, g in enumerate(rows, 1))
    ours = tuple((str(t), *own[group_of[t - 1]]) for t in range(1, len(_TABLE_1) + 1))
    assert sorted(first) == list(range(cells.n_groups))
    return Worked(
        number,
        f"Table 1 at k = 3 under {'NDGH' if hierarchy == 'ndgh' else 'DGH (b)'}",
        ("tuple", *_BOOKS),
        paper,
        ours,
        "k-Likeness from the nuclei 1, 4 and 8. null: none of the class rated it.",
    )


def _cell(cells: Cells, code: int, *, interval: bool) -> str:
    low, high = (float(end[code]) for end in cells.symbols.bounds)
    if low == high:
        return f"{low:g}"
    if interval:
        return f"[{low:g},{high:g}]"
    levels = table_1().scale.levels
    inside = [f"{v:g}" for v in levels[cells.symbols.contains(levels)[:, code]]]
    return "{" + ",".join((["0"] if cells.symbols.null[code] else []) + inside) + "}"


def _of_losses() -> Worked:
    two, three = _losses("dgh-b"), _losses("ndgh")
    names = (("dm", "DM", "34", ""), ("c_avg", "C_AVG", "1.11", ""))
    paper = [(label, a, b) for _, label, a, b in names]
    ours = [(label, *(f"{each[name]:.3g}" for each in (two, three))) for name, label, *_ in names]
    return Worked(
        "§3.1, examples",
        "What Tables 2 and 3 lose",
        ("", "Table 2", "Table 3"),
        (*paper, ("GenILoss", "0.348", "")),
        (*ours, ("GenILoss", *(f"{each['gen_iloss']:.3f}" for each in (two, three)))),
        "Erratum: 0.348 = 2.9 · (3 + 3)/50 counts the class of four as three "
        f"({example('gen_iloss', three=True):.3f}).",
    )


def _of_proof() -> Worked:
    original = table_of(SETS)
    paper, ours = [], []
    for number, cover in zip((5, 6), COVERS, strict=True):
        overwritten = table_of(cover)
        for u in range(len(original)):
            group = [v for v in range(len(original)) if any({u, v} <= each for each in cover)]
            own = [sorted(set(column.tolist())) for column in original[group].T]
            head = f"Table {number}, u{u + 1}"
            paper.append((head, *(str(v) for v in overwritten[u].tolist())))
            ours.append((head, *(_set(values) for values in own)))
    return Worked(
        "Tables 5 and 6",
        "Table 4 generalized by the two covers of Figs 8 and 9",
        ("", *(f"u{u}" for u in range(1, 7))),
        tuple(paper),
        tuple(ours),
        "Erratum: where the class has both, the paper writes 0 or 1 and Definitions 7 to 9 "
        "{0,1}: its rows are no generalization, though the proof needs the classes alone.",
    )


def _set(values: Sequence[int]) -> str:
    return str(values[0]) if len(values) == 1 else "{" + ",".join(map(str, values)) + "}"
