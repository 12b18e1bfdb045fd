"""The recommenders there are, by name; none is imported before it is used."""

from __future__ import annotations

from starshade.registry import Entry

__all__ = ["ENTRIES"]

_SETTINGS = "starshade.recommend.settings"

ENTRIES = (
    Entry(
        name="implicit-als",
        module="starshade.recommend.implicit_als",
        cls="ImplicitALS",
        settings=_SETTINGS,
        summary="implicit's alternating least squares: scores, not ratings (extra compare).",
        source="Hu, Koren & Volinsky 2008",
    ),
    Entry(
        name="lenskit-biased-mf",
        module="starshade.recommend.lenskit_mf",
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
        module="starshade.recommend.surprise_svd",
        cls="SurpriseSVD",
        settings=_SETTINGS,
        summary="Surprise's SVD: low rank plus biases, by gradient descent (extra compare).",
        source="Funk 2006; Hug 2020",
    ),
)
