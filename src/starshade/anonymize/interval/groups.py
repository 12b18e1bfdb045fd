"""Who is clipped together: by null pattern, in clusters of like records, until balls spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from starshade import budget
from starshade.anonymize.interval.table import Coarse, IntervalTable, moved_ratings
from starshade.anonymize.order import put_back
from starshade.errors import ConfigError, UnmetError
from starshade.kernels.arrays import Array, Bools, Bytes, Floats, Ints, Words, cut, run
from starshade.kernels.interval.interval import clip_groups, join_small
from starshade.kernels.interval.pack import count_groups, pack, union_costs
from starshade.kernels.interval.split import split
from starshade.naming import named
from starshade.plain import counted
from starshade.progress import task
from starshade.ratings.proximity.balls import ball_sizes, ball_sums
from starshade.ratings.proximity.sensitive import moments, spreads, too_low
from starshade.ratings.proximity.settings import NullRule
from starshade.ratings.proximity.space import space_of
from starshade.ratings.table import Ratings

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
            f"{budget.amount(needed)} in addition to the tables; "
            f"{budget.amount(max(0, allowed))} may be used",
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

    run(work, len(lanes), "cutting into similar groups")


_PARTNERS = 256  # groups that a failing one may merge with: those next to it in number


@dataclass(frozen=True, eq=False)
class Sought:
    """What is asked of the released table."""

    ratings: Ratings
    open: Ints
    sensitive: Ints
    eps: float
    nulls: NullRule
    l: float  # noqa: E741  (the paper's name)


@dataclass(frozen=True, eq=False)
class Spread:
    """Groups whose clipped records meet the requirement."""

    cost: float
    released: Ratings


def holds_already(sought: Sought, k: int) -> bool:
    """Tell whether the table meets the requirement before any rating is moved."""
    space = space_of(sought.ratings, sought.open, sought.eps, sought.nulls)
    if (ball_sizes(space, stop_at=k) < k).any():
        return False
    if not sought.l:
        return True
    own = moments(sought.ratings, sought.sensitive)
    return not too_low(_ball_spreads(sought.ratings, own, sought), sought.l).any()


def merge_until_spread(
    table: IntervalTable, coarse: Coarse, groups: Ints, sought: Sought
) -> Spread:
    """Clip, look at every ball of the result, merge the groups of those that fail, and repeat.

    Groups are always clipped from the original ratings. Each round leaves fewer groups, so there
    is a last one. A ball may reach beyond its group; it is the balls that are looked at.
    """
    own = moments(sought.ratings, sought.sensitive)
    n_groups = int(groups.max()) + 1
    with task("merging groups until sensitive ratings spread", n_groups - 1) as step:
        while True:
            cost, cells = table.clip(groups)
            released = moved_ratings(sought.ratings, sought.open, table, cells)
            deviations = _ball_spreads(released, own, sought)
            failing = too_low(deviations, sought.l)
            if not failing.any():
                return Spread(cost, released)
            if n_groups == 1:
                _refuse(deviations[0], failing[0], sought.l)
            weak = np.unique(groups[failing.any(axis=1)])
            groups = _merged(coarse, groups, weak, own, sought)
            step(n_groups - 1 - int(groups.max()))
            n_groups = int(groups.max()) + 1


def _ball_spreads(released: Ratings, own: Array, sought: Sought) -> Floats:
    space = space_of(released, sought.open, sought.eps, sought.nulls)
    return spreads(ball_sizes(space), ball_sums(space, own), released.scale)


def _merged(coarse: Coarse, groups: Ints, weak: Ints, own: Array, sought: Sought) -> Ints:
    """Merge each weak group with the one whose union costs least, one that spreads enough first.

    Groups next to each other in number are alike: they come from one pattern and one part of it.
    A group takes part in one union a round, or is joined by further ones.
    """
    n_groups = int(groups.max()) + 1
    counts = count_groups(coarse.codes, groups, n_groups, coarse.n_levels)
    sizes = np.bincount(groups, minlength=n_groups)
    sums = np.zeros((n_groups, own.shape[1]), dtype=own.dtype)
    np.add.at(sums, groups, own)
    into = np.arange(n_groups)
    joined = np.zeros(n_groups, dtype=np.bool_)
    alive = np.arange(n_groups)
    for group in weak.tolist():
        if joined[group] or len(alive) == 1:
            continue
        place = int(np.searchsorted(alive, group))
        first = max(0, min(place - _PARTNERS // 2, len(alive) - _PARTNERS))
        partners = alive[first : first + _PARTNERS]
        partners = partners[partners != group]
        added = union_costs(counts, group, partners, coarse.width, coarse.null_cost)
        both = spreads(
            sizes[partners] + sizes[group], sums[partners] + sums[group], sought.ratings.scale
        )
        lacking = too_low(both, sought.l).any(axis=1)
        partner = int(partners[np.lexsort([added, lacking])[0]])
        for part in (counts, sizes, sums):
            part[partner] += part[group]
        into[group] = partner
        joined[partner] = True
        alive = np.delete(alive, place)
    while not np.array_equal(into, into[into]):
        into = into[into]
    return np.asarray(np.unique(into[groups], return_inverse=True)[1].reshape(-1))


def _refuse(deviations: Floats, failing: Bools, l: float) -> None:  # noqa: E741
    place = int(np.flatnonzero(failing)[0])
    raise UnmetError(
        f"l = {l:g}: no grouping was found in which every ball has more. Over all records, the "
        f"standard deviation of sensitive item {place + 1} of the {len(deviations)} given is "
        f"{deviations[place]:.4g}",
        advice="Choose a smaller l, or leave the item out of the release.",
    )
