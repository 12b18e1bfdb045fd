"""What is found of a release: its own figures, and those of every measure, by key."""

from __future__ import annotations

from collections.abc import Mapping

from starshade.figure import Figure, Value
from starshade.utility.registry import ENTRIES

__all__ = ["OF_RELEASES", "figures_found", "measured_figures"]

#: what is told of a release beside what measures find
OF_RELEASES = (
    Figure("groups", "Groups", "count", False, "The records that the method put together."),
    Figure(
        "smallest_group",
        "Smallest class",
        "count",
        None,
        "The fewest records that are equal; k-anonymity asks for k at least.",
    ),
    Figure(
        "invented_cells",
        "Ratings invented, of those released",
        "share",
        True,
        "Released ratings that rest on predictions alone, or that nobody gave.",
    ),
    Figure(
        "single_rater_cells",
        "Ratings that rest on one member's, of those released",
        "share",
        True,
        "High means risk: a mean of one rating is that rating.",
    ),
    Figure(
        "users_deleted",
        "People left out by the method",
        "count",
        True,
        "People who could not be hidden among the others; low keeps more people.",
        short="users left out",
    ),
    Figure(
        "rare_items_dropped",
        "Items left out because too few rated them",
        "count",
        True,
        "That an item is listed says that somebody rated it; low keeps more items.",
    ),
)


def measured_figures() -> tuple[Figure, ...]:
    """Return what the registered measures declare, in their order."""
    return tuple(figure for entry in ENTRIES for figure in entry.load().FIGURES)


def figures_found(values: Mapping[str, Value]) -> tuple[Figure, ...]:
    """Return the figures of which there is a value, in the order of the values.

    Examples
    --------
    >>> [(each.title, each.text) for each in figures_found({"gen_iloss": 0.25, "dm": None})]
    [('Generalization loss (GenILoss)', '0.25')]
    """
    declared = {figure.key: figure for figure in (*OF_RELEASES, *measured_figures())}
    return tuple(
        declared[key].of(value)
        for key, value in values.items()
        if value is not None and key in declared
    )
