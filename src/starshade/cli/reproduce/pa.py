"""``starshade reproduce pa``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from starshade.audit.compare.settings import CompareSettings
from starshade.cli.options.declared import options_of
from starshade.cli.options.settings import gathered
from starshade.cli.options.shared import Reading, ensure_free, reading
from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, figures, judged, page, words
from starshade.errors import ConfigError
from starshade.figure import number

if TYPE_CHECKING:
    from starshade.audit.reproduction.pa.result import PredictiveStudy

__all__ = ["reproduce_pa"]

_KS = (5, 50)
_NAMES = {"1": "target deviation", "3": "similar-user deviation"}


@click.command(name="pa")
@click.option("--data", metavar="PATH", help="The ratings. [default: made-up ones, like Netflix]")
@click.option("--n-users", type=click.IntRange(4), help="Without --data: users. [default: 2,000]")
@click.option("--n-items", type=click.IntRange(2), help="Without --data: items. [default: 2,000]")
@click.option(
    "--out", metavar="DIR", help="Write JSON, CSV, Vega-Lite, SVG and a page to this folder."
)
@partial(gathered, options=options_of(CompareSettings, "ks", default=_KS), name="values")
@click.option(
    "--runs",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Of everything, each with a seed of its own.",
)
@reading()
@running(seed=True)
def reproduce_pa(
    data: str | None,
    n_users: int | None,
    n_items: int | None,
    out: str | None,
    values: dict[str, Any],
    runs: int,
    reading: Reading,
    run: Run,
) -> None:
    """Repeat Chang, Thompson, Wang & Yao's experiments (section 7) on DATA, or on made-up ratings.

    Tables 1 to 3 and figures 3 to 5: how well ratings that were held out are predicted from
    releases, what padding does to the data, how users are grouped. The paper's numbers stand
    beside, and its sentences are held against what is found here.
    """
    if out is not None:
        ensure_free(out)
    if data is None and (reading.items or reading.arguments()):
        raise ConfigError(
            "options for reading ratings, and no --data",
            advice="Name the ratings with --data; without it ratings are made up.",
        )
    if data is not None and (n_users or n_items):
        raise ConfigError(
            "--n-users and --n-items say how much to make up, and --data names ratings",
            advice="Leave out one or the other.",
        )
    from starshade.audit.reproduction.pa.reproduce import reproduce_pa as study

    result = study(
        None if data is None else reading.read(data, dates=False),
        n_users=n_users,
        n_items=n_items,
        ks=values["ks"] or _KS,
        runs=runs,
        rng=run.seed,
    )
    files: tuple[str, ...] = ()
    if out is not None:
        from starshade.report.reproduction_pa import save_pa

        files = save_pa(result, out)
    payload = {**result.to_dict(), "seconds": run.seconds, "out": out}
    run.emit(payload, lambda: _summary(result, out, files))


def _summary(result: PredictiveStudy, out: str | None, files: tuple[str, ...]) -> Any:
    return page(
        words(str(result)),
        columns(
            ("line", "k", "figure", "reading", "the paper", "here", "times the original"),
            [
                (
                    row.line,
                    "–" if row.k is None else str(row.k),
                    _NAMES[row.table],
                    row.reading,
                    number(row.paper),
                    number(row.mean),
                    number(row.ratio),
                )
                for row in result.tables
            ],
            title="Tables 1 and 3: RMSE on what was held out",
        ),
        judged(result.checks),
        figures([(f"{s.figure}: {s.what}", s.reason) for s in result.skipped], "Left out")
        if result.skipped
        else None,
        words(f"{out}: {len(files)} files; begin with README.md") if out else None,
    )
