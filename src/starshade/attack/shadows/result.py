"""Base class of the results of attacks by shadow releases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from starshade.attack.shown import NOT_ASKED, Found
from starshade.figure import Figure

SHARE_OF_PEOPLE = 0.5
SHADOWS_MADE = Figure(
    "shadows",
    "Shadow releases",
    "count",
    None,
    "Releases of other random halves of the people; more of them make the attack stronger.",
)
ASKED = Figure("targets", "People tested", "count", None, "Basis of the figures.")


@dataclass(frozen=True, kw_only=True)
class ShadowFound(Found):
    """Result that measures the method, on releases of random halves of the people.

    `targets`, `ineligible`: people tested, and the other users of the original. `shadows`: shadow
    releases per target release. `catalogue`: items of all of them. `knowledge`: what may be known
    of people.
    """

    shadows: int
    catalogue: int
    knowledge: dict[str, Any]
    seed: int

    NULL: ClassVar[tuple[str, ...]] = tuple(
        name for name in NOT_ASKED if name not in ("knowledge", "seed")
    )

    def _own(self) -> dict[str, Any]:
        return {**super()._own(), "share_of_people": SHARE_OF_PEOPLE}
