"""``starshade reproduce sr``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from starshade.cli.options.shared import Reading, reading
from starshade.cli.reproduce import at_least, begin, finish, out_option
from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, judged
from starshade.figure import number

if TYPE_CHECKING:
    from starshade.audit.reproduction.sr.result import Study

__all__ = ["reproduce_sr"]


@click.command(name="sr")
@click.option("--data", metavar="PATH", help="The ratings. [default: a made-up survey]")
@out_option("JSON, Vega-Lite, SVG")
@click.option(
    "--sensitive",
    metavar="ITEM",
    multiple=True,
    help="Id of a sensitive item; may be repeated. [default: the last of the most rated]",
)
@at_least(2, "--top", 20, "Most rated items that are looked at under three null rules.")
@click.option(
    "--attribute",
    metavar="NAME",
    help="Personal attribute to predict. [default: gender, else the first that can be]",
)
@at_least(1, "--trials", 50, "Trials of each prediction.")
@at_least(1, "--repeats", 3, "Runs of each timed check; the median counts.")
@reading()
@running(seed=True)
def reproduce_sr(
    data: str | None,
    out: str | None,
    sensitive: tuple[str, ...],
    top: int,
    attribute: str | None,
    trials: int,
    repeats: int,
    reading: Reading,
    run: Run,
) -> None:
    """Sun & Sun's experiments (2013, section 7) on DATA, or on a made-up survey.

    Figures 3 to 8: how long checks of (k, eps, l)-anonymity take, what the interval anonymizer
    costs, and what ratings tell of a person before and after. Each sentence of the paper about a
    curve is held against the curve found here.
    """
    begin(out, data, reading.items or reading.arguments(), "a survey is")
    from starshade.audit.reproduction.sr.reproduce import reproduce_sr as study
    from starshade.report.reproduction_sr import save_sr

    result = study(
        None if data is None else reading.read(data, dates=False),
        sensitive=sensitive,
        top=top,
        attribute=attribute,
        trials=trials,
        repeats=repeats,
        rng=run.seed,
    )
    finish(run, result, out, save_sr, lambda: _shown(result))


def _shown(result: Study) -> list[Any]:
    counts = ("satisfied", "failing_records", "records", "smallest_group")
    return [
        judged(result.checks),
        columns(
            ("checked", "nulls", "satisfied", "failing records", "of", "smallest ball"),
            [(v["data"], v["nulls"], *(number(v[key]) for key in counts)) for v in result.verdicts],
            title="The check with the paper's default parameters",
        ),
    ]
