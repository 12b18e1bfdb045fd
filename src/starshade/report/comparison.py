"""A comparison of methods as a folder: the table, the frontier, a page to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from starshade.audit.compare.frontier import frontier_chart
from starshade.audit.compare.result import Comparison, Row
from starshade.figure import Figure
from starshade.ratings.places.place import Where
from starshade.report.folder import Drawn, save_folder, table_lines

__all__ = ["save_comparison"]


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
        charts.append(Drawn("frontier", "Loss against attack, and loss over k", spec))
    return save_folder(
        folder,
        "compare",
        comparison.to_dict(),
        charts,
        page=_page(comparison),
        tables={"compare": comparison.whole_table()},
    )


def _page(comparison: Comparison) -> Iterator[str]:
    yield "# Methods side by side\n"
    yield (
        f"{comparison.rests_on}. Scale {comparison.data['scale']}, seed {comparison.seed}, "
        f"starshade {comparison.version}. Two attacks are tried, scoreboard-rh and label, on the "
        "same people and scored by who became which record; the one that finds more records is "
        "reported, and named. Seconds run from ratings to release, on the machine at hand.\n"
    )
    if comparison.attribute is None:
        yield "No query error: the data have no numeric personal attribute.\n"
    else:
        yield (
            f"The query error is that of AVG({comparison.attribute}) under conditions on ratings, "
            "against the truth, in per cent.\n"
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
        "\nOn the frontier: no other release with the same kind of loss loses as little, keeps "
        "as many users and lets the attack name as few, and is better in one of these.\n"
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
