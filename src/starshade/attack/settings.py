"""What can be set of what an adversary knows, and of each attack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from starshade.setting import declared, settable

MANY_RATINGS = 20_000_000  # above so many fewer shadow releases are enough
_THETA = declared(
    "How alike the record found must be",
    "Record similarity from which on what was found agrees with the truth; 1: in every cell.",
    least=0,
    above=True,
    most=1,
)
_ABSENT = declared(
    "Also attack people who are not in the data",
    "Attack each target a second time without their record.",
)
_SURE = declared(
    "Probability from which on a record is named",
    "Name a record that is at least this probable.",
    least=0,
    above=True,
    most=1,
)
_K = declared("Fewer candidates are counted", "Targets with fewer candidates are counted.", least=1)
_SHADOWS = declared(
    "Shadow releases",
    "Releases of random halves of the people that each is compared with; the more, the more is "
    "found.",
    least=1,
    most=1000,
    unset="16; 4 above 20 million ratings",
    formerly="rounds",
)
_ENDLESS = {"least": 0, "endless": True}
_TOLERANCE = declared(
    "How far a rating may be off and still fit",
    "How far ratings may be off and still fit.",
    **_ENDLESS,
    unset="0; 0.5 on averaged profiles",
    unit="ratings",
)


@dataclass(frozen=True)
class KnowledgeSettings:
    """What is known of each target (NS §5; definitions, "knowledge")."""

    known: int = settable(
        "Facts known about each person", "Cells known of each target.", default=8, least=1
    )
    wrong: int = settable(
        "How many of them are wrong", "How many of them are wrong.", default=0, least=0
    )
    wrong_kind: Literal["value", "item"] = settable(
        "A wrong fact is",
        "Wrong rating and day of a rated item, or the wrong item too.",
        default="value",
    )
    rating_error: float = settable(
        "Ratings known to within",
        "Ratings are known to within this.",
        default=0.0,
        least=0,
        unit="ratings",
    )
    day_error: float | None = settable(
        "Dates known to within (days)",
        "Days are known to within this.",
        default=14,
        least=0,
        endless=True,
        unset="days are not known",
        unit="days",
    )
    outside_top: int = settable(
        "Leave out the most rated items",
        "Nothing is known of the N most rated.",
        default=0,
        least=0,
    )
    about_count: bool = settable(
        "The attacker knows about how many items somebody rated",
        "About how many items the target rated is known, to within half of it.",
        default=False,
    )
    ratings: bool = settable(
        "The attacker knows how the items were rated",
        "Whether ratings are known.",
        default=True,
        off="Know the items, not the ratings.",
    )
    dates: bool = settable(
        "The attacker knows dates",
        "Whether days are known.",
        default=True,
        off="Do not know the dates.",
    )
    except_items: Sequence[str] = settable(
        "Items never known", "Ids of items of which nothing is known.", default=()
    )


@dataclass(frozen=True)
class _Likeness:
    phi: float = settable(
        "How clearly a match must stand out",
        "By how many standard deviations the best record must lead; higher: fewer answers, "
        "fewer wrong ones.",
        default=1.5,
        least=0,
    )
    rho0: float | None = settable(
        "Decay of ratings",
        "Difference in ratings at which likeness falls to 1/e.",
        default=None,
        least=0,
        above=True,
        unset="0.375 of the scale's width",
        unit="ratings",
    )
    d0: float = settable(
        "Decay of days",
        "Difference in days at which likeness falls to 1/e.",
        default=30.0,
        least=0,
        above=True,
        unit="days",
    )


@dataclass(frozen=True)
class CompositionSettings:
    """Definitions, "composition"."""

    earlier: Sequence[Any] = settable(
        "Releases published before",
        "A release published before, the oldest first.",
        default=(),
        kind="releases",
        usual="RELEASE",
    )
    changes: Literal["none", "added", "revised"] = settable(
        "What happened to ratings between the releases",
        "None changed, some were added, or some were added and others given anew.",
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
        "How far a rating may be off",
        "A rating fits when it is this near.",
        default=None,
        **_ENDLESS,
        unset="as far as the knowledge says",
        unit="ratings",
    )
    day_error: float | None = settable(
        "How far a day may be off",
        "A day fits when it is this near.",
        default=None,
        **_ENDLESS,
        unset="as far as the knowledge says",
        unit="days",
    )
    alpha: float = settable(
        "Score from which on a record fits",
        "A score above it fits; scores are 0 or 1, so all values say the same.",
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
    """starshade's own; definitions, "fake-edges"; there is nothing to set."""


