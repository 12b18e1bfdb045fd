"""The methods that ``starshade list methods`` names."""

from __future__ import annotations

from starshade.registry import Entry

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        name="k-likeness",
        module="starshade.anonymize.k_likeness",
        cls="KLikeness",
        summary="Groups of k records that are alike, generalized by a hierarchy (DGH or NDGH).",
        source="Riyana & Natwichai 2018, Algorithms 1-3",
    ),
)
