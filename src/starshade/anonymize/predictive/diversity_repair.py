"""Repair a `simple` release to (b, l)-diversity by fake edges (PA §5.1, Defs 5.2, 5.3).

Every set of at most b items that some user rated together must be shown by l groups. A set that
fewer show gets *fake edges*: further groups show what they lack of it. Which groups is free, and
matters: a rated pair of items may lack four groups, and there are a hundred thousand such pairs.

What is done here. Items are taken from the one that most groups show to the rarest. An item is
only ever added to groups that show already what it must stand beside: of each of its sets, the
others have been repaired before it, so enough groups show them, and nothing else has to be added.
All sets that the item completes are repaired together, each time in the group that costs least for
every set it serves. What a group costs, and what it is made to show, is the matter of
`starshade.anonymize.predictive.fake_edges`.

Groups must be the *classes* of the release, rows that differ: two equal profiles are one group to
whoever reads them (PA Def. 3.3). Rows that were different may become equal by fake edges, and
then a set may lack a group again; whoever calls makes classes of the new rows and calls again
until nothing is added. Each time there are fewer classes, so this ends, if only in `UnmetError`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from starshade import budget
from starshade.anonymize.predictive.fake_edges import Drawn, Mean
from starshade.anonymize.predictive.homogenize import join_equal
from starshade.errors import ConfigError, UnmetError
from starshade.kernels.arrays import Array, Bytes, Floats, Int32s, Ints, Words
from starshade.kernels.csr import transpose
from starshade.kernels.predictive.diversity_repair import bits_of_levels, choose_groups
from starshade.kernels.predictive.rated_sets import RatedTable, list_short, rated_table
from starshade.naming import aside, called
from starshade.progress import task
from starshade.recommend.padded import Padded
from starshade.release.profiles import Profiles, quantize
from starshade.rng import generator


class FakeEdges(NamedTuple):
    """Cells that a release must show in addition, for every member; no pair comes twice."""

    group: Ints
    item: Ints


def repair_diversity(
    shown: Array,
    rated: tuple[Ints, Int32s],
    cost: Callable[[int], tuple[Floats, Ints]],
    *,
    b: int,
    l: int,  # noqa: E741 - the paper's name
    seed: int,
) -> FakeEdges:
    """Find the fake edges that make a release (b, l)-diverse.

    `shown` (groups, items): nonzero (or True): the group shows the item. Levels of a profile do;
    not changed. `rated` (indptr, columns): the original ratings by user, columns of `shown`
    ascending in each row. `cost`: of an item: what each group costs, above 0, and its place among
    those that cost as much, both of shape (groups,). Called once for an item that lacks groups,
    never for another.

    What it takes is Σ over users of their sets of b items; on one thread, as each item depends
    on those before it.

    By hand: users a b and b in one group, b c and b in the other, repaired to (1, 2).

    >>> shown = np.array([[1, 1, 0], [0, 1, 1]], dtype=bool)
    >>> rated = np.array([0, 2, 3, 5, 6]), np.array([0, 1, 1, 1, 2, 1], dtype=np.int32)
    >>> even = lambda item: (np.ones(2), np.arange(2))
    >>> fakes = repair_diversity(shown, rated, even, b=1, l=2, seed=0)
    >>> sorted(zip(fakes.group.tolist(), fakes.item.tolist()))
    [(0, 2), (1, 0)]
    """
    n_groups = len(shown)
    most = int(np.diff(rated[0]).max(initial=0))
    if b > max(most, 1):
        raise ConfigError(
            f"{called('b')} = {b}: no user rated that many of the released items",
            advice=f"The largest number of items rated by one user is {most}; choose b up to that.",
        )
    if n_groups < l and len(rated[1]):
        raise UnmetError(
            f"(b, l)-diversity with l = {l}: the release has {n_groups:,} different profiles, so "
            f"no item can be in {l} of them",
            advice=f"Choose l up to {n_groups}, or smaller groups.",
        )
    bits = bits_of_levels(shown)
    order = _rarest_first(bits, seed)
    table = _renumbered(rated, order, bits)
    fakes: list[tuple[Ints, int]] = []
    with task("making rare items diverse", len(order)) as step:
        for item in range(len(order) - 1, -1, -1):
            lacking = _lacking(item, table, b, l, n_groups)
            if lacking is not None:
                own = int(order[item])
                groups = choose_groups(*lacking, *cost(own))
                np.bitwise_or.at(
                    table.bits[item], groups // 64, np.uint64(1) << (groups % 64).astype(np.uint64)
                )
                fakes.append((groups, own))
            step(1)
    return FakeEdges(
        np.concatenate([groups for groups, _ in fakes] or [np.empty(0, np.int64)]),
        np.repeat([item for _, item in fakes], [len(groups) for groups, _ in fakes]).astype(
            np.int64
        ),
    )


def _rarest_first(bits: Words, seed: int) -> Ints:
    """Order the items by the groups that show them; those equal in it by a draw."""
    cover = np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
    tie = generator(seed, "diversity order").permutation(len(bits))
    return np.lexsort([tie, cover]).astype(np.int64)


def _renumbered(rated: tuple[Ints, Int32s], order: Ints, bits: Words) -> RatedTable:
    indptr, columns = rated
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    none = np.zeros(len(columns), dtype=np.uint8)
    item_ptr, users, none, _ = transpose(indptr, place[columns], none, None, len(order))
    # and back: columns are ascending in their rows again
    indptr, columns, _, _ = transpose(item_ptr, users, none, None, len(indptr) - 1)
    return rated_table(indptr, columns, bits[order])


def _lacking(
    item: int,
    table: RatedTable,
    b: int,
    l: int,  # noqa: E741
    n_groups: int,
) -> tuple[Words, Ints] | None:
    """Return which sets of `item` and more common ones lack groups: who may show them, how many."""
    sets, cover = list_short(item, table, b, l)
    if not len(sets):
        return None
    words = table.bits.shape[1]
    needed = 8 * words * len(sets) * 3
    if needed > (left := budget.left(table.bits.nbytes)):
        raise ConfigError(
            f"{called('b')} = {b}: the item sets that are in too few groups need "
            f"{budget.amount(needed)}, {budget.amount(max(left, 0))} may be used",
            advice=f"Allow more memory{aside('memory')}, or choose a smaller b.",
        )
    every = np.full(words, ~np.uint64(0), dtype=np.uint64)
    if n_groups % 64:
        every[-1] >>= np.uint64(64 - n_groups % 64)
    open_to = np.broadcast_to(every & ~table.bits[item], (len(sets), words)).copy()
    for others in sets.T[1:]:
        there = others >= 0
        open_to[there] &= table.bits[others[there]]
    return open_to, l - cover


def diverse_profiles(
    padded: Padded,
    groups: Ints,
    levels: Bytes,
    step: float,
    *,
    b: int,
    l: int,  # noqa: E741 - the paper's name
    min_raters: int = 1,
    fake_edges: Literal["drawn", "mean"] = "drawn",
    seed: int,
) -> tuple[Ints, Bytes]:
    """Let every set of at most b items that somebody rated together be shown by l profiles.

    Profiles that became equal count as one, so the sets are looked at anew until nothing is
    lacking.
    """
    table = padded.ratings
    way = Drawn if fake_edges == "drawn" else Mean
    while True:
        groups, levels = join_equal(table, groups, levels, step, min_raters)
        sizes = np.bincount(groups).astype(np.int64)
        profiles = Profiles(table.items, sizes, levels, table.scale, step)
        draw = generator(seed, "diversity repair")
        invent = way(padded, profiles, groups, b, min_raters, draw)
        rated = table.indptr, table.columns
        fakes = repair_diversity(levels, rated, invent.cost, b=b, l=l, seed=seed)
        if not len(fakes.group):
            return groups, levels
        for item in np.unique(fakes.item):
            here = fakes.group[fakes.item == item]
            levels[here, item] = quantize(invent.values(int(item), here), table.scale, step)
