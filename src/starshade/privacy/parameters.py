"""Parameters that several models have in common."""

from __future__ import annotations

from starshade.errors import ConfigError
from starshade.naming import called
from starshade.ratings.table import Ratings
from starshade.release.table import Release

__all__ = ["check_data", "check_records"]


def check_data(data: object) -> None:
    """Refuse what is neither ratings nor a release."""
    if not isinstance(data, (Release, Ratings)):
        raise ConfigError(
            f"data of type {type(data).__name__}: neither ratings nor a release",
            advice="Read ratings with starshade.read_ratings, a release with "
            "starshade.read_release.",
        )


def check_records(k: int, records: int) -> None:
    """Refuse a k that no table of this size can satisfy."""
    if k > records:
        raise ConfigError(
            f"{called('k')} = {k}, records = {records}: no table of this size can satisfy it",
            advice=f"Choose k from 2 to {records}." if records >= 2 else "",
        )
