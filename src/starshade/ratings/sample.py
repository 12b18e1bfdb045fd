"""Some of the users, the same whatever the order of the file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.kernels.fingerprint import keyed_numbers
from starshade.naming import called
from starshade.ratings.table import Ratings
from starshade.rng import stream_key

__all__ = ["check_targets", "sample_users"]


def check_targets(targets: int | None) -> None:
    """Refuse a number of targets that is none."""
    if targets is None:
        return
    if isinstance(targets, bool) or targets != targets // 1 or targets < 1:
        raise ConfigError(f"{called('targets')} {targets}: a whole number, at least 1")


def sample_users(
    ratings: Ratings, among: NDArray[np.int64], targets: int | None, seed: int
) -> NDArray[np.int64]:
    """Take the users whose ids hash lowest under the seed.

    `among`: rows to choose from. `targets`: how many, at least 1; None, or more than there are:
    all. Returns: rows, ascending.
    """
    check_targets(targets)
    if targets is None or targets >= len(among):
        return np.sort(among)
    key = np.uint64(stream_key(seed, "targets"))
    with np.errstate(over="ignore"):  # hashes wrap around, also where run interpreted
        numbers = keyed_numbers(ratings.users.fingerprints[among], key)
    return np.sort(among[np.argsort(numbers, kind="stable")[: int(targets)]])
