"""What can be set of each measure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starshade.recommend.settings import Dissimilarity
from starshade.setting import declared, settable

if TYPE_CHECKING:
    from starshade.recommend.registry import Recommender

_USERS = declared("People tested", "Maximum number of people tested.", least=1)
_RECOMMENDER = declared(
    "Recommender",
    "Recommender that predicts, by name or as an object.",
    kind="file",
    unset="that of the release, else the regularized SVD",
)
_SEED = declared("Seed", "Seed of the sample of people and of the training.", least=0)
_DISSIMILARITY = declared("Dissimilarity", "Dissimilarity of two rows; the default is the paper's.")


@dataclass(frozen=True)
class DiscernibilitySettings:
    """None, as of others."""


DisclosureSharesSettings = DistortionSettings = GeneralizationLossSettings = DiscernibilitySettings
RatingHistogramSettings = WhatRemainsSettings = DiscernibilitySettings


@dataclass(frozen=True)
class AverageClassSizeSettings:
    """KL Eq. 2."""

    k: int | None = settable(
        "k",
        "Class size that the average is a multiple of.",
        default=None,
        least=1,
        unset="the k that the release claims",
    )


@dataclass(frozen=True)
class QueryErrorSettings:
    """KL §5.2.2."""

    attribute: str | None = settable(
        "Attribute",
        "Numeric attribute that queries average.",
        default=None,
        unset="age, else the first",
    )
    draws: int = settable(
        "Conditions",
        "Maximum number of conditions for each set of items and kind.",
        default=100,
        least=1,
    )
    items: int = settable(
        "Items", "Number of most rated items in the conditions.", default=10, least=1, most=10
    )
    seed: int = settable(
        "Seed", "Seed of the conditions, the same for every release.", default=0, least=0
    )


@dataclass(frozen=True)
class RecommenderErrorSettings:
    """PA §7.1, §7.2."""

    recommender: str | Recommender | None = field(default=None, metadata=_RECOMMENDER)
    seed: int = field(default=0, metadata=_SEED)


TargetDeviationSettings = RecommenderErrorSettings


@dataclass(frozen=True)
class NearnessSettings:
    """PA §7.4."""

    dissimilarity: Dissimilarity = field(default="weighted-sq", metadata=_DISSIMILARITY)
    users: int = field(default=5000, metadata=_USERS)
    recommender: str | Recommender | None = field(default=None, metadata=_RECOMMENDER)
    seed: int = field(default=0, metadata=_SEED)


SelfRankSettings = SimilarUserDeviationSettings = NearnessSettings


@dataclass(frozen=True)
class PairwiseDissimilaritySettings:
    """PA §7.3."""

    dissimilarity: Dissimilarity = field(default="weighted-sq", metadata=_DISSIMILARITY)
    users: int = settable(
        "People tested", "Maximum number of people tested.", default=5000, least=2
    )
    recommender: str | Recommender | None = field(default=None, metadata=_RECOMMENDER)
    seed: int = field(default=0, metadata=_SEED)


@dataclass(frozen=True)
class TopNSettings:
    """How many are recommended, and to whom."""

    n: int = settable("Items", "Items recommended to each user.", default=10, least=1)
    users: int = field(default=5000, metadata=_USERS)
    recommender: str | Recommender | None = field(default=None, metadata=_RECOMMENDER)
    seed: int = field(default=0, metadata=_SEED)
