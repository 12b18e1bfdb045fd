"""Low-rank models of averaged profiles: fit and residuals.

A profile that a model of biases and a few factors made is, up to rounding, a combination of a few
directions. Residuals, a cell less its fit, then say nothing of a single rating. Where real ratings
were averaged with predictions, they are what the fit leaves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.kernels.arrays import product
from starshade.ratings.scale import SLACK
from starshade.release.columns import Columns
from starshade.rng import generator

Floats = NDArray[np.float64]
RANK = 4  # a bias of people and three factors, beside the items' means
MOST_PROFILES = 2000  # fitted together; of more so many are drawn
_MOST_CELLS = 2**24  # likewise
_ARRAYS = 8  # float64 of the size of the profiles fitted, held together
_ROUNDS = 50
_STABLE = 1e-3  # relative change of the rms at which refitting ends
_DUST = 1e-12  # of the largest eigenvalue: directions below are rounding
_EXACT = 1e-13  # of the largest eigenvalue: what a direction may still turn


@dataclass(frozen=True, eq=False)
class LowRankFit:
    """Item means and the few directions that explain most of some profiles.

    Attributes
    ----------
    mean : ndarray of float64, shape (n_items,)
        Mean of each item over the profiles fitted, null cells counting as their fit.
    right : ndarray of float64, shape (at most rank, n_items)
        Orthonormal directions, the strongest first. Signs are arbitrary.
    rms : float
        Root mean square of cell − fit over the non-null cells of the profiles fitted. Of a fit
        clipped to the scale, the fit is clipped before it is compared. NaN without such cells.
    rounds : int
        How often the model was fitted.
    """

    mean: Floats
    right: Floats
    rms: float
    rounds: int

    def of(self, shown: Floats) -> Floats:
        """Return the fit of any profiles, also of those that were not drawn.

        Each is the mean plus the combination of the directions that is nearest to the profile's
        non-null cells (least squares; the shortest combination where several are). Residuals are
        ``shown - fit.of(shown)``.

        Parameters
        ----------
        shown : ndarray of float64, shape (profiles, n_items)
            Ratings, NaN for null (`shown_profiles`).

        Returns
        -------
        ndarray of float64, shape (profiles, n_items)
            The fit of every cell, null cells included; not clipped to the scale.
        """
        fit = product(self.weights(shown), self.right)
        fit += self.mean
        return fit

    def weights(self, shown: Floats) -> Floats:
        """Return how much of each direction profiles have, shape (profiles, directions).

        See `of`, whose fit is the mean plus the directions times these.
        """
        rank, empty = len(self.right), np.isnan(shown)
        if not (rank and empty.any()):
            return product(shown - self.mean, self.right.T)
        rest = product(np.where(empty, 0.0, shown - self.mean), self.right.T)
        pairs = (self.right[:, None] * self.right[None]).reshape(rank * rank, -1)
        inner = ((~empty).astype(np.float64) @ pairs.T).reshape(-1, rank, rank)
        return np.asarray((np.linalg.pinv(inner, hermitian=True) @ rest[:, :, None])[:, :, 0])


def fit_low_rank(
    shown: Floats, rank: int = RANK, ends: tuple[float, float] | None = None
) -> LowRankFit:
    """Fit means and directions to profiles, by singular value decomposition of centred columns.

    Null cells count as what the model gives there: the model is fitted again until its rms changes
    by less than a thousandth, at most 50 times. They start as the mean of their column.

    Parameters
    ----------
    shown : ndarray of float64, shape (profiles, n_items)
        Ratings, NaN for null.
    rank : int
        Directions at most; fewer where fewer explain everything.
    ends : (float, float) or None
        The ends of the scale, for a fit *clipped to the scale*: a cell at an end counts as the
        lesser of itself and the fit at the bottom, as the greater at the top, refitted likewise.
    """
    empty = np.isnan(shown)
    nulls = bool(empty.any())
    filled = np.where(empty, _column_means(shown, empty), shown) if nulls else shown
    refit, low, high = nulls, None, None
    if ends is not None:
        low, high = shown <= ends[0] + SLACK, shown >= ends[1] - SLACK
        refit = bool(nulls or low.any() or high.any())
    rms, rounds = np.inf, 0
    while True:
        mean = filled.mean(axis=0)
        centred = filled - mean
        right = _directions(centred, rank, once=not refit)
        fit = product(product(centred, right.T), right)
        fit += mean
        left = shown - (fit if ends is None else np.clip(fit, *ends))
        left = left[~empty] if nulls else left
        left *= left
        before, rms = rms, float(np.sqrt(left.mean())) if left.size else np.nan
        rounds += 1
        if not refit or rounds == _ROUNDS or not abs(before - rms) > _STABLE * rms:
            return LowRankFit(mean, right, rms, rounds)
        filled = np.where(empty, fit, shown)
        if low is not None:
            filled[low] = np.minimum(shown, fit)[low]
            filled[high] = np.maximum(shown, fit)[high]


def draw_profiles(cells: Columns, seed: int) -> NDArray[np.int64]:
    """Return which profiles a model is fitted to, ascending: all, or as many as memory allows.

    At most 2,000, and at most 16 million cells together; of more they are drawn by the seed.
    """
    allowed = min(_MOST_CELLS, budget.left(0) // (8 * _ARRAYS)) // max(1, cells.n_items)
    most = max(RANK + 1, min(MOST_PROFILES, allowed))
    if cells.n_groups <= most:
        return np.arange(cells.n_groups)
    stream = generator(seed, "profiles of a low-rank model")
    return np.sort(stream.choice(cells.n_groups, most, replace=False))


def shown_profiles(cells: Columns, rows: NDArray[np.int64]) -> Floats:
    """Return the ratings that some profiles show, shape (len(rows), n_items), NaN for null."""
    of_level: Floats = np.append(np.nan, cells.symbols.members)
    shown: Floats = of_level[np.ascontiguousarray(cells.levels[:, rows].T)]
    return shown


def _column_means(shown: Floats, empty: NDArray[np.bool_]) -> Floats:
    """Return the mean of each column's non-null cells; of an empty column, the mean of all."""
    counts, sums = (~empty).sum(axis=0), np.where(empty, 0.0, shown).sum(axis=0)
    overall = sums.sum() / max(1, counts.sum())
    means: Floats = np.where(counts > 0, sums / np.maximum(counts, 1), overall)
    return means


