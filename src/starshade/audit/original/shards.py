"""`InShards`: the original in a partitioned store, for profiles with their key file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.sharded.prepare import Stays, what_stays
from starshade.attack.attribute import Reader, Readings, read_part
from starshade.attack.knowledge import Knowledge
from starshade.attack.sharded.attack import attack_shards
from starshade.attack.sharded.truth import rows_of_users
from starshade.attack.targets import Attack
from starshade.audit.measure import measure_shards
from starshade.audit.original.original import Given, Knowable
from starshade.audit.original.table import verified_against
from starshade.engine.job import Engine, Job, Tables
from starshade.ratings.levels import translated
from starshade.ratings.shards.counts import counts_of
from starshade.ratings.shards.kept import KeptShards
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.folder.digest import digest_of_shards
from starshade.release.match.match import LinkedShard, LinkedShards, not_made_of, people_of
from starshade.release.table import Link, Part, Release


@dataclass(frozen=True, eq=False)
class _MadeOf:
    """The original by the key file; see `starshade.release.table.Divided`."""

    table: KeptShards
    link: Link

    def __call__(self) -> Iterator[Part]:
        items = np.arange(self.table.n_items)
        for number in range(len(self.table)):
            ratings = self.table.shard(number)
            place = self.link.users.indices(ratings.users)
            yield Part(ratings, items, np.where(place < 0, -1, self.link.record[place]))


@dataclass(frozen=True, eq=False)
class InShards:
    """`Original` in a partitioned store: `ratings` as they were given, processed by `engine`."""

    ratings: Shards
    release: Release
    engine: Engine

    @property
    def source(self) -> Shards:
        """What the release was made of."""
        return self.ratings

    @cached_property
    def _kept(self) -> NDArray[np.int64]:
        """The released items; refuse a release that was not made of these ratings."""
        people = people_of(LinkedShards(self.ratings, self.release), self.engine)
        kept = self.ratings.items.indices(self.release.items)
        if (kept < 0).any() or not sum(people.raters) == people.linked == self.release.n_people:
            raise not_made_of(
                "the users of the key file are not the raters of the released items in these data"
            )
        return kept

    @cached_property
    def _stays(self) -> Stays:
        return what_stays(self.ratings, self._kept, self.engine)

    @cached_property
    def part(self) -> KeptShards:
        """The users who became records, on the released items."""
        return self._keeping(self._kept, self._stays)

    def _keeping(self, items: NDArray[np.int64], stays: Stays) -> KeptShards:
        shards, scale, codes = self.ratings, self.release.scale, None
        levels, used = shards.levels, np.flatnonzero(self._stays.levels)
        if scale != shards.scale:
            levels, codes = translated(levels, used, scale)
        return KeptShards(shards, items, scale, levels, codes, stays.users, stays.n_ratings)

    @cached_property
    def given(self) -> Given:
        """The ratings as they were given."""
        shards, stays = self.ratings, self._stays
        released = shards.levels[stays.levels > 0]
        inferred = shards.report.scale_inferred
        return Given(shards.scale, inferred, shards.levels, stays.givers, released)

    def knowable(self, hidden: Sequence[str]) -> Knowable:
        """Return how many cells can be known of people."""
        part = self.part
        if hidden:
            items = np.setdiff1d(self._kept, self.ratings.items.indices(hidden))
            part = self._keeping(items, what_stays(self.ratings, items, self.engine))
        counts = counts_of(part, self.engine)
        return Knowable(counts.support, counts.users)

    def digest(self) -> str:
        """Return the SHA-256 over the released part."""
        return digest_of_shards(self.part)

    def verified(self, folder: Path) -> dict[str, Any]:
        """Verify the files, and look up every cell of each partition."""
        nobody = Link(Vocabulary(np.empty(0, dtype=np.int64)), np.empty(0, dtype=np.int64))
        assert self.release.private is not None
        divided = _MadeOf(self.part, self.release.private.link)
        return verified_against(folder, self.release, divided=divided, link=nobody)

    @cached_property
    def _linked(self) -> LinkedShards:
        return LinkedShards(self.part, self.release)

    def attack(self, attack: Attack[Any], knowledge: Knowledge, targets: int, seed: int) -> Any:
        """Attack the released part."""
        part, engine = self.part, self.engine
        return attack_shards(attack, part, knowledge, targets=targets, rng=seed, engine=engine)

    def attack_release(
        self, attack: Attack[Any], knowledge: Knowledge | None, targets: int | None, seed: int
    ) -> Any:
        """Attack the release."""
        linked, engine = self._linked, self.engine
        return attack_shards(attack, linked, knowledge, targets=targets, rng=seed, engine=engine)

    def rows_of(self, users: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the released row of some users."""
        asked, place = np.unique(users, return_inverse=True)
        return rows_of_users(self._linked, self.engine, asked)[place]

    def read(self, reader: Reader) -> Readings | None:
        """Compare readings of the release with the ratings."""
        job = Job("reading profiles", _read)
        parts = self.engine.run(job, self._linked, reader.tables())
        return Readings(*np.sum([part["read"] for part in parts], axis=0).tolist())

    def measured(self, probe: Ratings | None) -> dict[str, float | int | None]:
        """Measure the utility of the release."""
        return measure_shards(self.release, self.ratings, self.engine, probe=probe)


def _read(part: LinkedShard, _first: int, _settings: Mapping[str, Any], tables: Tables) -> Tables:
    return {"read": np.array(read_part(part.release, part.ratings, part.row_of_user, tables))}
