"""Which ratings a dossier describes: all of them to the owner, the released part to others.

What is told of the original beside what stands in the release tells of those who were left out, by
subtraction. So a public edition speaks of the released people and items alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from starshade.audit.dossier.data import Bins, bins_of, data_section, shares_of, total_told
from starshade.audit.dossier.losses import BEHIND, histogram_section
from starshade.audit.dossier.shift import changed_people, shift_of
from starshade.audit.few import is_few
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
_FEW_CHANGED = (
    "Beside the release these figures would say who rated what of fewer than {} people. So nothing "
    "is told here of the ratings."
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
        part, bins = self.part, self._told_bins
        if part is None or bins is None:
            return self._nothing(_NOT_KNOWN if part is None else _FEW_CHANGED.format(self.k))
        scale = self.release.scale
        data = data_section(part, scale, self.k, _FOR_ALL)
        places = bins.place(part.levels, scale)[part.codes] if bins.ends else ()
        counts = np.bincount(places, minlength=len(bins.ends)).astype(np.int64)
        data["histogram"]["bins"] = shares_of(bins, counts)
        return {
            "data": data,
            "histogram": histogram_section(self.release, part, bins, _RELEASED),
        }

    def _nothing(self, why: str) -> dict[str, Any]:
        nobody = self.audited.keep_users(np.empty(0, dtype=np.int64))
        unknown = data_section(nobody, self.release.scale, self.k, why)
        return {"data": unknown | {"users": self.release.n_records}, "histogram": None}

    @cached_property
    def _told_bins(self) -> Bins | None:
        """Bins that tell of no few people beside the release; None: who rated what would."""
        part = self.part
        if part is None:
            return None
        bins, _ = bins_of(part, self.release.scale, self.k)
        if not total_told(part, self.k):
            return None
        if not bins.ends:
            return bins
        shift = shift_of(self.release, part, bins)
        return None if is_few(shift.behind([0]), self.k) else shift.joined(bins, self.k)

    def for_owner(self) -> dict[str, Any]:
        """Return `data` and `histogram` of the owner's edition."""
        found, part, all_ = describe(self.ratings), self.audited, self.ratings
        differ = _shape(part) != _shape(all_)
        return {
            "data": data_section(all_, self.release.scale, 1, _ALL if differ else "")
            | {
                "first_day": found.first_day,
                "last_day": found.last_day,
                "notes": list(all_.report.notes),
                "released": _shape(part) if differ else None,
            },
            "histogram": histogram_section(
                self.release,
                part,
                bins_of(part, self.release.scale, 1)[0],
                _RELEASED if differ else "",
            ),
        }

    def utility(self, figures: _Figures) -> dict[str, float | int | None]:
        """Return the figures of an audit for everybody: who was left out is in none of them."""
        part, bins = self.part, self._told_bins
        found = dict(figures)
        if (found.get("similar_user_users") or 0) < self.k:  # whose ratings were held out
            found["probe_ratings"] = None
        if part is None or bins is None:
            found |= dict.fromkeys(_OF_ALL)
        elif self.release.manifest.users_deleted:
            again = RatingHistogram().measure(self.release, original=part).figures
            found |= {name: again[name] for name in _OF_ALL}
        if part is None:
            return found
        if bins is not None and len(bins.ends) < len(bins_of(part, self.release.scale, 1)[0].ends):
            # the figures before follow from a distance and what is told of joined ones
            found |= dict.fromkeys((f"{name}{BEHIND}" for name in _OF_ALL), 1)
        people = changed_people(self.release, part)
        return found | {f"{name}{BEHIND}": n for name, n in people.items()}


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
