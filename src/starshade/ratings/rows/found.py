"""What is found of a table's ratings in some of its rows, to be added up over all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.rows.wrong import Wrong
from starshade.ratings.scale import Scale


@dataclass(frozen=True, eq=False)
class Coding:
    """What the codes of cells stand for."""

    scale: Scale
    levels: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Found:
    """How many cells have each level, means of cells that repeat, and rows that are wrong.

    `tied`: see `Merged`.
    """

    counts: NDArray[np.int64]
    means: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    merged: int = 0
    repeated: Wrong = field(default_factory=Wrong)
    off: Wrong = field(default_factory=Wrong)
    is_off: bool = False
    tied: int = 0

    def __add__(self, other: Found) -> Found:
        return Found(
            self.counts + other.counts,
            np.unique(np.concatenate([self.means, other.means])),
            self.merged + other.merged,
            self.repeated + other.repeated,
            self.off + other.off,
            self.is_off or other.is_off,
            self.tied + other.tied,
        )

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which levels a cell has."""
        return self.counts > 0

    def recodes(self, coding: Coding) -> bool:
        """Tell whether what a code stands for is known only when all rows were looked at."""
        return self.is_off or (self.merged > 0 and coding.scale.step is None)

    def plain(self) -> dict[str, Any]:
        """Return it in values that JSON knows."""
        return {
            "counts": self.counts.tolist(),
            "means": self.means.tolist(),
            "merged": self.merged,
            "repeated": astuple(self.repeated),
            "off": astuple(self.off),
            "is_off": self.is_off,
            "tied": self.tied,
        }

    @classmethod
    def of_plain(cls, said: Mapping[str, Any]) -> Self:
        """Return what `plain` said."""
        wrong = {name: Wrong(said[name][0], tuple(map(tuple, said[name][1]))) for name in _WRONG}
        arrays = {name: np.array(said[name]) for name in ("counts", "means")}
        return cls(**{**said, **arrays, **wrong})


_WRONG = ("repeated", "off")
