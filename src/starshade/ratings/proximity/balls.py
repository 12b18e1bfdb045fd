"""Balls of ε-proximate records: sizes, sums, members (SR Def. 2; definitions, "k-eps")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.arrays import cut, run
from starshade.kernels.balls.leaf import Asked, Found
from starshade.kernels.balls.search import (
    Nearness,
    scan_balls,
    search_balls,
    search_members,
    table_of,
)
from starshade.kernels.balls.tree import FIRST, LAST
from starshade.progress import task
from starshade.ratings.proximity.settings import Search
from starshade.ratings.proximity.space import Space

__all__ = ["Search", "ball_members", "ball_sizes", "ball_sums"]

_NEVER = np.iinfo(np.int64).max
_STEP = 2_048  # records between two steps of the progress
_LABEL = "finding proximate records"


def ball_sizes(
    space: Space,
    *,
    rows: NDArray[np.integer] | None = None,
    stop_at: int | None = None,
    search: Search = "tree",
) -> NDArray[np.int64]:
    """Count the records in each ball, the record itself included.

    `rows`: whose balls; None: everybody's, in row order. `stop_at`: enough is enough: a ball of
    this many or more may be reported as `stop_at`. `search` ({"tree", "slicing", "pairwise"}): how
    neighbours are found; the answer is the same. Returns (len(rows),).
    """
    chosen = np.arange(space.n_records) if rows is None else np.asarray(rows, dtype=np.int64)
    none = np.empty((space.n_records, 0), np.int64)
    if space.rule.everybody:
        sizes = np.full(len(chosen), space.n_records)
    elif search == "tree":
        sizes = _search(space, chosen, none, stop_at)[0]
    else:
        sizes = _scan(space, chosen, none, search)[0]
    return sizes if stop_at is None else np.minimum(sizes, stop_at)


def ball_sums(
    space: Space,
    columns: NDArray[Any],
    *,
    rows: NDArray[np.integer] | None = None,
    search: Search = "tree",
) -> NDArray[Any]:
    """Sum a record's numbers over each ball.

    `columns` (int64, uint64 or float64 (n_records, q)): integers wrap around at 64 bits (which sums
    of hashes want); the caller sees to it that counts do not. `rows`: whose balls; None:
    everybody's, in row order. `search` ({"tree", "slicing", "pairwise"}). Returns (len(rows), q).
    """
    if columns.dtype == np.uint64:  # the same bits, and the same kernel
        return ball_sums(space, columns.view(np.int64), rows=rows, search=search).view(np.uint64)
    chosen = np.arange(space.n_records) if rows is None else np.asarray(rows, dtype=np.int64)
    if space.rule.everybody:
        return np.broadcast_to(columns.sum(axis=0), (len(chosen), columns.shape[1])).copy()
    if search == "tree":
        return _search(space, chosen, columns, None)[1]
    return _scan(space, chosen, columns, search)[1]


def ball_members(
    space: Space, rows: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return who is in the balls of these rows: CSR ``indptr, members``, members ascending.

    The caller knows that they fit into memory (`ball_sizes`).
    """
    rows = np.asarray(rows, dtype=np.int64)
    sizes = ball_sizes(space, rows=rows)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if space.rule.everybody:
        return indptr, np.tile(np.arange(space.n_records), len(rows))
    members = np.empty(indptr[-1], np.int64)
    if not len(rows):
        return indptr, members
    index = space.index
    places = index.place_of_record[rows]
    lanes = cut(sizes)

    def list_them(lane: int) -> None:
        first, last = lanes[lane]
        search_members(
            places[first:last], index.forest, index.blocks, index.fields, index.people,
            indptr[first : last + 1], members,
        )  # fmt: skip
        for i in range(first, last):
            members[indptr[i] : indptr[i + 1]].sort()

    run(list_them, len(lanes))
    return indptr, members


def _search(
    space: Space, rows: NDArray[np.int64], columns: NDArray[Any], stop_at: int | None
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    if not len(rows):
        return np.empty(0, np.int64), np.empty((0, columns.shape[1]), columns.dtype)
    index = space.index
    weights, own = index.weights, index.sums(columns)
    enough = _NEVER if stop_at is None else stop_at
    wanted = np.zeros(len(weights), np.bool_)
    wanted[index.place_of_record[rows]] = True
    nodes, leaves = index.forest.nodes, index.leaves
    sizes, sums = weights.copy(), own.copy()
    # those of a block of one record, and those who need not ask, have their answer
    alone = np.ones(len(weights), np.bool_)
    for_leaf = nodes[leaves, LAST] - nodes[leaves, FIRST]
    alone[_runs(nodes[leaves, FIRST], for_leaf)] = False
    wanted &= ~alone & (weights < enough)
    sizes[wanted], sums[wanted] = 0, 0
    sought = Asked(
        wanted, enough, weights, index.node_sums(weights[:, None])[:, 0], own, index.node_sums(own)
    )
    asks = np.add.reduceat(wanted, nodes[leaves, FIRST], dtype=np.int64) if len(leaves) else leaves
    result = Found(sizes, sums)

    def search(first: int, last: int) -> None:
        with np.errstate(over="ignore"):  # sums of hashes wrap around, also where interpreted
            search_balls(
                leaves[first:last], index.forest, index.blocks, index.fields, sought, result
            )

    _in_lanes(search, asks)
    places = index.place_of_record[rows]
    return sizes[places], sums[places]


def _runs(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return starts[i], starts[i] + 1, … for each run, one after the other."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())


def _scan(
    space: Space, rows: NDArray[np.int64], columns: NDArray[Any], search: Search
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    sizes = np.zeros(len(rows), np.int64)
    sums = np.zeros((len(rows), columns.shape[1]), columns.dtype)
    if not len(rows):
        return sizes, sums
    rule = Nearness(space.rule.low, space.rule.high, space.rule.null)
    table = table_of(space.full(), len(rule.low), slicing=search == "slicing")

    def scan(first: int, last: int) -> None:
        part = slice(first, last)
        with np.errstate(over="ignore"):
            scan_balls(rows[part], table, rule, columns, sizes[part], sums[part])

    _in_lanes(scan, np.ones(len(rows), np.int64))
    return sizes, sums


def _in_lanes(work: Callable[[int, int], None], asks: NDArray[np.int64]) -> None:
    """Do ``work(first, last)`` on threads, lane by lane, telling how many have asked."""
    done = np.concatenate([[0], np.cumsum(asks)])
    # each is compared with many, so that few are worth a thread
    lanes = cut(asks * _STEP)
    with task(_LABEL, int(done[-1])) as step:

        def lane_by_steps(lane: int) -> None:
            first, last = lanes[lane]
            while first < last:
                end = int(np.searchsorted(done, done[first] + _STEP))
                end = min(last, max(end, first + 1))
                work(first, end)
                step(int(done[end] - done[first]))
                first = end

        run(lane_by_steps, len(lanes))
