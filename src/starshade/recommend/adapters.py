"""Recommenders of other libraries: implicit, LensKit, Surprise."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from starshade import budget
from starshade.arguments import typed
from starshade.errors import ConfigError, InternalError
from starshade.kernels.arrays import Floats, Ints, fixed
from starshade.kernels.padded.als import predict_pairs
from starshade.ratings.table import Ratings
from starshade.recommend.factors import Factors
from starshade.recommend.settings import (
    ImplicitALSSettings,
    LensKitBiasedMFSettings,
    SurpriseSVDSettings,
)
from starshade.rng import Rng, resolve_seed, stream_key
from starshade.setting import check


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

    @typed
    def fit(self, ratings: Ratings, rng: Rng = None) -> Factors:
        """Fit the library's model; the seed decides the result."""
        library, seed = load(*self.library), resolve_seed(rng)
        if not ratings.n_ratings:
            raise ConfigError("no ratings to fit to")
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
            advice=f"Install it: pip install 'starshade[{extra}]'",
        ) from error


def as_factors(
    ratings: Ratings, mean: float, biases: tuple[Any, Any], factors: tuple[Any, Any]
) -> Factors:
    """Return the parameters of a library's model; rows without a rating are set to 0."""
    parts: list[Floats] = []
    for given, width in ((biases, 0), (factors, 1)):
        for numbers, support in zip(
            given, (ratings.user_support, ratings.item_support), strict=True
        ):
            array = np.array(numbers, dtype=np.float64)
            assert array.ndim == 1 + width
            array[support == 0] = 0.0
            if not np.isfinite(array).all():
                raise InternalError("the recommender returned numbers that are not finite")
            parts.append(array)
    return Factors(ratings.users, ratings.items, ratings.scale, float(mean), *parts)


@dataclass(frozen=True)
class ImplicitALS(ImplicitALSSettings, Adapter):
    """``implicit.als.AlternatingLeastSquares`` (Hu, Koren & Volinsky 2008).

    Its scores say how likely a user turns to an item, and a null is evidence against that: they
    are *not ratings*. A rating above the mean is given as a liking, one below it as a dislike,
    with the distance from the mean as confidence; the scores are then brought to the scale by
    the straight line that fits the ratings best. Good for comparing speed and rankings; as
    padding, and as a predictor of ratings, expect it to be worse than a model made for that.

    Notes
    -----
    Single precision, and a linear algebra library inside: the same seed gives nearly the same
    numbers, not the same bits, at another number of threads.
    """

    name: ClassVar[str] = "implicit-als"
    library: ClassVar[tuple[str, str, str]] = ("implicit.cpu.als", "implicit", "compare")

    def _fit(self, library: Any, ratings: Ratings, seed: int) -> Factors:
        from scipy.sparse import csr_matrix

        values = ratings.values()
        mean = float(values.mean())
        with warnings.catch_warnings():
            # advice on the threads of the linear algebra library, for the whole process
            warnings.filterwarnings("ignore", message=".*threadpool", category=RuntimeWarning)
            model = library.AlternatingLeastSquares(
                factors=int(self.factors),
                iterations=int(self.iterations),
                regularization=float(self.regularization),
                num_threads=budget.threads(),
                random_state=seed,
            )
        likings = ((values - mean).astype(np.float32), ratings.columns, ratings.indptr)
        shape = (ratings.n_users, ratings.n_items)
        model.fit(csr_matrix(likings, shape=shape), show_progress=False)
        none = np.zeros(ratings.n_users), np.zeros(ratings.n_items)
        raw = as_factors(ratings, 0.0, none, (model.user_factors, model.item_factors))
        offset, slope = _line(_scores(ratings, raw), values)
        return as_factors(ratings, offset, none, (raw.user_factors * slope, raw.item_factors))


def _scores(ratings: Ratings, raw: Factors) -> Floats:
    users = np.repeat(np.arange(ratings.n_users), ratings.user_support)
    columns = ratings.columns.astype(np.int64)
    return np.asarray(predict_pairs(fixed(users), fixed(columns), *raw.parts))


def _line(scores: Floats, values: Floats) -> tuple[float, float]:
    spread = float(scores.var())
    slope = 0.0 if not spread else float(((scores - scores.mean()) * values).mean() / spread)
    return float(values.mean() - slope * scores.mean()), slope


