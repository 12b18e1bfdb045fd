"""In which fold people of a store of shards are: a shard knows it by itself of its own.

It is a matter of each person's own number (`starshade.attack.shadows.folds`), once the edges of the
folds are found over all shards.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.shadows.folds import Numbers, fold_of, numbers_of, places_of_edges
from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.arrays import fixed
from starshade.kernels.attack.knowledge import count_marked
from starshade.ratings.shards.kept import AnyShards
from starshade.ratings.table import Ratings

_BITS = 16  # of a number, by which people are counted before those at the edges are looked at


@dataclass(frozen=True, eq=False)
class People:
    """In which fold people are. `released` (n_items,): whoever rated one of these is one."""

    released: NDArray[np.bool_]
    seed: int
    edges: Numbers

    def fold(self, users: Ratings) -> NDArray[np.int64]:
        """Return the fold of each user, 0 to 9; -1: not among the people."""
        folds = fold_of(numbers_of(users.users.fingerprints, self.seed), self.edges)
        return np.where(_rated(users, self.released), folds, -1)


@dataclass(frozen=True, eq=False)
class Without:
    """Everybody but the people of some folds: a `starshade.ratings.shards.kept.Choice`."""

    people: People
    out: tuple[int, ...]

    @property
    def key(self) -> str:
        """What it is known again by."""
        people = self.people
        said = hashlib.sha256(f"{people.seed} {self.out}".encode())
        said.update(people.released.data)
        said.update(people.edges.data)
        return said.hexdigest()

    def __call__(self, shard: Ratings, /) -> NDArray[np.bool_]:
        """Mark who stays."""
        return ~np.isin(self.people.fold(shard), self.out)


def edges_over(
    shards: AnyShards, engine: Engine, seed: int, released: NDArray[np.bool_]
) -> Numbers:
    """Return what `edges_of` says of the numbers of all people.

    They are counted by their first bits; then those at the edges alone are looked at.
    """
    settings, tables = {"seed": seed}, {"released": released}
    job = Job("putting people into folds", _count_numbers, settings)
    counts = sum(part["counts"] for part in engine.run(job, shards, tables))
    ends = np.cumsum(counts)
    places = places_of_edges(int(ends[-1]))
    at = np.searchsorted(ends, places, side="right")
    job = Job("finding the edges of folds", _list_numbers, settings)
    parts = engine.run(job, shards, tables | {"at": np.unique(at)})
    numbers = np.sort(np.concatenate([part["numbers"] for part in parts]))
    first = np.searchsorted(_bits(numbers), at)  # of all numbers of as many first bits
    return np.asarray(numbers[first + places - np.append(0, ends)[at]])


def _count_numbers(
    shard: Ratings, _first: int, settings: Mapping[str, Any], tables: Tables
) -> Tables:
    numbers = _numbers(shard, settings["seed"], tables["released"])
    return {"counts": np.bincount(_bits(numbers), minlength=1 << _BITS)}


def _list_numbers(
    shard: Ratings, _first: int, settings: Mapping[str, Any], tables: Tables
) -> Tables:
    numbers = _numbers(shard, settings["seed"], tables["released"])
    return {"numbers": numbers[np.isin(_bits(numbers), tables["at"])]}


def _numbers(shard: Ratings, seed: int, released: NDArray[np.bool_]) -> Numbers:
    return numbers_of(shard.users.fingerprints[_rated(shard, released)], seed)


def _bits(numbers: Numbers) -> NDArray[np.int64]:
    return (numbers >> np.uint64(64 - _BITS)).astype(np.int64)


def _rated(users: Ratings, released: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.asarray(count_marked(fixed(users.indptr), fixed(users.columns), released) > 0)
