"""The seeded order in which a method meets the records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.fingerprint import keyed_numbers
from starshade.ratings.vocabulary import Vocabulary
from starshade.rng import stream_key

__all__ = ["seeded_order"]


def seeded_order(users: Vocabulary, seed: int, purpose: str) -> NDArray[np.int64]:
    """Return a permutation of the users that looks random.

    Each user draws a number from the seed and a hash of the id's text, and the least goes
    first. So the order between two users depends on nothing but the seed and their ids: not on
    the file's order, nor on who else is in it.

    Parameters
    ----------
    users : Vocabulary
    seed : int
    purpose : str
        Different purposes give different orders.

    Returns
    -------
    ndarray of int64, shape (len(users),)
        User indices, first to last.
    """
    numbers = keyed_numbers(users.fingerprints, np.uint64(stream_key(seed, purpose)))
    return np.argsort(numbers, kind="stable")
