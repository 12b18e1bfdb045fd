"""What results of attacks on releases of random halves of the people have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from starshade.attack.shown import NOT_ASKED, Found
from starshade.figure import Figure

SHARE_OF_PEOPLE = 0.5
SHADOWS_MADE = Figure(
    "shadows",
    "Shadows of each release",
    "count",
    None,
    "Releases of other random halves of the people; the figures grow with their number.",
)
ASKED = Figure("targets", "People asked about", "count", None, "What the figures rest on.")


@dataclass(frozen=True, kw_only=True)
class ShadowFound(Found):
    """It is the method that is measured, on releases of random halves of the people.

    `targets`, `ineligible`: people asked about, and the other users of the original. `shadows`:
    releases that each is compared with. `catalogue`: items that all of them have. `knowledge`: what
    may be known of people.
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
