"""Error of a recommender on the release against one on the original (PA §7.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.figure import Figure
from starshade.ratings.table import Ratings
from starshade.recommend.recommender import Recommender
from starshade.release.table import Release
from starshade.utility.held_out.probe import HeldOut, Probe
from starshade.utility.held_out.released_rows import ReleasedRows
from starshade.utility.held_out.training import chosen, refit, trained
from starshade.utility.result import UtilityResult
from starshade.utility.settings import RecommenderErrorSettings

__all__ = ["RecommenderError", "errors_of", "errors_on"]

Floats = NDArray[np.float64]

_ERRORS = ("rmse", "mae")
#: what predicts, and what its error means
_READINGS = (
    (
        "original",
        "a recommender on the original",
        "The typical distance of a predicted rating from the true one.",
    ),
    ("release", "the released cells", "The same, where the released cell itself predicts."),
    (
        "refit",
        "a recommender on the release",
        "The same, where a recommender is trained on the release.",
    ),
)


@dataclass(frozen=True)
class RecommenderError(RecommenderErrorSettings, HeldOut[UtilityResult]):
    """RMSE and MAE on held-out ratings: of the release, and of the original.

    A person's rating is predicted from the row that stands for them, in two readings. `release`:
    the released cell itself, null counting as the level below the scale. `refit`: a recommender
    trained on the release, where every row is a user, once, whatever number of records it stands
    for, and a cell is the mean of the ratings that it leaves possible. The same recommender is
    trained on the original and tested on the same ratings; the ratios are to its error.

    Parameters
    ----------
    recommender : str or Recommender, optional
        By name, as `starshade.recommend.registry` lists them, or one with settings; None: the one
        that the release was made with, or regularized-svd where none was.
    seed : int
        For training.

    Notes
    -----
    `probe` must have been held out before the release was made (`hold_out`). Its ratings of
    people or on items that were not released are left out on both sides, and counted.

    Examples
    --------
    >>> import starshade as ss
    >>> ratings = ss.synthesize(n_users=60, n_items=20, n_ratings=600, rng=0)
    >>> train, probe = ss.hold_out(ratings, rng=0)
    >>> release = ss.KLikeness(k=5).anonymize(train, rng=0)
    >>> found = ss.RecommenderError().measure(release, original=train, probe=probe)
    >>> found.figures["rmse_ratio_refit"] > 0
    True
    """

    name: ClassVar[str] = "recommender-error"
    FIGURES: ClassVar[tuple[Figure, ...]] = (
        *(
            Figure(f"{error}_{reading}", f"{error.upper()} of {of}", "error", True, meaning)
            for error in _ERRORS
            for reading, of, meaning in _READINGS
        ),
        *(
            Figure(
                f"{error}_ratio_{reading}",
                f"{error.upper()} of {of}, of the original's",
                "error",
                True,
                "1 predicts as well from the release as from the original; above 1, worse.",
            )
            for error in _ERRORS
            for reading, of, _ in _READINGS[1:]
        ),
        Figure(
            "probe_ratings", "Held-out ratings tested", "count", None, "What the errors rest on."
        ),
        Figure(
            "probe_left_out",
            "Held-out ratings of people or on items not released",
            "count",
            True,
            "They are left out on both sides.",
        ),
    )
    MEANING: ClassVar[str] = (
        "Low is more useful: a ratio of 1 predicts held-out ratings as well from the release as "
        "from the original; `refit` trains on the release, `release` reads its cells."
    )

    def _found(self, release: Release, original: Ratings, probe: Probe) -> UtilityResult:
        counts = {"probe_ratings": len(probe.values), "probe_left_out": probe.left_out}
        if not len(probe.values):
            return self._unmeasured(**counts)
        recommender = chosen(self.recommender, release)
        before = trained(recommender, original, self.seed).predict(probe.users, probe.items)
        base = errors_of(before, probe.values)
        errors, reason = errors_on(release, probe, recommender, self.seed)
        figures: dict[str, float | int | None] = {}
        for reading, found in ({"original": base} | errors).items():
            for error, own, least in zip(_ERRORS, found or (), base or (), strict=False):
                figures[f"{error}_{reading}"] = own
                if reading != "original" and least > 0:
                    figures[f"{error}_ratio_{reading}"] = own / least
        return self._result(figures | counts, reason)


def errors_on(
    release: Release, probe: Probe, recommender: Recommender, seed: int
) -> tuple[dict[str, tuple[float, float] | None], str]:
    """Return RMSE and MAE of both readings, `release` and `refit`, and why there is no refit."""
    again = refit(recommender, release, seed)
    predicted = {
        "release": ReleasedRows(release).read(probe.rows, probe.columns),
        "refit": again.predict(probe.rows, probe.columns),
    }
    return {
        name: errors_of(predictions, probe.values) for name, predictions in predicted.items()
    }, again.reason


def errors_of(predicted: Floats | None, true: Floats) -> tuple[float, float] | None:
    """Return RMSE and MAE; None without predictions."""
    if predicted is None:
        return None
    off = np.abs(predicted - true)
    return float(np.sqrt(np.mean(off * off))), float(off.mean())
