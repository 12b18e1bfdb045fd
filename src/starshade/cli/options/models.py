"""What ``starshade check`` lets one set: the models' own parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starshade.cli.options.settings import configured, given, option
from starshade.cli.options.spelling import words_of
from starshade.errors import ConfigError

if TYPE_CHECKING:
    from starshade.release.manifest import Claim

__all__ = ["models_to_check", "to_options"]


def models_to_check(
    claims: tuple[Claim, ...], model: str | None, parameters: dict[str, Any]
) -> list[Any]:
    """Make the models to check: the one that is named, or all that a release claims.

    What the command line leaves open is as claimed. Where several models are checked, a
    parameter is for those that have it. Ratings have no claims: their model is k-anonymity
    unless another one is named.
    """
    from starshade.privacy.registry import ENTRIES
    from starshade.registry import find

    chosen = [claim for claim in claims if model in (None, claim.model)]
    if "attribute" in given():
        own = parameters["attribute"]
        chosen = [claim for claim in chosen if claim.parameters.get("attribute", own) == own]
    if len(chosen) < 2:
        claimed = dict(chosen[0].parameters) if chosen else {}
        name = model or (chosen[0].model if chosen else "k-anonymity")
        entry = find(ENTRIES, name, "model")
        named = [k for claim in claims if (k := claim.parameters.get("k")) is not None]
        if not chosen and named and "k" in entry.names:
            claimed["k"] = max(named)  # of another model
        return [configured(entry, f"the model {name}", parameters, also=claimed)]
    entries = [find(ENTRIES, claim.model, "model") for claim in chosen]
    for useless in given() & parameters.keys() - set().union(*(e.names for e in entries)):
        names = ", ".join(dict.fromkeys(claim.model for claim in chosen))
        raise ConfigError(
            f"{option(useless)}: no model that is claimed has such a setting",
            advice=f"Leave it out, or choose one with --model; claimed are {names}.",
        )
    return [
        configured(
            entry,
            f"the model {claim.model}",
            {key: value for key, value in parameters.items() if key in entry.names},
            also=dict(claim.parameters),
        )
        for entry, claim in zip(entries, chosen, strict=True)
    ]


def to_options(parameters: dict[str, Any]) -> list[str]:
    """Return the options that say these parameters to another command."""
    return [word for name, value in parameters.items() for word in words_of(f"--{name}", value)]
