"""What is told of a release in figures: each declared once, for all who show them."""

from __future__ import annotations

from starshade.figure import Figure

SMALLEST_GROUP = Figure(
    "smallest_group",
    "Smallest group of records that are alike",
    "count",
    None,
    "The fewest records that look the same, as a model means it; who asks for k wants k or more.",
    short="smallest group",
)
#: what is counted on the files of a release for its claims
COUNTED = (
    SMALLEST_GROUP,
    Figure(
        "smallest_group_at_least",
        "Smallest group of records that are alike, at least",
        "count",
        None,
        "The search stopped there.",
        short="smallest group, at least",
    ),
    Figure(
        "smallest_sd",
        "Smallest spread of a sensitive item",
        "ratings",
        False,
        "The least standard deviation among records that are near each other.",
        short="smallest spread",
    ),
    Figure(
        "smallest_l",
        "Fewest different values in a class",
        "ratio",
        False,
        "High: of whoever's class is found the value is not known.",
        short="fewest values",
    ),
    Figure(
        "largest_t",
        "Farthest from the whole table",
        "ratio",
        True,
        "By how much values in a class are distributed otherwise than among all records, 0 to 1; "
        "high: who finds a class learns more.",
        short="farthest away",
    ),
)