def _directions(centred: Floats, rank: int, *, once: bool) -> Floats:
    """Return the strongest right singular vectors, those along the shorter side first."""
    tall = centred.shape[0] > centred.shape[1]
    rows = np.ascontiguousarray(centred.T) if tall else centred
    values, vectors = _strongest(rows, None if once else product(rows, rows.T), rank)
    strong = values > _DUST * max(float(values.max(initial=0.0)), 1e-300)
    right: Floats = vectors[:, strong].T
    if not tall:
        right = product(right, centred) / np.sqrt(values[strong])[:, None]
    return right


def _strongest(rows: Floats, square: Floats | None, rank: int) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of R Rᵀ, the largest first, and their vectors; R are rows.

    Twice as many directions are multiplied by it again and again until those wanted only grow; all
    eigenvectors are computed where these are few, or where that takes long. `square`: R Rᵀ; None:
    directions are multiplied by R and Rᵀ, on this thread alone. Of a single fit that takes less:
    threads go on waiting for work after a large product, for longer than all of this takes.
    """
    width = 2 * rank
    if len(rows) > 2 * width:
        turned = generator(0, "directions").standard_normal((len(rows), width))
        for _ in range(_ROUNDS):
            basis = np.linalg.qr(turned)[0]
            if square is None:
                along = np.einsum("kj,ki->ji", basis, rows)
                turned = np.einsum("ij,kj->ik", rows, along)
            else:
                turned = product(basis.T, square).T  # the square is symmetric
            values, inner = np.linalg.eigh(basis.T @ turned)
            values, inner = values[::-1][:rank], inner[:, ::-1][:, :rank]
            vectors = basis @ inner
            if np.abs(turned @ inner - vectors * values).max() <= _EXACT * max(values[0], 1e-300):
                return values, vectors
    values, vectors = np.linalg.eigh(product(rows, rows.T) if square is None else square)
    return values[::-1][:rank], vectors[:, ::-1][:, :rank]
