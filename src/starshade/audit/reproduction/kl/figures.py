"""KL Figs 10-16 from what the bench measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean, median
from typing import Any

from starshade.audit.attempts import ORIGINAL
from starshade.audit.reproduction.figures import Figure, Series, Skipped
from starshade.audit.reproduction.kl.bench import Bench
from starshade.audit.reproduction.kl.lines import LIKENESS, MEMBER, MONDRIAN, QUERY_KS, RELAXED
from starshade.audit.reproduction.parts import Part
from starshade.audit.reproduction.study import Row, points_of
from starshade.figure import Table
from starshade.progress import task

ASKED_AT = "k = {}"
WHOLE, ALONE = "from ratings to release", "forming groups alone"
_LOSSES = (
    ("10", "Discernibility", "dm", "DM"),
    ("11", "Average class size C_AVG", "c_avg", "records / (classes · k)"),
    ("12", "Generalization loss (GenILoss)", "gen_iloss", "mean width of a cell"),
)
_QUERIES = (
    ("13", "or", "Query error under OR", "items in the condition"),
    ("14", "and", "Query error under AND", "items in the condition"),
    ("15", "range", "Query error of rating ranges", "width of the range"),
)
_Dotted = partial(Figure, dotted=True)


def losses_of(bench: Bench) -> tuple[list[Row], list[Row], list[Skipped]]:
    """Make a release of every line at every k, in every run.

    Returns what is lost and what it took, a row each, the original first; what was refused.
    """
    rows = [_row(bench, ORIGINAL, 1, 1, bench.original())]
    times: list[Row] = []
    refused: dict[tuple[str, str], list[str]] = defaultdict(list)
    with task("anonymizing", len(bench.lines) * len(bench.ks) * len(bench.seeds)) as step:
        for line in bench.lines:
            for k in bench.ks:
                for run in range(len(bench.seeds)):
                    part = bench.released(line, k, run)
                    step(1)
                    if "refused" in part:
                        refused[line.name, str(part["refused"])] += [str(k)] * (run == 0)
                        continue
                    rows.append(_row(bench, line.name, k, run + 1, part))
                    whole, alone = part["seconds"].tolist()
                    if line.reading is None:
                        at = {"line": line.name, "k": k, "run": run + 1}
                        times.append(at | {"seconds": whole, "grouping_seconds": alone})
    skipped = [
        Skipped("10-12, 16", f"{name}, k = {', '.join(ks)}", reason)
        for (name, reason), ks in refused.items()
    ]
    return rows, times, skipped


def _row(bench: Bench, line: str, k: int, run: int, part: Part) -> Row:
    classes = int(bench.figure(part, k, "classes")[0])
    return {
        "line": line,
        "k": k,
        "run": run,
        "dm": int(bench.figure(part, k, "size").sum()),
        "c_avg": bench.table.n_users / (classes * k),
        "gen_iloss": float(part["loss"].mean()),
    }


def answers_of(bench: Bench) -> tuple[list[Row], list[Skipped]]:
    """Ask the same queries of a release of every line at k = 2 and 5, in every run.

    Errors are means in per cent, |x - x0|/x (KL Eq. 7; x is the release's) and over the truth x0.
    """
    rows: list[Row] = []
    skipped: list[Skipped] = []
    asked = [(line, k) for k in QUERY_KS for line in bench.lines if line.queried]
    with task("running queries", len(asked) * len(bench.seeds)) as step:
        for line, k in asked:
            for run in range(len(bench.seeds)):
                part = bench.answers(line, k, run)
                step(1)
                if "refused" in part:
                    what = "queries" if bench.attribute is None else f"{line.name}, k = {k}"
                    skipped.append(Skipped("13-15", what, str(part["refused"])))
                    continue
                names = ("kind", "size", "error", "error_of_truth", "conditions")
                rows += (
                    {"line": line.name, "k": k, "run": run + 1}
                    | dict(zip(names, told, strict=True))
                    for told in zip(*(part[name].tolist() for name in names), strict=True)
                )
    return rows, list(dict.fromkeys(skipped))


def loss_figures(bench: Bench, rows: Sequence[Row]) -> Iterator[Figure]:
    """Make Figs 10-12: a panel for the methods, one for k-Likeness under each hierarchy."""
    panels = {
        # there are eight colours; relaxed cuts are in the table of losses
        "methods": [ln for ln in bench.lines if not ln.is_hierarchy and ln.name != RELAXED],
        "k-Likeness under each hierarchy": [
            ln for ln in bench.lines if ln.name == LIKENESS or ln.is_hierarchy
        ],
    }
    for number, title, name, y_title in _LOSSES:
        first = points_of(rows[:1], "k", name)
        series = tuple(
            Series(line.name, panel, first + points, configuration=line.configuration)
            for panel, own in panels.items()
            for line in own
            if (points := points_of(rows, "k", name, line=line.name))
        )
        if series:
            yield _Dotted(number, title, "k", y_title, "number", series, y_log=name == "dm")


def query_figures(bench: Bench, rows: Sequence[Row]) -> Iterator[Figure]:
    """Make Figs 13-15: a panel for each k."""
    for number, kind, title, x_title in _QUERIES:
        own = [row for row in rows if row["kind"] == kind]
        series = tuple(
            Series(
                line,
                ASKED_AT.format(k),
                points_of(own, "size", "error", line=line, k=k),
                configuration=bench.line(line).configuration,
            )
            for k, line in dict.fromkeys((row["k"], row["line"]) for row in own)
        )
        if series:
            y_title = f"relative error of AVG({bench.attribute}), %"
            yield _Dotted(number, title, x_title, y_title, "number", series)


_SHOWN = (2, 5, 10, 20)  # k of the table of losses


def tables_of(losses: Sequence[Row], errors: Sequence[Row]) -> Iterator[Table]:
    """Write down what Figs 10-15 show, and what they have no room for."""
    ks = [row["k"] for row in losses[1:]]
    at = [k for k in _SHOWN if k in ks] or ks[:1]
    own = defaultdict(list)
    for row in losses[1:]:
        if row["k"] in at:
            own[row["k"], row["line"]].append(row)
    lost = [
        (line, str(k), *(_mean(rows, name) for name in ("dm", "c_avg", "gen_iloss")))
        for (k, line), rows in sorted(own.items(), key=lambda each: each[0][0])
    ]
    if lost:
        yield Table(
            "Utility loss of generalization (Figs 10 to 12)",
            ("line", "k", "DM", "C_AVG", "GenILoss"),
            tuple(lost),
        )
    asked = defaultdict(list)
    for row in errors:
        asked[row["kind"], row["k"], row["line"]].append(row)
    wrong = [
        (
            line,
            kind.upper() if kind != "range" else kind,
            str(k),
            *(_mean(rows, name) for name in ("error", "error_of_truth")),
            f"{sum(row['conditions'] for row in rows):,}",
        )
        for (kind, k, line), rows in asked.items()
    ]
    if wrong:
        head = ("line", "conditions", "k", "error, % of the answer", "of the truth", "asked")
        title = "Query errors (Figs 13 to 15): mean over sizes and runs"
        yield Table(title, head, tuple(sorted(wrong, key=lambda row: row[1:3])))


def _mean(rows: Sequence[Row], name: str) -> str:
    """Write the mean of the runs, with the least and the greatest where they differ."""
    by_run = defaultdict(list)
    for row in rows:
        by_run[row["run"]].append(row[name])
    means = [fmean(own) for own in by_run.values()]
    middle, low, high = (
        f"{each:,.0f}" if each >= 1000 else f"{each:.4g}"
        for each in (fmean(means), min(means), max(means))
    )
    return middle if low == high else f"{middle} ({low} to {high})"


def time_figures(
    bench: Bench, times: Sequence[Row], codes: Sequence[dict[str, Any]]
) -> Iterator[Figure]:
    """Make Fig 16: seconds of ours, of both algorithms in the same kind of code; and the work."""
    series = [
        Series(line.name, panel, points, configuration=line.configuration)
        for panel, name in ((WHOLE, "seconds"), (ALONE, "grouping_seconds"))
        for line in bench.lines
        if not line.is_hierarchy and (points := points_of(times, "k", name, median, line=line.name))
    ]
    series += [
        Series.of(
            line,
            code,
            [row["k"] for row in codes if row["code"] == code],
            [row[key] for row in codes if row["code"] == code],
            configuration="as-read",
        )
        for code in dict.fromkeys(row["code"] for row in codes)
        for line, key in ((LIKENESS, "k-likeness"), (MEMBER, "k-member"))
    ]
    if series:
        title = "Time of anonymizing"
        yield _Dotted("16", title, "k", "seconds (median)", "seconds", tuple(series), y_log=True)
    work, anew = bench.work(), bench.work("anew")
    if work:
        ks = [one.k for one in work]
        lines = (
            (LIKENESS, "as-read", [one.likeness for one in work]),
            (MEMBER, "as-read", [one.member for one in work]),
            (MONDRIAN, "as-read", [one.mondrian for one in work]),
            (MEMBER, "as-read, but group ranges recomputed", [one.member for one in anew]),
            (
                LIKENESS,
                "as-printed",
                [one.likeness for one in bench.work("tuples-k")],
            ),
        )
        drawn = tuple(
            Series.of(name, "cells touched", ks, ys, configuration=configuration)
            for name, configuration, ys in lines
        )
        yield _Dotted(
            "16a", "Work of anonymizing", "k", "cells touched", "number", drawn, y_log=True
        )
