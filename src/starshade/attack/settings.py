"""Settings of the adversary's knowledge and of each attack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from starshade.setting import declared, settable

MANY_RATINGS = 20_000_000  # above so many fewer shadow releases are enough
_THETA = declared(
    "Similarity to count as the target's",
    "Record similarity from which on a record agrees with the target; 1: in every cell.",
    least=0,
    above=True,
    most=1,
)
_ABSENT = declared(
    "Repeat without the target's record",
    "Repeat each attack with the target's record removed (false matches).",
)
_MIN_POSTERIOR = declared(
    "Posterior needed for an answer",
    "Minimum posterior probability of an answer; below it the adversary abstains.",
    least=0,
    above=True,
    most=1,
    formerly="sure",
)
_K = declared(
    "Minimum number of candidates", "Report targets with fewer than K candidates.", least=1
)
_SHADOWS = declared(
    "Shadow releases",
    "Shadow releases of random halves of the people; more of them make the attack stronger.",
    least=1,
    most=1000,
    unset="16; 4 above 20 million ratings",
    formerly="rounds",
)
_ENDLESS = {"least": 0, "endless": True}
_TOLERANCE = declared(
    "Tolerance of ratings",
    "Largest difference of a rating that still matches.",
    **_ENDLESS,
    unset="0; 0.5 on averaged profiles",
    unit="ratings",
)


@dataclass(frozen=True)
class KnowledgeSettings:
    """Auxiliary knowledge about each target (NS §5; definitions, "knowledge")."""

    known: int = settable(
        "Known ratings per target", "Known ratings per target.", default=8, least=1
    )
    wrong: int = settable(
        "Wrong ones among them", "How many of the known ratings are wrong.", default=0, least=0
    )
    wrong_kind: Literal["value", "item"] = settable(
        "Kind of error",
        "What is wrong: rating and day of a rated item (value), or the item itself (item).",
        default="value",
    )
    rating_error: float = settable(
        "Error of known ratings",
        "Largest error of a known rating.",
        default=0.0,
        least=0,
        unit="ratings",
    )
    day_error: float | None = settable(
        "Error of known dates (days)",
        "Largest error of a known date.",
        default=14,
        least=0,
        endless=True,
        unset="dates are unknown",
        unit="days",
    )
    outside_top: int = settable(
        "Exclude the most rated items",
        "Number of most rated items that are never among the known ones.",
        default=0,
        least=0,
    )
    about_count: bool = settable(
        "The adversary knows the number of ratings",
        "The adversary knows the target's number of ratings to within 50 %.",
        default=False,
    )
    ratings: bool = settable(
        "The adversary knows rating values",
        "Rating values are known, not only the rated items.",
        default=True,
        off="Only the rated items are known, not the values.",
    )
    dates: bool = settable(
        "The adversary knows dates",
        "Dates are known.",
        default=True,
        off="Dates are unknown.",
    )
    except_items: Sequence[str] = settable(
        "Items never known", "Ids of items that the adversary never knows.", default=()
    )


@dataclass(frozen=True)
class _Likeness:
    phi: float = settable(
        "Eccentricity needed for an answer (φ)",
        "Required lead of the best record in standard deviations; higher: fewer answers, fewer "
        "errors.",
        default=1.5,
        least=0,
    )
    rho0: float | None = settable(
        "Decay of ratings",
        "Difference in ratings at which similarity falls to 1/e.",
        default=None,
        least=0,
        above=True,
        unset="0.375 of the scale's width",
        unit="ratings",
    )
    d0: float = settable(
        "Decay of days",
        "Difference in days at which similarity falls to 1/e.",
        default=30.0,
        least=0,
        above=True,
        unit="days",
    )


@dataclass(frozen=True)
class CompositionSettings:
    """Definitions, "composition"."""

    earlier: Sequence[Any] = settable(
        "Earlier releases",
        "Earlier release of the same people, oldest first.",
        default=(),
        kind="releases",
        usual="RELEASE",
    )
    changes: Literal["none", "added", "revised"] = settable(
        "Changes between the releases",
        "Changes between releases: none, ratings added, or ratings added and revised.",
        default="none",
    )


@dataclass(frozen=True)
class ScoreboardRHSettings(_Likeness):
    """NS §4, §5; definitions, "scoreboard-rh"."""

    theta: float = field(default=1.0, metadata=_THETA)
    absent: bool = field(default=False, metadata=_ABSENT)


@dataclass(frozen=True)
class ScoreboardSettings:
    """NS §4; definitions, "scoreboard"."""

    rating_error: float | None = settable(
        "Tolerance of ratings",
        "Largest difference of a rating that still matches.",
        default=None,
        **_ENDLESS,
        unset="the error of the known ratings",
        unit="ratings",
    )
    day_error: float | None = settable(
        "Tolerance of dates",
        "Largest difference in days that still matches.",
        default=None,
        **_ENDLESS,
        unset="the error of the known dates",
        unit="days",
    )
    alpha: float = settable(
        "Minimum score (α)",
        "Score that a match must exceed; scores are 0 or 1, so all values are equivalent.",
        default=0.5,
        least=0,
        most=1,
        below=True,
    )
    theta: float = field(default=1.0, metadata=_THETA)
    absent: bool = field(default=False, metadata=_ABSENT)
    k: int = field(default=5, metadata=_K)


@dataclass(frozen=True)
class StructureAttackSettings:
    """PA Def. 3.1; definitions, "structure"."""

    theta: float = field(default=1.0, metadata=_THETA)
    absent: bool = field(default=False, metadata=_ABSENT)
    k: int = field(default=5, metadata=_K)


@dataclass(frozen=True)
class LabelAttackSettings:
    """PA Def. 3.2; definitions, "label"."""

    tolerance: float | None = field(default=None, metadata=_TOLERANCE)
    theta: float = field(default=1.0, metadata=_THETA)
    absent: bool = field(default=False, metadata=_ABSENT)
    k: int = field(default=5, metadata=_K)


@dataclass(frozen=True)
class FakeEdgesAttackSettings:
    """starshade's own; definitions, "fake-edges"; no settings."""


