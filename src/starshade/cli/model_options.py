"""What ``starshade check`` lets one set: the models' own parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from starshade.cli.settings import Command, configured, gathered

if TYPE_CHECKING:
    from starshade.release.manifest import Claim

__all__ = ["EPS", "NULLS", "SENSITIVE", "L", "asked_model", "claim_of", "modelling", "to_options"]

EPS = click.option(
    "--eps", type=float, help="Ratings this far apart count as alike; 1 is usual on stars."
)
L = click.option(
    "--l", type=float, help="Least standard deviation of each sensitive item among the alike."
)
SENSITIVE = click.option(
    "--sensitive",
    metavar="ITEM",
    multiple=True,
    help="Id of an item that nobody knows of others; repeatable.",
)
NULLS = click.option(
    "--nulls",
    type=click.Choice(["strict", "ignore", "zero"]),
    help="Null against a rating: never alike, always, or a step below the scale. [default: strict]",
)
_PARAMETERS = [
    click.option("--k", type=int, help="Least number of records alike. [default: as claimed]"),
    EPS,
    L,
    SENSITIVE,
    NULLS,
    click.option(
        "--search",
        type=click.Choice(["tree", "slicing", "pairwise"]),
        help="k-eps, k-eps-l: how neighbours are found; the answer is the same. [default: tree]",
    ),
    click.option(
        "--full",
        is_flag=True,
        default=None,
        help="k-eps: count every group whole, not only up to k.",
    ),
]


def modelling(command: Command) -> Command:
    """Give a command the models' parameters and pass it ``parameters``, a dict."""
    return gathered(command, _PARAMETERS, "parameters", dict)


def asked_model(cls: Any, name: str, parameters: dict[str, Any], claim: Claim | None) -> Any:
    """Make the model asked for; what the command line leaves open is as a release claims it.

    Raises
    ------
    ConfigError
        A parameter that the model does not have, a missing one, or one out of range.
    """
    claimed = {} if claim is None else dict(claim.parameters)
    return configured(cls, f"the model {name}", parameters, also=claimed)


def claim_of(claims: tuple[Claim, ...], model: str | None) -> Claim | None:
    """Return the claim of this model, or the last and strongest without a name; None: no such."""
    fitting = [claim for claim in claims if model in (None, claim.model)]
    return fitting[-1] if fitting else None


def to_options(parameters: dict[str, Any]) -> list[str]:
    """Return the options that say these parameters to another command."""
    told: list[str] = []
    for name, value in parameters.items():
        for one in value if isinstance(value, (list, tuple)) else (value,):
            text = f"{one:g}" if isinstance(one, float) else str(one)
            told += [f"--{name}={text}"] if text.startswith("-") else [f"--{name}", text]
    return told
