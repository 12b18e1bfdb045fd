"""A result as a folder: JSON, CSV, charts and a README."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from starshade.arguments import typed
from starshade.audit.compare.frontier import frontier_chart
from starshade.audit.compare.result import Comparison, Row
from starshade.chart import Spec, drawable, svg_of
from starshade.figure import Figure, Table
from starshade.progress import announced, note, task
from starshade.ratings.places.atomic import atomic_folder
from starshade.ratings.places.place import Where

Rows: TypeAlias = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Drawn:
    """A chart, the name of its files without ending, and its title."""

    name: str
    title: str
    spec: Spec


@dataclass(frozen=True)
class Leaf:
    """A page with its charts and a JSON file."""

    name: str  # of the JSON file, without its ending
    payload: Mapping[str, Any]
    page: Iterable[str]
    charts: Sequence[Drawn] = ()  # added to the page
    file: str = "README.md"  # the page's


@announced("writing the folder")
def save_folder(
    folder: Where,
    *leaves: Leaf,
    tables: Mapping[str, Rows | Table] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Write a result as a folder: all of it or nothing.

    Only its owner can read it. Each chart is a Vega-Lite specification and, with the
    extra ``starshade[report]``, an SVG; each table is a CSV file. Returns the names of the files.
    """
    drawn_here = drawable()
    if not drawn_here:
        note("no SVG: pip install 'starshade[report]'")
    with atomic_folder(folder) as place:
        for table, rows in tables.items():
            _write_csv(place / f"{table}.csv", rows)
        with task("drawing charts", sum(len(leaf.charts) for leaf in leaves)) as step:
            for leaf in leaves:
                _write_json(place / f"{leaf.name}.json", leaf.payload)
                for drawn in leaf.charts:
                    _write_json(place / f"{drawn.name}.vl.json", drawn.spec)
                    if drawn_here:
                        picture = svg_of(drawn.spec)
                        (place / f"{drawn.name}.svg").write_text(picture, encoding="utf-8")
                    step(1)
                text = "\n".join([*leaf.page, *_pictures(leaf.charts, drawable=drawn_here)])
                (place / leaf.file).write_text(text, encoding="utf-8")
        return tuple(sorted(path.name for path in place.iterdir()))


def table_lines(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Write a table of a page."""
    cells = list(head)
    yield f"| {' | '.join(cells)} |"
    yield "|---" * len(cells) + "|"
    for row in rows:
        yield f"| {' | '.join(map(_in_cell, row))} |"


def _in_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _pictures(charts: Sequence[Drawn], *, drawable: bool) -> Iterator[str]:
    if not charts:
        return
    yield "\n## Figures\n"
    for drawn in charts:
        yield f"- [{drawn.title}]({drawn.name}.vl.json)"
        if drawable:
            yield f"\n  ![{drawn.title}]({drawn.name}.svg)\n"


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _write_csv(path: Path, rows: Rows | Table) -> None:
    """Write a column per key; None is an empty field."""
    path.write_text(csv_text(rows), encoding="utf-8", newline="")


def csv_text(rows: Rows | Table) -> str:
    """Return a table as CSV, a column per key; None is an empty field."""
    if isinstance(rows, Table):
        head, cells = list(rows.head), [list(row) for row in rows.rows]
    else:
        head = list(rows[0]) if rows else []
        cells = [[row[name] for name in head] for row in rows]
    file = StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows([head, *cells])
    return file.getvalue()


@typed
def save_comparison(comparison: Comparison, folder: Where) -> tuple[str, ...]:
    """Write a comparison: all of it or nothing.

    Parameters
    ----------
    comparison : Comparison
    folder : path
        Must not exist.

    Returns
    -------
    tuple of str
        Names of the files: ``compare.json``, ``compare.csv``, ``README.md``, and where there is
        a release ``frontier.vl.json`` (Vega-Lite) and ``frontier.svg``. Without the optional
        extra ``starshade[report]`` there is no picture, and a note says so.

    Raises
    ------
    OutputError
        The folder exists or cannot be written; nothing is left behind.
    """
    charts = []
    if len(comparison.refused) < len(comparison.rows):
        spec = frontier_chart(comparison, comparison.rests_on)
        charts.append(Drawn("frontier", "Utility loss against re-identification, and over k", spec))
    leaf = Leaf("compare", comparison.to_dict(), _page(comparison), charts)
    return save_folder(folder, leaf, tables={"compare": comparison.whole_table()})


def _page(comparison: Comparison) -> Iterator[str]:
    yield "# Comparison of methods\n"
    yield (
        f"{comparison.rests_on}. Scale {comparison.data['scale']}, seed {comparison.seed}, "
        f"starshade {comparison.version}. The attacks scoreboard-rh, label and likelihood have the "
        "same targets and are scored by the private key file; the table names the strongest. "
        "Seconds are from ratings to release, on this machine.\n"
    )
    if comparison.attribute is None:
        yield "No query error: the data have no numeric personal attribute.\n"
    else:
        yield (
            f"The query error is that of AVG({comparison.attribute}) under conditions on ratings, "
            "against the truth, in percent.\n"
        )
    shown = comparison.shown
    yield from table_lines(
        ("method", "k", *(figure.head for figure in shown), "by", "frontier"),
        (
            _cells(row, shown, best)
            for row, best in ((comparison.before, None), *comparison.judged)
            if row.refused is None
        ),
    )
    yield (
        "\nOn the frontier (Pareto-optimal): no other release with the same kind of loss is at "
        "least as good in loss, users kept and re-identification, and better in one of these.\n"
    )
    if comparison.refused:
        yield "## Refused\n"
        yield from table_lines(
            ("release", "why"), ([row.name, str(row.refused)] for row in comparison.refused)
        )


def _cells(row: Row, shown: Sequence[Figure], best: bool | None) -> Iterator[str]:
    yield row.label + (f" (eps = {row.eps:g})" if row.eps is not None else "")
    yield str(row.k)
    for figure in shown:
        yield figure.of(row.figures[figure.key]).text
    yield row.attack or "–"
    yield "–" if best is None else "yes" if best else "no"
