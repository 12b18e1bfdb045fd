"""Target deviation: people predicted from their own anonymized version (PA §7.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from starshade.figure import Figure
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.utility.held_out.probe import HeldOut, Probe, readings
from starshade.utility.held_out.recommender_error import errors_on
from starshade.utility.held_out.training import chosen
from starshade.utility.result import UtilityResult
from starshade.utility.settings import RecommenderErrorSettings

__all__ = ["TargetDeviation"]


@dataclass(frozen=True)
class TargetDeviation(RecommenderErrorSettings, HeldOut[UtilityResult]):
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

    name: ClassVar[str] = "target-deviation"
    FIGURES: ClassVar[tuple[Figure, ...]] = readings(
        "target_deviation",
        "Target deviation",
        "error",
        True,
        "The typical distance of a prediction from what people rated, read from their own "
        "anonymized version.",
    )
    MEANING: ClassVar[str] = (
        "Low is more useful: how far held-out ratings are, as a root mean square, from what each "
        "person's own anonymized version says."
    )

    def _found(self, release: Release, original: Ratings, probe: Probe) -> UtilityResult:
        if not len(probe.values):
            return self._unmeasured()
        errors, reason = errors_on(release, probe, chosen(self.recommender, release), self.seed)
        found = {f"target_deviation_{reading}": e[0] for reading, e in errors.items() if e}
        return self._result(found, reason)
