"""Sun & Sun's study as a folder: figures, tables, and the paper's sentences held against them."""

from __future__ import annotations

from collections.abc import Iterator

from starshade.audit.reproduction.figures import Figure
from starshade.audit.reproduction.sr.result import Study
from starshade.ratings.places.place import Where
from starshade.report.folder import table_lines
from starshade.report.reproduction import checked, pages_end, save_study

__all__ = ["save_sr"]

_TIMED = ("3", "4", "5", "6")


def save_sr(study: Study, folder: Where) -> tuple[str, ...]:
    """Write a study: all of it or nothing.

    Parameters
    ----------
    study : Study
    folder : path
        Must not exist.

    Returns
    -------
    tuple of str
        Names of the files: ``sr.json``, ``README.md`` with a table per figure, and per figure
        ``figure-03a.vl.json`` (Vega-Lite) and ``figure-03a.svg``. Without the optional extra
        ``starshade[report]`` there are no pictures, and a note says so.

    Raises
    ------
    OutputError
        The folder exists or cannot be written; nothing is left behind.
    """
    return save_study(study, folder, _page(study), _rests_on)


def _rests_on(study: Study, figure: Figure) -> str:
    if figure.number.startswith(_TIMED):
        return f"; medians of {study.repeats} runs, from the fastest to the slowest"
    if figure.number == "8":
        return f"; means of {study.trials} trials, 95 % intervals over trials"
    return ""


def _page(study: Study) -> Iterator[str]:
    data = study.data
    yield "# Sun & Sun, §7, on these ratings\n"
    yield (
        f"{study.size}, scale {data['scale']} (one star is {data['one_star']:g}); seed "
        f"{study.seed}, starshade {study.version}. The paper's figures are pictures and their "
        "numbers not to be had; its sentences about the curves are held against ours. Times are "
        f"medians of {study.repeats} runs on the machine at hand: another one gives others.\n"
    )
    yield from table_lines(
        ("looked at", "users", "items", "ratings", "sensitive items", "null rules"),
        (
            [p["name"], *(f"{p[key]:,}" for key in _COUNTS), ", ".join(p["nulls"])]
            for p in data["parts"]
        ),
    )
    yield from checked(study.checks)
    yield (
        "\nWhere l is above 0 a spread is asked for, and every ball is counted to its end: k then "
        "has little part in the time. At ε = R everybody is proximate, which is known without a "
        "search. Runs that overlap, or medians less than a tenth apart, count as equal.\n"
    )
    yield "\n## The check with the paper's default parameters\n"
    yield from table_lines(
        ("on", "nulls", "(k, ε, l)", "satisfied", "failing", "of", "smallest ball"),
        (
            [
                row["data"],
                row["nulls"],
                f"({row['k']}, {row['eps']:g}, {row['l']:g})",
                "yes" if row["satisfied"] else "no",
                f"{row['failing_records']:,}",
                f"{row['records']:,}",
                f"{row['smallest_group']:,}",
            ]
            for row in study.verdicts
        ),
    )
    yield from pages_end(study, "Tables")


_COUNTS = ("users", "items", "ratings", "sensitive_items")
