"""What figures are made of: sizes of bins, dissimilarities of pairs, self-ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.recommend.settings import Dissimilarity

__all__ = ["METRICS", "BinSizes", "Pairs", "Ranks"]

METRICS: tuple[Dissimilarity, ...] = ("weighted-sq", "closeness-0.5", "closeness-1.0", "weighted")


@dataclass(frozen=True, eq=False)
class BinSizes:
    """How many users have each centre for their nearest (Fig 3)."""

    centres: str  # means of clusters, or in each cluster the member nearest to its mean
    sizes: NDArray[np.int64]  # ascending; an empty bin counts

    @property
    def spread(self) -> float:
        """Standard deviation over mean: how skewed the sizes are."""
        return float(self.sizes.std() / self.sizes.mean())


@dataclass(frozen=True)
class Pairs:
    """Dissimilarities of pairs of users on padded rows (Fig 4)."""

    metric: str
    where: str  # all pairs of the users drawn, or pairs within a cluster
    shares: tuple[float, ...]  # of the pairs, in 20 bins of 0.05; the last holds 1 too
    mean: float

    @property
    def effective_bins(self) -> float:
        """How many bins the distribution fills: 1 / Σ share²."""
        return 1 / sum(share * share for share in self.shares)


@dataclass(frozen=True)
class Ranks:
    """Self-ranks of users on one release (Fig 5)."""

    line: str
    k: int
    # share of the users whose own profile is among the nearest 1 %, 2 %, …, 100 % of all
    within: tuple[float, ...]
    median: float  # percentile
