"""What results of attacks on releases made again without some of the people have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from starshade.attack.shadows.folds import FOLDS
from starshade.attack.shown import NOT_ASKED, Found
from starshade.figure import Figure

SHARE_OF_PEOPLE = 1 - 1 / FOLDS
ROUNDS = Figure("rounds", "Rounds of leaving people out", "count", None, "After ten everybody was.")
ASKED = Figure("targets", "People asked about", "count", None, "What the figures rest on.")


@dataclass(frozen=True, kw_only=True)
class ShadowFound(Found):
    """It is the method that is measured, on releases of nine tenths of the people.

    `targets`, `ineligible`: people asked about, and the other users of the original. `rounds`: of
    leaving people out. `knowledge`: what may be known of them.
    """

    rounds: int
    knowledge: dict[str, Any]
    seed: int

    NULL: ClassVar[tuple[str, ...]] = tuple(
        name for name in NOT_ASKED if name not in ("knowledge", "seed")
    )

    def _own(self) -> dict[str, Any]:
        return {**super()._own(), "share_of_people": SHARE_OF_PEOPLE}
