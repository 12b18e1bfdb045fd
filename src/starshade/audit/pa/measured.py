"""What figures are made of: sizes of bins, dissimilarities of pairs, self-ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["BINS", "METRICS", "BinSizes", "Pairs", "Ranks"]

BINS = 20  # of 0.05, over [0, 1]
METRICS = ("weighted-sq", "closeness-0.5", "closeness-1.0", "weighted")


@dataclass(frozen=True, eq=False)
class BinSizes:
    """How many users have each centre for their nearest (Fig 3).

    Attributes
    ----------
    centres : {"virtual", "real"}
        Means of clusters, or in each cluster the member nearest to its mean.
    sizes : ndarray of int64, shape (n_bins,)
        Ascending; an empty bin counts.
    """

    centres: str
    sizes: NDArray[np.int64]

    @property
    def spread(self) -> float:
        """Standard deviation over mean: how skewed the sizes are."""
        return float(self.sizes.std() / self.sizes.mean())


@dataclass(frozen=True, eq=False)
class Pairs:
    """Dissimilarities of pairs of users on padded rows (Fig 4).

    Attributes
    ----------
    metric : str
    where : {"before", "within"}
        All pairs of the users drawn, or pairs within a cluster.
    shares : ndarray of float64, shape (20,)
        Of the pairs, in bins of 0.05; the last holds 1 too.
    mean : float
    n_pairs : int
    """

    metric: str
    where: str
    shares: NDArray[np.float64]
    mean: float
    n_pairs: int

    @property
    def effective_bins(self) -> float:
        """How many bins the distribution fills: 1 / Σ share²."""
        return float(1 / np.square(self.shares).sum())


@dataclass(frozen=True, eq=False)
class Ranks:
    """Self-ranks of users on one release (Fig 5).

    Attributes
    ----------
    line : str
    k : int
    percentiles : ndarray of float64, shape (n_users,)
        In [0, 100]: where a user's own profile stands among all by similarity; 0 is the nearest.
    """

    line: str
    k: int
    percentiles: NDArray[np.float64]
