"""(k, ε) and (k, ε, l)-anonymity of a store of shards: ball by ball, in buckets with margins.

A bucket is of records that stand together in an `Order`. How many are near each of them is counted
among themselves and then in the margin, some at a time: whole numbers, which add up.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.engine.job import Engine, Job, Tables
from starshade.privacy.k_eps import KEpsAnonymity, KEpsLAnonymity, spread_of
from starshade.privacy.proximity.balls import records_as_numbers
from starshade.privacy.proximity.judged import NAMED, About, judge, merged, tally
from starshade.privacy.proximity.verdict import ProximityVerdict
from starshade.privacy.sharded.buckets import Bucket, Buckets, near_bins
from starshade.privacy.sharded.order import (
    AXES,
    Edge,
    Order,
    bins_of,
    packed,
)
from starshade.privacy.verdict import check_records
from starshade.ratings.proximity.balls import ball_members, ball_sizes, ball_sums
from starshade.ratings.proximity.sensitive import moments, refuse_above, split_items
from starshade.ratings.proximity.space import Space, rule_of, space_of
from starshade.ratings.shards.counts import Counts, counts_of
from starshade.ratings.shards.entries import Entries
from starshade.ratings.shards.equal import class_sizes, hashes_of
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.scratch import scratch_folder

Model = KEpsAnonymity | KEpsLAnonymity
_PER_RECORD = 512  # bytes of memory that a search takes for each record, beside its cells
_PER_CELL = 24


def by_proximity(model: Model, shards: Shards, engine: Engine) -> ProximityVerdict:
    """Count who is near whom, and how far sensitive ratings spread among them."""
    check_records(model.k, shards.n_users)
    spread = isinstance(model, KEpsLAnonymity) and model.l > 0
    rest, chosen = split_items(shards.items, model.sensitive)
    counts = counts_of(shards, engine)
    if isinstance(model, KEpsLAnonymity) and spread:
        refuse_above(_bounds(shards, engine, chosen), model.l)
    with _Search(model, shards, engine, counts, rest) as search:
        found = merged(search.tallies(), model.k)
        exact = model.full or spread
        return judge(
            search.about,
            found,
            model="k-eps-l" if isinstance(model, KEpsLAnonymity) else "k-eps",
            parameters=model.parameters(),
            all_exact=exact,
            spreads=spread,
            patterns=search.patterns(),
            distinct=search.distinct,
            members=search.members,
        )


def bytes_at_once(shards: Shards) -> int:
    """Return the bytes of a bucket: as work on the largest shard takes, and so that two fit."""
    largest = max(map(shards.bytes_of, range(len(shards))))
    return max(1, min(largest, budget.memory() // 4))


class _Search(AbstractContextManager["_Search"]):
    """The jobs of one check, and what goes into them."""

    def __init__(
        self,
        model: Model,
        shards: Shards,
        engine: Engine,
        counts: Counts,
        rest: NDArray[np.int64],
    ) -> None:
        self.model, self.shards, self.engine = model, shards, engine
        self.items = np.zeros(shards.n_items, dtype=np.bool_)
        self.items[rest] = True
        rule = rule_of(shards.scale, shards.levels, model.eps, model.nulls)
        self.about = About(shards.scale, rule, shards.has_days, released=False)
        most = np.argsort(-np.where(self.items, counts.items, -1), kind="stable")
        self.axes = most[: min(AXES, len(rest))]
        self.settings = {
            "k": int(model.k),
            "eps": float(model.eps),
            "l": float(getattr(model, "l", 0)),
            "sensitive": list(model.sensitive),
            "nulls": model.nulls,
            "search": model.search,
            "full": bool(model.full),
        }
        self.distinct: int | None = None
        self._scratch = scratch_folder()

    def __enter__(self) -> _Search:
        folder = self._scratch.__enter__()
        (folder / "order").mkdir()
        self.balls = Entries(folder)
        self.order = Order(folder / "order", self.about.rule.by_pattern)
        rule = self.about.rule
        self.near = near_bins(rule)
        self.most = bytes_at_once(self.shards)
        if not rule.everybody:
            dense = 0 if rule.by_pattern else len(self.items) * 8
            settings = {"by_pattern": rule.by_pattern, "dense": dense}
            tables = {"items": self.items, "axes": self.axes}
            for part in self.engine.run(
                Job("sorting records", _keys, settings), self.shards, tables
            ):
                self.order.add(part)
        return self

    def __exit__(self, *error: Any) -> None:
        self._scratch.__exit__(*error)

    def tallies(self) -> list[Tables]:
        """Count the balls of everybody."""
        if self.about.rule.everybody:
            return self._everybody()
        edges = self.order.edges(self.most)
        job = Job("looking for proximate records", _ask, self.settings, threaded=True)
        parts: list[Tables] = []
        for part in self.engine.run(job, self._buckets(edges), {}):
            told = dict(part)
            balls = told.pop("balls")
            if self.model.full:
                self.balls.add(balls.view(np.uint64), {})
            parts.append(told)
        if self.model.full:
            self.distinct = sum(len(group.starts) for group in self.balls.groups())
        return parts

    def _everybody(self) -> list[Tables]:
        """Count where everybody's ball is everybody."""
        self.distinct = 1 if self.model.full else None
        job = Job("adding up", _moments, {"sensitive": self.settings["sensitive"]})
        sums = sum(part["sums"] for part in self.engine.run(job, self.shards, {}))
        records = np.array([self.shards.n_users])
        tables = {"sums": np.asarray(sums), "records": records}
        job = Job("looking at spreads", _of_all, self.settings)
        return list(self.engine.run(job, self.shards, tables))

    def patterns(self) -> tuple[int, int] | None:
        """Count the sets of items that were rated, and who is in those of too few."""
        if not self.about.rule.by_pattern:
            return None
        n = small = 0
        for _, size in class_sizes(
            self.shards, self.engine, days=False, ratings=False, items=self.items
        ):
            n += len(size)
            small += int(size[size < self.model.k].sum())
        return n, small

    def members(self, row: int) -> tuple[int, list[int]]:
        """Return how many are in a record's ball, and the first of them."""
        if self.about.rule.everybody:
            n = self.shards.n_users
            return n, list(range(min(n, NAMED)))
        job = Job("looking at the worst", _members, self.settings, threaded=True)
        (found,) = self.engine.run(job, self._buckets(list(self.order.around(row))), {})
        return int(found["size"][0]), found["first"].tolist()

    def _buckets(self, edges: list[Edge]) -> Buckets:
        return Buckets(self.shards, self.order, edges, self.near, self.most)


