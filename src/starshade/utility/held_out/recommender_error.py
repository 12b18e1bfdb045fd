"""Errors of recommenders trained on a release, and target deviation (PA §7.1, §7.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.errors import ConfigError
from starshade.figure import Figure
from starshade.progress import note
from starshade.ratings.levels import code_type
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.recommend.registry import ENTRIES, Fitted, Recommender
from starshade.recommend.regularized_svd import RegularizedSVD
from starshade.registry import find
from starshade.release.cells import Cells
from starshade.release.table import Release
from starshade.utility.held_out.probe import (
    HeldOut,
    Probe,
    ReleasedRows,
    expected_ratings,
    readings,
)
from starshade.utility.result import UtilityResult
from starshade.utility.settings import RecommenderErrorSettings

Floats = NDArray[np.float64]

_ERRORS = ("rmse", "mae")
#: what predicts, and what its error means
_READINGS = (
    (
        "original",
        "a recommender on the original",
        "Error of predicted ratings on the scale.",
    ),
    ("release", "the released cells", "The same, with the released cell as prediction."),
    (
        "refit",
        "a recommender on the release",
        "The same, with a recommender trained on the release.",
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
                "1: the release predicts as well as the original; above 1: worse.",
            )
            for error in _ERRORS
            for reading, of, _ in _READINGS[1:]
        ),
        Figure(
            "probe_ratings", "Held-out ratings tested", "count", None, "Sample size of the errors."
        ),
        Figure(
            "probe_left_out",
            "Held-out ratings of people or on items not released",
            "count",
            True,
            "Left out on both sides.",
        ),
    )
    MEANING: ClassVar[str] = (
        "Low is more useful: at a ratio of 1 the release predicts held-out ratings as well as the "
        "original; `refit` trains on the release, `release` reads its cells."
    )

    def found(self, release: Release, original: Ratings, probe: Probe) -> UtilityResult:
        """Train on the original, and set both against each other."""
        recommender = chosen(self.recommender, release)
        return self.beside(
            release,
            probe,
            lambda: trained(recommender, original, self.seed).predict(probe.users, probe.items),
        )

    def beside(
        self, release: Release, probe: Probe, predicted: Callable[[], Floats]
    ) -> UtilityResult:
        """Return the figures beside what a recommender on the original predicts of the probe."""
        counts = {"probe_ratings": len(probe.values), "probe_left_out": probe.left_out}
        if not len(probe.values):
            return self._unmeasured(**counts)
        recommender = chosen(self.recommender, release)
        base = errors_of(predicted(), probe.values)
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
        "Root mean square error of predictions from each person's own profile.",
    )
    MEANING: ClassVar[str] = (
        "Low is more useful: root mean square error of held-out ratings, predicted from each "
        "person's own profile."
    )

    def found(self, release: Release, original: Ratings, probe: Probe) -> UtilityResult:
        """Ask the release; the original is not asked."""
        if not len(probe.values):
            return self._unmeasured()
        errors, reason = errors_on(release, probe, chosen(self.recommender, release), self.seed)
        found = {f"target_deviation_{reading}": e[0] for reading, e in errors.items() if e}
        return self._result(found, reason)


_BYTES = 24  # a rating by user, by item, and while the two are made
_kept: WeakKeyDictionary[Any, dict[tuple[Recommender, int], Any]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Refit:
    """A recommender trained on what was released; its users are the released rows.

    `fitted`: None where training takes more memory than there is. `refused`: why there is none;
    empty where there is one.
    """

    fitted: Fitted | None
    refused: str = ""

    def predict(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64]
    ) -> NDArray[np.float64] | None:
        """Predict what released rows would rate items, shape (p,); None without a recommender."""
        return None if self.fitted is None else self.fitted.predict(rows, columns)

    @property
    def reason(self) -> str:
        """A sentence on why there is no refit, with a blank before it; empty where there is."""
        return f" No refit: {self.refused}." if self.refused else ""


def chosen(recommender: str | Recommender | None, release: Release) -> Recommender:
    """Return a recommender: as it is, by name with its defaults, or as the release was made with.

    `release`: what it says of its method counts where None is given; a method that trains nothing
    is measured by the regularized SVD with its defaults.
    """
    if recommender is not None and not isinstance(recommender, str):
        return recommender
    config = release.manifest.config
    name = recommender or config.get("recommender", "regularized-svd")
    cls = find(ENTRIES, str(name), "recommender").load()
    names = (field.name for field in fields(cls))
    settings = {} if recommender else {key: config[key] for key in names if key in config}
    made: Recommender = cls(**settings)
    return made


def trained(recommender: Recommender, ratings: Ratings, seed: int) -> Fitted:
    """Train on ratings; several measures of the same ones ask, and it is done once."""
    fitted: Fitted = _once(ratings, recommender, seed, lambda: recommender.fit(ratings, rng=seed))
    return fitted


def trained_elsewhere(
    recommender: Recommender, ratings: Ratings, seed: int, fitted: Fitted
) -> None:
    """Say what `trained` is to return of ratings that are some users' of those trained on."""
    _once(ratings, recommender, seed, lambda: fitted)


