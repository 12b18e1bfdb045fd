"""What can be set of what an adversary knows, and of each attack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from starshade.setting import declared, setting

__all__ = [
    "AuxiliaryAttackSettings",
    "HomogeneityAttackSettings",
    "KnowledgeSettings",
    "LabelAttackSettings",
    "LinkExistenceSettings",
    "PaddingAttackSettings",
    "RiskSettings",
    "ScoreboardRHSettings",
    "ScoreboardSettings",
    "SparsitySettings",
    "StructureAttackSettings",
    "TrackerAttackSettings",
]

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
_K = declared("Fewer candidates are counted", "Targets with fewer candidates are counted.", least=1)
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

    known: int = setting(8, "Facts known about each person", "Cells known of each target.", least=1)
    wrong: int = setting(0, "How many of them are wrong", "How many of them are wrong.", least=0)
    wrong_kind: Literal["value", "item"] = setting(
        "value", "A wrong fact is", "Wrong rating and day of a rated item, or the wrong item too."
    )
    rating_error: float = setting(
        0.0, "Ratings known to within", "Ratings are known to within this.", least=0, unit="ratings"
    )
    day_error: float | None = setting(
        14,
        "Dates known to within (days)",
        "Days are known to within this.",
        least=0,
        endless=True,
        unset="days are not known",
        unit="days",
    )
    outside_top: int = setting(
        0, "Leave out the most rated items", "Nothing is known of the N most rated.", least=0
    )
    about_count: bool = setting(
        False,
        "The attacker knows about how many items somebody rated",
        "About how many items the target rated is known, to within half of it.",
    )
    ratings: bool = setting(
        True,
        "The attacker knows how the items were rated",
        "Whether ratings are known.",
        off="Know the items, not the ratings.",
    )
    dates: bool = setting(
        True, "The attacker knows dates", "Whether days are known.", off="Do not know the dates."
    )
    except_items: Sequence[str] = setting(
        (), "Items never known", "Ids of items of which nothing is known."
    )


@dataclass(frozen=True)
class _Likeness:
    phi: float = setting(
        1.5,
        "How clearly a match must stand out",
        "By how many standard deviations the best record must lead; higher: fewer answers, "
        "fewer wrong ones.",
        least=0,
    )
    rho0: float | None = setting(
        None,
        "Decay of ratings",
        "Difference in ratings at which likeness falls to 1/e.",
        least=0,
        above=True,
        unset="0.375 of the scale's width",
        unit="ratings",
    )
    d0: float = setting(
        30.0,
        "Decay of days",
        "Difference in days at which likeness falls to 1/e.",
        least=0,
        above=True,
        unit="days",
    )


@dataclass(frozen=True)
class ScoreboardRHSettings(_Likeness):
    """NS §4, §5; definitions, "scoreboard-rh"."""

    theta: float = field(default=1.0, metadata=_THETA)
    absent: bool = field(default=False, metadata=_ABSENT)


@dataclass(frozen=True)
class ScoreboardSettings:
    """NS §4; definitions, "scoreboard"."""

    rating_error: float | None = setting(
        None,
        "How far a rating may be off",
        "A rating fits when it is this near.",
        **_ENDLESS,
        unset="as far as the knowledge says",
        unit="ratings",
    )
    day_error: float | None = setting(
        None,
        "How far a day may be off",
        "A day fits when it is this near.",
        **_ENDLESS,
        unset="as far as the knowledge says",
        unit="days",
    )
    alpha: float = setting(
        0.5,
        "Score from which on a record fits",
        "A score above it fits; scores are 0 or 1, so all values say the same.",
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
class HomogeneityAttackSettings:
    """PA Def. 5.1, SR §4; definitions, "homogeneity"."""

    by: Literal["label", "structure"] = setting(
        "label", "Candidates are found by", "Candidates by items and ratings, or by items alone."
    )
    tolerance: float | None = field(default=None, metadata=_TOLERANCE)
    sensitive: Sequence[int] = setting(
        (),
        "Sensitive items",
        "Items of which is told how many groups rated them all alike: on the command line "
        "ids, in Python places among the original's items.",
    )
    theta: float = field(default=1.0, metadata=_THETA)
    absent: bool = field(default=False, metadata=_ABSENT)
    k: int = field(default=5, metadata=_K)


@dataclass(frozen=True)
class LinkExistenceSettings:
    """PA §6; definitions, "link-existence"."""

    prior: float | None = setting(
        None,
        "Chance that a user rated an item",
        "How likely the adversary holds a rating beforehand.",
        least=0,
        most=1,
        unset="each item's share of raters",
    )


@dataclass(frozen=True)
class PaddingAttackSettings:
    """starshade's own."""

    rank: int | None = setting(
        None,
        "Rank of the part that is taken out",
        "Singular values that are taken out.",
        least=0,
        unset="those that stand out of the noise (Gavish & Donoho 2014)",
    )
    top: float = setting(
        0.01,
        "Share of cells called the highest",
        "Share of the cells, ranked highest, whose precision is told.",
        least=0,
        above=True,
        most=1,
    )
    groups: int | None = setting(
        None,
        "Groups looked at",
        "Groups looked at; of more so many are drawn.",
        least=2,
        unset="as many as have a million cells, at least 200",
    )


@dataclass(frozen=True)
class TrackerAttackSettings:
    """KL §1.1; definitions, "tracker"."""

    conditions: int = setting(
        4, "Conditions joined by AND", "Conditions joined by AND at most.", least=1, most=16
    )
    background: Sequence[str] | None = setting(
        (), "What is known of the target", "Personal attributes known of the target."
    )
    queries: int = setting(5_000_000, "COUNT queries", "COUNT queries at most.", least=1)


@dataclass(frozen=True)
class AuxiliaryAttackSettings(_Likeness):
    """NS §5."""

    candidates: int = setting(5, "Records listed", "Best records listed per name.", least=1)


@dataclass(frozen=True)
class RiskSettings:
    """Of the search for those whom few facts identify; the attack is set beside."""

    draws: int = setting(
        20,
        "Draws per person",
        "Draws per user of each number of known cells.",
        least=1,
        most=100_000,
    )
    known: Sequence[int] = setting(
        (1, 2, 4, 8, 16),
        "Numbers of known facts",
        "Numbers of known cells that are tried, ascending.",
        kind="integers",
        least=1,
    )
    share: float = setting(
        0.9,
        "Share of the draws",
        "Share of the draws in which the record must stand out.",
        least=0,
        above=True,
        most=1,
    )


@dataclass(frozen=True)
class SparsitySettings:
    """NS §3; definitions, "sparsity"."""

    targets: int | None = setting(
        2000,
        "Records looked at",
        "Records whose nearest neighbour is sought, a seeded sample.",
        least=1,
        unset="all",
    )
    rating_error: float | None = setting(
        None,
        "Ratings that are alike",
        "Ratings within this much are close.",
        least=0,
        unset="a quarter of the scale's width",
        unit="ratings",
    )
    day_error: int = setting(
        14,
        "Days that are alike",
        "Days within this many are close; an unknown day is close to none.",
        least=0,
        most=65535,
        unit="days",
    )
