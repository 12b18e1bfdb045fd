"""Figures of private data: exact for the owner, in bands in the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Band: TypeAlias = Literal["none", "under 1 %", "under 5 %", "under 20 %", "more"]
_BELOW: tuple[tuple[float, Band], ...] = (
    (0.01, "under 1 %"),
    (0.05, "under 5 %"),
    (0.2, "under 20 %"),
)


def band(share: float) -> Band:
    """Return the band of a share; each begins where the one before ends.

    >>> band(0), band(0.0099), band(0.01), band(0.2)
    ('none', 'under 1 %', 'under 5 %', 'more')
    """
    if share <= 0:
        return "none"
    return next((name for end, name in _BELOW if share < end), "more")


def left_out(number: int, released: int) -> Band:
    """Return the band of a suppressed number, as a share of suppressed and released.

    >>> left_out(0, 0), left_out(1, 99), left_out(1, 100)
    ('none', 'under 5 %', 'under 1 %')
    """
    return band(number / max(number + released, 1))


def in_words(band: Band) -> str:
    """Return a band as text for a sentence."""
    return "20 % or more" if band == "more" else band


@dataclass(frozen=True)
class Exact:
    """Exact figures that a release states in bands or not at all; the key file holds them.

    `groups`: groups that the method formed, before equal ones became one class; on layout "record"
    the classes. `imputed_cells`, `single_rater_cells`: shares, bands in the manifest.
    `dummy_records`: None on a release that continues no other.
    """

    groups: int = 0
    users_without_rating: int = 0
    users_deleted: int = 0
    rare_items_dropped: int = 0
    imputed_cells: float | None = None
    single_rater_cells: float | None = None
    dummy_records: int | None = None

    def bands(self, records: int, items: int) -> dict[str, Band | None]:
        """Return the bands for a release of this size."""
        invented, single, nobodys = (
            self.imputed_cells,
            self.single_rater_cells,
            self.dummy_records,
        )
        return {
            "users_without_rating": left_out(self.users_without_rating, records),
            "users_deleted": left_out(self.users_deleted, records),
            "rare_items_dropped": left_out(self.rare_items_dropped, items),
            "imputed_cells": None if invented is None else band(invented),
            "single_rater_cells": None if single is None else band(single),
            "dummy_records": None if nobodys is None else band(nobodys / max(records, 1)),
        }
