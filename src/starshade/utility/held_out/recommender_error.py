"""Error of a recommender on the release against one on the original (PA §7.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.figure import Figure
from starshade.progress import announced
from starshade.ratings.table import Ratings
from starshade.recommend.recommender import Recommender
from starshade.release.table import Release
from starshade.setting import check
from starshade.utility.held_out.probe import UNMEASURED, Probe, linked_probe
from starshade.utility.held_out.released_rows import ReleasedRows
from starshade.utility.held_out.training import chosen, refit, trained
from starshade.utility.result import UtilityResult
from starshade.utility.settings import RecommenderErrorSettings

__all__ = ["RecommenderError", "errors_of", "errors_on"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RecommenderError(RecommenderErrorSettings):
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

    FIGURES: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "rmse_original",
            "RMSE of a recommender on the original",
            "error",
            True,
            "The typical distance of a predicted rating from the true one.",
        ),
        Figure(
            "rmse_release",
            "RMSE of the released cells",
            "error",
            True,
            "The same, where the released cell itself predicts.",
        ),
        Figure(
            "rmse_refit",
            "RMSE of a recommender on the release",
            "error",
            True,
            "The same, where a recommender is trained on the release.",
        ),
        Figure(
            "mae_original",
            "MAE of a recommender on the original",
            "error",
            True,
            "The typical distance of a predicted rating from the true one.",
        ),
        Figure(
            "mae_release",
            "MAE of the released cells",
            "error",
            True,
            "The same, where the released cell itself predicts.",
        ),
        Figure(
            "mae_refit",
            "MAE of a recommender on the release",
            "error",
            True,
            "The same, where a recommender is trained on the release.",
        ),
        Figure(
            "rmse_ratio_release",
            "RMSE of the released cells, of the original's",
            "error",
            True,
            "1 predicts as well from the release as from the original; above 1, worse.",
        ),
        Figure(
            "rmse_ratio_refit",
            "RMSE of a recommender on the release, of the original's",
            "error",
            True,
            "1 predicts as well from the release as from the original; above 1, worse.",
        ),
        Figure(
            "mae_ratio_release",
            "MAE of the released cells, of the original's",
            "error",
            True,
            "1 predicts as well from the release as from the original; above 1, worse.",
        ),
        Figure(
            "mae_ratio_refit",
            "MAE of a recommender on the release, of the original's",
            "error",
            True,
            "1 predicts as well from the release as from the original; above 1, worse.",
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

    def __post_init__(self) -> None:
        check(self)

    @announced("measuring recommender-error")
    def measure(
        self, release: Release, *, original: Ratings, probe: Ratings | None = None
    ) -> UtilityResult:
        """Return RMSE and MAE, each ``_original``, ``_release``, ``_refit`` and as ratios.

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
            In ratings; ``probe_ratings`` and ``probe_left_out`` are counts. None without a probe
            or a link, and of a refit that takes more memory than there is.

        Raises
        ------
        ConfigError
            The probe does not belong to these ratings, or they to the release.
        """
        figures = dict.fromkeys(_NAMES)
        reason = UNMEASURED
        linked = linked_probe(release, original, probe)
        if linked is not None:
            figures |= {"probe_ratings": len(linked.values), "probe_left_out": linked.left_out}
        if linked is not None and len(linked.values):
            recommender = chosen(self.recommender, release)
            before = trained(recommender, original, self.seed).predict(linked.users, linked.items)
            errors, reason = errors_on(release, linked, recommender, self.seed)
            figures |= _figures({"original": errors_of(before, linked.values)} | errors)
        return UtilityResult(
            measure="recommender-error",
            figures=figures,
            meaning="Low is more useful: a ratio of 1 predicts held-out ratings as well from the "
            "release as from the original; `refit` trains on the release, `release` reads its "
            f"cells.{reason}",
        )


_READINGS = ("original", "release", "refit")
_NAMES = (
    *(f"{error}_{reading}" for error in ("rmse", "mae") for reading in _READINGS),
    *(f"{error}_ratio_{reading}" for error in ("rmse", "mae") for reading in _READINGS[1:]),
    "probe_ratings",
    "probe_left_out",
)


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


def _figures(errors: dict[str, tuple[float, float] | None]) -> dict[str, float | int | None]:
    figures: dict[str, float | int | None] = {}
    base = errors["original"]
    for place, error in enumerate(("rmse", "mae")):
        for reading in _READINGS:
            own = errors[reading]
            figures[f"{error}_{reading}"] = None if own is None else own[place]
            if reading != "original":
                some = own is not None and base is not None and base[place] > 0
                figures[f"{error}_ratio_{reading}"] = (
                    own[place] / base[place] if some and own and base else None
                )
    return figures
