"""What a release loses: class sizes, GenILoss, distortion, and whom it shows plainly.

See the definitions, "distortion".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.figure import Figure
from starshade.kernels.arrays import cut
from starshade.progress import announced
from starshade.ratings.table import Ratings
from starshade.release.attributes import disclosure_shares
from starshade.release.content import canonical, class_numbers
from starshade.release.figures import SHARES
from starshade.release.match.match import Changes, Match, not_made_of
from starshade.release.profiles import Profiles
from starshade.release.table import Release
from starshade.utility.result import Measure, UtilityResult
from starshade.utility.settings import AverageClassSizeSettings


@dataclass(frozen=True)
class GeneralizationLoss(Measure[UtilityResult]):
    """Mean over all cells of (max - min of the cell) / (max - min of its original column).

    A null counts as the level below the scale, in cells and in columns; a set is charged from
    its least to its greatest member. A constant column contributes 0. Nothing is capped: a
    hierarchy whose intervals reach beyond what a column holds can cost more than 1.
    """

    name: ClassVar[str] = "generalization-loss"
    MEANING: ClassVar[str] = (
        "Low is more useful: 0 leaves every cell unchanged, 1 makes every cell as wide as its "
        "column."
    )

    FIGURES: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "gen_iloss",
            "Generalization loss (GenILoss)",
            "ratio",
            True,
            "0 leaves every cell unchanged; 1 makes each as wide as all ratings of its item.",
            short="GenILoss",
        ),
    )

    @typed
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
    charged = np.empty(cells.n_cells)
    for start, stop in cut(
        np.diff(cells.indptr)
    ):  # no more than a few numbers of each cell at once
        here = slice(cells.indptr[start], cells.indptr[stop])
        width, column = (high - low)[cells.codes[here]], ranges[cells.columns[here]]
        share = np.divide(width, column, out=np.zeros(len(width)), where=column > 0)
        lengths = np.diff(cells.indptr[start : stop + 1])
        charged[here] = share * np.repeat(cells.sizes[start:stop], lengths)
    total = cells.n_records * cells.n_items
    return float(charged.sum()) / total if total else None


def column_ranges(ratings: Ratings) -> NDArray[np.float64]:
    """Return max - min of each item's column, null counting as its level; shape (n_items,)."""
    null = ratings.scale.null_level
    low = np.full(ratings.n_items, np.inf)
    high = np.full(ratings.n_items, null)
    for start, stop in cut(ratings.user_support):
        here = slice(ratings.indptr[start], ratings.indptr[stop])
        values = ratings.levels[ratings.codes[here]]
        np.minimum.at(low, ratings.columns[here], values)
        np.maximum.at(high, ratings.columns[here], values)
    low[ratings.item_support < ratings.n_users] = null
    return np.asarray(high - low)


@dataclass(frozen=True)
class Distortion(Measure[UtilityResult]):
    """Sum over records of Σ|t - t′|, where a null for a rating, or a rating for a null, costs R.

    R is the larger of the scale's maximum and its width. It is asked where every record has a
    row of ratings of its own (layout "record"), and only whoever holds the link can answer.
    Users whom a method left out are in no record and add nothing.
    """

    name: ClassVar[str] = "distortion"
    MEANING: ClassVar[str] = (
        "Low is more useful: 0 leaves every rating unchanged. It applies where each record was "
        "released by itself, and needs the private key file. People left out add nothing; "
        "users_deleted counts them."
    )

    FIGURES: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "distortion",
            "Distortion",
            "ratings",
            True,
            "The sum of all moves of ratings, in steps of the scale; 0 moved nothing.",
        ),
        Figure(
            "distortion_per_record",
            "Distortion per record",
            "ratings",
            True,
            "The sum of all moves of a person's ratings, in steps of the scale; 0 moved nothing.",
            short="moved per record",
        ),
        Figure(
            "ratings_moved",
            "Ratings moved",
            "count",
            True,
            "Ratings released with another value; low is more useful.",
        ),
        Figure(
            "ratings_suppressed",
            "Ratings suppressed",
            "count",
            True,
            "Ratings that are not in the release; low is more useful.",
        ),
        Figure(
            "ratings_imputed",
            "Ratings imputed",
            "count",
            True,
            "Ratings in the release that no user gave; low is more useful.",
        ),
    )

    @typed
    @announced("measuring distortion")
    def measure(self, release: Release, original: Ratings | None = None) -> UtilityResult:
        """Return ``distortion``, its mean per record, and what was suppressed or invented.

        Parameters
        ----------
        release : Release
            With its private facts (just made, or read with the receipt).
        original : Ratings, optional
            The table that the release was made from, or one that contains it.

        Returns
        -------
        UtilityResult
            ``distortion`` (in units of the scale), ``distortion_per_record``,
            ``ratings_moved``, ``ratings_suppressed``, ``ratings_imputed``; None on other
            layouts, without a link, and without the original.

        Raises
        ------
        ConfigError
            Somebody in the release is not in `original`.
        """
        changes = None if original is None else Match(release, original).changes
        return self._result({} if changes is None else _figures(changes, release))


