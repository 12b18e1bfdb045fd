"""What can be set of each model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from starshade.ratings.proximity.settings import (
    EPS,
    NULLS,
    SENSITIVE,
    SPREAD,
    Groups,
    NullRule,
    Search,
)
from starshade.setting import declared, settable

_K = declared(
    "Minimum class size (k)",
    "Minimum number of equal records; default: what the release claims.",
    least=2,
    usual="5",
    advice="A record always equals itself; choose at least 2.",
)
_ATTRIBUTE = declared("Personal attribute", "Personal attribute to check.", usual="NAME")
_SEARCH = declared("Neighbour search", "Search for neighbours; the result is the same.")
_FULL = declared("Count all", "Count every ball completely, not only up to k.")


@dataclass(frozen=True)
class KAnonymitySettings:
    """KL Def. 9."""

    k: int = field(metadata=_K)


@dataclass(frozen=True)
class ReviewGraphSettings(KAnonymitySettings):
    """PA Def. 3.3."""


@dataclass(frozen=True)
class KEpsAnonymitySettings:
    """SR Def. 2."""

    k: int = field(metadata=_K)
    eps: float = field(metadata=EPS)
    sensitive: Sequence[str] = field(default=(), metadata=SENSITIVE)
    nulls: NullRule = field(default="strict", metadata=NULLS)
    search: Search = field(default="tree", metadata=_SEARCH)
    full: bool = field(default=False, metadata=_FULL)
    groups: Groups = settable(
        "Group of a record",
        "All records within ε of it (ball), or k within ε of one another (clique, stricter).",
        default="ball",
    )


@dataclass(frozen=True)
class KEpsLAnonymitySettings:
    """SR Def. 3."""

    k: int = field(metadata=_K)
    eps: float = field(metadata=EPS)
    l: float = field(metadata=SPREAD)  # noqa: E741 - the paper's name
    sensitive: Sequence[str] = field(metadata=SENSITIVE)
    nulls: NullRule = field(default="strict", metadata=NULLS)
    search: Search = field(default="tree", metadata=_SEARCH)
    full: bool = field(default=False, metadata=_FULL)


@dataclass(frozen=True)
class DiversitySettings:
    """PA Def. 5.2, 5.3."""

    b: int = field(
        metadata=declared(
            "Items known together (b)",
            "Number of items of which the adversary knows that a user rated them.",
            least=1,
            usual="2",
        )
    )
    l: int = field(  # noqa: E741 - the paper's name
        metadata=declared(
            "Profiles that show them (l)",
            "Minimum number of different profiles that show items rated together.",
            least=1,
            usual="2",
        )
    )
    draws: int = settable(
        "Sets drawn",
        "Sets of one size to draw where they are too many to count.",
        default=100_000,
        least=1,
    )


@dataclass(frozen=True)
class KMSettings:
    """Terrovitis, Mamoulis & Kalnis 2008."""

    k: int = field(metadata=_K)
    m: int = field(
        metadata=declared(
            "Ratings known together (m)",
            "Maximum number of a user's ratings that the adversary knows.",
            least=1,
            most=2,
            usual="2",
        )
    )


@dataclass(frozen=True)
class AlphaKSettings:
    """Wong, Li, Fu & Wang 2006."""

    alpha: float = field(
        metadata=declared(
            "Largest share of a value (alpha)",
            "Largest share of one value in a class.",
            least=0,
            above=True,
            most=1,
            usual="0.5",
        )
    )
    k: int = field(metadata=_K)
    attribute: str = field(metadata=_ATTRIBUTE)


@dataclass(frozen=True)
class LDiversitySettings:
    """Machanavajjhala, Gehrke, Kifer & Venkitasubramaniam 2006."""

    l: float = field(  # noqa: E741 - the name that it has everywhere
        metadata=declared(
            "Different values (l)",
            "Minimum number of different values of the attribute in a class.",
            least=1,
            usual="2",
        )
    )
    attribute: str = field(metadata=_ATTRIBUTE)
    kind: Literal["distinct", "entropy"] = settable(
        "How values are counted",
        "Count values, or let rare ones count for less.",
        default="distinct",
    )
    missing: Literal["as-value"] | None = settable(
        "Missing values",
        "as-value: a missing value counts as one more value.",
        default=None,
        unset="not counted",
    )


@dataclass(frozen=True)
class TClosenessSettings:
    """Li, Li & Venkatasubramanian 2007."""

    t: float = field(
        metadata=declared(
            "Largest distance (t)",
            "Largest distance of the attribute in a class from that in the whole table.",
            least=0,
            most=1,
            usual="0.2",
        )
    )
    attribute: str = field(metadata=_ATTRIBUTE)
