"""Tables of results that the paper does not have: what changes are worth, attacks, diversity."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import sqrt
from statistics import fmean
from typing import Any

import numpy as np

from starshade.attack.link_existence.link_existence import link_existence_bound
from starshade.audit.reproduction.estimates import Untestable, estimate
from starshade.audit.reproduction.figures import Skipped
from starshade.audit.reproduction.pa import looks
from starshade.audit.reproduction.pa.bench import Bench
from starshade.audit.reproduction.pa.configurations import AT_ONCE, PRINTED, READ, SIMPLE
from starshade.audit.reproduction.pa.measures import ORIGINAL_RMSE
from starshade.audit.reproduction.pa.questions import readings_table
from starshade.audit.reproduction.pa.result import LevelRow, Row
from starshade.figure import Table

_READINGS = {
    "release": ("release", "original", "read from the release"),
    "refit": ("refit", "refit_original", "a recommender trained on the release"),
}
_SETS = ((1, 2), (1, 5), (2, 2))  # b, l
_PAIRED = 5_000  # users of whom sets of two are counted, at most


def grids_of(bench: Bench, ways: Sequence[tuple[str, int]]) -> tuple[list[Table], list[Skipped]]:
    """Return all grids, and those that cannot be had."""
    makers: Mapping[str, Callable[[], Table]] = {
        "changes, release": lambda: changes(bench, ways, "release"),
        "changes, refit": lambda: changes(bench, ways, "refit"),
        "readings of simple": lambda: readings_table(bench),
        "attacks": lambda: attacks_table(bench),
        "links": lambda: links_table(bench),
        "diversity": lambda: diversity_table(bench),
        "work": lambda: work_table(bench),
    }
    tables, skipped = [], []
    for name, make in makers.items():
        try:
            tables.append(make())
        except Untestable as why:
            skipped.append(Skipped("grid", name, str(why)))
    return tables, skipped


def tables_of(
    rows: Sequence[Row], levels: Sequence[LevelRow], releases: Sequence[Mapping[str, Any]]
) -> Iterator[Table]:
    """Return Tables 1 to 3 and the numbers of §7.2 next to the paper's."""
    head = ("what predicts", "k", "RMSE", "over the original's", "the paper", "over its original's")
    for number, words in (("1", "target deviation"), ("3", "similar-user deviation")):
        own = [row for row in rows if row.table == number]
        cells = (
            (f"{row.line}, {row.reading}", "–" if row.k is None else str(row.k), f"{row.mean:.4f}",
             f"{row.ratio:.4f}", *_theirs(row.paper, row.paper and row.paper / ORIGINAL_RMSE))
            for row in own
        )  # fmt: skip
        yield Table(f"Table {number}: {words}", head, tuple(cells))
    if levels:
        yield Table(
            "Table 2: ratings before and after padding",
            ("rating", "before", "after", "before, the paper", "after, the paper"),
            tuple(
                ("null" if each.level is None else f"{each.level:g}", *map(_share, (
                    each.before, each.after, _number(each.paper_before), _number(each.paper_after)
                )))
                for each in levels
            ),
        )  # fmt: skip
    yield Table(
        "§7.2: groups and null cells of releases",
        ("configuration", "k", "groups", "null cells", "on one rater", "groups, nulls: the paper"),
        tuple(
            (each["line"], str(each["k"]), f"{each['groups']:,.0f}",
             *map(_share, (each["nulls"], _number(each["one_rater"]))),
             ", ".join(_said(each)) or "–")
            for each in releases
        ),
    )  # fmt: skip


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def _theirs(*values: float | None) -> list[str]:
    return ["–" if value is None else f"{value:.4f}" for value in values]


def _said(row: Mapping[str, Any]) -> Iterator[str]:
    if row["paper_groups"] is not None:
        yield f"{row['paper_groups']:,}"
    if row["paper_nulls"] is not None:
        yield _share(row["paper_nulls"])