def _figures(moved: Changes, release: Release) -> dict[str, float | int | None]:
    lacking = release.n_records - moved.records
    if lacking:
        raise not_made_of(
            f"{lacking:,} of the {release.n_records:,} people in the release have no rating of "
            "these: it was not made of them"
        )
    scale = release.scale
    away = np.abs(moved.true - moved.shown)
    odd = len(moved.suppressed) + len(moved.invented)
    if scale.step is not None:  # whole steps add up exactly
        sum_ = float(np.round(int(np.rint(away / scale.step).sum()) * scale.step, 9))
        changed = int((away > scale.step / 2).sum())
    else:
        sum_, changed = float(away.sum()), int((away > 1e-9).sum())
    total = sum_ + odd * scale.cost_of_null
    return {
        "distortion": total,
        "distortion_per_record": total / moved.records if moved.records else None,
        "ratings_moved": changed,
        "ratings_suppressed": len(moved.suppressed),
        "ratings_imputed": len(moved.invented),
    }


@dataclass(frozen=True)
class DisclosureShares(Measure[UtilityResult]):
    """Shares of users whose class gives away a rating, or that there is one.

    "Hides among k" is not "hides what you rated": where all of a class rated an item alike, its
    cell has one single member, and whoever knows that a person is in the class knows the rating.
    And records of a class that have sensitive attributes as they are need not be equal.
    """

    name: ClassVar[str] = "disclosure-shares"
    MEANING: ClassVar[str] = (
        "High means risk. Share of users in a class with a cell that discloses their rating "
        "(disclosed), exact ratings of its members (exact values listed), or that they rated the "
        "item (exists). Share of records alone in their class with their sensitive attributes."
    )

    FIGURES: ClassVar[tuple[Figure, ...]] = SHARES

    @typed
    @announced("measuring disclosure-shares")
    def measure(self, release: Release, original: Ratings | None = None) -> UtilityResult:
        """Return ``users_rating_disclosed`` and others, counted on the cells.

        None on layout "profile": its cells are means or predictions, and no cell says that it is
        anybody's rating, or that there is one. ``records_alone_with_sensitive`` is the share of
        records that are alone in their class with their sensitive attributes, None without any.
        """
        return self._result({**disclosure_shares(release)})


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
        "Low is more useful: records x k is the minimum of a k-anonymous release; records squared "
        "means that all records are equal."
    )

    FIGURES: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "dm",
            "Discernibility (DM)",
            "count",
            True,
            "Sum of squared class sizes: at least records × k; records squared if all are equal.",
            short="DM",
        ),
        Figure(
            "classes",
            "Equivalence classes",
            "count",
            False,
            "More classes keep more differences between people.",
        ),
        Figure(
            "smallest_class",
            "Smallest class",
            "count",
            None,
            "Minimum number of equal records; k-anonymity requires k.",
        ),
    )

    @typed
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
        "1 is best: classes are no larger than k. Above 1 they are larger than required, at the "
        "cost of detail. Below 1 records are not made equal, only proximate."
    )

    FIGURES: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "c_avg",
            "Average class size / k (C_AVG)",
            "ratio",
            None,
            "1 is best: classes are no larger than k. Above 1 they are larger than required, at "
            "the cost of detail; below 1 records are proximate, not equal.",
            short="C_AVG",
        ),
    )

    @typed
    @announced("measuring class-size")
    def measure(self, release: Release, original: Ratings | None = None) -> UtilityResult:
        """Return ``c_avg``; `original` is not needed."""
        k = self.k if self.k is not None else release.manifest.claimed_k
        sizes = class_sizes(release)
        return self._result(
            {"c_avg": int(sizes.sum()) / (len(sizes) * k)} if k and len(sizes) else {}
        )
