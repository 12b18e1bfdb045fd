"""What can be set of an audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from starshade.setting import declared

__all__ = ["AuditSettings"]


@dataclass(frozen=True)
class AuditSettings:
    """Of an audit (definitions, "audit")."""

    known: Sequence[int] = field(
        default=(2, 4, 8),
        metadata=declared(
            "Attack it with this many known facts",
            "Cells that the adversary knows.",
            kind="integers",
            least=1,
            usual="N",
        ),
    )
    targets: int = field(
        default=1000, metadata=declared("People attacked", "Users attacked, at most.", least=1)
    )
    max_success: float | None = field(
        default=None,
        metadata=declared(
            "Limit on finding the right record",
            "Limit on finding the right record.",
            least=0,
            above=True,
            most=1,
            unset="1/k",
        ),
    )
    max_disclosed: float | None = field(
        default=None,
        metadata=declared(
            "Limit on users with a rating disclosed",
            "Limit on users with a rating disclosed.",
            least=0,
            most=1,
            unset="it is stated, not judged",
        ),
    )
