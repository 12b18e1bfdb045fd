"""How unlike people and released profiles are, block by block."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.progress import task
from starshade.ratings.sample import sample_users
from starshade.ratings.table import Ratings
from starshade.recommend.dissimilarity import Dissimilarity, dissimilarities
from starshade.recommend.recommender import Fitted
from starshade.release.table import Release
from starshade.utility.held_out.released_rows import ReleasedRows

__all__ = ["SAME", "compared", "owner_rows", "padded_rows", "sample_within"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

SAME = 1e-9  # dissimilarities closer than this are a tie
_WORK = 10**10  # ratings compared by one measure, at most
_CELLS = 2**22  # numbers written out at once


def sample_within(ratings: Ratings, among: Indices, users: int, work: int, seed: int) -> Indices:
    """Take some users, the same whatever the order of the file.

    `among` (int64): rows to choose from. `users`: how many, at most. `work`: ratings compared for
    each of them; all together at most 10¹⁰, and their rows within a quarter of the memory that may
    be used.
    """
    memory = max(budget.left(0), 0) // 4 // (8 * max(ratings.n_items, 1))
    most = max(1, min(int(users), _WORK // max(work, 1), memory))
    return sample_users(ratings, among, most, seed)


def owner_rows(
    release: Release, original: Ratings, fitted: Fitted | None, users: Indices
) -> Floats:
    """Write out what the owner knows of people, on the released items.

    `fitted`: what nulls become (`padded_rows`); None: they stay NaN. `users` (int64): ascending.
    Returns float64 (len(users), released items).
    """
    columns = original.items.indices(release.classes.items)
    if fitted is None:
        return original.keep_users(users).dense()[:, columns]
    return padded_rows(fitted, original, users)[:, columns]


def padded_rows(fitted: Fitted, ratings: Ratings, users: Indices) -> Floats:
    """Write out padded rows: ratings, and predictions within the scale where there is none."""
    part = ratings.keep_users(users)
    rows = np.clip(fitted.rows(users), ratings.scale.minimum, ratings.scale.maximum)
    rows[np.repeat(np.arange(part.n_users), part.user_support), part.columns] = part.values()
    return rows


def compared(
    release: Release,
    original: Ratings,
    fitted: Fitted | None,
    users: Indices,
    dissimilarity: Dissimilarity,
) -> Iterator[tuple[Indices, Floats]]:
    """Compare people with every released profile.

    `release`, `original`, `fitted`, `users`: as `owner_rows` takes them. `dissimilarity`: as
    `starshade.recommend.dissimilarity` names it. Returns `users` (int64 (b,)). `dissimilarity`
    (float64 (b, profiles)): in the order of `ReleasedRows.distinct`.
    """
    released = ReleasedRows(release)
    profiles = released.distinct
    step = max(1, _CELLS // max(release.classes.n_items, 1))
    together = max(1, _CELLS // max(len(profiles), original.n_items, 1))
    with task("comparing with profiles", len(users)) as advance:
        for start in range(0, len(users), together):
            block = users[start : start + together]
            own = owner_rows(release, original, fitted, block)
            distances = np.empty((len(block), len(profiles)))
            for first in range(0, len(profiles), step):
                shown = released.values(profiles[first : first + step])
                distances[:, first : first + step] = dissimilarities(
                    own, shown, dissimilarity, release.scale
                )
            yield block, distances
            advance(len(block))
