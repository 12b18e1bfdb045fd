"""What the methods for (k, ε) and (k, ε, l) have in common: parameters and claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from starshade.anonymize.prepare import check_items
from starshade.errors import ConfigError
from starshade.naming import called
from starshade.ratings.proximity.sensitive import item_keys
from starshade.release.manifest import Claim
from starshade.release.recorded import config_of
from starshade.setting import check

if TYPE_CHECKING:
    from starshade.anonymize.interval.interval import IntervalAnonymizer
    from starshade.anonymize.suppress.suppress import SuppressAnonymizer

    Asked: TypeAlias = IntervalAnonymizer | SuppressAnonymizer

__all__ = ["check_asked", "claims_of"]


def check_asked(asked: Asked) -> None:
    """Check the settings, and keep them as their kinds have them.

    Raises
    ------
    ConfigError
        One is out of its range, or l is above 0 and no item is sensitive.
    """
    object.__setattr__(asked, "sensitive", item_keys(asked.sensitive))
    check(asked)
    check_items(asked.items)
    if asked.l > 0 and not asked.sensitive:
        raise ConfigError(
            f"{called('l')} = {asked.l:g}: no item is sensitive, so nothing has to spread",
            advice="Name the sensitive items, or leave l at 0.",
            setting="l",
        )


def claims_of(asked: Asked, sensitive: Sequence[str]) -> tuple[Claim, ...]:
    """Return what a release claims; `sensitive` are the sensitive items in it."""
    config = config_of(asked, sensitive=tuple(sensitive) or None)
    parameters = {n: config[n] for n in ("k", "eps", "nulls", "sensitive") if n in config}
    near = Claim(model="k-eps", parameters=parameters)
    if not asked.l or not sensitive:
        return (near,)
    return near, Claim(model="k-eps-l", parameters={**parameters, "l": asked.l})
