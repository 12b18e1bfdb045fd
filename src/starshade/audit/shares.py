"""What a release discloses of its people's ratings, and what it guarantees, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starshade.plain import percent
from starshade.release.figures import EXACT_LISTED, EXACT_NAMED
from starshade.release.figures import SHARES as FIGURES

#: the disclosure shares of a manifest
SHARES = tuple(figure.key for figure in FIGURES)
MORE = "Other attacks may succeed more often."
PROXIMITY_CAVEAT = (
    "Near records are not equal: an adversary who knows exact ratings may tell them apart."
)


def within(k: int, by: str, *, alone: bool) -> str:
    """Say what is guaranteed for any attack where k records are equal."""
    return (
        f"Guaranteed for this release{' alone' * alone}: no attack finds the right record more "
        f"often than 1 in {k}{by}. Other attacks may find the class more often."
    )


def read_from_records(shares: Mapping[str, Any], *, fine: bool) -> str:
    """Say what a record discloses; on a `fine` scale also for how many people it is exact."""
    listed = shares.get(EXACT_LISTED.key)
    text = "an adversary who finds a record reads its ratings."
    if not fine or listed is None:
        return text
    return f"exact values are listed for {percent(listed)} of people, and {text}"


def rated_in_words(shares: Mapping[str, Any], *, fine: bool) -> str:
    """Say for how many people a class discloses a rating, or that there is one.

    `fine`: the scale is, so classes rarely share one rating, and exact values listed lead.
    """
    listed, shown, exists, alone = (shares.get(name) for name in SHARES)
    parts = [(shown, "in a class that discloses one of their ratings")]
    if listed is not None:
        parts.insert(0 if fine else 1, (listed, EXACT_NAMED))
    (rate, what), *others = parts
    text = ", ".join(
        [f"{percent(rate)} of people are {what}", *(f"{percent(r)} {w}" for r, w in others)]
    )
    text += f", and {percent(exists)} in one that discloses that they rated an item."
    if alone is not None:
        text += (
            f" {percent(alone)} of records are unique by sensitive attributes in their class: an "
            "adversary who also knows these finds the record."
        )
    return text