def _bounds(shards: Shards, engine: Engine, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the `spread_bound` of sensitive items."""
    tables = {"chosen": chosen}
    parts = list(engine.run(Job("looking at sensitive ratings", _ranges), shards, tables))
    raters = np.sum([part["raters"] for part in parts], axis=0)
    least = np.min([part["least"] for part in parts], axis=0)
    most = np.max([part["most"] for part in parts], axis=0)
    bound = np.full(len(chosen), np.inf)
    whole = (raters == shards.n_users) & (raters > 0)
    levels = shards.levels
    bound[whole] = (levels[most[whole]] - levels[least[whole]]) / 2
    return bound


def _ranges(shard: Ratings, _first: int, _settings: Mapping[str, Any], tables: Tables) -> Tables:
    """Return how many rated each item, and the codes of their lowest and highest ratings."""
    by_item, top = shard.by_item, np.iinfo(np.int64).max
    found = []
    for item in tables["chosen"].tolist():
        codes = by_item.codes[by_item.indptr[item] : by_item.indptr[item + 1]].astype(np.int64)
        found.append((len(codes), codes.min(initial=top), codes.max(initial=-1)))
    raters, least, most = np.array(found, dtype=np.int64).T
    return {"raters": raters, "least": least, "most": most}


def _keys(shard: Ratings, first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    """Return the keys of a shard's records, and the bytes that a search takes for each."""
    items, axes = tables["items"], tables["axes"]
    bins = np.zeros((shard.n_users, len(axes)), dtype=np.uint64)
    by_item = shard.by_item
    for axis, item in enumerate(axes.tolist()):
        here = slice(int(by_item.indptr[item]), int(by_item.indptr[item + 1]))
        bins[by_item.users[here], axis] = bins_of(by_item.codes[here], len(shard.levels))
    pattern = np.zeros(shard.n_users, dtype=np.uint64)
    if settings["by_pattern"]:
        pattern = hashes_of(shard, days=False, ratings=False, items=items)[:, 0]
    return {
        "pattern": pattern,
        "ratings": packed(bins),
        "row": np.arange(first, first + shard.n_users),
        "bytes": _PER_CELL * shard.user_support + _PER_RECORD + settings["dense"],
    }


def _space(ratings: Ratings, settings: Mapping[str, Any]) -> Space:
    rest, _ = split_items(ratings.items, settings["sensitive"])
    return space_of(ratings, rest, settings["eps"], settings["nulls"])


def _ask(bucket: Bucket, _first: int, settings: Mapping[str, Any], _tables: Tables) -> Tables:
    """Count the balls of the records of a bucket."""
    own = bucket.own()
    rows = own.users.integers
    none = np.empty((0, 2), dtype=np.int64)
    if not (settings["full"] or settings["l"]):
        sizes = _sizes_up_to(bucket, own, settings)
        return {**tally(rows, sizes, settings["k"], None), "balls": none}
    sums = _sums(bucket, own, settings)
    keys = 2 * settings["full"]
    sizes = sums[:, 0].copy()
    spread = None
    if settings["l"]:
        spread = spread_of(sizes, sums[:, 1 + keys :], own.scale, settings["l"])
    balls = np.unique(sums[:, 1 : 1 + keys], axis=0) if keys else none
    return {**tally(rows, sizes, settings["k"], spread), "balls": balls}


def _sizes_up_to(bucket: Bucket, own: Ratings, settings: Mapping[str, Any]) -> NDArray[np.int64]:
    k, search = settings["k"], settings["search"]
    among = ball_sizes(_space(own, settings), stop_at=k, search=search)
    sizes = among.copy()
    if (sizes < k).any():
        for margin in bucket.margin():
            left = np.flatnonzero(sizes < k)
            if not len(left):
                break
            space = _space(_joined(own, margin), settings)
            beside = ball_sizes(space, rows=left, stop_at=k, search=search) - among[left]
            sizes[left] = np.minimum(sizes[left] + beside, k)
    return sizes


def _sums(bucket: Bucket, own: Ratings, settings: Mapping[str, Any]) -> NDArray[np.int64]:
    """Sum over each ball, wherever its members are: how many, their keys, their `moments`."""
    numbers = _numbers(own, settings)
    sums = ball_sums(_space(own, settings), numbers, search=settings["search"])
    for margin in bucket.margin():
        beside = np.concatenate([np.zeros_like(numbers), _numbers(margin, settings)])
        space = _space(_joined(own, margin), settings)
        rows = np.arange(own.n_users)
        sums += ball_sums(space, beside, rows=rows, search=settings["search"])
    return sums


def _numbers(ratings: Ratings, settings: Mapping[str, Any]) -> NDArray[np.int64]:
    whole = records_as_numbers(ratings.users.integers, distinct=settings["full"])
    if not settings["l"]:
        return whole
    _, chosen = split_items(ratings.items, settings["sensitive"])
    return np.column_stack([whole, moments(ratings, chosen)])


def _joined(one: Ratings, other: Ratings) -> Ratings:
    """Put two tables of other people below each other; their numbers play no part."""
    return replace(
        one,
        users=Vocabulary(np.arange(one.n_users + other.n_users)),
        indptr=np.concatenate([one.indptr, one.indptr[-1] + other.indptr[1:]]),
        columns=np.concatenate([one.columns, other.columns]),
        codes=np.concatenate([one.codes, other.codes]),
    )


def _members(bucket: Bucket, _first: int, settings: Mapping[str, Any], _tables: Tables) -> Tables:
    """Find the ball of a bucket of one record."""
    own = bucket.own()
    size, first = 1, own.users.integers
    for margin in bucket.margin():
        _, near = ball_members(_space(_joined(own, margin), settings), np.array([0]))
        near = near[near > 0]
        size += len(near)
        first = np.sort(np.concatenate([first, margin.users.integers[near - 1]]))[:NAMED]
    return {"size": np.array([size]), "first": first}


def _moments(shard: Ratings, _first: int, settings: Mapping[str, Any], _tables: Tables) -> Tables:
    _, chosen = split_items(shard.items, settings["sensitive"])
    return {"sums": moments(shard, chosen).sum(axis=0)}


def _of_all(shard: Ratings, first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    """Count the balls of a shard's records, of which each is everybody."""
    n = shard.n_users
    records, sums = int(tables["records"][0]), tables["sums"]
    sizes = np.full(n, records)
    if not (settings["full"] or settings["l"]):
        sizes = np.minimum(sizes, settings["k"])
    spread = None
    if settings["l"]:
        everybody = np.broadcast_to(sums, (n, len(sums)))
        spread = spread_of(sizes, everybody, shard.scale, settings["l"])
    return dict(tally(np.arange(first, first + n), sizes, settings["k"], spread))
