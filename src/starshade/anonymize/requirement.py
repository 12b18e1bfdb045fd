"""What the methods for (k, ε) and (k, ε, l) have in common: parameters and claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from starshade.anonymize.prepare import check_items
from starshade.errors import ConfigError
from starshade.naming import called
from starshade.ratings.proximity.sensitive import item_keys
from starshade.release.manifest import Claim, config_of
from starshade.setting import check

if TYPE_CHECKING:
    from starshade.anonymize.interval.interval import IntervalAnonymizer
    from starshade.anonymize.suppress import SuppressAnonymizer

    Requirement: TypeAlias = IntervalAnonymizer | SuppressAnonymizer


def check_requirement(requirement: Requirement) -> None:
    """Check the settings, and keep them as their kinds have them."""
    object.__setattr__(requirement, "sensitive", item_keys(requirement.sensitive))
    check(requirement)
    check_items(requirement.items)
    if requirement.l > 0 and not requirement.sensitive:
        raise ConfigError(
            f"{called('l')} = {requirement.l:g}: no item is sensitive, so l has no effect",
            advice="Name the sensitive items, or set l to 0.",
            setting="l",
        )


def claims_of(requirement: Requirement, sensitive: Sequence[str]) -> tuple[Claim, ...]:
    """Return what a release claims; `sensitive` are the sensitive items in it."""
    config = config_of(requirement, sensitive=tuple(sensitive) or None)
    parameters = {n: config[n] for n in ("k", "eps", "nulls", "sensitive") if n in config}
    proximity = Claim(model="k-eps", parameters=parameters)
    if not requirement.l or not sensitive:
        return (proximity,)
    return proximity, Claim(model="k-eps-l", parameters={**parameters, "l": requirement.l})
