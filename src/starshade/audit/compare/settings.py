"""What can be set of a comparison of methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from starshade.anonymize.registry import DEFAULT
from starshade.anonymize.settings import PredictiveAnonymizerSettings
from starshade.ratings.proximity.settings import EPS, NULLS, SENSITIVE, SPREAD, NullRule
from starshade.release import ProfileKind
from starshade.setting import check, declared, settable

PROFILE: ProfileKind = PredictiveAnonymizerSettings.profile


def _near(metadata: dict[str, Any], **otherwise: str) -> dict[str, Any]:
    """Say of what is declared of proximity that it is for the methods that ask for it."""
    own = metadata["setting"]
    text = f"For interval and suppress: {own['help'][0].lower()}{own['help'][1:]}"
    return declared(**own | {"help": text, "unset": "none"} | otherwise)


@dataclass(frozen=True)
class CompareSettings:
    """Every method makes a release at every k; all of them are measured and attacked alike."""

    methods: Sequence[str] | None = settable(
        "Methods",
        "Methods to compare (see `starshade list methods`).",
        default=None,
        commas=True,
        unset=f"{DEFAULT}, then all that form classes",
    )
    k: Sequence[int] = settable(
        "Values of k",
        "Minimum class sizes.",
        default=(2, 5, 10),
        kind="integers",
        commas=True,
        least=2,
        usual="N",
        advice="A class of one gives no protection; 5 is typical.",
    )
    eps: float | None = field(
        default=None, metadata=_near(EPS, help="For interval and suppress, which need it.")
    )
    l: float = field(default=0.0, metadata=_near(SPREAD))  # noqa: E741 - the paper's name
    sensitive: Sequence[str] = field(default=(), metadata=_near(SENSITIVE))
    nulls: NullRule = field(default="strict", metadata=_near(NULLS))
    profile: ProfileKind | None = settable(
        "Profile",
        "For predictive: value of a class's cell.",
        default=None,
        unset=PROFILE,
    )
    disclosure_weights: Sequence[float] = settable(
        "Disclosure weights",
        "For k-exchange: one row for each weight of cells that disclose a rating.",
        default=(0,),
        kind="numbers",
        commas=True,
        least=0,
        most=100,
        usual="X",
        advice="E.g. 0,0.1,0.2,0.5.",
    )
    slacks: Sequence[int] = settable(
        "People who may leave a class",
        "For methods that can be continued: one row for each number of people above k in a class.",
        default=(0,),
        kind="integers",
        commas=True,
        least=0,
        usual="N",
        advice="E.g. 0,1,2.",
    )
    attribute: str | None = settable(
        "Attribute of queries",
        "Numeric personal attribute that queries average.",
        default=None,
        unset="age, else the first",
    )
    known: int = settable(
        "Known ratings per target",
        "Known ratings per target.",
        default=4,
        least=1,
    )
    targets: int = settable(
        "People attacked", ("Maximum number of users attacked."), default=1000, least=1
    )
    shadows: int = settable(
        "Shadow releases",
        "Shadow releases for linkability, membership and inference attacks (0 disables; they take "
        "most of the time).",
        default=0,
        least=0,
        most=1000,
        formerly="rounds",
    )
    policy: str | None = settable(
        "Policy",
        "Also audit each release by this policy: public, partner, controlled, or a TOML file.",
        default=None,
        usual="NAME|FILE",
        unset="none",
    )
    held_out: float = settable(
        "Held-out share",
        "Share of the ratings held out to test recommenders.",
        default=0,
        least=0,
        most=1,
        below=True,
    )

    def __post_init__(self) -> None:
        check(self)
