"""The lines that are compared, and how often."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from starshade.anonymize.registry import ENTRIES
from starshade.audit.attempts import made_of
from starshade.audit.make import Anonymizer
from starshade.registry import find

__all__ = ["EXCHANGED", "LINES", "MODEL", "PADDED", "POOLED", "SIMPLE", "Line"]

PADDED, SIMPLE = "padded", "simple"
MODEL = "model (ours)"
EXCHANGED = "model, exchanged (ours)"
POOLED = "pooled, exchanged (ours)"
_EXCHANGED = {"grouping": "exchange", "weights": "support"}


@dataclass(frozen=True)
class Line:
    """One way to make a profile of a group.

    Attributes
    ----------
    name : str
    profile : str
        As starshade names it.
    settings : dict
        What else differs from the paper.
    """

    name: str
    profile: str
    settings: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def is_ours(self) -> bool:
        """Whether the paper does not have it."""
        return self.name.endswith("(ours)")

    def at(self, k: int) -> Anonymizer:
        """Return the method; no item is left out."""
        own = {"profile": self.profile, "grouping": "t-means", **self.settings}
        settings = {"k": k, "rare_items": "keep", **own}
        return made_of(find(ENTRIES, "predictive", "method"), settings)


LINES = (  # in this order the lines have the same colours in every figure
    Line(PADDED, "padded"),
    Line(SIMPLE, "simple"),
    Line(MODEL, "model"),
    Line(EXCHANGED, "model", _EXCHANGED),
    Line(POOLED, "pooled", _EXCHANGED),
)
