"""Who is in a random half of the people of a store of shards, and who of them is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge
from starshade.attack.shadows.facts import Told, all_known
from starshade.attack.shadows.halves import in_half
from starshade.attack.shadows.profile_predicates import ClassPredicates
from starshade.attack.shadows.seen import Seen
from starshade.attack.view import released_cells, view_of
from starshade.engine.job import Engine, Job, Tables
from starshade.ratings.holdout import lowest, sample_numbers
from starshade.ratings.table import Ratings
from starshade.release.match.match import LinkedShard, MadeShards

_ANY = Knowledge(known=1)


@dataclass(frozen=True)
class InHalf:
    """The people of a half: a `starshade.ratings.shards.kept.Choice`."""

    seed: int
    number: int

    @property
    def key(self) -> str:
        """What it is known again by."""
        return f"half {self.number} {self.seed}"

    def __call__(self, shard: Ratings, /) -> NDArray[np.bool_]:
        """Mark who is in it, and rated anything."""
        inside = in_half(shard.users.fingerprints, self.seed, self.number)
        return np.asarray(inside & (shard.user_support > 0))


@dataclass(frozen=True, eq=False)
class PeopleInShards:
    """`starshade.attack.shadows.profile_predicates.People` of a store, counted shard by shard.

    `made`: the release of the half. `told`: what may be known, on the items of the catalogue, which
    are `kept` of the store.
    """

    made: MadeShards
    engine: Engine
    told: Told
    kept: NDArray[np.int64]
    half: InHalf

    @property
    def members(self) -> int:
        """How many are in the release."""
        return self._drawn[0]

    @property
    def outsiders(self) -> int:
        """How many are not, of those drawn."""
        return len(self._drawn[1])

    @cached_property
    def _drawn(self) -> tuple[int, NDArray[np.int64]]:
        """How many members there are, and the outsiders, ascending among all users."""
        job = Job("choosing non-members", _choose, asdict(self.half))
        parts = list(self.engine.run(job, self.made, {"items": self._marked(True)}))
        members = sum(int(part["members"][0]) for part in parts)
        users, numbers = (
            np.concatenate([part[name] for part in parts]) for name in ("users", "numbers")
        )
        return members, np.sort(lowest(users, numbers, members))

    def satisfied(self, predicates: ClassPredicates) -> NDArray[np.int64]:
        """Count them; see `ClassPredicates.satisfied`."""
        tables = {"users": self._drawn[1], "items": self._marked(self.told.eligible)}
        settings = {"ratings": self.told.knowledge.ratings}
        job = Job("counting people who satisfy predicates", _count, settings, threaded=True)
        parts = self.engine.run(job, self.made, tables | predicates.tables)
        return np.asarray(sum(part["satisfied"] for part in parts))

    def _marked(self, which: NDArray[np.bool_] | bool) -> NDArray[np.bool_]:
        """Mark items of the catalogue among those of the store."""
        out = np.zeros(self.made.records.table.store.n_items, dtype=np.bool_)
        out[self.kept] = which
        return out


def _choose(
    part: LinkedShard, first: int, settings: Mapping[str, Any], tables: Tables
) -> dict[str, NDArray[Any]]:
    ratings, half = part.ratings, InHalf(**settings)
    users = np.flatnonzero(_ANY.with_enough(ratings, tables["items"]) & ~half(ratings))
    numbers = sample_numbers(ratings, users, half.seed)
    members = np.array([np.count_nonzero(part.row_of_user >= 0)])
    return {"members": members, "users": users + first, "numbers": numbers}


def _count(
    part: LinkedShard, first: int, settings: Mapping[str, Any], tables: Tables
) -> dict[str, NDArray[Any]]:
    ratings, members = part.ratings, np.flatnonzero(part.row_of_user >= 0)
    start, stop = np.searchsorted(tables["users"], [first, first + ratings.n_users])
    users = np.concatenate([members, tables["users"][start:stop] - first])
    facts = all_known(ratings, users, tables["items"], ratings=settings["ratings"])
    cells = released_cells(part.release, ratings.items)
    seen = Seen(view_of(ratings, cells, part.row_of_user, "linked"), None)
    member = np.arange(len(users)) < len(members)
    return {"satisfied": ClassPredicates.read(tables, seen).satisfied(facts, member)}
