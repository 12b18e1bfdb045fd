"""Ten folds of people, by the seed and their ids: who is left out of which release."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.kernels.fingerprint import keyed_numbers
from starshade.rng import stream_key

FOLDS = 10
Numbers = NDArray[np.uint64]


def numbers_of(fingerprints: Numbers, seed: int) -> Numbers:
    """Return the numbers that people are put into folds by; `fingerprints`: of their ids."""
    return keyed_numbers(fingerprints, np.uint64(stream_key(seed, "folds")))


def places_of_edges(people: int) -> NDArray[np.int64]:
    """Return where, among ascending numbers, each fold but the first begins: tenths of all.

    Raises
    ------
    ConfigError
        There are fewer people than folds.
    """
    if people < FOLDS:
        raise ConfigError(
            f"{people:,} people rated what is released: too few to leave a tenth of them out",
            advice=f"At least {FOLDS} are needed.",
        )
    return people * np.arange(1, FOLDS) // FOLDS


def edges_of(numbers: Numbers) -> Numbers:
    """Return the number with which each fold but the first begins, of everybody's numbers."""
    return np.sort(numbers)[places_of_edges(len(numbers))]


def fold_of(numbers: Numbers, edges: Numbers) -> NDArray[np.int64]:
    """Return the fold of each person, 0 to 9."""
    return np.searchsorted(edges, numbers, side="right")
