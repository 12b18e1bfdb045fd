"""What only a project file says: where the ratings are, and where releases go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starshade.anonymize.registry import DEFAULT, FOR_ITEMS
from starshade.ratings.settings import ReadingSettings
from starshade.setting import settable


@dataclass(frozen=True)
class DataSettings(ReadingSettings):
    """Of the section ``data``."""

    ratings: str | None = settable(
        "Ratings", "The ratings: a file, a pattern, a folder or an address.", default=None
    )


@dataclass(frozen=True)
class ReleaseSettings:
    """Of the section ``release``, beside what the method declares."""

    method: str | None = settable(
        "Method",
        "Method that makes the release.",
        default=None,
        unset=f"{DEFAULT}; {FOR_ITEMS.where}: {FOR_ITEMS}",
    )
    items: str | None = settable(
        "Items", "The N most rated items, or a file of item ids.", default=None, usual="top:N|FILE"
    )


@dataclass(frozen=True)
class PublishSettings:
    """Of the section ``publish``."""

    to: str = settable(
        "Publication folder", "Folder to which releases are published.", default="published"
    )
    earlier: Sequence[str] = settable(
        "Earlier releases",
        "Releases published before this file existed.",
        default=(),
    )
    earlier_private: Sequence[str] = settable(
        "Private key files of earlier releases",
        "Private key files of those releases, in the same order.",
        default=(),
    )
