"""``starshade reproduce sr``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from starshade.cli.options.shared import Reading, ensure_free, reading
from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, figures, judged, page, words
from starshade.errors import ConfigError
from starshade.figure import number

if TYPE_CHECKING:
    from starshade.audit.reproduction.sr.result import Study

__all__ = ["reproduce_sr"]

_YES = {True: "yes", False: "no"}


@click.command(name="sr")
@click.option("--data", metavar="PATH", help="The ratings. [default: a made-up survey]")
@click.option("--out", metavar="DIR", help="Write JSON, Vega-Lite, SVG and a page to this folder.")
@click.option(
    "--sensitive",
    metavar="ITEM",
    multiple=True,
    help="Id of a sensitive item; may be repeated. [default: the last of the most rated]",
)
@click.option(
    "--top",
    type=click.IntRange(2),
    default=20,
    show_default=True,
    help="Most rated items that are looked at under three null rules.",
)
@click.option(
    "--attribute",
    metavar="NAME",
    help="Personal attribute to predict. [default: gender, else the first that can be]",
)
@click.option(
    "--trials",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="Trials of each prediction.",
)
@click.option(
    "--repeats",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Runs of each timed check; the median counts.",
)
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
    if out is not None:
        ensure_free(out)
    if data is None and (reading.items or reading.arguments()):
        raise ConfigError(
            "options for reading ratings, and no --data",
            advice="Name the ratings with --data; without it a survey is made up.",
        )
    from starshade.audit.reproduction.sr.reproduce import reproduce_sr as study

    result = study(
        None if data is None else reading.read(data, dates=False),
        sensitive=sensitive,
        top=top,
        attribute=attribute,
        trials=trials,
        repeats=repeats,
        rng=run.seed,
    )
    files: tuple[str, ...] = ()
    if out is not None:
        from starshade.report.reproduction_sr import save_sr

        files = save_sr(result, out)
    payload = {**result.to_dict(), "seconds": run.seconds, "out": out}
    run.emit(payload, lambda: _summary(result, out, files))


def _summary(result: Study, out: str | None, files: tuple[str, ...]) -> Any:
    return page(
        words(str(result)),
        judged(result.checks),
        columns(
            ("checked", "nulls", "satisfied", "failing records", "of", "smallest ball"),
            [
                (
                    v["data"],
                    v["nulls"],
                    _YES[v["satisfied"]],
                    *(number(v[key]) for key in ("failing_records", "records", "smallest_group")),
                )
                for v in result.verdicts
            ],
            title="The check with the paper's default parameters",
        ),
        figures([(f"Fig. {s.figure}: {s.what}", s.reason) for s in result.skipped], "Left out")
        if result.skipped
        else None,
        words(f"{out}: {len(files)} files; begin with README.md") if out else None,
    )
