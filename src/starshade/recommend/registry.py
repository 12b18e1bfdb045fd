"""Registry of recommenders; each is imported on use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from starshade.registry import Entry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from starshade.kernels.arrays import Floats
    from starshade.ratings.table import Ratings
    from starshade.rng import Rng

_SETTINGS = "starshade.recommend.settings"

ENTRIES = (
    Entry(
        name="implicit-als",
        module="starshade.recommend.adapters",
        cls="ImplicitALS",
        settings=_SETTINGS,
        summary="implicit's alternating least squares: scores, not ratings (extra compare).",
        source="Hu, Koren & Volinsky 2008",
    ),
    Entry(
        name="lenskit-biased-mf",
        module="starshade.recommend.adapters",
        cls="LensKitBiasedMF",
        settings=_SETTINGS,
        summary="LensKit's biased matrix factorization (extra lenskit).",
        source="Ekstrand 2020; Zhou et al. 2008",
    ),
    Entry(
        name="regularized-svd",
        module="starshade.recommend.regularized_svd",
        cls="RegularizedSVD",
        settings=_SETTINGS,
        summary="Low rank plus biases, by alternating least squares.",
        source="Chang et al. 2010, section 4.1; Zhou et al. 2008",
    ),
    Entry(
        name="surprise-svd",
        module="starshade.recommend.adapters",
        cls="SurpriseSVD",
        settings=_SETTINGS,
        summary="Surprise's SVD: low rank plus biases, by gradient descent (extra compare).",
        source="Funk 2006; Hug 2020",
    ),
)


class Fitted(Protocol):
    """A fitted recommender."""

    def predict(self, users: NDArray[np.integer], items: NDArray[np.integer]) -> Floats:
        """Predict pairs of row and column indices, clipped to the scale; shape (n,)."""

    def rows(self, users: NDArray[np.integer]) -> Floats:
        """Predict all items of some users, unclipped; shape (len(users), n_items)."""


class Recommender(Protocol):
    """Settings of a recommender."""

    @property
    def name(self) -> str:
        """Name in the registry."""

    def fit(self, ratings: Ratings, rng: Rng = None) -> Fitted:
        """Fit to ratings; the same seed gives the same predictions."""
