"""What can be set of a comparison of methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from starshade.ratings.proximity.settings import EPS
from starshade.release.profile.kind import ProfileKind
from starshade.setting import check, declared

__all__ = ["PROFILE", "CompareSettings"]

PROFILE: ProfileKind = "pooled"  # loses least where both were measured: docs/prediction.md


@dataclass(frozen=True)
class CompareSettings:
    """Every method makes a release at every k; all of them are measured and attacked alike."""

    methods: Sequence[str] | None = field(
        default=None,
        metadata=declared(
            "Methods", "See `list methods`.", commas=True, unset="all that form groups"
        ),
    )
    ks: Sequence[int] = field(
        default=(2, 5, 10),
        metadata=declared(
            "Values of k",
            "Least sizes of a group.",
            kind="integers",
            commas=True,
            least=2,
            usual="N",
            advice="A group of one hides nobody; 5 is usual.",
        ),
    )
    eps: float | None = field(
        default=None,
        metadata=declared(
            **EPS["setting"]
            | {
                "help": "For interval and suppress, which need it.",
                "unset": "none",
            }
        ),
    )
    profile: ProfileKind | None = field(
        default=None,
        metadata=declared(
            "What a profile shows",
            "For predictive, where it is named: what a group's cell is.",
            unset=PROFILE,
        ),
    )
    attribute: str | None = field(
        default=None,
        metadata=declared(
            "Attribute that is averaged",
            "Numeric personal attribute that queries ask for.",
            unset="age, else the first",
        ),
    )
    known: int = field(
        default=4,
        metadata=declared(
            "Facts known about each person",
            "Cells that the adversary knows of each target.",
            least=1,
        ),
    )
    targets: int = field(
        default=1000, metadata=declared("People attacked", "Users attacked, at most.", least=1)
    )
    held_out: float = field(
        default=0,
        metadata=declared(
            "Share of the ratings kept apart to test recommenders",
            "Share of the ratings held out, to test recommenders on.",
            least=0,
            most=1,
            below=True,
        ),
    )

    def __post_init__(self) -> None:
        check(self)
