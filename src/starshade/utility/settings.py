"""What can be set of each measure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starshade.recommend.settings import Dissimilarity
from starshade.setting import declared, settable

if TYPE_CHECKING:
    from starshade.recommend.registry import Recommender

_USERS = declared("People asked", "People asked, at most.", least=1)
_RECOMMENDER = declared(
    "Recommender",
    "What predicts, by name or as an object.",
    kind="file",
    unset="the one that the release was made with, else the regularized SVD",
)
_SEED = declared("Seed", "Of the people drawn and of the training.", least=0)
_DISSIMILARITY = declared(
    "How unlike two rows are", "How unlike two rows are; the default is the paper's."
)


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
        "What the average class is a multiple of.",
        default=None,
        least=1,
        unset="the k that the release claims",
    )


@dataclass(frozen=True)
class QueryErrorSettings:
    """KL §5.2.2."""

    attribute: str | None = settable(
        "Attribute",
        "A numeric attribute that queries average.",
        default=None,
        unset="age, else the first",
    )
    draws: int = settable(
        "Conditions",
        "Conditions for each set of items and each kind, at most.",
        default=100,
        least=1,
    )
    items: int = settable(
        "Items", "The most rated items, which conditions are about.", default=10, least=1, most=10
    )
    seed: int = settable(
        "Seed", "The same conditions are asked of every release.", default=0, least=0
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
    users: int = settable("People asked", "People asked, at most.", default=5000, least=2)
    recommender: str | Recommender | None = field(default=None, metadata=_RECOMMENDER)
    seed: int = field(default=0, metadata=_SEED)


@dataclass(frozen=True)
class TopNSettings:
    """How many are recommended, and to whom."""

    n: int = settable("Items", "Items recommended to each.", default=10, least=1)
    users: int = field(default=5000, metadata=_USERS)
    recommender: str | Recommender | None = field(default=None, metadata=_RECOMMENDER)
    seed: int = field(default=0, metadata=_SEED)
