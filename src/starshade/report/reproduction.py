"""A study as a folder: figures as data, specification and picture, and a page to read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from starshade.arguments import typed
from starshade.audit.reproduction.across import Across
from starshade.audit.reproduction.claims import Judged
from starshade.audit.reproduction.configurations import explained
from starshade.audit.reproduction.everything import claim_rows
from starshade.audit.reproduction.figures import Figure, Point, Unit
from starshade.audit.reproduction.study import PaperStudy
from starshade.audit.reproduction.worked import Worked
from starshade.figure import Table, number
from starshade.ratings.places.place import Where
from starshade.report.charts import chart
from starshade.report.folder import Drawn, Leaf, Rows, save_folder, table_lines

_LONG = 150  # rows that nobody reads to the end


@typed
def save_study(study: PaperStudy, folder: Where) -> tuple[str, ...]:
    """Write a paper's study: all of it or nothing.

    Parameters
    ----------
    study : PaperStudy
        Of any paper.
    folder : path
        Must not exist. Private to its owner: values may count single users.

    Returns
    -------
    tuple of str
        Names of the files: ``README.md``, a JSON file named after the paper, ``points.csv`` and
        ``claims.csv``, a CSV file for each further table, and per figure ``figure-04.vl.json``
        (Vega-Lite) and ``figure-04.svg``. All times are in files whose
        names begin with ``times``; the same request writes all others identically to the byte.
        Without the optional extra ``starshade[report]`` there are no pictures, and a note says so.

    Raises
    ------
    OutputError
        The folder exists or cannot be written; nothing is left behind.
    """
    steady, times = study.apart()
    tables: dict[str, Rows | Table] = {"points": points(study.steady)}
    if study.claims:
        tables["claims"] = claim_rows(study, study.size)
    tables |= {f"table-{i:02d}": grid for i, grid in enumerate(study.grids, 1)}
    return save_folder(
        folder,
        Leaf(study.key, steady, _page(study), _drawn(study, study.steady)),
        Leaf("times", times, _times(study), _drawn(study, study.clocked, "times-"), "times.md"),
        tables=tables,
    )


@typed
def save_across(across: Across, folder: Where) -> tuple[str, ...]:
    """Write claims on several data sets: a page, and its tables as CSV; all of it or nothing.

    Parameters
    ----------
    across : Across
    folder : path
        Must not exist.

    Returns
    -------
    tuple of str
        Names of the files: ``README.md``, ``across.json``, ``counts.csv``, ``failures.csv`` and
        ``claims.csv``.

    Raises
    ------
    OutputError
        The folder exists or cannot be written; nothing is left behind.
    """
    tables = {
        "counts": across.counts,
        "failures": across.failures,
        "claims": across.table(),
    }
    page = ["# The papers' claims on several data sets\n", *chain(*map(_titled, tables.values()))]
    return save_folder(folder, Leaf("across", across.to_dict(), page), tables=tables)


def subtitle(study: PaperStudy, figure: Figure) -> str:
    """Return the amount of data behind a figure."""
    return "; ".join(filter(None, (study.size, study.rests_on(figure))))


def _drawn(study: PaperStudy, figures: Sequence[Figure], before: str = "") -> list[Drawn]:
    return [
        Drawn(
            f"{before}{figure.file_name}",
            f"Fig. {figure.number}: {figure.title}",
            chart(figure, subtitle(study, figure)),
        )
        for figure in figures
    ]


def points(figures: Sequence[Figure]) -> Rows:
    """Return a row for each point of each line."""
    return [
        {
            "figure": figure.number,
            "panel": series.measure,
            "line": series.name,
            "mistakes": series.mistakes,
            "configuration": series.configuration,
            "x": point.x,
            "y": None if math.isnan(point.y) else point.y,
            "low": point.low,
            "high": point.high,
        }
        for figure in figures
        for series in figure.series
        for point in series.points
    ]


def _page(study: PaperStudy) -> Iterator[str]:
    yield f"# {study.authors}, on these ratings\n"
    yield f"{study}\n"
    yield (
        f"{study.size}, scale {study.data['scale']}; seed {study.seed}, starshade "
        f"{study.version}. Internal: some values may count single users.\n"
    )
    if study.choices:
        yield "\n## How the paper is read\n"
        yield from _table(explained(study.choices))
    yield from _claims(study.claims)
    for title, tables in (
        ("Worked examples of the paper", map(_worked, study.worked)),
        ("Tables", map(_titled, study.grids)),
        ("Figures as tables", map(figure_table, study.steady)),
    ):
        found = [line for lines in tables for line in lines]
        if found:
            yield f"\n## {title}\n"
            yield from found
    if study.skipped:
        yield "\n## Left out\n"
        rows = ((entry.figure, entry.what, entry.reason) for entry in study.skipped)
        yield from table_lines(("figure", "what", "why"), rows)
    yield "\nAll times are in [times.md](times.md).\n"


def _claims(claims: Sequence[Judged]) -> Iterator[str]:
    if not claims:
        return
    yield "\n## Claims and verdicts\n"
    yield from table_lines(
        (
            "claim",
            "where",
            "says",
            "holds if",
            "reason",
            "configuration",
            "here",
            "verdict",
            "cause",
        ),
        (
            (
                each.claim.number + " (ours)" * each.claim.ours,
                each.claim.place,
                each.claim.says,
                each.claim.holds_if,
                each.claim.why,
                each.claim.configuration,
                each.ours,
                each.verdict,
                each.cause or each.reason,
            )
            for each in claims
        ),
    )


def _worked(table: Worked) -> Iterator[str]:
    yield f"\n### {table.number}: {table.title}\n"
    yield f"{table.equal} of {table.cells} cells equal the paper's. {table.note}\n"
    rows = zip(table.paper, table.ours, strict=True)
    yield from table_lines(
        table.head, ([_beside(*pair) for pair in zip(*row, strict=True)] for row in rows)
    )


def _beside(paper: str, ours: str) -> str:
    return ours if not paper or paper == ours else f"**{ours}** (the paper: {paper})"


def _titled(table: Table) -> Iterator[str]:
    yield f"\n### {table.title}\n"
    yield from _table(table)


def _table(table: Table) -> Iterator[str]:
    return table_lines(table.head, table.rows)


def figure_table(figure: Figure) -> Iterator[str]:
    """Write a figure as tables of a page."""
    yield f"\n### Fig. {figure.number}: {figure.title} ({figure.y_title})\n"
    for panel in panel_tables(figure):
        yield f"\n{panel.title}\n"
        if len(panel.rows) > _LONG:
            yield f"{len(panel.rows):,} rows: see `points.csv`.\n"
        else:
            yield from _table(panel)


def panel_tables(figure: Figure) -> Iterator[Table]:
    """Return a figure as tables: one per panel, a row per x, a column per line."""
    for measure in dict.fromkeys(series.measure for series in figure.series):
        lines = [series for series in figure.series if series.measure == measure]
        at = [{point.x: point for point in series.points} for series in lines]
        xs = sorted({x for own in at for x in own})
        yield Table(
            measure,
            (figure.x_title, *(series.full_name for series in lines)),
            tuple((f"{x:g}", *(_cell(own.get(x), figure.unit) for own in at)) for x in xs),
        )


def _cell(point: Point | None, unit: Unit) -> str:
    if point is None:
        return "–"
    write = "{:.1%}".format if unit == "share" else number
    if point.low is None or point.high is None:
        return write(point.y)
    return f"{write(point.y)} [{write(point.low)}, {write(point.high)}]"


def _times(study: PaperStudy) -> Iterator[str]:
    yield f"# {study.authors}: times\n"
    yield "Seconds on this machine; they vary between machines and days.\n"
    rows = time_rows(study.times)
    if rows:
        yield from table_lines(("what", "seconds"), rows)
    for figure in study.clocked:
        yield from figure_table(figure)


def time_rows(times: Any, name: str = "") -> list[tuple[str, str]]:
    """Return nested times as rows: a name, and seconds."""
    if isinstance(times, dict):
        pairs = [(str(key), value) for key, value in times.items()]
    elif isinstance(times, list | tuple):
        pairs = [(str(i), value) for i, value in enumerate(times, 1)]
    else:
        return [(name, f"{times:.4g}" if isinstance(times, float) else str(times))]
    return [row for key, value in pairs for row in time_rows(value, f"{name}, {key}".lstrip(", "))]
