"""What a release tells of its people's ratings, as shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starshade.plain import percent

#: what a manifest tells of people's ratings
SHARES = ("users_rating_disclosed", "users_rating_exists", "records_alone_with_sensitive")


def rated_in_words(shares: Mapping[str, Any]) -> str:
    """Say of how many people a class shows a rating, or that there is one."""
    shown, exists, alone = (shares.get(name) for name in SHARES)
    return (
        f"{percent(shown)} of the people are in a class that shows one of their ratings, "
        f"{percent(exists)} in one that shows that they rated an item."
        + (
            f" Of the records, {percent(alone)} are alone in their class with their sensitive "
            "attributes: who knows these of a person, too, finds their record."
        )
        * (alone is not None)
    )
