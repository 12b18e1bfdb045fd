"""What a release still says of every original rating (definitions, "what-remains")."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.figure import Figure
from starshade.progress import announced
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.utility.held_out.probe import linked_users
from starshade.utility.remaining import Said, Tally, figures_of, tally_of
from starshade.utility.result import Measure, UtilityResult

_UNMEASURED = " It needs the private key file."


@dataclass(frozen=True)
class WhatRemains(Measure[UtilityResult]):
    """What becomes of each original rating, beside what a list of item averages tells.

    Of all ratings of `original`, before any selection of items or people, each is the first that
    fits of:

    - *gone*: its person or item is not in the release, or the cell says that nothing is there.
      Of these those *left out* are told apart: their item is not released, or their person has no
      record although the method leaves nobody out;
    - *perhaps rated*: the cell leaves null possible beside a rating;
    - *exact*: the cell is that one rating; of profiles *within half a step* of it;
    - *value open*: the cell says that there is a rating, and leaves the whole scale possible;
    - *neighbouring*: every rating that the cell leaves possible is at most a step away;
    - *farther*: the cell leaves a rating possible that is more than a step away, or is one.

    A step is the scale's; on one without steps a twentieth of its width (1 where it has none), the
    distance of the null level from the least rating. Records that are nobody's are nobody's rating.

    ``skill`` is 1 - SSE(release) / SSE(item averages), over the same ratings, and
    ``recoverable_within_step`` the share of ratings that are at most a step from how their cell is
    read. For both a cell is read as the mean of the ratings that it leaves possible, null left out,
    whatever the size of its class; of a range that is the middle. What is gone is read as the
    middle of the scale for the skill, and is not within a step.

    Examples
    --------
    >>> import starshade as ss
    >>> ratings = ss.synthesize(n_users=40, n_items=8, n_ratings=120, rng=1)
    >>> found = WhatRemains().measure(ss.KLikeness(k=2).anonymize(ratings, rng=0), ratings).figures
    >>> kinds = ("exact", "one_step", "wider", "existence_only", "ambiguous", "suppressed")
    >>> round(sum(found[f"utility_{kind}"] for kind in kinds), 9)
    1.0
    """

    name: ClassVar[str] = "what-remains"
    MEANING: ClassVar[str] = (
        "Shares of all original ratings, including those of items and people left out. Ratings "
        "recoverable within one step count as utility beyond what item means give. An improvement "
        "over item means of 0 is no better than the means, 1 recovers every rating exactly. Exact "
        "values are also disclosed."
    )

    FIGURES: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "utility_exact",
            "Exact value disclosed",
            "share",
            None,
            "The cell is this one rating: useful, and disclosed to anyone who knows whose it is.",
            short="exact",
        ),
        Figure(
            "utility_half_step",
            "Recoverable within ±½ step",
            "share",
            False,
            "The profile of the class, rounded, is the rating.",
        ),
        Figure(
            "utility_one_step",
            "Recoverable within ±1 step",
            "share",
            False,
            "Every rating that the cell allows is at most one step away.",
        ),
        Figure(
            "utility_wider",
            "Wider interval or larger error",
            "share",
            True,
            "The cell allows, or is, a rating more than one step away.",
        ),
        Figure(
            "utility_existence_only",
            "Existence only",
            "share",
            True,
            "The cell states that there is a rating, with the whole scale possible.",
        ),
        Figure(
            "utility_ambiguous",
            "Ambiguous",
            "share",
            True,
            "The cell leaves open whether there is a rating.",
        ),
        Figure(
            "utility_suppressed",
            "Suppressed",
            "share",
            True,
            "Person, item or rating is not in the release.",
            short="suppressed",
        ),
        Figure(
            "utility_left_out",
            "– of these on items or people left out",
            "share",
            None,
            "On an item that is not released, or of a person left out although the method leaves "
            "none out; the method suppressed the rest.",
        ),
        Figure(
            "recoverable_within_step",
            "Recoverable within ±1 step by the cell mean",
            "share",
            False,
            "Each cell is read as the mean of the ratings that it allows. Compare it with the next "
            "line.",
            short="within a step",
        ),
        Figure(
            "item_means_within_step",
            "The same by item means",
            "share",
            None,
            "Baseline: the mean of each item, without a release.",
        ),
        Figure(
            "improvement_over_item_means",
            "Improvement over item means",
            "ratio",
            False,
            "1 − squared error of the release / squared error of item means: 1 is exact, 0 equals "
            "item means, below 0 is worse.",
            short="improvement",
        ),
        Figure(
            "imputed_share",
            "Unrated cells that were imputed",
            "share",
            True,
            "Share of unrated cells in which the release states a rating.",
        ),
    )

    @typed
    @announced("measuring what-remains")
    def measure(self, release: Release, original: Ratings | None = None) -> UtilityResult:
        """Return the shares, None for kinds that the layout does not have.

        Parameters
        ----------
        release : Release
            With its private facts (just made, or read with the receipt).
        original : Ratings, optional
            All ratings that there were, before items or people were chosen. Not needed for a
            release that is being made shard by shard.

        Returns
        -------
        UtilityResult
            Shares in [0, 1]: ``utility_exact``, ``utility_half_step`` (layout "profile" alone),
            ``utility_one_step``, ``utility_wider``, ``utility_existence_only``,
            ``utility_ambiguous`` and
            ``utility_suppressed``, which add up to 1; ``utility_left_out``, the part of the
            last that is not
            by the method; ``recoverable_within_step`` and ``item_means_within_step``;
            ``imputed_share``,
            of the cells that are empty in `original`, None where none is. ``skill``, at most 1,
            None where the averages are right throughout. All None without a link, and without the
            original.

        Raises
        ------
        ConfigError
            Somebody or some item of the release is not in `original`.
        """
        said = Said.of(release)
        found = [
            (tally_of(said, ratings, rows), ratings.levels, ratings.n_items)
            for ratings, rows in _parts_of(release, original)
        ]
        if not found:
            return self._result({}, _UNMEASURED)
        _, levels, n_items = found[0]
        tally = reduce(Tally.__add__, (each for each, *_ in found))
        return self.of_tally(said, tally, levels, n_items)

    def of_tally(
        self, said: Said, tally: Tally, levels: NDArray[np.float64], n_items: int
    ) -> UtilityResult:
        """Return what `measure` does, of what was counted of all ratings of these items."""
        figures = figures_of(said, tally, levels, n_items)
        return self._result(figures, "" if figures else _UNMEASURED)


def _parts_of(
    release: Release, original: Ratings | None
) -> Iterator[tuple[Ratings, NDArray[np.int64]]]:
    """Yield ratings, part by part, and the released row of each user; nothing without a link."""
    private = release.private
    if original is not None:
        rows = linked_users(release, original)
        if rows is not None:
            yield original, rows
    elif private is not None and private.divided is not None:
        ends = np.cumsum(release.classes.sizes)
        for part in private.parts():
            rows = np.searchsorted(ends, part.record, side="right")
            yield part.ratings, np.where(part.record < 0, -1, rows)
