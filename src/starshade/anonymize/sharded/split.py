"""A coarse split by taste: users of all shards sent to as many buckets of alike users.

A few users, drawn by key, say how tastes spread. They are cut in two along the direction in which
their predicted rows spread most, so that both sides have about their share of the ratings, and each
side again, until there are as many leaves as shards. Whoever comes is sent down the same cuts, by
their own row alone; of two equally far along, a seeded hash of the row decides, never an id.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.order import content_marks
from starshade.anonymize.predictive.making import padded_by
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.anonymize.sharded.records import RecordShards, rows_like
from starshade.engine.files import Desk, Desks, left_in
from starshade.engine.job import Engine, Job, Tables
from starshade.kernels.arrays import Floats, Ints, Words
from starshade.kernels.csr import keep_rows
from starshade.ratings.shards.manifest import PER_RATING
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.recommend.sharded import ItemFit


@dataclass(frozen=True, eq=False)
class Cuts:
    """Where tastes are cut in two.

    `ways` (cuts, f): the direction of each cut. `along`, `marks` (cuts,): who is up to there, of
    those equally far who has such a hash, goes left. `sides` (cuts, 2): the cut that follows left
    and right, or -1 less a leaf; leaves are numbered from left to right. Without a cut there is one
    leaf.
    """

    ways: Floats
    along: Floats
    marks: Words
    sides: Ints

    @property
    def n_leaves(self) -> int:
        """Cuts and one."""
        return len(self.sides) + 1

    def leaf_of(self, points: Floats, marks: Words) -> Ints:
        """Return the leaf of each user."""
        leaf = np.zeros(len(points), dtype=np.int64)
        todo = [(0, np.arange(len(points)))] if len(self.sides) else []
        while todo:
            cut, users = todo.pop()
            left = _is_left(
                _along(points[users], self.ways[cut]), marks[users], self.along[cut],
                self.marks[cut],
            )  # fmt: skip
            for side, there in zip(self.sides[cut].tolist(), (left, ~left), strict=True):
                if side >= 0:
                    todo.append((side, users[there]))
                else:
                    leaf[users[there]] = -1 - side
        return leaf


def cut_by_taste(points: Floats, marks: Words, weights: Floats, leaves: int) -> Cuts:
    """Cut users into so many leaves of about equal weight; fewer where too many are equal."""
    ways: list[Floats] = []
    along: list[float] = []
    hashes: list[int] = []
    sides: list[list[int]] = []
    n_leaves = 0

    def grow(users: Ints, wanted: int) -> int:
        nonlocal n_leaves
        left = np.zeros(0, dtype=np.bool_)
        if wanted > 1 and len(users) > 1:
            way = _widest(points[users], weights[users])
            place = _along(points[users], way)
            order = np.lexsort((marks[users], place))
            total = np.cumsum(weights[users][order])
            last = order[int(np.searchsorted(total, total[-1] * (wanted // 2) / wanted))]
            left = _is_left(place, marks[users], place[last], marks[users][last])
        if left.all():  # nobody is to be cut from anybody
            n_leaves += 1
            return -n_leaves
        cut = len(sides)
        ways.append(way)
        along.append(float(place[last]))
        hashes.append(int(marks[users][last]))
        sides.append([0, 0])
        sides[cut] = [grow(users[left], wanted // 2), grow(users[~left], wanted - wanted // 2)]
        return cut

    grow(np.arange(len(points)), leaves)
    return Cuts(
        np.array(ways).reshape(len(sides), points.shape[1]),
        np.array(along),
        np.array(hashes, dtype=np.uint64),
        np.array(sides, dtype=np.int64).reshape(len(sides), 2),
    )


def _is_left(place: Floats, marks: Words, along: float, mark: int) -> NDArray[np.bool_]:
    return np.asarray((place < along) | ((place == along) & (marks <= np.uint64(mark))))


def _along(points: Floats, way: Floats) -> Floats:
    out = np.zeros(len(points))
    for j, each in enumerate(way):  # term by term: the same for a user, whoever stands beside
        out += points[:, j] * each
    return out


def _widest(points: Floats, weights: Floats) -> Floats:
    """Return the direction of most spread."""
    total = weights.sum()
    mean = np.array([(weights * column).sum() / total for column in points.T])
    off = points - mean
    f = points.shape[1]
    spread = np.array(
        [[(weights * off[:, a] * off[:, b]).sum() for b in range(f)] for a in range(f)]
    )
    return np.asarray(np.linalg.eigh(spread)[1][:, -1])


@dataclass(frozen=True, eq=False)
class Buckets:
    """Rows of all shards by bucket; a bucket is some leaves beside each other.

    `users`, `ratings` (shards, leaves): how many of a shard are in a leaf. `edges`: bucket b is of
    the leaves edges[b] to edges[b + 1], the last excluded.
    """

    records: RecordShards
    folders: Sequence[Path]
    users: Ints
    ratings: Ints
    edges: Sequence[int]

    def __len__(self) -> int:
        return len(self.edges) - 1

    @property
    def keys(self) -> list[str]:
        """What each bucket is known again by."""
        said = "\n".join(folder.name for folder in self.folders)
        return [
            hashlib.sha256(f"{said}\n{first} {last}".encode()).hexdigest()
            for first, last in pairwise(self.edges)
        ]

    @property
    def first_users(self) -> list[int]:
        """The number of each bucket's first user, bucket after bucket."""
        sizes = [self.ends(number)[-1] for number in range(len(self))]
        return [0, *np.cumsum(sizes)[:-1].tolist()]

    def ends(self, number: int) -> Ints:
        """Return where each shard's rows end in a bucket, 0 first."""
        first, last = self.edges[number : number + 2]
        sizes = self.users[:, first:last].sum(axis=1)
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def rows(self, number: int, shard: int) -> slice:
        """Return where a bucket's rows are among those that a shard sent."""
        ends = np.concatenate([[0], np.cumsum(self.users[shard])])
        first, last = self.edges[number : number + 2]
        return slice(int(ends[first]), int(ends[last]))

    def users_of(self, number: int, shard: int) -> Ints:
        """Return which users of the table's shard these rows are."""
        order = left_in(self.folders[shard], "order")[self.rows(number, shard)]
        return np.asarray(self.records.users_of(shard)[order])

    def bytes_of(self, number: int, /) -> int:
        """Return the bytes of memory that work on a bucket takes, at most."""
        first, last = self.edges[number : number + 2]
        return PER_RATING * int(self.ratings[:, first:last].sum())

    def shard(self, number: int, /) -> Ratings:
        """Open a bucket, in memory: rows of the first shard first."""
        columns, codes, lengths = [], [], [np.zeros(1, dtype=np.int64)]
        for shard, folder in enumerate(self.folders):
            rows = self.rows(number, shard)
            indptr = left_in(folder, "indptr")[rows.start : rows.stop + 1]
            cells = slice(int(indptr[0]), int(indptr[-1]))
            columns.append(left_in(folder, "columns")[cells])
            codes.append(left_in(folder, "codes")[cells])
            lengths.append(np.diff(indptr))
        indptr = np.cumsum(np.concatenate(lengths))
        places = Vocabulary(np.arange(len(indptr) - 1))
        return rows_like(
            self.records.table, places, indptr, np.concatenate(columns), np.concatenate(codes)
        )


