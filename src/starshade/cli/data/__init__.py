"""``starshade data``: look at ratings, convert or split them, make some up."""

from __future__ import annotations

import click

from starshade.cli.group import LazyGroup

__all__ = ["data"]


@click.group(
    cls=LazyGroup,
    table={
        "describe": "starshade.cli.data.describe:describe",
        "convert": "starshade.cli.data.convert:convert",
        "split": "starshade.cli.data.split:split",
        "synth": "starshade.cli.data.synth:synth",
    },
)
def data() -> None:
    """Look at ratings, convert or split them, or make some up."""
