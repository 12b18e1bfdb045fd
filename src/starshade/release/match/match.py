"""Ratings together with the release that was made of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from starshade.plain import counted
from starshade.ratings.levels import on_scale
from starshade.ratings.table import Ratings
from starshade.release.band import in_words, left_out
from starshade.release.match.evidence import (
    Changes,
    changed_cells,
    never_moved,
    not_made_of,
    refuse_another_making,
    refuse_changed_link,
    refuse_foreign_link,
    refuse_other_ratings,
    refuse_strangers,
    refuse_unknown_users,
)
from starshade.release.match.linked import (
    LinkedShard,
    LinkedShards,
    MadeShards,
    RecordFiles,
    people_of,
)
from starshade.release.table import Link, Release

__all__ = [
    "Changes",
    "LinkedShard",
    "LinkedShards",
    "MadeShards",
    "Match",
    "RecordFiles",
    "never_moved",
    "not_made_of",
    "people_of",
    "refuse_another_making",
    "refuse_foreign_link",
    "refuse_strangers",
]


@dataclass(frozen=True, eq=False)
class Match:
    """A release and ratings: what was released of them, and who became which row.

    Each answer is found when it is first asked for, and kept. Asking raises a `ConfigError`
    where it shows that the two do not belong together.

    `original`: the table that the release was made from, or one that contains it. `link`: who
    became which record; where none is given, that of the release's private facts.
    """

    release: Release
    original: Ratings
    link: Link | None = None

    def __post_init__(self) -> None:
        if self.link is None and self.release.private is not None:
            object.__setattr__(self, "link", self.release.private.link)

    @cached_property
    def part(self) -> Ratings:
        """The released items of the original, in the same order, and the users left there.

        Refused: a released item that is not in `original`, a rating off the release's scale (but
        for layout "record"), and strangers (`refuse_unknown_users`).
        """
        part, scale = self._on_items(), self.release.scale
        # where ratings were moved or people left out, some may lie beyond what is published
        moved = self.release.manifest.layout == "record"
        if not moved or scale.contains(part.levels[np.unique(part.codes)]).all():
            part = on_scale(part, scale)
        refuse_unknown_users(self.release, part)
        return part

    @cached_property
    def made_of(self) -> Ratings:
        """The released items of the original, and the users who became the release's records.

        Refused beyond `part`: the receipt's users, or what they rated, are others than those of
        the ratings; more or fewer users than records and users who were left out.
        """
        release, part = self.release, self.part
        private, records = release.private, release.n_people
        if records is None:
            return part  # how many records are nobody's is the owner's to know
        kept, more = part, part.n_users - records
        deleted = None if release.exact is None else release.exact.users_deleted
        forgotten = 0 if private is None else len(private.forgotten)  # or still in the ratings
        if private is not None and private.link.users != part.users:
            place = part.users.indices(private.link.users)
            if not (deleted or forgotten) or (place < 0).any():
                raise not_made_of(
                    "the users of the key file are not those who rated the released items in "
                    "these ratings"
                )
            kept = part.keep_users(place)
        stated = release.manifest.users_deleted
        fit = (
            left_out(more, records) == stated
            if deleted is None
            else 0 <= more - deleted <= forgotten
        )
        if more < 0 or not fit:
            users = f"users, {in_words(stated)}" if deleted is None else counted(deleted, "user")
            besides = "" if stated == "none" else f" and suppressed {users}"
            raise not_made_of(
                f"{counted(part.n_users, 'user')} rated the released items in these ratings, but "
                f"the release has {counted(records, 'record')}{besides}: it was not made of them"
            )
        refuse_other_ratings(release, kept, self.original)
        return kept

    @cached_property
    def row_of_user(self) -> NDArray[np.int64] | None:
        """The released row of each user of the original, -1 for others; None without a link.

        Refused: a link of another number of records, and other ratings than the receipt's.
        """
        release, link = self.release, self.link
        if link is None:
            return None
        refuse_foreign_link(release, link)
        self.refuse_other_ratings()
        place = link.users.indices(self.original.users)
        rows = release.class_of_record[link.record[place]]
        return np.where(place < 0, -1, rows)

    @cached_property
    def changes(self) -> Changes | None:
        """What became of each rating; None without a link, and on other layouts than "record"."""
        if self.link is None or self.release.manifest.layout != "record":
            return None
        return changed_cells(self.release, self.original, self.link)

    def refuse_unknown_users(self) -> None:
        """Refuse ratings that the release, by itself, shows not to be what it was made of."""
        refuse_unknown_users(self.release, self.original)

    def refuse_other_ratings(self, part: Ratings | None = None) -> None:
        """Refuse ratings other than those of the key file; without one, refuse nothing.

        `part`: some items of `original`, to be known from now on by what was found of it.
        """
        refuse_other_ratings(self.release, self.original, part)

    def refuse_changed_link(self) -> None:
        """Refuse a link under which records cannot be what became of their users' ratings."""
        if self.changes is not None:
            refuse_changed_link(self.release, self.original, self.changes)

    def _on_items(self) -> Ratings:
        items = self.release.classes.items
        if items == self.original.items:
            return self.original.drop_empty_users()
        indices = self.original.items.indices(items)
        unknown = int((indices < 0).sum())
        if unknown:
            raise not_made_of(
                f"{unknown:,} of the release's {counted(len(items), 'item')} are "
                "not in the original ratings"
            )
        return self.original.keep_items(indices)