def changes(bench: Bench, ways: Sequence[tuple[str, int]], reading: str) -> Table:
    """Return each line's error over the original's by the same model, at every k."""
    off, base, words = _READINGS[reading]
    cells = {}
    for line, k in ways:
        parts = [bench.release(line, k, seed) for seed in bench.seeds]
        if all(off in part and part[base].sum() for part in parts):
            runs = [{"a": part[off], "b": part[base]} for part in parts]
            found = estimate(runs, lambda m: sqrt(m["a"] / m["b"]), seed=bench.seeds[0], draws=300)
            cells[line, k] = found.text
    lines = dict.fromkeys(line for line, _ in cells)
    return Table(
        f"Effect of each change: RMSE over the original's, {words}",
        ("configuration", *(f"k = {k}" for k in bench.ks)),
        tuple((line, *(cells.get((line, k), "–") for k in bench.ks)) for line in lines),
    )


def attacks_table(bench: Bench) -> Table:
    """Compare structure and label attacks with 1/k (Theorem 6.1)."""
    names = ("structure", "label")
    rows = [("the original", "–", *map(_share, _chances(bench, "", 1, names)), "")]
    for k in bench.ks:
        for line in (READ, SIMPLE):
            found = _chances(bench, line, k, names)
            rows.append((line, str(k), *map(_share, found), _share(1 / k)))
    return Table(
        "Theorem 6.1: re-identification risk given two items, and given their ratings",
        ("data", "k", "structure", "label", "1/k"),
        tuple(rows),
    )


def _chances(bench: Bench, line: str, k: int, names: Sequence[str]) -> Iterator[float]:
    parts = [looks.attacked(bench, line, k, seed) for seed in bench.seeds]
    for name in names:
        yield fmean(float(part[name].sum() / part[f"{name} n"].sum()) for part in parts)


def links_table(bench: Bench) -> Table:
    """Compare a shown link's probability in `simple` with Theorems 6.2 and 6.3."""
    rows = []
    for k, way in product(bench.ks, ("", "independent")):
        parts = [looks.links(bench, SIMPLE, k, seed, way) for seed in bench.seeds]
        sure = fmean(float(part["mean"][0]) for part in parts)
        above = fmean(float(part["above"][0] / part["links"][0]) for part in parts)
        rare = [float(p["rare_true"][0] / p["rare_bound"][0]) for p in parts if p["rare_bound"][0]]
        thin = f"{fmean(rare):.3g}" if rare else "–"
        twice = float(link_existence_bound(1 / k, k))
        raters = way or "as they are"
        rows.append((raters, str(k), *map(_share, (sure, 1 / k, above)), thin, _share(twice)))
    return Table(
        "Theorems 6.2 and 6.3: probability that a shown link of simple is true",
        (
            "raters",
            "k",
            "true, of those shown",
            "1/k (Thm 6.2)",
            "shown, above 1/group",
            "true over bound, p ≤ 1/k (Thm 6.3)",
            "2/k",
        ),
        tuple(rows),
    )


def diversity_table(bench: Bench) -> Table:
    """Return the share of item sets that too few groups show, with and without fake edges."""
    rows: list[tuple[str, ...]] = []
    for k in bench.ks:
        for b, l in _SETS:  # noqa: E741
            if b > 1 and bench.ratings.n_users > _PAIRED:
                continue
            try:
                parts = [looks.diverse(bench, SIMPLE, k, seed, b, l) for seed in bench.seeds[:1]]
            except Untestable as why:
                rows.append((str(k), str(b), str(l), "–", str(why)))
                continue
            part = parts[0]
            shares = [
                float(part[f"{which} short"][0]) / max(1.0, float(part[f"{which} sets"][0]))
                for which in ("plain", "repaired")
            ]
            rows.append((str(k), str(b), str(l), *map(_share, shares)))
    return Table(
        "(b, l)-diversity of simple: sets that fewer than l groups show (the first run)",
        ("k", "b", "l", "k-anonymity only", "with fake edges"),
        tuple(rows),
    )


def work_table(bench: Bench) -> Table:
    """Set the distances that groupings compute side by side (§6.1)."""
    rows = []
    for k in bench.ks:
        parts = (looks.work(bench, line, k, bench.seeds[0]) for line in (READ, PRINTED, AT_ONCE))
        rows.append((str(k), *(f"{float(part['distances'][0]):,.0f}" for part in parts)))
    m = bench.ratings.n_users
    return Table(
        f"Distances from users to centres computed by grouping (m^1.5 = {m**1.5:,.0f})",
        ("k", f"{READ}: sample and bins", f"{PRINTED}: sample and bins", "all at once"),
        tuple(rows),
    )


def _share(value: float) -> str:
    return "–" if np.isnan(value) else f"{100 * value:.3g} %"
