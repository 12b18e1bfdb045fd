"""SR's open questions, tried: whose slicing it is, and which reading gives Fig. 3(b)."""

from __future__ import annotations

from starshade.audit.reproduction.sr.bench import Bench
from starshade.audit.reproduction.sr.work import Reading
from starshade.figure import Table


def grids_of(bench: Bench) -> tuple[Table, ...]:
    """Return what slicing saves, and the course of its work over ε under each reading."""
    return _savings(bench), _courses(bench)


def _places(bench: Bench) -> list[tuple[str, str, Reading]]:
    return [
        (of.name, nulls, Reading("top" if of is bench.top else "all", nulls))
        for of in bench.workloads
        for nulls in of.rules
    ]


def _savings(bench: Bench) -> Table:
    rows = []
    for name, nulls, reading in _places(bench):
        for eps in bench.grid.eps:
            part, p = bench.cells(reading, eps, bench.seeds[0])
            n = len(part["ball"])
            slab, cells = float(part["slab"].mean()), float(part["cells"].mean())
            rows.append((
                name, nulls, f"{eps:g}", f"{slab / n:.1%}", f"{n * p:,}", f"{n + cells:,.0f}",
                f"{slab + cells:,.0f}", f"{part['ball'].mean():,.1f}",
            ))  # fmt: skip
    head = (
        "data", "nulls", "ε", "records in the first slab", "cells of all pairs",
        "cells where a pair is given up early", "cells of slicing", "ball",
    )  # fmt: skip
    return Table("What a step on the first attribute cuts, a record", head, tuple(rows))


def _courses(bench: Bench) -> Table:
    rows = []
    for name, nulls, base in _places(bench):
        for words, change in (
            ("pairwise-near groups", {}),
            ("balls", {"cliques": False}),
            ("who is in a group does not ask", {"covered": True}),
            ("ends at the first failure", {"first": True}),
            ("ε ≥ R without a search", {"short_cut": True}),
        ):
            reading = Reading(base.items, base.nulls, **change)
            course = [
                bench.work("slicing", eps, bench.seeds[0], reading=reading).sum()
                for eps in bench.grid.eps
            ]
            rows.append((name, nulls, words, *(f"{work:,.0f}" for work in course)))
    head = ("data", "nulls", "slicing with", *(f"ε = {eps:g}" for eps in bench.grid.eps))
    return Table("Cells that slicing touches over ε (Fig. 3b, Fig. 5b)", head, tuple(rows))
