"""Distortion: how far ratings were moved (Sun & Sun 2013, Def. 4, 5; definitions, "distortion")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from starshade.figure import Figure
from starshade.progress import announced
from starshade.ratings.table import Ratings
from starshade.release.match.match import Changes, Match, not_made_of
from starshade.release.table import Release
from starshade.utility.result import Measure, UtilityResult

__all__ = ["Distortion"]


@dataclass(frozen=True)
class Distortion(Measure[UtilityResult]):
    """Sum over records of Σ|t - t′|, where a null for a rating, or a rating for a null, costs R.

    R is the larger of the scale's maximum and its width. It is asked where every record has a
    row of ratings of its own (layout "record"), and only whoever holds the link can answer.
    Users whom a method left out are in no record and add nothing.
    """

    name: ClassVar[str] = "distortion"
    MEANING: ClassVar[str] = (
        "Low is more useful: 0 leaves every rating of every record as it was. It applies where "
        "each record was released by itself, and takes the owner's receipt. Who was left out adds "
        "nothing: users_deleted counts them."
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
            "Ratings that are released with another value; low keeps more as it was.",
        ),
        Figure(
            "ratings_suppressed",
            "Ratings suppressed",
            "count",
            True,
            "Ratings that are no longer in the release; low keeps more.",
        ),
        Figure(
            "ratings_invented",
            "Ratings invented",
            "count",
            True,
            "Ratings in the release that nobody gave; low invents less.",
        ),
    )

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
            ``ratings_moved``, ``ratings_suppressed``, ``ratings_invented``; None on other
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
        "ratings_invented": len(moved.invented),
    }
