"""Whether one single record agrees with all that is known: the plainest way to stand out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.attack.candidates.candidates import Hunt, clues_of
from starshade.attack.knowledge import Known
from starshade.attack.view import View
from starshade.kernels.attack.candidates import Thresholds

__all__ = ["Fits", "OnlyFit"]


@dataclass(frozen=True, eq=False)
class Fits:
    """What came of each target.

    `success` (targets,): the target's record agrees with everything known, and no other one does.
    """

    success: NDArray[np.bool_]


@dataclass(frozen=True)
class OnlyFit:
    """The label-based attack, asked for one thing: whether there is a single candidate.

    For `Risk`. It needs no record to score far above all others, and so says of people with few
    items to differ on, as in a survey, what an eccentricity does not.

    `absent`: plays no part.
    """

    absent: bool = False

    name: ClassVar[str] = "label"

    def judge(self, view: View, known: Known) -> tuple[Fits, int]:
        """Attack with knowledge at hand; returns what came of it and the cells looked at."""
        counted = Hunt.of(view, known, Thresholds(0.0, -1)).count(clues_of(view, known))
        return Fits((counted["records"] == 1) & counted["own"]), int(counted["looked_at"].sum())

    def settings(self, view: View) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)
