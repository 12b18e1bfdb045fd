"""Target deviation: people predicted from their own anonymized version (PA §7.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from starshade.figure import Figure
from starshade.progress import announced
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.setting import check
from starshade.utility.held_out.probe import UNMEASURED, linked_probe
from starshade.utility.held_out.recommender_error import errors_on
from starshade.utility.held_out.training import chosen
from starshade.utility.result import UtilityResult
from starshade.utility.settings import RecommenderErrorSettings

__all__ = ["TargetDeviation"]


@dataclass(frozen=True)
class TargetDeviation(RecommenderErrorSettings):
    """RMSE on held-out ratings when each person is predicted from the row that stands for them.

    What the owner alone can measure: it takes the link. `release` reads the released cell, null
    counting as the level below the scale (0 on 1-5); the order of magnitude of the paper's
    figures for `simple` comes from there. `refit` asks a recommender trained on the release.
    `RecommenderError` sets the same figures against those of the original.

    Parameters
    ----------
    recommender : str or Recommender, optional
        By name, as `starshade.recommend.registry` lists them, or one with settings; None: the one
        that the release was made with, or regularized-svd where none was.
    seed : int
        For training.
    """

    FIGURES: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "target_deviation_release",
            "Target deviation, released cells",
            "error",
            True,
            "The typical distance of a prediction from what people rated, read from their own "
            "anonymized version.",
        ),
        Figure(
            "target_deviation_refit",
            "Target deviation, recommender on the release",
            "error",
            True,
            "The same, where a recommender is trained on the release.",
        ),
    )

    def __post_init__(self) -> None:
        check(self)

    @announced("measuring target-deviation")
    def measure(
        self, release: Release, *, original: Ratings, probe: Ratings | None = None
    ) -> UtilityResult:
        """Return ``target_deviation_release`` and ``target_deviation_refit``, in ratings.

        Parameters
        ----------
        release : Release
            With its private facts (just made, or read with the receipt).
        original : Ratings
            The training part: what the release was made of.
        probe : Ratings, optional
            What was held out of it.

        Returns
        -------
        UtilityResult
            None without a probe or a link, and of a refit that takes more memory than there is.

        Raises
        ------
        ConfigError
            The probe does not belong to these ratings, or they to the release.
        """
        errors: dict[str, tuple[float, float] | None] = {"release": None, "refit": None}
        reason = UNMEASURED
        linked = linked_probe(release, original, probe)
        if linked is not None and len(linked.values):
            recommender = chosen(self.recommender, release)
            errors, reason = errors_on(release, linked, recommender, self.seed)
        return UtilityResult(
            measure="target-deviation",
            figures={
                f"target_deviation_{reading}": None if error is None else error[0]
                for reading, error in errors.items()
            },
            meaning="Low is more useful: how far held-out ratings are, as a root mean square, from "
            "what each person's own anonymized version "
            f"says.{reason}",
        )
