"""``starshade reproduce kl``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from starshade.cli.options.shared import Reading, ensure_free, reading
from starshade.cli.running.run import Run, running
from starshade.cli.show import figures, judged, page, words
from starshade.errors import ConfigError

if TYPE_CHECKING:
    from starshade.audit.reproduction.kl.result import GeneralizationStudy

__all__ = ["reproduce_kl"]


@click.command(name="kl")
@click.option("--data", metavar="PATH", help="The ratings. [default: made-up ones]")
@click.option(
    "--out", metavar="DIR", help="Write JSON, CSV, Vega-Lite, SVG and a page to this folder."
)
@click.option(
    "--attribute",
    metavar="NAME",
    help="Numeric personal attribute that queries average. [default: age, else the first]",
)
@click.option(
    "--most-k",
    type=click.IntRange(2),
    default=20,
    show_default=True,
    help="Every k from 1, the original, up to this.",
)
@click.option(
    "--runs",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="Of everything, each with a seed of its own.",
)
@click.option(
    "--draws",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Queries for each set of items and kind of condition, in each run.",
)
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
    if out is not None:
        ensure_free(out)
    if data is None and reading.arguments():
        raise ConfigError(
            "options for reading ratings, and no --data",
            advice="Name the ratings with --data; without it ratings are made up.",
        )
    from starshade.audit.reproduction.kl.reproduce import reproduce_kl as study

    result = study(
        None if data is None else reading.read(data, dates=False, select=False),
        items=reading.selection(),
        ks=range(2, most_k + 1),
        runs=runs,
        draws=draws,
        attribute=attribute,
        rng=run.seed,
    )
    files: tuple[str, ...] = ()
    if out is not None:
        from starshade.report.reproduction_kl import save_kl

        files = save_kl(result, out)
    payload = {**result.to_dict(), "seconds": run.seconds, "out": out}
    run.emit(payload, lambda: _summary(result, out, files))


def _summary(result: GeneralizationStudy, out: str | None, files: tuple[str, ...]) -> Any:
    return page(
        words(str(result)),
        judged(result.checks),
        figures([(f"Fig. {s.figure}: {s.what}", s.reason) for s in result.skipped], "Left out")
        if result.skipped
        else None,
        words(f"{out}: {len(files)} files; begin with README.md") if out else None,
    )
