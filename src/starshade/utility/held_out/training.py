"""Recommenders trained for a measure: on the original ratings, and on a release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.errors import ConfigError
from starshade.progress import note
from starshade.ratings.levels import code_type
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.recommend.recommender import Fitted, Recommender
from starshade.recommend.registry import ENTRIES
from starshade.recommend.regularized_svd import RegularizedSVD
from starshade.registry import find
from starshade.release.cells import Cells
from starshade.release.table import Release
from starshade.utility.held_out.released_rows import expected_ratings

__all__ = ["Refit", "as_ratings", "chosen", "refit", "trained"]

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
        return Refit(_fitting(recommender, table).fit(table, rng=seed))
    except ConfigError as error:  # a release may be too large to train on, or hold no rating
        note(f"no refit: {error.message}")
        return Refit(None, error.message)


def _fitting(recommender: Recommender, table: Ratings) -> Recommender:
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
