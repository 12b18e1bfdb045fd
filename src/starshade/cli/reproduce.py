"""``starshade reproduce``: the papers' tables and figures on any data."""

from __future__ import annotations

import click

from starshade.cli.group import LazyGroup

__all__ = ["reproduce"]


_STUDIES = {
    "ns": "starshade.cli.reproduce_ns:reproduce_ns",
    "kl": "starshade.cli.reproduce_kl:reproduce_kl",
    "pa": "starshade.cli.reproduce_pa:reproduce_pa",
    "sr": "starshade.cli.reproduce_sr:reproduce_sr",
}


@click.group(cls=LazyGroup, table=_STUDIES)
def reproduce() -> None:
    """Run a paper's study on your data: its figures and tables, ours beside the paper's."""
