"""``starshade reproduce``: the papers' tables and figures on any data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from starshade.cli.group import LazyGroup
from starshade.cli.options.shared import ensure_free
from starshade.cli.running.run import Run
from starshade.cli.show import figures, page, words
from starshade.errors import ConfigError

if TYPE_CHECKING:
    from starshade.audit.reproduction.shared import PaperStudy

__all__ = ["at_least", "begin", "finish", "out_option", "reproduce"]


_STUDIES = {
    "ns": "starshade.cli.reproduce.ns:reproduce_ns",
    "kl": "starshade.cli.reproduce.kl:reproduce_kl",
    "pa": "starshade.cli.reproduce.pa:reproduce_pa",
    "sr": "starshade.cli.reproduce.sr:reproduce_sr",
}


@click.group(cls=LazyGroup, table=_STUDIES)
def reproduce() -> None:
    """Run a paper's study on your data: its figures and tables, ours beside the paper's."""


def at_least(least: int, name: str, default: int, text: str) -> Callable[..., Any]:
    """Give a command an option that is a number."""
    kind = click.IntRange(least)
    return click.option(name, type=kind, default=default, show_default=True, help=text)


def out_option(files: str) -> Callable[..., Any]:
    """Give a command the option ``--out``."""
    return click.option("--out", metavar="DIR", help=f"Write {files} and a page to this folder.")


def begin(out: str | None, data: str | None, options: Any = None, made_up: str = "") -> None:
    """Refuse a folder that is taken, and options for reading where nothing is read."""
    if out is not None:
        ensure_free(out)
    if data is None and options:
        raise ConfigError(
            "options for reading ratings, and no --data",
            advice=f"Name the ratings with --data; without it {made_up} made up.",
        )


def finish(
    run: Run,
    study: PaperStudy,
    out: str | None,
    save: Callable[..., tuple[str, ...]],
    shown: Callable[[], list[Any]],
    place: Callable[[str], str] = "Fig. {}".format,
) -> None:
    """Write a study to its folder, and say what came of it.

    `shown`: what stands between its paragraph and what is left out; `place`: what to call a figure.
    """
    files = () if out is None else save(study, out)

    def summary() -> Any:
        left = [(f"{place(each.figure)}: {each.what}", each.reason) for each in study.skipped]
        return page(
            words(str(study)),
            *shown(),
            figures(left, "Left out") if left else None,
            words(f"{out}: {len(files)} files; begin with README.md") if out else None,
        )

    run.emit({**study.to_dict(), "seconds": run.seconds, "out": out}, summary)
