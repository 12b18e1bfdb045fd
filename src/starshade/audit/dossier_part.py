"""Which ratings a dossier describes: all of them to the owner, the released part to others.

What is told of the original beside what stands in the release tells of those who were left out, by
subtraction. So a public edition speaks of the released people and items alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from starshade.audit.dossier_data import data_section
from starshade.audit.dossier_losses import histogram_section
from starshade.plain import counted
from starshade.ratings.describe import describe
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.utility.rating_histogram import RatingHistogram

__all__ = ["Described"]

_FOR_ALL = (
    "What the released people gave to the released items. Whoever and whatever was left out is "
    "not in these figures; the owner's edition describes all."
)
_NOT_KNOWN = (
    "People were left out, and without the receipt nobody can tell who. So nothing is told here of "
    "the ratings."
)
_ALL = "All your data, with the people and items that were not released."
_RELEASED = "What the released people gave to the released items."
#: figures that are taken of people who were left out, too
_OF_ALL = ("histogram_distance", "histogram_distance_rated", "null_share_before")
_Figures = Mapping[str, float | int | None]


@dataclass(frozen=True)
class Described:
    """The ratings that a dossier is about.

    Attributes
    ----------
    ratings, audited : Ratings
        All, and what the audit was on: the released items, and the released people as far as
        these can be told from the others.
    release : Release
    k : int
        The fewest people that a bin may rest on.
    """

    ratings: Ratings
    audited: Ratings
    release: Release
    k: int

    @property
    def part(self) -> Ratings | None:
        """What released people gave to released items; None: nobody can tell who they are."""
        return self.audited if self.audited.n_users == self.release.n_records else None

    def for_anybody(self) -> dict[str, Any]:
        """Return `data` and `histogram` of a public edition."""
        scale, part = self.release.scale, self.part
        if part is not None:
            return {
                "data": data_section(part, scale, self.k, _FOR_ALL),
                "histogram": histogram_section(self.release, part, self.k, _RELEASED),
            }
        nobody = self.audited.keep_users(np.empty(0, dtype=np.int64))
        unknown = data_section(nobody, scale, self.k, _NOT_KNOWN)
        return {"data": unknown | {"users": self.release.n_records}, "histogram": None}

    def for_owner(self) -> dict[str, Any]:
        """Return `data` and `histogram` of the owner's edition."""
        found, part, all_ = describe(self.ratings), self.audited, self.ratings
        differ = _shape(part) != _shape(all_)
        return {
            "data": data_section(all_, self.release.scale, self.k, _ALL if differ else "")
            | {
                "first_day": found.first_day,
                "last_day": found.last_day,
                "notes": list(all_.report.notes),
                "released": _shape(part) if differ else None,
            },
            "histogram": histogram_section(self.release, part, self.k, _RELEASED if differ else ""),
        }

    def utility(self, figures: _Figures) -> dict[str, float | int | None]:
        """Return the figures of an audit for everybody: who was left out is in none of them."""
        if not self.release.manifest.users_deleted:
            return dict(figures)
        if self.part is None:
            return {**figures, **dict.fromkeys(_OF_ALL)}
        again = RatingHistogram().measure(self.release, original=self.part).figures
        return {**figures, **{name: again[name] for name in _OF_ALL}}


def _shape(ratings: Ratings) -> dict[str, Any]:
    cells = ratings.n_users * ratings.n_items
    return {
        "users": ratings.n_users,
        "items": ratings.n_items,
        "ratings": ratings.n_ratings,
        "sparsity": 1 - ratings.n_ratings / max(cells, 1),
        "text": f"{counted(ratings.n_ratings, 'rating')} by "
        f"{counted(ratings.n_users, 'person', 'people')} on {counted(ratings.n_items, 'item')}",
    }
