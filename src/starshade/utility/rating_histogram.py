"""Rating histogram before and after (PA Table 2; definitions, "rating-histogram")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.chart import Chart
from starshade.chart.shapes import Axis, Bar, bar_chart
from starshade.errors import ConfigError
from starshade.figure import Figure
from starshade.progress import announced
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells
from starshade.release.match.match import Match
from starshade.release.profiles import Profiles
from starshade.release.table import Release
from starshade.utility.result import Measure, UtilityResult

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class HistogramResult(UtilityResult):
    """The distance and the two histograms.

    Attributes
    ----------
    before, after : tuple of float
        Shares of cells, null first, then the ratings of the scale in ascending order; empty on
        a scale without steps.
    levels : tuple of float
        The ratings of the scale, ascending; empty on one without steps.
    """

    before: tuple[float, ...] = ()
    after: tuple[float, ...] = ()
    levels: tuple[float, ...] = ()

    def plot(self) -> Chart:
        """Draw how the ratings are shared out, before and after; nulls are said beside.

        Raises
        ------
        ConfigError
            The scale has no steps.
        """
        if not self.levels:
            raise ConfigError("no chart on a scale without steps")
        bars = []
        for series, shares in (("before", self.before), ("after", self.after)):
            rated = sum(shares[1:]) or 1.0
            bars += [
                Bar(f"{level:g}", share / rated, series)
                for level, share in zip(self.levels, shares[1:], strict=True)
            ]
        return bar_chart(
            "Ratings before and after",
            f"null before: {self.before[0]:.1%} of all cells; after: {self.after[0]:.1%}",
            bars,
            "rating",
            Axis("share of the cells with a rating", share=True),
        )


@dataclass(frozen=True)
class RatingHistogram(Measure[HistogramResult]):
    """How cells are shared out among null and the ratings, before and after.

    A released rating between two of the scale counts as the nearest one, half up. A cell that
    leaves several open counts for each of them in equal parts.
    """

    name: ClassVar[str] = "rating-histogram"
    RESULT: ClassVar[type[HistogramResult]] = HistogramResult
    MEANING: ClassVar[str] = (
        "Low is more useful: 0 keeps the number of cells of each rating and of null, 1 shares "
        "none; `rated` counts only cells with a rating. In a release without nulls, counts of "
        "ratings have no meaning."
    )

    FIGURES: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "histogram_distance",
            "Distance of the histograms, all cells",
            "share",
            True,
            "0 keeps the number of cells of each rating and of null; 100% shares none.",
        ),
        Figure(
            "histogram_distance_rated",
            "Distance of the histograms, ratings alone",
            "share",
            True,
            "0 keeps the relative frequency of ratings; 100% shares none.",
        ),
        Figure(
            "null_share_before", "Cells without a rating, before", "share", None, "Of the original."
        ),
        Figure(
            "null_share_after",
            "Cells without a rating, after",
            "share",
            None,
            "Of the release; unchanged if nothing was imputed or left out.",
        ),
    )

    @typed
    @announced("measuring rating-histogram")
    def measure(
        self, release: Release, *, original: Ratings, probe: Ratings | None = None
    ) -> HistogramResult:
        """Return how far the histograms are apart, with nulls and without, and the nulls.

        The figures are ``histogram_distance``, ``histogram_distance_rated``,
        ``null_share_before`` and ``null_share_after``.

        Parameters
        ----------
        release : Release
        original : Ratings
            The table that the release was made from, or one that contains it: only the released
            items count, and only users who rated one of them.
        probe : Ratings, optional
            Not needed.

        Returns
        -------
        HistogramResult
            A distance is the total variation, in [0, 1]: half the sum of the differences. The
            first is between shares of all cells, and mostly of nulls where few cells are rated;
            the second between shares of the cells with a rating. None on a scale without steps;
            the second also where no cell has a rating.

        Raises
        ------
        ConfigError
            The release was not made of these ratings.
        """
        part = Match(release, original).part
        counts = np.bincount(part.codes, minlength=len(part.levels))
        return self.of_counts(release, part.levels, counts, part.n_users)

    def of_counts(
        self, release: Release, levels: Floats, counts: NDArray[Any], users: int
    ) -> HistogramResult:
        """Return what `measure` does, of what was counted of the released items.

        `counts` (n_levels,): ratings of each level. `users`: who gave one of them.
        """
        scale = release.scale
        if scale.step is None:
            return self._result({})
        null = float(users * release.classes.n_items - counts.sum())
        before = _shares(_binned(null, levels, counts, scale))
        after = released_shares(release)
        return self._result(
            {
                "histogram_distance": float(np.abs(before - after).sum() / 2),
                "histogram_distance_rated": _rated_distance(before[1:], after[1:]),
                "null_share_before": float(before[0]),
                "null_share_after": float(after[0]),
            },
            before=tuple(before.tolist()),
            after=tuple(after.tolist()),
            levels=tuple(scale.levels.tolist()),
        )


def _rated_distance(before: Floats, after: Floats) -> float | None:
    if not before.sum() or not after.sum():
        return None
    return float(np.abs(before / before.sum() - after / after.sum()).sum() / 2)


def released_shares(release: Release) -> Floats:
    """Return how the released cells are shared out: null, then each rating of a stepped scale."""
    classes, scale = release.classes, release.scale
    if isinstance(classes, Profiles):
        return _shares(_of_profiles(classes, scale))
    return _shares(_of_cells(classes, scale))


def _shares(counts: Floats) -> Floats:
    return np.asarray(counts / max(float(counts.sum()), 1.0))


def _of_profiles(profiles: Profiles, scale: Scale) -> Floats:
    """Count cells of each rating, null first; a row as often as it stands for a record."""
    seen = np.zeros(1 + len(profiles.ratings))
    for rows in profiles.blocks():
        sizes = profiles.sizes[rows]
        for size in np.unique(sizes):
            levels = profiles.levels[rows][sizes == size]
            seen += size * np.bincount(levels.ravel(), minlength=len(seen))
    return _binned(seen[0], profiles.ratings, seen[1:], scale)


def _of_cells(cells: Cells, scale: Scale) -> Floats:
    """Count cells of each rating, null first; one of several members is shared out."""
    symbols = cells.symbols
    row_sizes = np.repeat(cells.sizes, np.diff(cells.indptr))
    times = np.bincount(cells.codes, weights=row_sizes, minlength=len(symbols))
    parts = times / np.maximum(symbols.n_members + symbols.null, 1)
    null = cells.n_records * cells.n_items - times.sum() + parts[symbols.null].sum()
    return _binned(float(null), symbols.members, np.repeat(parts, symbols.n_members), scale)


def _binned(null: float, ratings: Floats, counts: Floats, scale: Scale) -> Floats:
    """Move ratings to the nearest of the scale, half up."""
    assert scale.step is not None
    # a little more than a half: the float dust of an exact half must not decide
    nearest = np.floor((ratings - scale.minimum) / scale.step + 0.5 + 1e-9).astype(np.int64)
    out = np.zeros(1 + len(scale.levels))
    out[0] = null
    np.add.at(out, 1 + np.clip(nearest, 0, len(scale.levels) - 1), counts)
    return out