@dataclass(frozen=True)
class LensKitBiasedMF(LensKitBiasedMFSettings, Adapter):
    """``lenskit.als.BiasedMFScorer``: damped biases, then factors of what they leave.

    Its predictions are low rank plus biases: taken over as they are. Single precision.
    """

    name: ClassVar[str] = "lenskit-biased-mf"
    library: ClassVar[tuple[str, str, str]] = ("lenskit.als", "LensKit", "lenskit")

    def _fit(self, library: Any, ratings: Ratings, seed: int) -> Factors:
        model = library.BiasedMFScorer(
            features=int(self.factors),
            epochs=int(self.epochs),
            regularization=float(self.regularization),
            damping=float(self.damping),
        )
        options = load("lenskit.training", "LensKit", "lenskit").TrainingOptions(rng=seed)
        model.train(_dataset(ratings), options)
        of_users = partial(_spread, np.asarray(model.users.ids(), np.int64), ratings.n_users)
        of_items = partial(_spread, np.asarray(model.items.ids(), np.int64), ratings.n_items)
        return as_factors(
            ratings,
            model.bias.global_bias,
            (of_users(model.bias.user_biases), of_items(model.bias.item_biases)),
            (of_users(model.user_embeddings), of_items(model.item_embeddings)),
        )


def _dataset(ratings: Ratings) -> Any:
    """Build LensKit's own table; its ids are rows and columns, only those with a rating."""
    pandas = load("pandas", "LensKit", "lenskit")
    frame = pandas.DataFrame(
        {
            "user_id": np.repeat(np.arange(ratings.n_users), ratings.user_support),
            "item_id": ratings.columns.astype(np.int64),
            "rating": ratings.values(),
        }
    )
    return load("lenskit.data", "LensKit", "lenskit").from_interactions_df(frame)


def _spread(places: Ints, count: int, known: Any) -> Floats:
    """Put the rows that LensKit knows where ours are; 0 elsewhere."""
    out = np.zeros((count, *known.shape[1:]))
    out[places] = known
    return out


@dataclass(frozen=True)
class SurpriseSVD(SurpriseSVDSettings, Adapter):
    """``surprise.SVD``, whose predictions are low rank plus biases: taken over as they are.

    It keeps every rating as a Python object, about 200 bytes each, so it is no choice for many
    millions.
    """

    name: ClassVar[str] = "surprise-svd"
    library: ClassVar[tuple[str, str, str]] = ("surprise", "Surprise", "compare")

    def _fit(self, library: Any, ratings: Ratings, seed: int) -> Factors:
        model = library.SVD(
            n_factors=int(self.factors),
            n_epochs=int(self.epochs),
            reg_all=float(self.regularization),
            biased=self.biases,
            random_state=seed,
        )
        model.fit(_trainset(ratings, library.Trainset))
        if not np.isfinite(model.pu).all() or not np.isfinite(model.qi).all():
            raise ConfigError(
                f"surprise-svd: gradient descent diverges on the scale {ratings.scale}",
                advice="Divide the ratings, or use regularized-svd.",
            )
        mean = model.trainset.global_mean if self.biases else 0.0
        return as_factors(ratings, mean, (model.bu, model.bi), (model.pu, model.qi))


def _trainset(ratings: Ratings, make: type) -> object:
    """Build Surprise's own table; rows and columns serve as its inner ids."""
    values, columns = ratings.values().tolist(), ratings.columns.tolist()
    by_user: dict[int, list[tuple[int, float]]] = {}
    by_item: dict[int, list[tuple[int, float]]] = {}
    for user in range(ratings.n_users):
        for place in range(ratings.indptr[user], ratings.indptr[user + 1]):
            by_user.setdefault(user, []).append((columns[place], values[place]))
            by_item.setdefault(columns[place], []).append((user, values[place]))
    names = {row: row for row in range(max(ratings.n_users, ratings.n_items))}
    scale = (ratings.scale.minimum, ratings.scale.maximum)
    return make(
        by_user, by_item, ratings.n_users, ratings.n_items, ratings.n_ratings, scale, names, names
    )
