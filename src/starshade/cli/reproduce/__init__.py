"""``starshade reproduce``: the papers' tables and figures on any data."""

from __future__ import annotations

import click

from starshade.cli.group import LazyGroup

__all__ = ["reproduce"]


_STUDIES = {
    "ns": "starshade.cli.reproduce.ns:reproduce_ns",
    "kl": "starshade.cli.reproduce.kl:reproduce_kl",
    "pa": "starshade.cli.reproduce.pa:reproduce_pa",
    "sr": "starshade.cli.reproduce.sr:reproduce_sr",
}


@click.group(cls=LazyGroup, table=_STUDIES)
def reproduce() -> None:
    """Run a paper's study on your data: its figures and tables, ours beside the paper's."""
