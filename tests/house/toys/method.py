from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.grouping import Grouping
from starshade.anonymize.points import Points
from starshade.setting import settable


@dataclass(frozen=True)
class ToyMethod(Grouping):
    """Everybody in one group; there is one toy setting."""

    name: ClassVar[str] = "toy-method"

    pace: int = settable("Toy pace", "How fast a toy is.", default=7, least=1, most=9)

    def group(self, points: Points, seed: int) -> NDArray[np.int64]:
        """Group."""
        return np.zeros(points.n_records, dtype=np.int64)