def refit(recommender: Recommender, release: Release, seed: int) -> Refit:
    """Train on a release, every row a user (`as_ratings`); done once for several measures."""
    made: Refit = _once(release, recommender, seed, lambda: _refit(recommender, release, seed))
    return made


def _once(data: Any, recommender: Recommender, seed: int, train: Callable[[], Any]) -> Any:
    kept = _kept.setdefault(data, {})
    if (recommender, seed) not in kept:
        kept[recommender, seed] = train()
    return kept[recommender, seed]


def _refit(recommender: Recommender, release: Release, seed: int) -> Refit:
    classes = release.classes
    count = len(classes.codes) if isinstance(classes, Cells) else int(classes.n_rated().sum())
    needed, allowed = count * _BYTES, budget.left(0)
    try:
        if needed > allowed:
            raise ConfigError(
                f"training on the release's {count:,} cells would take {budget.amount(needed)} of "
                f"memory, and {budget.amount(max(allowed, 0))} may be used"
            )
        table = as_ratings(release)
        return Refit(fitting(recommender, table).fit(table, rng=seed))
    except ConfigError as error:  # a release may be too large to train on, or hold no rating
        note(f"no refit: {error.message}")
        return Refit(None, error.message)


def fitting(recommender: Recommender, table: Ratings) -> Recommender:
    """Take off the factors that a release has no rows for: it has fewer rows than the original."""
    if not isinstance(recommender, RegularizedSVD):
        return recommender
    most = max(1, min(table.n_users, table.n_items))
    return replace(recommender, factors=min(int(recommender.factors), most))


def as_ratings(release: Release) -> Ratings:
    """Read a release as a table of ratings: a user for each row, whatever number it stands for.

    `release`: of any layout: a cell is the mean of the ratings that it leaves possible, null where
    it has none. Returns: on a real scale of the same bounds; users numbered from 0.

    A row counts once. Copies of a row would tell nothing new, and a recommender that finds out
    on held-out ratings how closely to fit would find them in the copies.
    """
    cells = release.cells()
    rating = expected_ratings(cells.symbols)
    rated = ~np.isnan(rating)
    levels, place = np.unique(rating[rated], return_inverse=True)
    code = np.zeros(len(rating), dtype=code_type(len(levels)))
    code[rated] = place
    kept = rated[cells.codes]
    whole = bool(kept.all())
    before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
    return Ratings(
        scale=Scale(release.scale.minimum, release.scale.maximum),
        users=Vocabulary(np.arange(cells.n_groups)),
        items=cells.items,
        indptr=cells.indptr if whole else before[cells.indptr],
        columns=cells.columns if whole else cells.columns[kept],
        codes=code[cells.codes if whole else cells.codes[kept]],
        levels=levels,
    )
