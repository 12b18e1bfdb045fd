"""The low-rank part of profiles, and what it leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["LowRank", "low_rank"]

_GRID = 9  # decimals of a residual: what an exact low-rank part leaves is 0
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LowRank:
    """A centred matrix and its singular value decomposition.

    `centred` (float64 (groups, items)): each column less its mean; 0 where a cell is empty. `empty`
    (groups, items). `left`, `values`, `right` (float64): singular vectors and values; values
    descend.
    """

    centred: Floats
    empty: NDArray[np.bool_]
    left: Floats
    values: Floats
    right: Floats

    @property
    def rank(self) -> int:
        """Singular values above the noise (Gavish & Donoho 2014, of unknown noise).

        The threshold is ω(β) times their median, ω(β) ≈ 0.56β³ − 0.95β² + 1.82β + 1.43, where β is
        the short side over the long one.
        """
        short, long = sorted(self.centred.shape)
        beta = short / max(long, 1)
        omega = 0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43
        median = float(np.median(self.values)) if len(self.values) else 0.0
        dust = 1e-12 * float(self.values.max(initial=0.0)) * long
        return int((self.values > max(omega * median, dust)).sum())

    def score(self, rank: int) -> Floats:
        """Return |what a part of this rank leaves|; −1 where a cell is empty."""
        part = (self.left[:, :rank] * self.values[:rank]) @ self.right[:rank]
        left = np.round(np.abs(self.centred - part), _GRID)
        return np.where(self.empty, -1.0, left)


def low_rank(shown: Floats) -> LowRank:
    """Decompose what cells show, NaN for null; an empty cell holds its column's mean."""
    empty = np.isnan(shown)
    filled = (~empty).sum(axis=0)
    mean = np.where(empty, 0.0, shown).sum(axis=0) / np.maximum(filled, 1)
    centred = np.where(empty, 0.0, shown - mean)
    left, values, right = np.linalg.svd(centred, full_matrices=False)
    return LowRank(centred, empty, left, values, right)
