"""What ``starshade check`` lets one set: the models' own parameters."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from starshade.cli.options.settings import Command, configured, gathered, given, option
from starshade.errors import ConfigError

if TYPE_CHECKING:
    from starshade.release.manifest import Claim

__all__ = ["EPS", "NULLS", "SENSITIVE", "L", "asked_models", "modelling", "to_options"]

EPS = click.option(
    "--eps", type=float, help="Ratings this far apart count as alike; 1 is usual on stars."
)
L = click.option(
    "--l",
    type=float,
    help="Least spread among the alike: of sensitive items a standard deviation, of an attribute "
    "different values; of what was rated together, different profiles that show it.",
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
    help="What a null against a rating costs: as much as any two ratings or more (strict: the "
    "larger of the scale's maximum and width), nothing (ignore), or as if it were a rating a step "
    "below the scale (zero). [default: strict]",
)
_PARAMETERS = [
    click.option("--k", type=int, help="Least number of records alike. [default: as claimed]"),
    click.option("--b", type=int, help="diversity: items known to be rated by one person."),
    EPS,
    L,
    SENSITIVE,
    NULLS,
    click.option("--alpha", type=float, help="alpha-k: largest share of one value in a class."),
    click.option("--t", type=float, help="t-closeness: largest distance from the whole table."),
    click.option("--attribute", metavar="NAME", help="The personal attribute to look at."),
    click.option(
        "--kind",
        type=click.Choice(["distinct", "entropy"]),
        help="l-diversity: count values, or let rare ones count for less. [default: distinct]",
    ),
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


def asked_models(
    claims: tuple[Claim, ...], model: str | None, parameters: dict[str, Any]
) -> list[Any]:
    """Make the models to check: the one that is named, or all that a release claims.

    What the command line leaves open is as claimed. Where several models are checked, a
    parameter is for those that have it.

    Parameters
    ----------
    claims : tuple of Claim
        Of a release; none of ratings, whose model is k-anonymity unless another one is named.
    model : str or None
    parameters : dict
        As `modelling` passes them.

    Raises
    ------
    ConfigError
        A parameter that no model has, a missing one, or one out of range.
    """
    from starshade.privacy.registry import ENTRIES
    from starshade.registry import find

    asked = [claim for claim in claims if model in (None, claim.model)]
    if "attribute" in given():
        own = parameters["attribute"]
        asked = [claim for claim in asked if claim.parameters.get("attribute", own) == own]
    if len(asked) < 2:
        claimed = dict(asked[0].parameters) if asked else {}
        name = model or (asked[0].model if asked else "k-anonymity")
        cls = find(ENTRIES, name, "model").load()
        named = [k for claim in claims if (k := claim.parameters.get("k")) is not None]
        if not asked and named and "k" in {field.name for field in fields(cls)}:
            claimed["k"] = max(named)  # of another model
        return [configured(cls, f"the model {name}", parameters, also=claimed)]
    classes = [find(ENTRIES, claim.model, "model").load() for claim in asked]
    names = [{field.name for field in fields(cls)} for cls in classes]
    for useless in given() & parameters.keys() - set().union(*names):
        told = ", ".join(dict.fromkeys(claim.model for claim in asked))
        raise ConfigError(
            f"{option(useless)}: no model that is claimed has such a setting",
            advice=f"Leave it out, or choose one with --model; claimed are {told}.",
        )
    return [
        configured(
            cls,
            f"the model {claim.model}",
            {key: value for key, value in parameters.items() if key in own},
            also=dict(claim.parameters),
        )
        for cls, own, claim in zip(classes, names, asked, strict=True)
    ]


def to_options(parameters: dict[str, Any]) -> list[str]:
    """Return the options that say these parameters to another command."""
    told: list[str] = []
    for name, value in parameters.items():
        for one in value if isinstance(value, (list, tuple)) else (value,):
            text = f"{one:g}" if isinstance(one, float) else str(one)
            told += [f"--{name}={text}"] if text.startswith("-") else [f"--{name}", text]
    return told
