"""``starshade reproduce kl``."""

from __future__ import annotations

import click

from starshade.cli.options.shared import Reading, reading
from starshade.cli.reproduce import at_least, begin, finish, out_option
from starshade.cli.running.run import Run, running
from starshade.cli.show import judged

__all__ = ["reproduce_kl"]


@click.command(name="kl")
@click.option("--data", metavar="PATH", help="The ratings. [default: made-up ones]")
@out_option("JSON, CSV, Vega-Lite, SVG")
@click.option(
    "--attribute",
    metavar="NAME",
    help="Numeric personal attribute that queries average. [default: age, else the first]",
)
@at_least(2, "--most-k", 20, "Every k from 1, the original, up to this.")
@at_least(1, "--runs", 5, "Of everything, each with a seed of its own.")
@at_least(1, "--draws", 20, "Queries for each set of items and kind of condition, in each run.")
@reading()
@running(seed=True)
def reproduce_kl(
    data: str | None,
    out: str | None,
    attribute: str | None,
    most_k: int,
    runs: int,
    draws: int,
    reading: Reading,
    run: Run,
) -> None:
    """Riyana & Natwichai's experiments (2018, section 5) on DATA, or on made-up ratings.

    Figures 10 to 16: what generalization loses by each method and hierarchy, how wrong queries
    become, how long it takes. Each sentence of the paper about a curve is held against the curve
    found here. Without --items the ten most rated are looked at, as in the paper.
    """
    begin(out, data, reading.arguments(), "ratings are")
    from starshade.audit.reproduction.kl.reproduce import reproduce_kl as study
    from starshade.report.reproduction_kl import save_kl

    result = study(
        None if data is None else reading.read(data, dates=False, select=False),
        items=reading.selection(),
        ks=range(2, most_k + 1),
        runs=runs,
        draws=draws,
        attribute=attribute,
        rng=run.seed,
    )
    finish(run, result, out, save_kl, lambda: [judged(result.checks)])
