"""GenILoss: how wide cells became (Iyengar 2002; KL Def. 12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.figure import Figure
from starshade.progress import announced
from starshade.ratings.table import Ratings
from starshade.release.match.match import Match
from starshade.release.table import Release
from starshade.utility.result import Measure, UtilityResult

__all__ = ["GeneralizationLoss", "column_ranges"]


@dataclass(frozen=True)
class GeneralizationLoss(Measure[UtilityResult]):
    """Mean over all cells of (max - min of the cell) / (max - min of its original column).

    A null counts as the level below the scale, in cells and in columns; a set is charged from
    its least to its greatest member. A constant column contributes 0. Nothing is capped: a
    hierarchy whose intervals reach beyond what a column holds can cost more than 1.
    """

    name: ClassVar[str] = "generalization-loss"
    MEANING: ClassVar[str] = (
        "Low is more useful: 0 leaves every cell as it was, 1 makes every cell as wide as its "
        "column."
    )

    FIGURES: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "gen_iloss",
            "Generalization loss (GenILoss)",
            "ratio",
            True,
            "0 leaves every cell as it was; 1 makes each as wide as all ratings of its item.",
            short="GenILoss",
        ),
    )

    @announced("measuring generalization-loss")
    def measure(self, release: Release, original: Ratings) -> UtilityResult:
        """Return ``gen_iloss``; None on layouts "record" and "profile", whose cells are one number.

        Parameters
        ----------
        release : Release
        original : Ratings
            The table that the release was made from, or one that contains it: only the released
            items count, and only users who rated one of them.

        Raises
        ------
        ConfigError
            A released item is not in `original`.
        """
        generalized = release.manifest.layout == "generalized"
        return self._result({"gen_iloss": _mean_loss(release, original)} if generalized else {})


def _mean_loss(release: Release, original: Ratings) -> float | None:
    cells = release.cells()
    ranges = column_ranges(Match(release, original).part)
    low, high = cells.symbols.bounds
    width = (high - low)[cells.codes]
    column = ranges[cells.columns]
    share = np.divide(width, column, out=np.zeros(len(width)), where=column > 0)
    rows = np.repeat(cells.sizes, np.diff(cells.indptr))
    total = cells.n_records * cells.n_items
    return float((share * rows).sum()) / total if total else None


def column_ranges(ratings: Ratings) -> NDArray[np.float64]:
    """Return max - min of each item's column, null counting as its level; shape (n_items,)."""
    null = ratings.scale.null_level
    low = np.full(ratings.n_items, np.inf)
    high = np.full(ratings.n_items, null)
    values = ratings.values()
    np.minimum.at(low, ratings.columns, values)
    np.maximum.at(high, ratings.columns, values)
    low[ratings.item_support < ratings.n_users] = null
    return np.asarray(high - low)
