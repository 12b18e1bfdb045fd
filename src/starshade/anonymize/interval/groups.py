"""Who is clipped together: groups by null pattern, and clusters of records that are alike."""

from __future__ import annotations

import numpy as np

from starshade import budget
from starshade.anonymize.interval.table import Coarse, IntervalTable
from starshade.anonymize.order import put_back
from starshade.errors import ConfigError
from starshade.kernels.arrays import Bools, Bytes, Ints, Words
from starshade.kernels.interval.interval import clip_groups
from starshade.kernels.interval.pack import pack
from starshade.kernels.interval.patterns import join_small
from starshade.kernels.interval.split import split
from starshade.kernels.lanes import cut, run
from starshade.naming import named
from starshade.plain import counted

__all__ = ["cluster_groups", "pattern_groups", "pattern_words"]

_PATTERNS = 8192  # searched for the nearest among all; more are cut into blocks first
_SEARCH = 4_000_000_000  # look-ups that grouping within nodes may take in all, about
_NODE = 2048  # records of a node, at most
_SMALL_NODE = 64
_AT_ONCE = 256  # patterns whose ratings are added up in one step
_LARGE_TABLE = 1 << 18  # cells; larger ones are searched in fewer rounds
_SWEEPS, _FEW_SWEEPS = 20, 3  # of local search
_TRIED, _FEW_TRIED = 8, 3  # groups with whose members a record may change places


def pattern_words(rated: Bools) -> Words:
    """Return which items each record rated, a bit for each, shape (n, n_words)."""
    n, m = rated.shape
    packed = np.zeros((n, max(1, -(-m // 64)) * 8), dtype=np.uint8)
    packed[:, : -(-m // 8)] = np.packbits(rated, axis=1)
    return packed.view(np.uint64)


def pattern_groups(table: IntervalTable, k: int) -> Ints:
    """Group the records that rated the same items, all together where nulls cost nothing."""
    n = len(table.cells)
    if table.null_cost < 0:
        return np.zeros(n, dtype=np.int64)
    rated = table.rated()
    words = pattern_words(rated)
    _, first, own, sizes = np.unique(
        words[:, 0] if words.shape[1] == 1 else words,
        axis=0,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    own = own.reshape(-1)
    if sizes.min() >= k:
        return own.astype(np.int64)
    met = np.full(len(sizes), np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(met, own, table.numbers)
    into = np.arange(len(sizes))
    for block in _blocks(rated, first, sizes, k):
        block = block[np.argsort(met[block], kind="stable")]
        into[block] = block[join_small(words[first[block]], sizes[block], k)]
    return np.asarray(np.unique(into[own], return_inverse=True)[1].reshape(-1), dtype=np.int64)


def _blocks(rated: Bools, first: Ints, sizes: Ints, k: int) -> list[Ints]:
    """Cut patterns, by what most nearly halves them, into blocks that can be searched in full."""
    done, waiting = [], [np.arange(len(sizes))]
    while waiting:
        block = waiting.pop()
        if len(block) > _PATTERNS:
            with_item = np.zeros(rated.shape[1], dtype=np.int64)
            for start in range(0, len(block), _AT_ONCE):  # no table of wide integers
                part = block[start : start + _AT_ONCE]
                with_item += sizes[part] @ rated[first[part]]
            lesser = np.minimum(with_item, sizes[block].sum() - with_item)
            item = int(lesser.argmax())
            if lesser[item] >= k:
                on = rated[first[block], item]
                waiting += [block[on], block[~on]]
                continue
        done.append(block)
    return done


def cluster_groups(coarse: Coarse, numbers: Words, within: Ints, k: int) -> Ints:
    """Cut groups into clusters of k or more that cost less to clip; ties to the lesser number."""
    n, m = coarse.codes.shape
    order = np.lexsort([numbers, within])
    rows = np.ascontiguousarray(coarse.codes[order])
    starts = np.zeros(n, dtype=np.bool_)
    starts[0] = True
    starts[1:] = np.diff(within[order]) > 0
    node_size = _node_size(n, m, k)
    _split(rows, order, starts, coarse, k, enough=max(node_size, n // 16))
    _split(rows, order, starts, coarse, k, enough=node_size)
    indptr = np.append(np.flatnonzero(starts), n)
    _check_budget(rows, indptr, coarse, k)
    small = n * m <= _LARGE_TABLE
    label = pack(
        rows,
        indptr,
        n_levels=coarse.n_levels,
        width=coarse.width,
        null_cost=coarse.null_cost,
        k=k,
        sweeps=_SWEEPS if small else _FEW_SWEEPS,
        tried=_TRIED if small else _FEW_TRIED,
    )
    node = np.cumsum(starts) - 1
    pair = node * (n + 1) + label
    return put_back(order, np.unique(pair, return_inverse=True)[1].reshape(-1))


def _node_size(n: int, m: int, k: int) -> int:
    """Return the size below which records are grouped by search: no more than time allows."""
    return max(4 * k, _SMALL_NODE, min(_NODE, _SEARCH // (n * m)))


def _check_budget(rows: Bytes, indptr: Ints, coarse: Coarse, k: int) -> None:
    """Refuse nodes whose groups, counted code by code, do not fit beside the tables."""
    n, m = rows.shape
    groups = np.diff(indptr) // k
    per_group = m * (coarse.n_levels + 1) * (8 + 8)  # how often a code occurs; what it would cost
    allowed = budget.left(3 * n * m)
    lanes = budget.threads()
    if int(np.sort(groups)[-lanes:].sum()) * per_group <= allowed:
        return
    cost = clip_groups(  # a node without any is not searched
        rows, np.arange(n), indptr,
        n_levels=coarse.n_levels, width=coarse.width, null_cost=coarse.null_cost,
        numbers=np.zeros(len(groups), dtype=np.uint64), out=None,
    )  # fmt: skip
    needed = int(np.sort(groups[cost > 0])[-lanes:].sum()) * per_group
    if needed > allowed:
        raise ConfigError(
            f"{counted(n, 'record')} x {counted(m, 'item')}: grouping them takes about "
            f"{budget.amount(needed)} beside the tables; {budget.amount(max(0, allowed))} may be "
            "used",
            advice=f"Choose fewer items or a larger k, or allow more with {named('memory')}.",
        )


def _split(rows: Bytes, order: Ints, starts: Bools, coarse: Coarse, k: int, *, enough: int) -> None:
    """Cut every run down to `enough` records; runs are independent, so threads share them."""
    first = np.append(np.flatnonzero(starts), len(rows))
    lanes = cut(np.diff(first))

    def work(lane: int) -> None:
        here = slice(int(first[lanes[lane][0]]), int(first[lanes[lane][1]]))
        split(
            rows[here],
            order[here],
            starts[here],
            n_levels=coarse.n_levels,
            width=coarse.width,
            null_cost=coarse.null_cost,
            k=k,
            enough=enough,
        )

    run(work, len(lanes), "cutting into like groups")
