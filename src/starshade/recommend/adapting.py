"""What the adapters of other libraries share."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError, InternalError
from starshade.ratings.table import Ratings
from starshade.recommend.factors import Factors
from starshade.rng import stream_key

__all__ = ["as_factors", "load", "small_seed"]

Floats = NDArray[np.float64]


def load(module: str, package: str, extra: str) -> Any:
    """Import a library that does not come with starshade."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"this recommender needs an optional package that is not installed ({package})",
            advice=f"pip install 'starshade[{extra}]'",
        ) from error


def small_seed(seed: int, purpose: str) -> int:
    """Return a seed of 32 bits, as other libraries take them."""
    return stream_key(seed, purpose) % 2**32


def as_factors(
    ratings: Ratings,
    mean: float,
    biases: tuple[Any, Any],
    factors: tuple[Any, Any],
) -> Factors:
    """Put together what a library learned; rows without a rating are set to 0."""
    parts: list[Floats] = []
    for given, width in ((biases, 0), (factors, 1)):
        for numbers, support in zip(
            given, (ratings.user_support, ratings.item_support), strict=True
        ):
            array = np.array(numbers, dtype=np.float64)
            assert array.ndim == 1 + width
            array[support == 0] = 0.0
            if not np.isfinite(array).all():
                raise InternalError("a recommender's numbers are not finite")
            parts.append(array)
    return Factors(ratings.users, ratings.items, ratings.scale, float(mean), *parts)
