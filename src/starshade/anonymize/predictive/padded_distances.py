"""Three ways to the distances of padded rows and means of padded rows.

`factored` is for any number of users and keeps one table of items × centres at a time. `within`
is for the users of one bin, whose centres change while they themselves do not: their products are
taken once. Both are exact and give the same. `written_out` is for dissimilarities that do not
split into products, and for rows clipped cell by cell; it writes out a block of rows at a time.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.anonymize.predictive.bounded_t_means import Distances
from starshade.errors import ConfigError
from starshade.kernels.arrays import Ints
from starshade.kernels.padded.centres import centre_distances, make_centres
from starshade.kernels.padded.gram import member_distances, products
from starshade.kernels.padded.nearest import nearest_centres, reach
from starshade.recommend.dissimilarity import dissimilarities
from starshade.recommend.padded import Padded
from starshade.recommend.settings import Dissimilarity

__all__ = ["factored", "nearest", "within", "written_out"]

_TABLE = 1 << 28  # bytes of one table of centres, or of one block of rows
_ROUNDING = 1e-7  # dissimilarities below it are 0: their squares are doubles' last digits


def factored(padded: Padded) -> Distances:
    """Squared Euclidean distances of users, from their factors and ratings."""

    def distances(rows: Ints, starts: Ints, members: Ints) -> NDArray[np.float32]:
        t = len(starts) - 1
        _afford(4 * len(rows) * t, f"the distances of {len(rows):,} users to {t:,} centres")
        slab = max(1, _TABLE // (8 * padded.n_items))
        if t <= slab:
            return _to_some(padded, rows, starts, members)
        out = np.empty((len(rows), t), np.float32)
        for low in range(0, t, slab):
            part = starts[low : low + slab + 1]
            out[:, low : low + slab] = _to_some(padded, rows, part, members)
        return out

    return Distances(distances, padded.few)


def _to_some(padded: Padded, rows: Ints, starts: Ints, members: Ints) -> NDArray[np.float32]:
    centres = make_centres(padded.parts, padded.inner, padded.sums, starts, members)
    return centre_distances(padded.parts, padded.sums, padded.lengths, rows, centres)


def nearest(padded: Padded, users: Ints, starts: Ints, members: Ints) -> Ints:
    """Find each user's nearest mean, as the least of `factored` distances; ties to the first."""
    values, vectors = np.linalg.eigh(padded.inner)
    # directions in which items hardly differ are left out: any others give bounds as well
    kept = values > 1e-8 * values.max(initial=0.0)
    root = vectors[:, kept] / np.sqrt(values[kept])
    own = reach(padded.sums[users], padded.lengths[users], root)
    closest, least = np.zeros(len(users), np.int64), np.full(len(users), np.inf, np.float32)
    slab = max(1, _TABLE // (8 * padded.n_items))
    for low in range(0, len(starts) - 1, slab):
        part = starts[low : low + slab + 1]
        centres = make_centres(padded.parts, padded.inner, padded.sums, part, members)
        projected = (padded.inner @ centres.phi + centres.pull).T
        place, away = nearest_centres(
            padded.parts, padded.sums, padded.lengths, users, centres,
            (own, reach(projected, centres.lengths, root)),
        )  # fmt: skip
        closest = np.where(away < least, low + place, closest)
        least = np.minimum(least, away)
    return closest


def within(padded: Padded, users: Ints) -> Distances:
    """Squared Euclidean distances among these users, by position, on one thread."""
    table = products(padded.parts, padded.sums, padded.inner, users)

    return Distances(partial(member_distances, table), lambda rows: padded.few(users[rows]))


def written_out(padded: Padded, dissimilarity: Dissimilarity, *, clip: bool) -> Distances:
    """Any dissimilarity, on rows written out in blocks."""
    scale, weights = padded.ratings.scale, padded.parts.weights
    row = 8 * padded.n_items
    none = not weights.any()  # no item counts: all are equally far, and equal rows at 0 as ever

    def distances(rows: Ints, starts: Ints, members: Ints) -> NDArray[np.float32]:
        t = len(starts) - 1
        _afford(2 * t * row, f"{t:,} centres written out")
        centres = padded.means(starts, members, clip=clip)
        out = np.empty((len(rows), t), np.float32)
        step = max(1, _TABLE // row)
        for first in range(0, len(rows), step):
            block = padded.block(rows[first : first + step], clip=clip)
            away = dissimilarities(block, centres, dissimilarity, scale, weights=weights)
            out[first : first + step] = np.where((away > _ROUNDING) & (not none), away, 0.0)
        return out

    return Distances(distances, partial(padded.few, clip=clip))


def _afford(need: int, what: str) -> None:
    free = budget.left(0)
    if need > free:
        raise ConfigError(
            f"{what} need {budget.amount(need)}; {budget.amount(max(free, 0))} may be used",
            advice="Allow more memory, or choose a larger k.",
        )
