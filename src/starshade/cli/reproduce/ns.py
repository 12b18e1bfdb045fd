"""``starshade reproduce ns``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from starshade.cli.options.shared import Reading, ensure_free, reading
from starshade.cli.running.run import Run, running
from starshade.cli.show import columns, figures, page, words

if TYPE_CHECKING:
    from starshade.audit.reproduction.ns.result import Reproduction
    from starshade.audit.reproduction.ns.statements import Statement

__all__ = ["reproduce_ns"]

_EPS = 0.05  # of the theorems, shown to a person; --json has all


@click.command(name="ns")
@click.option("--data", metavar="PATH", required=True, help="The ratings to attack.")
@click.option("--out", metavar="DIR", help="Write JSON, Vega-Lite, SVG and a page to this folder.")
@click.option(
    "--targets",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Users attacked in each setting, at most.",
)
@reading()
@running(seed=True)
def reproduce_ns(data: str, out: str | None, targets: int, reading: Reading, run: Run) -> None:
    """Narayanan & Shmatikov's case study (2008, section 5) on DATA.

    Every figure and table of the paper, and the bounds of its theorems; what the paper says of
    Netflix stands beside it. Figures 2 and 3 count single users: the folder is for the owner.
    """
    if out is not None:
        ensure_free(out)
    from starshade.audit.reproduction.ns.reproduce import reproduce_ns as study

    result = study(reading.read(data), targets=targets, rng=run.seed)
    files: tuple[str, ...] = ()
    if out is not None:
        from starshade.report.reproduction import save_reproduction

        files = save_reproduction(result, out)
    payload = {**result.to_dict(), "seconds": run.seconds, "out": out}
    run.emit(payload, lambda: _summary(result, out, files))


def _summary(result: Reproduction, out: str | None, files: tuple[str, ...]) -> Any:
    return page(
        words(str(result)),
        columns(
            ("where", "what", "the paper says of Netflix", "here"),
            [(s.figure, _what(s), s.says, s.ours_in_words) for s in result.statements],
            align="left",
        ),
        *(words(str(facts)) for facts in result.few_facts if facts.eps == _EPS),
        figures(
            [(f"{_place(s.figure)}: {s.what}", s.reason) for s in result.skipped], title="Left out"
        )
        if result.skipped
        else None,
        words(f"{out}: {len(files)} files; begin with README.md") if out else None,
    )


def _what(statement: Statement) -> str:
    known = statement.knowledge
    return statement.what if known is None else f"{statement.what}: {known}"


def _place(figure: str) -> str:
    return f"Fig. {figure}" if figure.isdigit() else figure
