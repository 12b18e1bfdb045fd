"""Users in few dimensions, exchanged between groups until no exchange lessens the squared error.

`halves` cuts rows into two along the direction in which they spread most; cut again and again it
gives first groups, and *leaves*: parts of the table in which whole groups lie near each other.
`exchange.leaves` works on each leaf alone, so any number of threads gives one result.

What is lessened is ``sum over users of w_u |x_u - c|^2``, c being the weighted mean of the user's
group; as ``sum w_u |x_u|^2`` stays, that is the same as making ``sum over groups of |S|^2 / W``
as large as can be, with S the group's sum of w x, and W of w. For a user a of group g, ``d = w_b
x_b - w_a x_a`` is what group g gains when a is exchanged for b::

    |S_g + d|^2 = |S_g|^2 + 2 (w_b S_g.x_b - w_a S_g.x_a) + |d|^2
    |d|^2       = w_b^2 |x_b|^2 + w_a^2 |x_a|^2 - 2 w_a w_b x_a.x_b

so all partners of a user are judged by two products of a row with a matrix, which run along the
users of the leaf and not along the few dimensions.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.arrays import Floats, Ints, inner, run
from starshade.kernels.fingerprint import below
from starshade.kernels.warm import announce

_POWERS = 24  # steps towards the direction of most spread
_WORTH = 1e-9  # of the squared error of the leaf, that an exchange has to gain


def cut(points: Floats, order: Ints, unit: int, most: int, key: int, powers: int = _POWERS) -> Ints:
    """Cut rows in two again and again; `order` is put in order in place.

    `order` (int64 (n,)): the rows; of two equally far along, the earlier stays earlier. `unit`: the
    left part is a multiple of it: half of the units, rounded down. `most`: parts of fewer than ``2
    * unit`` rows, or of `most` at most, are not cut. `powers`: its steps: 24 find the widest one,
    very few another one in which rows spread. Returns int64: where the parts end, 0 first.
    """
    announce("groups by exchange", _cut)
    with np.errstate(over="ignore"):  # hashes wrap around, also where run interpreted
        return np.asarray(_cut(points, order, unit, most, np.uint64(key), powers))


@njit(cache=True, nogil=True)
def _cut(points, order, unit, most, key, powers):  # type: ignore[no-untyped-def]
    ends = np.zeros(len(order) + 1, np.int64)
    count, top = 0, 1
    stack = np.empty((130, 2), np.int64)  # a part is at most half of the one above it
    stack[0, 0], stack[0, 1] = 0, len(order)
    while top:
        top -= 1
        low, high = stack[top, 0], stack[top, 1]
        if high - low <= most or high - low < 2 * unit:
            count += 1
            ends[count] = high
            continue
        middle = low + ((high - low) // unit // 2) * unit
        along = _along(points, order[low:high], key, np.uint64(low), powers)
        order[low:high] = order[low:high][np.argsort(along, kind="mergesort")]
        stack[top, 0], stack[top, 1] = middle, high  # the left part is next
        stack[top + 1, 0], stack[top + 1, 1] = low, middle
        top += 2
    return ends[: count + 1].copy()


@inner
def _along(points, rows, key, draw, powers):  # type: ignore[no-untyped-def]
    f = points.shape[1]
    mean, spread = np.zeros(f), np.zeros((f, f))
    for r in rows:
        for a in range(f):
            mean[a] += points[r, a]
    for a in range(f):
        mean[a] /= len(rows)
    for r in rows:
        for a in range(f):
            own = points[r, a] - mean[a]
            for b in range(a + 1):
                spread[a, b] += own * (points[r, b] - mean[b])
    way, turned = np.empty(f), np.empty(f)
    for a in range(f):
        way[a] = 1.0 + below(key, draw * np.uint64(f) + np.uint64(a), 1 << 20) / (1 << 20)
        if below(key ^ np.uint64(1), draw * np.uint64(f) + np.uint64(a), 2):
            way[a] = -way[a]
    for _ in range(powers):
        length = 0.0
        for a in range(f):
            turned[a] = 0.0
            for b in range(f):
                turned[a] += (spread[a, b] if b <= a else spread[b, a]) * way[b]
            length += turned[a] * turned[a]
        if length <= 0.0:
            break
        for a in range(f):
            way[a] = turned[a] / np.sqrt(length)
    out = np.zeros(len(rows))
    for j in range(len(rows)):
        for a in range(f):
            out[j] += way[a] * (points[rows[j], a] - mean[a])
    return out


def exchange_leaves(
    points: Floats,
    weights: Floats,
    groups: Ints,
    leaves: tuple[Ints, Ints],
    *,
    k: int,
    rounds: int,
    partners: int,
    key: int,
) -> None:
    """Lessen the squared error of the groups within each leaf; `groups` is changed in place.

    `groups` (int64 (n,)): each of k users or more, all of them in one leaf. `leaves` (ends,
    members): leaf t holds the users ``members[ends[t]:ends[t + 1]]``. `rounds`: at most: in each,
    every user is moved to another group, or exchanged for a user of another, where that lessens the
    error most; it ends when nobody moves. `partners`: users, other ones each time, among whom a
    partner is sought in a larger leaf.
    """
    announce("groups by exchange", _exchange_leaf)
    ends, members = leaves

    def improve(leaf: int) -> None:
        users = members[ends[leaf] : ends[leaf + 1]]
        named, own = np.unique(groups[users], return_inverse=True)
        if len(named) < 2:
            return
        arguments = points, weights, users, own, len(named), k, rounds, partners
        with np.errstate(over="ignore"):  # hashes wrap around, also where run interpreted
            _exchange_leaf(*arguments, np.uint64(key))
        groups[users] = named[own]

    run(improve, len(ends) - 1)


@njit(cache=True, nogil=True)
def _exchange_leaf(points, weights, users, group, n_groups, k, rounds, partners, key):  # type: ignore[no-untyped-def]
    """Exchange the users of a leaf; `group` (n,): 0…n_groups−1, is changed in place."""
    n, f = len(users), points.shape[1]
    order = np.arange(n)  # met in this order, which also mixes whom a window of users holds
    for j in range(n):
        other = j + below(key, np.uint64(j), n - j)
        order[j], order[other] = order[other], order[j]
    x, w = np.empty((f, n)), np.empty(n)
    own = np.empty(n, np.int64)
    for j in range(n):
        u = users[order[j]]
        own[j], w[j] = group[order[j]], weights[u]
        for a in range(f):
            x[a, j] = points[u, a]
    for a in range(f):
        mean = 0.0
        for j in range(n):
            mean += x[a, j]
        mean /= n
        for j in range(n):
            x[a, j] -= mean  # centred: products of numbers near 0 lose no digits
    lengths = np.zeros(n)
    for a in range(f):
        for j in range(n):
            lengths[j] += x[a, j] * x[a, j]
    error = 0.0
    for j in range(n):
        error += w[j] * lengths[j]
    least = _WORTH * error
    groups_are = np.zeros((n_groups, f)), np.zeros(n_groups), np.zeros(n_groups, np.int64)
    sums, mass, sizes = groups_are
    for j in range(n):
        for a in range(f):
            sums[own[j], a] += w[j] * x[a, j]
        mass[own[j]] += w[j]
        sizes[own[j]] += 1
    squares, along = np.empty(n_groups), np.empty(n_groups)
    inside = np.empty(n)  # S.x of each user and their own group
    for h in range(n_groups):
        _look(x, own, sums, squares, inside, h)
    seen = min(n, partners)
    here, between = np.empty(seen), np.empty(seen)
    for turn in range(rounds):
        moved = 0
        for j in range(n):
            low = np.int64(0)
            if seen < n:
                low = np.int64(below(key, np.uint64((turn + 1) * n + j), n - seen + 1))
            other, partner = _best(
                x, w, lengths, own, sums, mass, sizes, squares, along, inside, here, between,
                j, low, low + seen, k, least,
            )  # fmt: skip
            if other < 0:
                continue
            moved += 1
            left = own[j]
            _pass(x, w, own, sums, mass, sizes, j, other, partner)
            _look(x, own, sums, squares, inside, left)
            _look(x, own, sums, squares, inside, other)
        if not moved:
            break
    for j in range(n):
        group[order[j]] = own[j]


@inner
def _look(x, own, sums, squares, inside, h):  # type: ignore[no-untyped-def]
    """Take anew what depends on the sum of group h."""
    squares[h] = 0.0
    for a in range(len(x)):
        squares[h] += sums[h, a] * sums[h, a]
    for j in range(len(own)):
        if own[j] == h:
            inside[j] = 0.0
            for a in range(len(x)):
                inside[j] += sums[h, a] * x[a, j]


@inner
def _best(  # type: ignore[no-untyped-def]
    x, w, lengths, own, sums, mass, sizes, squares, along, inside, here, between,
    j, low, high, k, least,
):  # fmt: skip
    """Return the group that user j had best go to, and for whom (-1: for nobody); or -1, -1."""
    f, g, wj, n_groups = len(x), own[j], w[j], len(mass)
    for h in range(n_groups):
        along[h] = 0.0
        for a in range(f):
            along[h] += sums[h, a] * x[a, j]
    before, shift = squares[g] / mass[g], wj * wj * lengths[j]
    best, to, partner = least, -1, -1
    if sizes[g] > k:
        left = (squares[g] - 2.0 * wj * along[g] + shift) / (mass[g] - wj)
        for h in range(n_groups):
            if h != g:
                grown = squares[h] + 2.0 * wj * along[h] + shift
                gain = left + grown / (mass[h] + wj) - before - squares[h] / mass[h]
                if gain > best:
                    best, to = gain, h
    here[:] = 0.0  # S_g.x_b
    between[:] = 0.0  # x_j.x_b
    for a in range(f):
        line, s, c = x[a, low:high], sums[g, a], x[a, j]
        for i in range(high - low):
            here[i] += s * line[i]
            between[i] += c * line[i]
    for i in range(high - low):
        b = low + i
        h, wb = own[b], w[b]
        if h == g:
            continue
        change = wb * wb * lengths[b] + shift - 2.0 * wj * wb * between[i]
        mine = squares[g] + 2.0 * (wb * here[i] - wj * along[g]) + change
        theirs = squares[h] - 2.0 * (wb * inside[b] - wj * along[h]) + change
        gain = mine / (mass[g] + wb - wj) + theirs / (mass[h] + wj - wb)
        gain -= before + squares[h] / mass[h]
        if gain > best:
            best, to, partner = gain, h, b
    return to, partner


@inner
def _pass(x, w, own, sums, mass, sizes, j, other, partner):  # type: ignore[no-untyped-def]
    """Move user j to another group, and a partner from there to j's."""
    left = own[j]
    _change(x, w, own, sums, mass, sizes, j, other)
    if partner >= 0:
        _change(x, w, own, sums, mass, sizes, partner, left)


@inner
def _change(x, w, own, sums, mass, sizes, j, to):  # type: ignore[no-untyped-def]
    g = own[j]
    for a in range(len(x)):
        sums[g, a] -= w[j] * x[a, j]
        sums[to, a] += w[j] * x[a, j]
    mass[g] -= w[j]
    mass[to] += w[j]
    sizes[g] -= 1
    sizes[to] += 1
    own[j] = to


def squared_errors(points: Floats, weights: Floats, groups: Ints) -> float:
    """Return the weighted squared distances of all users from their groups' weighted means."""
    n = int(groups.max()) + 1
    mass = np.bincount(groups, weights, n)
    error = 0.0
    for column in points.T:
        mean = np.bincount(groups, weights * column, n) / mass
        error += float((weights * (column - mean[groups]) ** 2).sum())
    return error
