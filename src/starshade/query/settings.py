"""The settings of a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from starshade.setting import declared, settable


@dataclass(frozen=True)
class QuerySettings:
    """KL §1, §3; definitions, "answers"."""

    sql: str = field(metadata=declared("Query", "One SELECT of aggregates (second argument)."))
    mode: Literal["strict", "paper"] = settable(
        "Guard",
        "strict: for untrusted analysts. paper: all aggregates, for trusted analysts.",
        default="strict",
    )
    bounds: Mapping[str, tuple[float, float]] | None = field(
        default=None,
        hash=False,
        metadata=declared(
            "Bounds of attributes",
            "Lowest and highest possible value of an attribute, e.g. Age=0:120; without them "
            "strict refuses SUM and AVG of exact attributes.",
            kind="files",
            usual="NAME=LOW:HIGH",
        ),
    )