def send(
    records: RecordShards,
    sample: Ratings,
    method: PredictiveAnonymizer,
    asked: Mapping[str, Any],
    tables: Mapping[str, NDArray[Any]],
    engine: Engine,
    place: Path,
) -> Buckets:
    """Cut the tastes of a sample, and send everybody to a bucket; as many buckets as shards.

    `asked`, `tables`: settings and columns of all jobs. A bucket has at least as many users as a
    group.
    """
    points, marks = _tastes(sample, asked, tables)
    weights = sample.user_support.astype(np.float64)
    cuts = cut_by_taste(points, marks, weights, len(records))
    told = {**tables, **vars(cuts)}
    job = Job("splitting by taste", _send, asked, threaded=True)
    desks = Desks.of(job, records, told, place)
    parts = list(engine.run(job, desks, told))
    users, ratings = (np.array([part[name] for part in parts]) for name in ("users", "ratings"))
    edges = _joined(users.sum(axis=0), int(method.k + method.slack))
    return Buckets(records, desks.folders, users, ratings, edges)


def _joined(sizes: Ints, least: int) -> list[int]:
    """Join leaves of fewer than so many users to the next ones, the last ones to those before."""
    edges, held = [0], 0
    for leaf, size in enumerate(sizes.tolist()):
        held += size
        if held >= least:
            edges.append(leaf + 1)
            held = 0
    edges[-1 if len(edges) > 1 else len(edges) :] = [len(sizes)]
    return edges


def _tastes(rows: Ratings, asked: Mapping[str, Any], tables: Tables) -> tuple[Floats, Words]:
    """Return where predicted rows lie, and the hash of each row."""
    fit = ItemFit.of(asked["fit"], tables)
    method = PredictiveAnonymizer(**asked["method"])
    padded = padded_by(method, rows, fit.factors(rows), tables["support"])
    return padded.coordinates, content_marks(rows, asked["seed"], "split")


def _send(desk: Desk, _first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    cuts = Cuts(*(tables[name] for name in ("ways", "along", "marks", "sides")))
    rows = desk.shard
    leaf = cuts.leaf_of(*_tastes(rows, settings, tables))
    order = np.argsort(leaf, kind="stable")
    indptr, columns, codes, _ = keep_rows(rows.indptr, rows.columns, rows.codes, None, order)
    who = order.astype(np.int32)
    desk.leave({"indptr": indptr, "columns": columns, "codes": codes, "order": who})
    return {
        "users": np.bincount(leaf, minlength=cuts.n_leaves),
        "ratings": np.bincount(leaf, rows.user_support, cuts.n_leaves).astype(np.int64),
    }
