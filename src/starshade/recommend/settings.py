"""What can be set of each recommender."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from starshade.setting import declared, settable

Dissimilarity = Literal["euclidean", "weighted-sq", "weighted", "closeness-0.5", "closeness-1.0"]

_FACTORS = declared("Factors", "Latent factors per user and item.", least=1)
_PENALTY = "Strength of the penalty on factors."
_PASSES = declared("Passes", "Number of passes over the ratings.", least=1)
_BIASES = declared(
    "Biases for users and items",
    "Fit a bias for each user and item; the model of the paper has none.",
)


@dataclass(frozen=True)
class RegularizedSVDSettings:
    """PA §4.1; Zhou et al. 2008."""

    factors: int = field(default=16, metadata=_FACTORS)
    regularization: float = settable(
        "Regularization", _PENALTY, default=0.055, least=0, most=1e100, advice="For example 0.055."
    )
    sweeps: int = settable(
        "Sweeps",
        "Maximum number of alternating sweeps over users and items.",
        default=16,
        least=1,
    )
    biases: bool = field(default=True, metadata=_BIASES)
    holdout: float = settable(
        "Held-out share for early stopping",
        "Share of the ratings held out for early stopping; 0 disables it.",
        default=0.05,
        least=0,
        most=1,
        below=True,
        advice="For example 0.05.",
    )


@dataclass(frozen=True)
class ImplicitALSSettings:
    """Hu, Koren & Volinsky 2008."""

    factors: int = field(default=16, metadata=_FACTORS)
    iterations: int = field(default=15, metadata=_PASSES)
    regularization: float = settable("Regularization", _PENALTY, default=0.05, least=0)


@dataclass(frozen=True)
class LensKitBiasedMFSettings:
    """Ekstrand 2020; Zhou et al. 2008."""

    factors: int = field(default=50, metadata=_FACTORS)
    epochs: int = field(default=10, metadata=_PASSES)
    regularization: float = settable("Regularization", _PENALTY, default=0.1, least=0, above=True)
    damping: float = settable(
        "Damping", "Shrinkage of biases with few ratings.", default=5.0, least=0
    )


@dataclass(frozen=True)
class SurpriseSVDSettings:
    """Funk 2006; Hug 2020."""

    factors: int = field(default=100, metadata=_FACTORS)
    epochs: int = field(default=20, metadata=_PASSES)
    regularization: float = settable("Regularization", _PENALTY, default=0.02, least=0)
    biases: bool = field(default=True, metadata=_BIASES)
