"""``starshade compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from starshade.audit.compare.settings import CompareSettings
from starshade.cli.options.declared import options_of
from starshade.cli.options.help import WRITTEN, Explained, grouped
from starshade.cli.options.shared import Reading, ensure_free, gathered, reading, said
from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, figures, page, words

if TYPE_CHECKING:
    from starshade.audit.compare.result import Comparison, Row
    from starshade.figure import Figure


@click.command(
    cls=Explained,
    example="starshade compare ratings.csv --methods k-exchange,mondrian --k 3,5 --items top:10",
)
@click.argument("ratings", metavar="RATINGS")
@partial(gathered, options=options_of(CompareSettings), name="values", title="Methods and attacks")
@grouped(
    WRITTEN,
    click.option(
        "--out", metavar="DIR", help="Folder for JSON, CSV, the Pareto plot and an HTML page"
    ),
)
@reading()
@running(seed=True)
@click.pass_context
def compare(
    context: click.Context,
    ratings: str,
    values: dict[str, Any],
    out: str | None,
    reading: Reading,
    run: Run,
) -> None:
    """Compare anonymization methods: one release per method and k.

    Measure the utility, query errors, residual risk and duration of each, and mark the
    Pareto-optimal releases. The releases are not kept.
    """
    settings = CompareSettings(**said(values))
    if out is not None:
        ensure_free(out)
    from starshade.audit.compare.compare import compare as side_by_side

    result = side_by_side(
        reading.read(ratings, dates=False, select=False),
        items=reading.selection(),
        **vars(settings),
        rng=run.seed,
    )
    files: tuple[str, ...] = ()
    if out is not None:
        from starshade.report.folder import save_comparison

        files = save_comparison(result, out)
    payload = {**result.to_dict(), "seconds": run.seconds, "out": out}
    run.emit(payload, lambda: _summary(result, out, files))
    context.exit(1 if len(result.refused) == len(result.rows) else 0)


def _summary(result: Comparison, out: str | None, files: tuple[str, ...]) -> Any:
    from starshade.audit.compare.frontier import BESIDE, in_columns
    from starshade.release.promise import QUESTIONS

    singled_out, *_ = questions = tuple(QUESTIONS.values())
    made = [row for row in result.rows if row.refused is None]
    best = {id(row) for row in result.frontier}
    return page(
        words(str(result)),
        *(
            _table(
                [result.before, *made] if title in (BESIDE, *questions) else made,
                wanted,
                title,
                best if title == singled_out else None,
            )
            for title, wanted in in_columns().items()
            if made
        ),
        _by_policy(result, made),
        figures([(row.name, str(row.refused)) for row in result.refused], "Refused")
        if result.refused
        else None,
        words(f"{out}: {len(files)} files; begin with README.md") if out else None,
    )


def _badness(check: Mapping[str, Any]) -> tuple[bool, bool, float]:
    """Order checks of one name: one that fails last, one that was not measured before it."""
    fails = check["status"] in ("fail", "not demonstrated")
    return fails, check["status"] == "not measured", check["high"] or 0.0


def _by_policy(result: Comparison, made: list[Row]) -> Any:
    """Show each release's verdict and checks."""
    decided = [(row, row.decision) for row in made if row.decision is not None]
    if not decided:
        return None
    from starshade.audit.checks.check import MARKS
    from starshade.audit.checks.policy import CHECKED

    every = [check for _, decision in decided for check in decision.checks]
    limited = (c for c in every if c["threshold"] is not None)
    names = dict.fromkeys(c["name"] for c in limited if c["status"] != "not applicable")
    rows = []
    for row, decision in decided:
        worst = {each["name"]: each for each in sorted(decision.checks, key=_badness)}
        values = [f"{worst[n]['value_text']} {MARKS[worst[n]['status']]}" for n in names]
        rows.append((row.way, str(row.k), decision.verdict, *values))
    head = ("method", "k", "verdict", *(CHECKED[name].title for name in names))
    return columns(head, rows, title=f"Decided by policy {result.policy}")


def _table(
    rows: list[Row], wanted: Sequence[Figure], title: str, best: set[int] | None = None
) -> Any:
    shown = [each for each in wanted if any(row.figures[each.key] is not None for row in rows)]
    marked = [] if best is None else ["by", "frontier"]
    return columns(
        ("method", "k", *(figure.head for figure in shown), *marked),
        [
            (
                row.way,
                str(row.k),
                *(figure.of(row.figures[figure.key]).text for figure in shown),
                *([row.attack or "", "yes" if id(row) in best else ""] if best is not None else []),
            )
            for row in rows
        ],
        title=title,
    )
