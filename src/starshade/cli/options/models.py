"""What ``starshade check`` lets one set: the models' own parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starshade.cli.options.settings import configured, given, option
from starshade.errors import ConfigError

if TYPE_CHECKING:
    from starshade.release.manifest import Claim

__all__ = ["asked_models", "to_options"]


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
        What the options say.

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
        entry = find(ENTRIES, name, "model")
        named = [k for claim in claims if (k := claim.parameters.get("k")) is not None]
        if not asked and named and "k" in entry.names:
            claimed["k"] = max(named)  # of another model
        return [configured(entry, f"the model {name}", parameters, also=claimed)]
    entries = [find(ENTRIES, claim.model, "model") for claim in asked]
    for useless in given() & parameters.keys() - set().union(*(e.names for e in entries)):
        told = ", ".join(dict.fromkeys(claim.model for claim in asked))
        raise ConfigError(
            f"{option(useless)}: no model that is claimed has such a setting",
            advice=f"Leave it out, or choose one with --model; claimed are {told}.",
        )
    return [
        configured(
            entry,
            f"the model {claim.model}",
            {key: value for key, value in parameters.items() if key in entry.names},
            also=dict(claim.parameters),
        )
        for entry, claim in zip(entries, asked, strict=True)
    ]


def to_options(parameters: dict[str, Any]) -> list[str]:
    """Return the options that say these parameters to another command."""
    told: list[str] = []
    for name, value in parameters.items():
        for one in value if isinstance(value, (list, tuple)) else (value,):
            text = f"{one:g}" if isinstance(one, float) else str(one)
            told += [f"--{name}={text}"] if text.startswith("-") else [f"--{name}", text]
    return told
