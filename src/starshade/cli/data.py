"""``starshade data``: look at ratings, convert them, make some up."""

from __future__ import annotations

import click

from starshade.cli.group import LazyGroup

__all__ = ["data"]


@click.group(
    cls=LazyGroup,
    table={
        "describe": "starshade.cli.data_describe:describe",
        "convert": "starshade.cli.data_convert:convert",
        "synth": "starshade.cli.data_synth:synth",
    },
)
def data() -> None:
    """Look at ratings, convert them to another format, or make some up."""
