"""``starshade reproduce pa``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from starshade.audit.compare.settings import CompareSettings
from starshade.cli.options.declared import options_of
from starshade.cli.options.settings import gathered
from starshade.cli.options.shared import Reading, reading
from starshade.cli.reproduce import at_least, begin, finish, out_option
from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, judged
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
@out_option("JSON, CSV, Vega-Lite, SVG")
@partial(gathered, options=options_of(CompareSettings, "ks", default=_KS), name="values")
@at_least(1, "--runs", 3, "Of everything, each with a seed of its own.")
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
    begin(out, data, reading.items or reading.arguments(), "ratings are")
    if data is not None and (n_users or n_items):
        raise ConfigError(
            "--n-users and --n-items say how much to make up, and --data names ratings",
            advice="Leave out one or the other.",
        )
    from starshade.audit.reproduction.pa.reproduce import reproduce_pa as study
    from starshade.report.reproduction_pa import save_pa

    result = study(
        None if data is None else reading.read(data, dates=False),
        n_users=n_users,
        n_items=n_items,
        ks=values["ks"] or _KS,
        runs=runs,
        rng=run.seed,
    )
    finish(run, result, out, save_pa, lambda: _shown(result), str)


def _shown(result: PredictiveStudy) -> list[Any]:
    return [
        columns(
            ("line", "k", "figure", "reading", "the paper", "here", "times the original"),
            [
                (
                    row.line,
                    number(row.k),
                    _NAMES[row.table],
                    row.reading,
                    *map(number, (row.paper, row.mean, row.ratio)),
                )
                for row in result.tables
            ],
            title="Tables 1 and 3: RMSE on what was held out",
        ),
        judged(result.checks),
    ]
