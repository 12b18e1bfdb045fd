"""What padding does: the histogram (Table 2), and bins around centres (§4.2, Fig. 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.predictive.bins import Bins, bin_users
from starshade.anonymize.predictive.clusters import Distances, factored
from starshade.audit.reproduction.pa.result import LevelRow
from starshade.progress import task
from starshade.ratings.holdout import sample_users
from starshade.ratings.scale import Scale
from starshade.recommend.padded import Padded

Floats = NDArray[np.float64]
#: Table 2: rating (0: null) → % of all cells before and after padding
HISTOGRAM = MappingProxyType(
    {
        0: (98.84, 0.0),
        1: (0.053, 0.79),
        2: (0.117, 14.12),
        3: (0.334, 46.71),
        4: (0.390, 33.49),
        5: (0.267, 4.89),
    }
)
_CELLS = 400_000_000  # looked at, at most; more users are sampled
_BLOCK = 1 << 22  # cells written out at once
PAPERS = Scale(1, 5, 1)


@dataclass(frozen=True, eq=False)
class BinSizes:
    """How many users have each centre for their nearest (Fig 3)."""

    centres: str  # means of clusters, or in each cluster the member nearest to its mean
    sizes: NDArray[np.int64]  # ascending; an empty bin counts

    @property
    def spread(self) -> float:
        """Standard deviation over mean: how skewed the sizes are."""
        return float(self.sizes.std() / self.sizes.mean())


def histogram_of(padded: Padded, seed: int) -> dict[str, Floats]:
    """Count what share of the cells holds each rating before and after padding (PA Table 2).

    Padded values are clipped to the scale and count as the nearest rating, half up.

    Null, the level NaN, comes first; empty on a scale without steps. The seed draws users where
    there are more than can be looked at.
    """
    ratings, scale = padded.ratings, padded.ratings.scale
    if scale.step is None:
        return {}
    some = max(1, _CELLS // max(1, ratings.n_items))
    users = sample_users(ratings, np.arange(ratings.n_users), some, seed)
    after = np.zeros(len(scale.levels))
    size = max(1, _BLOCK // max(1, ratings.n_items))
    with task("counting padded ratings", len(users)) as step:
        for first in range(0, len(users), size):
            rows = padded.block(users[first : first + size], clip=True)
            after += np.bincount(_nearest(rows, scale).ravel(), minlength=len(after))
            step(len(rows))
    before = np.bincount(_nearest(ratings.values(), scale), minlength=len(after))
    cells = ratings.n_users * ratings.n_items
    return {
        "level": np.append(np.nan, scale.levels),
        "before": np.append(cells - ratings.n_ratings, before) / cells,
        "after": np.append(0.0, after) / (len(users) * ratings.n_items),
    }


def level_rows(found: Mapping[str, Floats], scale: Scale) -> Iterator[LevelRow]:
    """Return the lines of Table 2, the paper's numbers beside them where its scale is the same."""
    theirs = HISTOGRAM if scale == PAPERS else {}
    for level, before, after in zip(found["level"], found["before"], found["after"], strict=True):
        own = None if np.isnan(level) else float(level)
        paper = (round(each / 100, 8) for each in theirs.get(int(own or 0), ()))
        yield LevelRow(own, float(before), float(after), *paper)


def _nearest(values: Floats, scale: Scale) -> NDArray[np.int64]:
    assert scale.step is not None
    # a little more than a half: the float dust of an exact half must not decide
    place = np.floor((values - scale.minimum) / scale.step + 0.5 + 1e-9).astype(np.int64)
    return np.minimum(place, len(scale.levels) - 1)


def sizes_of_bins(
    padded: Padded, bins: Bins, away: Distances | None = None
) -> tuple[BinSizes, ...]:
    """Count users in bins around virtual, and around real, centres (PA §4.2, Fig 3).

    The real centre of a cluster of the sample is its member nearest to its mean. Small bins are
    left as they are. `away`: distances; None: Euclidean ones.
    """
    given, starts, members = away or factored(padded), bins.starts, bins.members
    cluster = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    own = given.to_means(members, starts, members)[np.arange(len(members)), cluster]
    real = np.array([members[a + int(np.argmin(own[a:b]))] for a, b in pairwise(starts)])
    everybody, alone = np.arange(padded.n_users), np.arange(len(real) + 1)
    around = bin_users(given, everybody, real, alone, None if away else padded)
    sizes = (np.bincount(found, minlength=len(real)) for found in (bins.of_user, around))
    return tuple(map(BinSizes, ("virtual", "real"), map(np.sort, sizes)))
