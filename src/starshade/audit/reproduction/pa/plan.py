"""The lines that are compared, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.anonymize.registry import ENTRIES
from starshade.audit.attempts import made_of
from starshade.audit.make import Anonymizer
from starshade.recommend.recommender import Recommender
from starshade.registry import find

__all__ = ["EXCHANGED", "LINES", "MODEL", "PADDED", "POOLED", "SIMPLE", "Line", "padding"]

PADDED, SIMPLE = "padded", "simple"
EXCHANGED = "padded, exchanged (ours)"
MODEL = "model, exchanged (ours)"
POOLED = "pooled, exchanged (ours)"


@dataclass(frozen=True, eq=False)
class Line:
    """One way to make a profile of a group."""

    name: str
    profile: str  # as starshade names it
    settings: dict[str, Any]  # how groups are formed

    def at(self, k: int) -> Anonymizer:
        """Return the method; no item is left out."""
        settings = {"k": k, "rare_items": "keep", "profile": self.profile, **self.settings}
        return made_of(find(ENTRIES, "predictive", "method"), settings)


_PAPERS = {"grouping": "t-means", "weights": "uniform"}
_OURS = {"grouping": "exchange", "weights": "support"}
LINES = (  # in this order the lines have the same colours in every figure
    Line(PADDED, "padded", _PAPERS),
    Line(SIMPLE, "simple", _PAPERS),
    Line(EXCHANGED, "padded", _OURS),
    Line(MODEL, "model", _OURS),
    Line(POOLED, "pooled", _OURS),
)


def padding() -> Recommender:
    """Return the recommender that pads: the same one predicts from originals and releases."""
    return PredictiveAnonymizer(k=2).padding()
