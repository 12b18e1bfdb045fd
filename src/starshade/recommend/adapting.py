"""What the adapters of other libraries share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from starshade.errors import ConfigError, InternalError
from starshade.kernels.arrays import Floats
from starshade.ratings.table import Ratings
from starshade.recommend.factors import Factors
from starshade.rng import Rng, resolve_seed, stream_key
from starshade.setting import check

__all__ = ["Adapter", "as_factors", "load"]


@dataclass(frozen=True)
class Adapter(ABC):
    """A library's model; `library` is its module, its package and the extra that installs it.

    Parameters
    ----------
    factors, epochs, iterations : int
        At least 1.
    regularization : float
        At least 0; LensKit's above 0, and multiplied with the number of ratings of a row.
    biases : bool
        False: neither mean nor biases, as probabilistic matrix factorization has it.
    damping : float
        Ratings at the mean that a bias is held back by, at least 0.
    """

    name: ClassVar[str]
    library: ClassVar[tuple[str, str, str]]

    def __post_init__(self) -> None:
        check(self)

    def fit(self, ratings: Ratings, rng: Rng = None) -> Factors:
        """Fit the library's model; the seed decides the result."""
        library, seed = load(*self.library), resolve_seed(rng)
        if not ratings.n_ratings:
            raise ConfigError("no rating to learn from")
        return self._fit(library, ratings, stream_key(seed, self.library[1].lower()) % 2**32)

    @abstractmethod
    def _fit(self, library: Any, ratings: Ratings, seed: int) -> Factors:
        """Fit; the seed has 32 bits, as other libraries take them."""


def load(module: str, package: str, extra: str) -> Any:
    """Import a library that does not come with starshade."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"this recommender needs an optional package that is not installed ({package})",
            advice=f"pip install 'starshade[{extra}]'",
        ) from error


def as_factors(
    ratings: Ratings, mean: float, biases: tuple[Any, Any], factors: tuple[Any, Any]
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
