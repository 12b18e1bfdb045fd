"""The recommenders there are, by name; none is imported before it is used."""

from __future__ import annotations

from starshade.registry import Entry

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        name="regularized-svd",
        module="starshade.recommend.regularized_svd",
        cls="RegularizedSVD",
        summary="Low rank plus biases, by alternating least squares.",
        source="Chang et al. 2010, section 4.1; Zhou et al. 2008",
    ),
)
