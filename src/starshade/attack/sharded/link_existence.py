"""Link existence on ratings in shards, and on a release of profiles that was made of them.

How many of a group of a release rated an item is counted over all shards: so some items at a time
are looked at together, of everybody who rated them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge
from starshade.attack.link_existence.edges import Counters, Shown, shown_ratings
from starshade.attack.link_existence.link_existence import LinkExistence
from starshade.attack.link_existence.result import LinkResult
from starshade.attack.targets import Request
from starshade.attack.view import known_items
from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.arrays import fixed
from starshade.kernels.columns import count_raters
from starshade.ratings.shards.counts import counts_of
from starshade.ratings.shards.item_blocks import ItemBlocks, Part
from starshade.ratings.shards.kept import AnyShards
from starshade.release.folder.digest import digest_of_shards
from starshade.release.match.match import LinkedShards, people_of
from starshade.release.profiles import Profiles


def by_links(
    attack: LinkExistence,
    shards: AnyShards,
    engine: Engine,
    _knowledge: Knowledge,
    targets: int | None,
    _seed: int,
) -> LinkResult:
    """Ask it of every rating: each user is a group."""
    attack.refuse(Request(None, targets, None, None))
    started, raters = perf_counter(), counts_of(shards, engine).items
    return attack.found(
        shown_ratings(shards.n_users, raters, lambda: digest_of_shards(shards)), started
    )


def by_links_on_release(
    attack: LinkExistence,
    store: LinkedShards,
    engine: Engine,
    _knowledge: Knowledge,
    targets: int | None,
    _seed: int,
) -> LinkResult:
    """Ask of every released edge how many of the users it may belong to really rated the item."""
    attack.refuse(Request(None, targets, None, None))
    started, shards, profiles = perf_counter(), store.shards, _profiles_of(store)
    linked, counted = people_of(store, engine).linked, counts_of(shards, engine)
    place = profiles.items.indices(shards.items)
    blocks = _LinkedBlocks(**vars(ItemBlocks.of(shards, counted.items)), store=store)
    job = Job("reading items", _count, threaded=True)
    parts = list(engine.run(job, blocks, {}))
    found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    counters = Counters.of(profiles)

    def count(first: int, last: int) -> tuple[NDArray[np.int64], int]:
        counts = np.zeros((last - first, len(counters)), dtype=np.int64)
        here = slice(*np.searchsorted(found["item"], [first, last]))
        counts[found["item"][here] - first, found["at"][here]] = found["pairs"][here]
        # the ratings that nobody shows are counted at once, with the first block
        return counts, int(found["hidden"].sum()) * (first == 0)

    shown = Shown(
        n_users=shards.n_users,
        n_ratings=shards.n_ratings,
        linked=linked,
        raters=counted.items[place >= 0],
        sizes=profiles.sizes,
        records=profiles.n_records,
        blocks=lambda size: counters.blocks(size, profiles, count),
        digest=lambda: digest_of_shards(shards),
    )
    return attack.found(shown, started)


def _profiles_of(store: LinkedShards) -> Profiles:
    return known_items(cast(Profiles, store.release.classes), store.shards.items)


@dataclass(frozen=True)
class _LinkedBlocks(ItemBlocks):
    """Ranges of items, with the released row of each rater in the place of their number."""

    store: LinkedShards

    @property
    def keys(self) -> list[str]:
        """The shards and the items, with the release."""
        release = self.store.release.manifest.to_json()
        return [hashlib.sha256(f"{key}\n{release}".encode()).hexdigest() for key in super().keys]

    def part(self, shard: int, first: int, last: int) -> Part:
        """Return the same of rows; -1: a user who has none."""
        lengths, users, codes, _ = super().part(shard, first, last)
        return lengths, self.store.shard(shard).row_of_user[users], codes, None

    def shard(self, number: int, /) -> Any:
        """Return the raters of a range of items, by item, and the profiles of those released."""
        first, last = self.edges[number], self.edges[number + 1]
        profiles = _profiles_of(self.store)
        place = profiles.items.indices(self.shards.items)[first:last]
        return super().shard(number), place, profiles


def _count(block: Any, _first: int, _settings: Mapping[str, Any], _tables: Tables) -> Tables:
    cells, place, profiles = block
    there, counters = np.flatnonzero(place >= 0), Counters.of(profiles)
    start, stop = (place[there[0]], place[there[-1]] + 1) if len(there) else (0, 0)
    shown = np.repeat(place >= 0, np.diff(cells.indptr)) & (cells.users >= 0)
    below = np.concatenate([[0], np.cumsum(shown)])
    rows, ends = cells.users[shown].astype(np.int32), below[cells.indptr[np.r_[there, len(place)]]]
    counts = np.zeros((len(there), len(counters)), dtype=np.int64)
    hidden = count_raters(
        fixed(profiles.columns.levels[start:stop]),
        (fixed(ends), fixed(rows)),
        np.arange(profiles.n_groups),
        counters.of_row,
        (0, len(there)),
        counts,
    )
    item, at = np.nonzero(counts)
    pairs = counts[item, at]
    return {"item": start + item, "at": at, "pairs": pairs, "hidden": np.array([hidden])}
