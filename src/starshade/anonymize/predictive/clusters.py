"""Clusters of at least so many users: bounded t-means (PA §4.2), and exchanges between groups."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.anonymize.order import put_back, seeded_order
from starshade.errors import ConfigError
from starshade.kernels.arrays import Floats, Ints
from starshade.kernels.padded.centres import centre_distances, make_centres, nearest_centres, reach
from starshade.kernels.padded.products import member_distances, products
from starshade.kernels.predictive.bounded_t_means import assign
from starshade.kernels.predictive.exchange import cut, exchange_leaves
from starshade.progress import task
from starshade.recommend.padded import Padded, dissimilarities
from starshade.recommend.settings import Dissimilarity
from starshade.rng import stream_key

ROUNDS = 8
_BATCH = 1024  # rows that are compared among each other when centres are drawn
_WRITTEN = 256  # rows written out at once when they are compared cell by cell
_DECIMALS = 9  # of a cell; what is behind them is rounding


@dataclass(frozen=True)
class Distances:
    """What clustering sees of rows.

    `to_means`: (rows (b,), starts (t + 1,), members) -> float32 (b, t): how far each row is from
    the mean of each group ``members[starts[j]:starts[j + 1]]``; none negative, 0 for equal rows.
    `written`: rows (b,) -> float64 (b, n): their cells. Runs on one thread.
    """

    to_means: Callable[[Ints, Ints, Ints], NDArray[np.float32]]
    written: Callable[[Ints], Floats]


def bounded_t_means(distances: Distances, rows: Ints, t: int, lower: int) -> Ints:
    """Cluster rows around t virtual centres, each with `lower` rows at least.

    `rows` (b,): in seeded order: the first t that are distinct (in some cell, whatever the
    distances) are the first centres, and the earlier of two rows, or centres, goes first where
    distances are equal. `t`: at least 1; with fewer distinct rows there are as many clusters as
    those.
    """
    first = _distinct(distances, rows, t)
    starts, members = np.arange(len(first) + 1), first
    labels = np.full(len(rows), -1, np.int64)
    for _ in range(ROUNDS):
        before = labels
        labels = assign(distances.to_means(rows, starts, members), lower)
        if (labels == before).all():
            break
        starts, order = members_of(labels, len(first))
        members = rows[order]
    return labels


def members_of(labels: NDArray[np.integer], t: int) -> tuple[Ints, Ints]:
    """List the members of each cluster, in order.

    `members` (b,): cluster j has ``members[starts[j]:starts[j + 1]]``.

    >>> starts, members = members_of(np.array([1, 0, 1]), 2)
    >>> starts.tolist(), members.tolist()
    ([0, 1, 3], [1, 0, 2])
    """
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels, minlength=t))])
    return starts.astype(np.int64), np.argsort(labels, kind="stable")


def _distinct(distances: Distances, rows: Ints, t: int) -> Ints:
    """Return the first t rows that differ from all before them, or as many as there are."""
    distinct, at = rows[:0], 0
    while len(distinct) < t and at < len(rows):
        batch = rows[at : at + min(_BATCH, max(t - len(distinct), 32))]
        at += len(batch)
        known = np.concatenate([distinct, batch])
        equal = distances.to_means(batch, np.arange(len(known) + 1), known) == 0
        equal &= np.tri(len(batch), len(known), len(distinct) - 1, dtype=bool)  # of those before it
        repeated = equal.any(axis=0)
        repeated[len(distinct) :] |= equal.any(axis=1)
        places = np.flatnonzero(repeated)
        new = ~repeated
        new[places[_first_of_equal(distances, known[places])]] = True
        distinct = np.concatenate([distinct, batch[new[len(distinct) :]]])
    return distinct[:t]


def _first_of_equal(distances: Distances, rows: Ints) -> Ints:
    """Return the place of the first of all rows that are equal in every cell."""
    marks = [
        hashlib.blake2b(cells.tobytes(), digest_size=16).hexdigest()
        for low in range(0, len(rows), _WRITTEN)
        for cells in distances.written(rows[low : low + _WRITTEN]).round(_DECIMALS) + 0.0  # no -0.0
    ]
    return np.asarray(np.unique(marks, return_index=True)[1], np.int64)


_TABLE = 1 << 28  # bytes of one table of centres, or of one block of rows
_ROUNDING = 1e-7  # dissimilarities below it are 0: their squares are doubles' last digits


def factored(padded: Padded) -> Distances:
    """Squared Euclidean distances of users, from their factors and ratings."""

    def distances(rows: Ints, starts: Ints, members: Ints) -> NDArray[np.float32]:
        t = len(starts) - 1
        _afford(4 * len(rows) * t, f"the distances of {len(rows):,} users to {t:,} centres")
        slab = max(1, _TABLE // (8 * padded.n_items))
        if t <= slab:
            return _to_some(padded, rows, starts, members)
        out = np.empty((len(rows), t), np.float32)
        for low in range(0, t, slab):
            part = starts[low : low + slab + 1]
            out[:, low : low + slab] = _to_some(padded, rows, part, members)
        return out

    return Distances(distances, padded.few)


def _to_some(padded: Padded, rows: Ints, starts: Ints, members: Ints) -> NDArray[np.float32]:
    centres = make_centres(padded.parts, padded.inner, padded.sums, starts, members)
    return centre_distances(padded.parts, padded.sums, padded.lengths, rows, centres)


def nearest(padded: Padded, users: Ints, starts: Ints, members: Ints) -> Ints:
    """Find each user's nearest mean, as the least of `factored` distances; ties to the first."""
    values, vectors = np.linalg.eigh(padded.inner)
    # directions in which items hardly differ are left out: any others give bounds as well
    kept = values > 1e-8 * values.max(initial=0.0)
    root = vectors[:, kept] / np.sqrt(values[kept])
    own = reach(padded.sums[users], padded.lengths[users], root)
    closest, least = np.zeros(len(users), np.int64), np.full(len(users), np.inf, np.float32)
    slab = max(1, _TABLE // (8 * padded.n_items))
    for low in range(0, len(starts) - 1, slab):
        part = starts[low : low + slab + 1]
        centres = make_centres(padded.parts, padded.inner, padded.sums, part, members)
        projected = (padded.inner @ centres.phi + centres.pull).T
        place, away = nearest_centres(
            padded.parts, padded.sums, padded.lengths, users, centres,
            (own, reach(projected, centres.lengths, root)),
        )  # fmt: skip
        closest = np.where(away < least, low + place, closest)
        least = np.minimum(least, away)
    return closest


def within(padded: Padded, users: Ints) -> Distances:
    """Squared Euclidean distances among these users, by position, on one thread."""
    table = products(padded.parts, padded.sums, padded.inner, users)

    return Distances(partial(member_distances, table), lambda rows: padded.few(users[rows]))


def written_out(
    padded: Padded, dissimilarity: Dissimilarity, *, clip: bool, divisor: int | None = None
) -> Distances:
    """Any dissimilarity, on rows written out in blocks.

    `divisor`: what the sum of a centre's several members is divided by; None: their number.
    """
    scale, weights = padded.ratings.scale, padded.parts.weights
    row = 8 * padded.n_items
    none = not weights.any()  # no item counts: all are equally far, and equal rows at 0 as ever

    def distances(rows: Ints, starts: Ints, members: Ints) -> NDArray[np.float32]:
        t = len(starts) - 1
        _afford(2 * t * row, f"{t:,} centres written out")
        centres = padded.means(starts, members, clip=clip)
        if divisor is not None:
            sizes = np.diff(starts)
            centres *= np.where(sizes > 1, sizes / divisor, 1.0)[:, None]
        out = np.empty((len(rows), t), np.float32)
        step = max(1, _TABLE // row)
        for first in range(0, len(rows), step):
            block = padded.block(rows[first : first + step], clip=clip)
            away = dissimilarities(block, centres, dissimilarity, scale, weights=weights)
            out[first : first + step] = np.where((away > _ROUNDING) & (not none), away, 0.0)
        return out

    return Distances(distances, partial(padded.few, clip=clip))


def _afford(need: int, what: str) -> None:
    free = budget.left(0)
    if need > free:
        raise ConfigError(
            f"{what} need {budget.amount(need)}; {budget.amount(max(free, 0))} may be used",
            advice="Allow more memory, or choose a larger k.",
        )


_SMALL = 2048  # users that are one leaf
_LEAF = (256, 1024)  # users of a leaf, at least and at most, about: sixteen groups if possible
_ROUNDS = (6, 4, 4)  # in each turn with other leaves
_SETTLED = 64  # rounds that one leaf hardly needs
_GLANCES = 2  # steps towards the direction of most spread, for leaves cut otherwise each time


def exchange_users(points: Floats, weights: Floats, k: int, seed: int) -> Ints:
    """Put all users into groups of at least k."""
    order = seeded_order(len(points), seed, "exchange")
    x, w = np.ascontiguousarray(points[order]), np.ascontiguousarray(weights[order])
    m = len(x)
    members = np.arange(m)
    ends = cut(x, members, k, 1, stream_key(seed, "exchange groups"))
    groups = put_back(members, np.repeat(np.arange(len(ends) - 1), np.diff(ends)))
    n_groups = len(ends) - 1
    rounds = (_SETTLED,) if m <= _SMALL or n_groups <= 2 else _ROUNDS
    in_leaf = n_groups if m <= _SMALL else max(2, min(max(16 * k, _LEAF[0]), _LEAF[1]) // k)
    with task("exchanging users", len(rounds)) as step:
        for turn, most in enumerate(rounds):
            key = stream_key(seed, f"exchange {turn}")
            exchange_leaves(
                x, w, groups, _leaves(x, groups, n_groups, in_leaf, key, turn),
                k=k, rounds=most, partners=_SMALL, key=key,
            )  # fmt: skip
            step(1)
    return put_back(order, groups)


def _leaves(
    points: Floats, groups: Ints, n_groups: int, in_leaf: int, key: int, turn: int
) -> tuple[Ints, Ints]:
    """Cut whole groups into leaves: where the users of each end, and the users."""
    sizes = np.bincount(groups, minlength=n_groups)
    centres = np.column_stack(
        [np.bincount(groups, column, n_groups) / sizes for column in points.T]
    )
    order = np.arange(n_groups)
    powers = {} if turn == 0 else {"powers": _GLANCES}
    ends = cut(np.ascontiguousarray(centres), order, 1, in_leaf, key, **powers)
    members = np.argsort(put_back(order, np.arange(n_groups))[groups], kind="stable")
    users = np.concatenate([[0], np.cumsum(sizes[order])])
    return users[ends], members
