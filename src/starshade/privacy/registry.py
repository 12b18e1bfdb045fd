"""The models that ``starshade list models`` names."""

from __future__ import annotations

from starshade.registry import Entry

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        name="k-anonymity",
        module="starshade.privacy.k_anonymity",
        cls="KAnonymity",
        summary="Every record equals at least k-1 others on every released cell.",
        source="Riyana & Natwichai 2018, Def. 9; Sweeney 2002",
    ),
)
