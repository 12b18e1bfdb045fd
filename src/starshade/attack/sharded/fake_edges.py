"""Fake edges on a release of simple profiles whose ratings lie in shards.

A set of items that people in several shards rated is one set: so shards list theirs, and what they
list is put together, of some items as the first of a set at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import comb
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.fake_edges.fake_edges import FakeEdgesAttack, Rated, every_group
from starshade.attack.fake_edges.result import FakeEdgesResult, SetsLeft
from starshade.attack.knowledge import Knowledge
from starshade.attack.sharded.padding import judged_over
from starshade.attack.targets import Request, nobody_rated
from starshade.attack.view import below, truth_on
from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.arrays import Words
from starshade.kernels.predictive.rated_sets import covers, list_short, rated_table
from starshade.ratings.shards.counts import counts_of
from starshade.ratings.shards.kept import AnyShards
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.folder.digest import digest_of_shards
from starshade.release.match.match import LinkedShards, people_of

_AT_ONCE = 1 << 22  # sets put together at a time, or those that begin with one item


def by_fake_edges_on_release(
    attack: FakeEdgesAttack,
    store: LinkedShards,
    engine: Engine,
    _knowledge: Knowledge,
    targets: int | None,
    seed: int,
) -> FakeEdgesResult:
    """Tell which filled cells of a `simple` release nobody rated."""
    attack.refuse(Request(None, targets, None, None))
    started, shards, release = perf_counter(), store.shards, store.release
    drawn = every_group(release)
    linked, counts = people_of(store, engine).linked, counts_of(shards, engine)
    if not linked or not shards.n_ratings:
        raise nobody_rated()
    judged = judged_over(store, engine, drawn, counts.items)
    rated = Rated(judged, counts.support, counts.users, partial(_sets_left, shards, engine))
    ineligible, digest = shards.n_users - linked, digest_of_shards(shards)
    facts = {"targets": linked, "ineligible": ineligible, "digest": digest}
    return attack.found(release, drawn, rated, facts, seed, started)


def _sets_left(
    shards: AnyShards,
    engine: Engine,
    items: Vocabulary,
    shown: Sequence[Words],
    b: int,
    l: int,  # noqa: E741
) -> list[SetsLeft]:
    """Count rated sets, as `Rated.sets_left` of one table."""
    found, short = 0, np.zeros(len(shown), dtype=np.int64)
    for sets in _rated_sets(shards, engine, items, b):
        found += len(sets)
        lengths = (sets >= 0).sum(axis=1)
        for size in range(1, b + 1):
            these = sets[lengths == size, :size].astype(np.int64)
            short += [np.count_nonzero(covers(these, bits, l) < l) for bits in shown]
    return [SetsLeft(found, int(few)) for few in short]


def _rated_sets(
    shards: AnyShards, engine: Engine, items: Vocabulary, b: int
) -> Iterator[NDArray[np.int32]]:
    """List each set of up to b items that somebody rated together once; -1 behind its end."""
    tables = {"item_of": items.indices(shards.items).astype(np.int32)}
    settings = {"b": b, "items": len(items)}
    most = np.zeros(len(items), dtype=np.int64)
    for part in engine.run(Job("counting sets of items", _begin, settings), shards, tables):
        most += part["begin"]
    for first, last in pairwise(_edges(most, b)):
        job = Job("listing sets of items", _list, settings | {"first": first, "last": last})
        sets = np.empty((0, b), dtype=np.int32)
        for part in engine.run(job, shards, tables):
            sets = _distinct(np.concatenate([sets, part["sets"]]))
        yield sets


def _edges(most: NDArray[np.int64], b: int) -> list[int]:
    """Cut the items so that no more sets than are put together begin with a range, or one item."""
    n_items = len(most)
    there_are = (sum(comb(n_items - 1 - i, more) for more in range(b)) for i in range(n_items))
    sets = below(np.array([min(*both) for both in zip(most.tolist(), there_are, strict=True)]))
    edges = [0]
    while edges[-1] < n_items:
        fits = int(np.searchsorted(sets, sets[edges[-1]] + _AT_ONCE, side="right")) - 1
        edges.append(max(fits, edges[-1] + 1))
    return edges


def _begin(part: Ratings, _first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    """Count, for each item, the sets that begin with it: once for everybody who rated them."""
    truth = _on_items(part, settings, tables)
    behind = np.repeat(truth.indptr[1:], truth.user_support) - 1 - np.arange(truth.n_ratings)
    longest = int(behind.max(initial=0))
    with_so_many = [sum(comb(n, more) for more in range(settings["b"])) for n in range(longest + 1)]
    begin = np.zeros(settings["items"], dtype=np.int64)
    np.add.at(begin, truth.columns, np.array(with_so_many, dtype=np.int64)[behind])
    return {"begin": begin}


def _list(part: Ratings, _first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    """List the sets of a shard that begin with one of some items."""
    truth, b = _on_items(part, settings, tables), settings["b"]
    # where nobody shows anything every set is a short one
    table = rated_table(truth.indptr, truth.columns, np.zeros((settings["items"], 1), np.uint64))
    first, last = settings["first"], settings["last"]
    rated = first + np.flatnonzero(np.diff(table.item_ptr[first : last + 1]))
    sets = [list_short(item, table, b, 1)[0] for item in rated.tolist()]
    return {"sets": np.concatenate([np.empty((0, b), dtype=np.int32), *sets])}


def _on_items(part: Ratings, settings: Mapping[str, Any], tables: Tables) -> Ratings:
    return truth_on(part, Vocabulary(np.arange(settings["items"])), tables["item_of"])


def _distinct(sets: NDArray[np.int32]) -> NDArray[np.int32]:
    """Leave each once; `np.unique` compares rows byte by byte, which takes far longer."""
    ordered = sets[np.lexsort(sets.T)]
    repeated = np.flatnonzero((ordered[1:] == ordered[:-1]).all(axis=1))
    return np.delete(ordered, repeated, axis=0)