@dataclass(frozen=True)
class HomogeneityAttackSettings:
    """PA Def. 5.1, SR §4; definitions, "homogeneity"."""

    by: Literal["label", "structure"] = settable(
        "Candidates are found by",
        "Candidates by items and ratings, or by items alone.",
        default="label",
    )
    tolerance: float | None = field(default=None, metadata=_TOLERANCE)
    sensitive: Sequence[int] = settable(
        "Sensitive items",
        "Items of which is told how many groups rated them all alike: on the command line "
        "ids, in Python places among the original's items.",
        default=(),
    )
    theta: float = field(default=1.0, metadata=_THETA)
    absent: bool = field(default=False, metadata=_ABSENT)
    k: int = field(default=5, metadata=_K)


@dataclass(frozen=True)
class LikelihoodSettings:
    """Fellegi & Sunter; definitions, "likelihood"."""

    adversary: Literal["informed", "plain"] = settable(
        "What the attacker knows of how facts come about",
        "Know how facts are drawn and mistaken, or weigh them by fixed numbers.",
        default="informed",
    )
    sure: float = field(default=0.9, metadata=_SURE)
    absent: bool = field(default=False, metadata=_ABSENT)


@dataclass(frozen=True)
class LinkExistenceSettings:
    """PA §6; definitions, "link-existence"."""

    prior: float | None = settable(
        "Chance that a user rated an item",
        "How likely the adversary holds a rating beforehand.",
        default=None,
        least=0,
        most=1,
        unset="each item's share of raters",
    )


@dataclass(frozen=True)
class PaddingAttackSettings:
    """starshade's own."""

    rank: int | None = settable(
        "Rank of the part that is taken out",
        "Singular values that are taken out.",
        default=None,
        least=0,
        unset="those that stand out of the noise (Gavish & Donoho 2014)",
    )
    top: float = settable(
        "Share of cells called the highest",
        "Share of the cells, ranked highest, whose precision is told.",
        default=0.01,
        least=0,
        above=True,
        most=1,
    )
    groups: int | None = settable(
        "Groups looked at",
        "Groups looked at; of more so many are drawn.",
        default=None,
        least=2,
        unset="as many as have a million cells, at least 200",
    )


@dataclass(frozen=True)
class PredicateAttackSettings:
    """Cohen & Nissim 2020; definitions, "predicate"."""

    classes: int | None = settable(
        "Classes looked at",
        "Classes for which a predicate is written; of more so many are drawn.",
        default=None,
        least=1,
        unset="at most 2,000",
    )


@dataclass(frozen=True)
class TrackerAttackSettings:
    """KL §1.1; definitions, "tracker"."""

    conditions: int = settable(
        "Conditions joined by AND", "Conditions joined by AND at most.", default=4, least=1, most=16
    )
    background: Sequence[str] | None = settable(
        "What is known of the target", "Personal attributes known of the target.", default=()
    )
    queries: int = settable("COUNT queries", "COUNT queries at most.", default=5_000_000, least=1)


@dataclass(frozen=True)
class MembershipAttackSettings:
    """Carlini et al. 2022; definitions, "membership"."""

    shadows: int | None = field(default=None, metadata=_SHADOWS)


@dataclass(frozen=True)
class InferenceAttackSettings:
    """starshade's own; definitions, "inference"."""

    shadows: int | None = field(default=None, metadata=_SHADOWS)
    questions: int = settable(
        "Questions about each person",
        "Ratings asked about of each person, at most.",
        default=20,
        least=1,
    )


@dataclass(frozen=True)
class AuxiliaryAttackSettings(_Likeness):
    """NS §5."""

    candidates: int = settable(
        "Records listed", "Best records listed per name.", default=5, least=1
    )
    one_to_one: bool = settable(
        "Also match the whole list at once",
        "Also match the whole list at once, each record to one name at most.",
        default=False,
    )
    weights: Literal["fitted", "plain"] = settable(
        "How far public ratings can be trusted",
        "Of one_to_one: fit to the list how often facts agree, or take fixed numbers.",
        default="fitted",
    )
    sure: float = field(default=0.9, metadata=_SURE)


@dataclass(frozen=True)
class RiskSettings:
    """Of the search for those whom few facts identify; the attack is set beside."""

    draws: int = settable(
        "Draws per person",
        "Draws per user of each number of known cells.",
        default=20,
        least=1,
        most=100_000,
    )
    known: Sequence[int] = settable(
        "Numbers of known facts",
        "Numbers of known cells that are tried, ascending.",
        default=(1, 2, 4, 8, 16),
        kind="integers",
        least=1,
    )
    share: float = settable(
        "Share of the draws",
        "Share of the draws in which the record must stand out.",
        default=0.9,
        least=0,
        above=True,
        most=1,
    )