@dataclass(frozen=True)
class HomogeneityAttackSettings:
    """PA Def. 5.1, SR §4; definitions, "homogeneity"."""

    by: Literal["label", "structure"] = settable(
        "Candidates match by",
        "Match candidates by items and ratings (label), or by items alone (structure).",
        default="label",
    )
    tolerance: float | None = field(default=None, metadata=_TOLERANCE)
    sensitive: Sequence[int] = settable(
        "Sensitive items",
        "Sensitive items, checked for classes that rated them unanimously: ids on the command "
        "line, positions in Python.",
        default=(),
    )
    theta: float = field(default=1.0, metadata=_THETA)
    absent: bool = field(default=False, metadata=_ABSENT)
    k: int = field(default=5, metadata=_K)


@dataclass(frozen=True)
class LikelihoodSettings:
    """Fellegi & Sunter; definitions, "likelihood"."""

    adversary: Literal["informed", "plain"] = settable(
        "Model of the adversary",
        "Likelihoods from the true error model (informed), or fixed weights (plain).",
        default="informed",
    )
    min_posterior: float = field(default=0.9, metadata=_MIN_POSTERIOR)
    absent: bool = field(default=False, metadata=_ABSENT)


@dataclass(frozen=True)
class LinkExistenceSettings:
    """PA §6; definitions, "link-existence"."""

    prior: float | None = settable(
        "Prior probability of a rating",
        "Prior probability that a user rated an item.",
        default=None,
        least=0,
        most=1,
        unset="each item's share of raters",
    )


@dataclass(frozen=True)
class PaddingAttackSettings:
    """starshade's own."""

    rank: int | None = settable(
        "Rank of the removed part",
        "Number of singular values to remove.",
        default=None,
        least=0,
        unset="those above the noise (Gavish & Donoho 2014)",
    )
    top: float = settable(
        "Share of top-ranked cells",
        "Share of top-ranked cells over which precision is measured.",
        default=0.01,
        least=0,
        above=True,
        most=1,
    )
    classes: int | None = settable(
        "Classes tested",
        "Classes to test; more are sampled.",
        default=None,
        least=2,
        unset="as many as have a million cells, at least 200",
        formerly="groups",
    )


@dataclass(frozen=True)
class PredicateAttackSettings:
    """Cohen & Nissim 2020; definitions, "predicate"."""

    classes: int | None = settable(
        "Classes tested",
        "Classes for which a predicate is written; more are sampled.",
        default=None,
        least=1,
        unset="at most 2,000",
    )


@dataclass(frozen=True)
class TrackerAttackSettings:
    """KL §1.1; definitions, "tracker"."""

    conditions: int = settable(
        "Conditions joined by AND",
        "Maximum number of conditions joined by AND.",
        default=4,
        least=1,
        most=16,
    )
    background: Sequence[str] | None = settable(
        "Known attributes of the target", "Known personal attributes of the target.", default=()
    )
    queries: int = settable(
        "COUNT queries", "Maximum number of COUNT queries.", default=5_000_000, least=1
    )


@dataclass(frozen=True)
class MembershipAttackSettings:
    """Carlini et al. 2022; definitions, "membership"."""

    shadows: int | None = field(default=None, metadata=_SHADOWS)


@dataclass(frozen=True)
class InferenceAttackSettings:
    """starshade's own; definitions, "inference"."""

    shadows: int | None = field(default=None, metadata=_SHADOWS)
    questions: int = settable(
        "Inferred ratings per target",
        "Maximum number of ratings to infer per target.",
        default=20,
        least=1,
    )


@dataclass(frozen=True)
class AuxiliaryAttackSettings(_Likeness):
    """NS §5."""

    candidates: int = settable(
        "Candidates per name", "Number of candidates to list per name.", default=5, least=1
    )
    one_to_one: bool = settable(
        "One-to-one matching",
        "Also match all names jointly, each record to at most one name.",
        default=False,
    )
    weights: Literal["fitted", "plain"] = settable(
        "Weights of one-to-one matching",
        "For one-to-one matching: fit agreement rates to the list, or use fixed weights.",
        default="fitted",
    )
    min_posterior: float = field(default=0.9, metadata=_MIN_POSTERIOR)


@dataclass(frozen=True)
class RiskSettings:
    """Settings of the search for high-risk users; the attack has its own."""

    draws: int = settable(
        "Draws per person",
        "Draws per user and number of known ratings.",
        default=20,
        least=1,
        most=100_000,
    )
    known: Sequence[int] = settable(
        "Numbers of known ratings",
        "Numbers of known ratings to test, ascending.",
        default=(1, 2, 4, 8, 16),
        kind="integers",
        least=1,
    )
    share: float = settable(
        "Share of the draws",
        "Share of the draws in which a user must be re-identified.",
        default=0.9,
        least=0,
        above=True,
        most=1,
    )
