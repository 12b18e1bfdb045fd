"""`OneTable`: the original in memory, or mapped, as one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.attribute import Reader, Readings, read_part
from starshade.attack.knowledge import Knowledge
from starshade.attack.targets import Attack
from starshade.audit.measure import measure_all
from starshade.audit.original.original import Given, Knowable
from starshade.engine.job import Engine
from starshade.errors import ConfigError, ReleaseError
from starshade.naming import aside
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import digest_of
from starshade.release.match.match import Match, not_made_of
from starshade.release.table import Release
from starshade.release.verify.verify import verify_folder


@dataclass(frozen=True, eq=False)
class OneTable:
    """`Original` in memory, or mapped: `ratings` as they were given.

    `store`: the partitioned store that all of them were read from, if they were.
    """

    ratings: Ratings
    release: Release
    engine: Engine | None = None
    store: Shards | None = None

    @property
    def source(self) -> Ratings | Shards:
        """What the release was made of: the store, where it was made of several partitions."""
        private = self.release.private
        ends = None if private is None else private.partitions
        return self.ratings if self.store is None or len(ends or ()) < 2 else self.store

    @cached_property
    def _match(self) -> Match:
        return Match(self.release, self.ratings)

    @cached_property
    def _of_part(self) -> Match:
        return Match(self.release, self.part)

    @property
    def part(self) -> Ratings:
        """The users who became records, on the released items."""
        return self._match.made_of

    @cached_property
    def given(self) -> Given:
        """The ratings as they were given."""
        return Given.of(self.ratings, self.part)

    def knowable(self, hidden: Sequence[str]) -> Knowable:
        """Return how many cells can be known of people."""
        return knowable_of(self.part, hidden)

    def digest(self) -> str:
        """Return the SHA-256 over the released part."""
        return digest_of(self.part)

    def verified(self, folder: Path) -> dict[str, Any]:
        """Verify the files."""
        if self.release.private is None:
            return verify_folder(folder)
        return verified_against(folder, self.release, original=self.part)

    def attack(self, attack: Attack[Any], knowledge: Knowledge, targets: int, seed: int) -> Any:
        """Attack the released part."""
        return attack.run(self.part, knowledge, targets=targets, rng=seed)

    def attack_release(
        self, attack: Attack[Any], knowledge: Knowledge | None, targets: int | None, seed: int
    ) -> Any:
        """Attack the release."""
        part = self.part
        return attack.run(self.release, knowledge, original=part, targets=targets, rng=seed)

    def rows_of(self, users: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return the released row of some users."""
        rows = self._of_part.row_of_user
        return None if rows is None else rows[users]

    def read(self, reader: Reader) -> Readings | None:
        """Compare readings of a release of profiles with the ratings."""
        rows = self._of_part.row_of_user
        return None if rows is None else read_part(self.release, self.part, rows, reader.tables())

    def measured(self, probe: Ratings | None) -> dict[str, float | int | None]:
        """Measure the utility of the release."""
        return measure_all(self.release, self.ratings, probe=probe)


def knowable_of(original: Ratings, hidden: Sequence[str] = ()) -> Knowable:
    """Return how many cells of the items that are not `hidden` can be known of people."""
    if hidden:
        rest = np.setdiff1d(np.arange(original.n_items), original.items.indices(hidden))
        original = original.keep_items(rest)
    return Knowable(*np.unique(original.user_support, return_counts=True))


def verified_against(folder: Path, release: Release, **truth: Any) -> dict[str, Any]:
    """Verify the files, and look up every original cell.

    `truth`: fields of the owner's private facts that open what was released.
    """
    private = release.private
    assert private is not None
    try:
        return verify_folder(folder, replace(private, **truth))
    except ReleaseError:
        verify_folder(folder)  # raises again when the folder itself is not whole
    people = " or personal attributes" * bool(release.manifest.attribute_columns)
    raise not_made_of(
        f"these ratings{people} are not in the release's cells: it was not made of them"
    )


def refuse_missing_attributes(release: Release, ratings: Ratings) -> None:
    """Refuse ratings that were read without the personal attributes that the release holds."""
    columns = () if ratings.attributes is None else ratings.attributes.column_names
    missing = [name for name in release.manifest.attribute_columns or () if name not in columns]
    if missing:
        raise ConfigError(
            f"the release holds personal attributes ({', '.join(missing)}), but the ratings were "
            "read without them",
            advice=f"Give the file of personal attributes{aside('users', 'FILE')}.",
        )
