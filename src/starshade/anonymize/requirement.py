"""What the methods for (k, ε) and (k, ε, l) have in common: parameters, claims, settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from starshade.anonymize.prepare import check_items, check_k
from starshade.errors import ConfigError
from starshade.ratings.proximity.rule import check_eps, check_nulls
from starshade.ratings.proximity.sensitive import item_keys
from starshade.ratings.proximity.spread import check_l
from starshade.release.manifest import Claim

if TYPE_CHECKING:
    from starshade.anonymize.interval.interval import IntervalAnonymizer
    from starshade.anonymize.suppress.suppress import SuppressAnonymizer

    Asked: TypeAlias = IntervalAnonymizer | SuppressAnonymizer

__all__ = ["check_asked", "claims_of", "config_of", "private_config_of"]


def check_asked(asked: Asked, does: str) -> tuple[str, ...]:
    """Check the parameters; return the sensitive items as a tuple of text.

    Parameters
    ----------
    asked : IntervalAnonymizer or SuppressAnonymizer
    does : str
        What the method does, for the message on attributes.

    Raises
    ------
    ConfigError
        One is out of its range, or l is above 0 and no item is sensitive.
    """
    check_k(asked.k)
    check_eps(asked.eps)
    check_l(asked.l)
    check_nulls(asked.nulls)
    sensitive = item_keys(asked.sensitive)
    check_items(asked.items)
    if asked.l > 0 and not sensitive:
        raise ConfigError(
            f"l = {asked.l:g}: no item is sensitive, so nothing has to spread",
            advice="Name the sensitive items, or leave l at 0.",
            setting="l",
        )
    if asked.rare_items not in ("drop", "keep"):
        raise ConfigError(
            f"rare items {asked.rare_items!r}: allowed are drop and keep", setting="rare_items"
        )
    if asked.attributes not in ("none", "exact"):
        raise ConfigError(
            f"attributes {asked.attributes!r}: {does}, so personal attributes are not "
            "released (none) or released as they are (exact)",
            advice="Use none for a release to publish, exact for one behind the query service.",
            setting="attributes",
        )
    return sensitive


def claims_of(asked: Asked, sensitive: Sequence[str]) -> tuple[Claim, ...]:
    """Return what a release claims; `sensitive` are the sensitive items in it."""
    parameters = _parameters(asked, sensitive)
    near = Claim(model="k-eps", parameters=parameters)
    if not asked.l or not sensitive:
        return (near,)
    return near, Claim(model="k-eps-l", parameters={**parameters, "l": float(asked.l)})


def config_of(asked: Asked, sensitive: Sequence[str]) -> dict[str, Any]:
    """Return what the manifest says: no seed, no path, no item id but the sensitive ones."""
    return {
        **({"l": float(asked.l)} if asked.l else {}),
        "items": "all" if asked.items is None else str(asked.items),
        **_parameters(asked, sensitive),
    }


def private_config_of(asked: Asked, method: str, config: dict[str, Any]) -> dict[str, Any]:
    """Return what the owner's receipt needs beside the seed to make the release again."""
    return {
        "method": method,
        **config,
        "item_keys": [] if asked.items is None else list(asked.items.keys),
        "rare_items": asked.rare_items,
        "attributes": asked.attributes,
    }


def _parameters(asked: Asked, sensitive: Sequence[str]) -> dict[str, Any]:
    return {
        "k": int(asked.k),
        "eps": float(asked.eps) + 0.0,  # never -0
        "nulls": asked.nulls,
        **({"sensitive": list(sensitive)} if sensitive else {}),
    }
