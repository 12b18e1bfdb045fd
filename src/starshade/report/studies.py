"""The studies of KL, PA and SR as folders: figures, tables, the papers' sentences checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from starshade.arguments import typed
from starshade.audit.reproduction.figures import Figure
from starshade.audit.reproduction.kl.study import GeneralizationStudy
from starshade.audit.reproduction.pa.result import PredictiveStudy, Row
from starshade.audit.reproduction.sr.study import Study
from starshade.ratings.places.place import Where
from starshade.report.folder import table_lines
from starshade.report.reproduction import checked, pages_end, save_study


@typed
def save_kl(study: GeneralizationStudy, folder: Where) -> tuple[str, ...]:
    """Write a study: all of it or nothing.

    Parameters
    ----------
    study : GeneralizationStudy
    folder : path
        Must not exist.

    Returns
    -------
    tuple of str
        Names of the files: ``kl.json``, ``losses.csv`` and ``queries.csv`` with a row per line, k
        and run, ``README.md`` with a table per figure, and per figure ``figure-10.vl.json``
        (Vega-Lite) and ``figure-10.svg``. Without the optional extra ``starshade[report]`` there
        are no pictures, and a note says so.

    Raises
    ------
    OutputError
        The folder exists or cannot be written; nothing is left behind.
    """
    tables = {"losses": study.losses} | ({"queries": study.queries} if study.queries else {})
    return save_study(study, folder, _kl_page(study), _kl_rests_on, tables)


def _kl_rests_on(study: GeneralizationStudy, figure: Figure) -> str:
    middle = "medians" if figure.unit == "seconds" else "means"
    first = "; k = 1: the original" * (figure.number in ("10", "11", "12"))
    return f"; {middle} of {study.runs} runs, from the least to the greatest{first}"


def _kl_page(study: GeneralizationStudy) -> Iterator[str]:
    yield "# Riyana & Natwichai, §5, on these ratings\n"
    yield (
        f"{study.size} ({study.data['users_left_out']:,} users rated none of the items), scale "
        f"{study.data['scale']}; seed {study.seed}, starshade {study.version}. The paper's figures "
        "are pictures and their numbers not to be had. Everything is run "
        f"{study.runs} times with seeds of its own: a point is the mean of the runs, a time their "
        "median on the machine at hand, another one gives others.\n"
    )
    yield f"{study}\n"
    yield "\n## What the paper claims\n"
    yield from table_lines(
        ("claim", "where", "says", "holds if", "here", "verdict", "why not"),
        (
            [
                each.claim.number,
                each.claim.place,
                each.claim.says,
                each.claim.holds_if,
                each.ours,
                each.verdict,
                each.cause or each.reason,
            ]
            for each in study.claims
        ),
    )
    for grid in study.grids:
        yield f"\n## {grid.title}\n"
        yield from table_lines(grid.head, map(list, grid.rows))
    yield from pages_end(study, "Tables")


_READINGS = {
    "original": "recommender on the original",
    "release": "read from the release",
    "refit": "recommender trained on the release",
}
_TABLES = {
    "1": "Table 1: target deviation (RMSE)",
    "3": "Table 3: similar-user deviation (RMSE)",
}


@typed
def save_pa(study: PredictiveStudy, folder: Where) -> tuple[str, ...]:
    """Write a study: all of it or nothing.

    Parameters
    ----------
    study : PredictiveStudy
    folder : path
        Must not exist.

    Returns
    -------
    tuple of str
        Names of the files: ``pa.json``, ``tables.csv`` and ``histogram.csv`` with our figures
        beside the paper's, ``releases.csv``, ``README.md``, and per figure ``figure-03.vl.json``
        (Vega-Lite) and ``figure-03.svg``. Without the optional extra ``starshade[report]`` there
        are no pictures, and a note says so.

    Raises
    ------
    OutputError
        The folder exists or cannot be written; nothing is left behind.
    """
    tables = [row.to_dict() for row in study.tables]
    return save_study(
        study,
        folder,
        _pa_page(study),
        _pa_rests_on,
        {
            "tables": [{name: row[name] for name in row if name != "runs"} for row in tables],
            "histogram": [asdict(row) for row in study.histogram],
            "releases": study.releases,
        },
    )


def _pa_rests_on(study: PredictiveStudy, figure: Figure) -> str:
    if figure.number in ("3", "4", "5"):
        return f"; the first of {study.runs} runs"
    return f"; means of {study.runs} runs, from the least to the greatest"


def _pa_page(study: PredictiveStudy) -> Iterator[str]:
    yield "# Chang, Thompson, Wang & Yao, §7, on these ratings\n"
    yield (
        f"{study.size}, scale {study.data['scale']}; seed {study.seed}, starshade "
        f"{study.version}. The paper's numbers are Netflix's (480,189 users, 17,770 movies). "
        f"{study.share:.0%} of the ratings were set aside before anything else was done, the rest "
        "was padded, grouped and homogenized, and what was set aside is predicted: of each user "
        "from the profile of their group (target deviation) or from the profile that is most like "
        f"them (similar-user deviation). Everything is run {study.runs} times with seeds of its "
        "own: a figure is the mean of the runs, with the least and the greatest.\n"
    )
    yield (
        "Read from the release: the released cell predicts, and a null counts as 0, as it must "
        "have in the paper. Trained on the release: a recommender learns from the profiles and "
        "predicts for the user's group. One recommender, with the same settings, pads, predicts "
        "from the original and learns from releases.\n"
    )
    for table in ("1", "2", "3"):
        yield from _histogram(study) if table == "2" else _errors(study, table)
    yield from _releases(study)
    yield from checked(study.checks)
    yield from pages_end(study, "Figures as tables")


def _errors(study: PredictiveStudy, table: str) -> Iterator[str]:
    rows = [row for row in study.tables if row.table == table]
    if rows:
        yield f"\n## {_TABLES[table]}\n"
        yield from table_lines(
            ("", "k", "predicted by", "the paper", "here", "runs", "times the original"),
            (_cells(row) for row in rows),
        )


def _cells(row: Row) -> list[str]:
    return [
        row.line,
        "–" if row.k is None else str(row.k),
        _READINGS[row.reading],
        "–" if row.paper is None else f"{row.paper:.4f}",
        f"{row.mean:.4f}",
        f"{min(row.ours):.4f} to {max(row.ours):.4f}",
        f"{row.ratio:.4f}",
    ]


def _histogram(study: PredictiveStudy) -> Iterator[str]:
    if not study.histogram:
        return
    yield "\n## Table 2: ratings before and after padding (% of all cells)\n"
    yield from table_lines(
        ("rating", "the paper, before", "here, before", "the paper, after", "here, after"),
        (
            [
                "null" if row.level is None else f"{row.level:g}",
                _share(row.paper_before),
                _share(row.before),
                _share(row.paper_after),
                _share(row.after),
            ]
            for row in study.histogram
        ),
    )


def _releases(study: PredictiveStudy) -> Iterator[str]:
    if not study.releases:
        return
    yield "\n## The releases\n"
    yield (
        "Means of the runs. “One rater”: released cells that rest on the rating of one single "
        "person.\n"
    )
    yield from table_lines(
        ("", "k", "groups", "the paper", "null cells", "the paper", "one rater", "seconds"),
        (
            [
                row["line"],
                str(row["k"]),
                f"{row['groups']:,.0f}",
                "–" if row["paper_groups"] is None else f"{row['paper_groups']:,}",
                _share(row["nulls"]),
                _share(row["paper_nulls"]),
                _share(row["one_rater"]),
                f"{row['seconds']:.2f}",
            ]
            for row in study.releases
        ),
    )


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.3g} %"


_TIMED = ("3", "4", "5", "6")


@typed
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
    return save_study(study, folder, _sr_page(study), _sr_rests_on)


def _sr_rests_on(study: Study, figure: Figure) -> str:
    if figure.number.startswith(_TIMED):
        return f"; medians of {study.repeats} runs, from the fastest to the slowest"
    if figure.number == "8":
        return f"; means of {study.trials} trials, 95 % intervals over trials"
    return ""


def _sr_page(study: Study) -> Iterator[str]:
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
