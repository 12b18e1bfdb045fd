"""What a release tells of its people's ratings, as shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starshade.plain import percent
from starshade.release.figures import EXACT_LISTED, EXACT_NAMED
from starshade.release.figures import SHARES as FIGURES

#: what a manifest tells of people's ratings
SHARES = tuple(figure.key for figure in FIGURES)


def read_from_records(shares: Mapping[str, Any], *, fine: bool) -> str:
    """Say what is read from a record; on a `fine` scale of how many people single ratings are."""
    listed = shares.get(EXACT_LISTED.key)
    text = "whoever finds a record reads its ratings"
    if not fine or listed is None:
        return f"{text}."
    return f"of {percent(listed)} of the people single ratings are shown, and {text}."


def rated_in_words(shares: Mapping[str, Any], *, fine: bool) -> str:
    """Say of how many people a class shows a rating, or that there is one.

    `fine`: the scale is, so that hardly a class shares one rating, and exact values listed lead.
    """
    listed, shown, exists, alone = (shares.get(name) for name in SHARES)
    parts = [f"{percent(shown)} {{}}in a class that shows one of their ratings"]
    if listed is not None:
        parts.insert(0 if fine else 1, f"{percent(listed)} {{}}{EXACT_NAMED}")
    parts.append(f"{percent(exists)} in one that shows that they rated an item")
    first, *others = parts
    return (
        ", ".join([first.format("of the people are "), *(each.format("") for each in others)])
        + "."
        + (
            f" Of the records, {percent(alone)} are alone in their class with their sensitive "
            "attributes: who knows these of a person, too, finds their record."
        )
        * (alone is not None)
    )
