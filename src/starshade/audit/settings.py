"""What can be set of an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from starshade.setting import settable

#: why ratings in shards are taken as one table beside a release, where the owner can mend it
WITHOUT_RECEIPT = "without the owner's receipt"


@dataclass(frozen=True)
class AuditSettings:
    """Of an audit (definitions, "audit")."""

    known: Sequence[int] = settable(
        "Attack it with this many known facts",
        "Cells that the adversary knows.",
        default=(2, 4, 8),
        kind="integers",
        least=1,
        usual="N",
    )
    targets: int = settable("People attacked", "Users attacked, at most.", default=1000, least=1)
    shadows: int | None = settable(
        "Shadow releases",
        "Releases of random halves of the people that each is compared with, for what being in it "
        "tells; 0: none, which saves most of the time.",
        default=None,
        least=0,
        most=1000,
        unset="16; 4 above 20 million ratings",
        formerly="rounds",
    )
    limit: Sequence[str] | Mapping[str, float] = settable(
        "Limits",
        "Largest share allowed: on record (default 1/k), predicate, class, halves, joint-class "
        "(default 0), membership, inference or disclosed.",
        default=(),
        kind="texts",
        usual="NAME=VALUE",
    )
    judge: Literal["set", "all"] = settable(
        "What must hold",
        "The limits that are set, or that nothing is left to judge or to measure.",
        default="set",
    )
