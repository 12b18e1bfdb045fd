"""``starshade reproduce ns``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from starshade.cli.options.shared import Reading, reading
from starshade.cli.reproduce import at_least, begin, finish, out_option
from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, words

if TYPE_CHECKING:
    from starshade.audit.reproduction.ns.result import Reproduction
    from starshade.audit.reproduction.ns.statements import Statement

__all__ = ["reproduce_ns"]

_EPS = 0.05  # of the theorems, shown to a person; --json has all


@click.command(name="ns")
@click.option("--data", metavar="PATH", required=True, help="The ratings to attack.")
@out_option("JSON, Vega-Lite, SVG")
@at_least(1, "--targets", 1000, "Users attacked in each setting, at most.")
@reading()
@running(seed=True)
def reproduce_ns(data: str, out: str | None, targets: int, reading: Reading, run: Run) -> None:
    """Narayanan & Shmatikov's case study (2008, section 5) on DATA.

    Every figure and table of the paper, and the bounds of its theorems; what the paper says of
    Netflix stands beside it. Figures 2 and 3 count single users: the folder is for the owner.
    """
    begin(out, data)
    from starshade.audit.reproduction.ns.reproduce import reproduce_ns as study
    from starshade.report.reproduction import save_reproduction

    result = study(reading.read(data), targets=targets, rng=run.seed)
    finish(run, result, out, save_reproduction, lambda: _shown(result), _place)


def _shown(result: Reproduction) -> list[Any]:
    return [
        columns(
            ("where", "what", "the paper says of Netflix", "here"),
            [(s.figure, _what(s), s.says, s.ours_in_words) for s in result.statements],
            align="left",
        ),
        *(words(str(facts)) for facts in result.few_facts if facts.eps == _EPS),
    ]


def _what(statement: Statement) -> str:
    known = statement.knowledge
    return statement.what if known is None else f"{statement.what}: {known}"


def _place(figure: str) -> str:
    return f"Fig. {figure}" if figure.isdigit() else figure
