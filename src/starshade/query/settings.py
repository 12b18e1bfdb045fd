"""What can be set of a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from starshade.setting import declared, settable


@dataclass(frozen=True)
class QuerySettings:
    """KL §1, §3; definitions, "answers"."""

    sql: str = field(
        metadata=declared("Query", "One SELECT of aggregates, the command's second argument.")
    )
    mode: Literal["strict", "paper"] = settable(
        "Who asks",
        "strict: for strangers. paper: all aggregates, for trusted analysts.",
        default="strict",
    )
    bounds: Mapping[str, tuple[float, float]] | None = field(
        default=None,
        hash=False,
        metadata=declared(
            "Bounds of attributes",
            "Least and greatest value an attribute can have, e.g. Age=0:120; else strict refuses "
            "SUM and AVG of exact attributes.",
            kind="files",
            usual="NAME=LOW:HIGH",
        ),
    )
