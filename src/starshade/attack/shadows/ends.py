"""Correctness of cells at an end of the scale, in shadow releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from starshade.attack.attribute import ends_right
from starshade.attack.shadows.halves import Half, Method
from starshade.attack.shadows.play import Asked, ShadowAttack
from starshade.engine.job import Tables


@dataclass(frozen=True)
class EndsAttack(ShadowAttack[Any]):
    """Compare the cells at an end of the scale, of releases of profiles, with their ratings."""

    name: ClassVar[str] = "ends"
    shadows: int | None = None
    method: Method | None = None

    def begin(self, asked: Asked) -> Ends:
        """Return what asks the releases, and sums up."""
        return Ends()


class Ends:
    """Rated cells at an end of the scale, and how many of them equal the rating."""

    def ask(self, half: Half) -> Tables:
        """Count in one release."""
        return {"ends": np.array(ends_right(half.seen.view))}

    def found(self, answers: Sequence[Tables], facts: dict[str, Any]) -> tuple[int, int]:
        """Add up all releases: those that are right, and all."""
        right, every = (sum(int(each["ends"][i]) for each in answers) for i in (0, 1))
        return right, every
