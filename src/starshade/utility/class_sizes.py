"""DM and C_AVG: how large the classes are (KL Def. 10, 11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.figure import Figure
from starshade.progress import announced
from starshade.ratings.table import Ratings
from starshade.release.content import canonical, class_numbers
from starshade.release.profile.profiles import Profiles
from starshade.release.table import Release
from starshade.utility.result import Measure, UtilityResult
from starshade.utility.settings import AverageClassSizeSettings

__all__ = ["AverageClassSize", "Discernibility", "class_sizes"]


def class_sizes(release: Release) -> NDArray[np.int64]:
    """Return the records of each class, largest first, whatever the layout.

    A class is a maximal set of records that are equal on every released cell and, where there
    are any, quasi-identifier.
    """
    if release.manifest.quasi_identifiers or isinstance(release.classes, Profiles):
        return np.sort(release.classes.sizes)[::-1]  # such a release has a row for each class
    cells = canonical(release.cells())
    numbers = class_numbers(cells)
    # integers below 2**53 are exact in float64, which is what bincount sums in
    records = np.bincount(numbers, weights=cells.sizes).astype(np.int64)
    return np.sort(records)[::-1]


@dataclass(frozen=True)
class Discernibility(Measure[UtilityResult]):
    """The discernibility metric DM = Σ |class|² (KL Eq. 1).

    Every record is charged the number of records it cannot be told from.
    """

    name: ClassVar[str] = "discernibility"
    MEANING: ClassVar[str] = (
        "Low is more useful: records x k is the least a k-anonymous release can reach, records "
        "squared means that all records are alike."
    )

    FIGURES: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "dm",
            "Discernibility (DM)",
            "count",
            True,
            "The sum of squared class sizes: records × k at least, records squared when all are "
            "alike.",
            short="DM",
        ),
        Figure(
            "classes",
            "Classes of equal records",
            "count",
            False,
            "More classes keep more differences between people.",
        ),
        Figure(
            "smallest_class",
            "Smallest class",
            "count",
            None,
            "The fewest records that are equal; k-anonymity asks for k at least.",
        ),
    )

    @announced("measuring discernibility")
    def measure(self, release: Release, original: Ratings | None = None) -> UtilityResult:
        """Return ``dm``, ``classes`` and ``smallest_class``; `original` is not needed."""
        sizes = class_sizes(release)
        return self._result(
            {
                "dm": sum(size * size for size in sizes.tolist()),
                "classes": len(sizes),
                "smallest_class": int(sizes[-1]) if len(sizes) else 0,
            }
        )


@dataclass(frozen=True)
class AverageClassSize(AverageClassSizeSettings, Measure[UtilityResult]):
    """C_AVG = records / (classes · k) (KL Eq. 2).

    Parameters
    ----------
    k : int, optional
        None: the k that the release claims; without such a claim the figure does not apply.
    """

    name: ClassVar[str] = "class-size"
    MEANING: ClassVar[str] = (
        "1 is best: classes are no larger than k asks for. Above 1 records hide among more others "
        "than asked, at the cost of detail. Below 1 records are not made equal at all: they hide "
        "among others that are near, if a model says so."
    )

    FIGURES: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "c_avg",
            "Average class size (C_AVG)",
            "ratio",
            None,
            "1 is best: classes are no larger than k asks for. Above 1 people hide among more than "
            "asked, at the cost of detail; below 1 records are not equal but near each other.",
            short="C_AVG",
        ),
    )

    @announced("measuring class-size")
    def measure(self, release: Release, original: Ratings | None = None) -> UtilityResult:
        """Return ``c_avg``; `original` is not needed."""
        k = self.k if self.k is not None else release.manifest.claimed_k
        sizes = class_sizes(release)
        return self._result(
            {"c_avg": int(sizes.sum()) / (len(sizes) * k)} if k and len(sizes) else {}
        )
