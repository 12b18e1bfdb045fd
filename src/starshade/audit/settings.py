"""What can be set of an audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starshade.setting import settable


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
    max_success: float | None = settable(
        "Limit on finding the right record",
        "Limit on finding the right record.",
        default=None,
        least=0,
        above=True,
        most=1,
        unset="1/k",
    )
    max_disclosed: float | None = settable(
        "Limit on users with a rating disclosed",
        "Limit on users with a rating disclosed.",
        default=None,
        least=0,
        most=1,
        unset="it is stated, not judged",
    )
