"""The verifier's own count of ε-proximate records (Sun & Sun 2013, Def. 1-3; definitions, "k-eps").

Nothing here is shared with the checks, the methods or the compiled search: bits and NumPy
(`verify.points`). Points are sorted, so that those which begin alike stand together, and all that
may be near a beginning is found once for all of them. Where balls are only counted up to k, most
points are settled by what stands next to them, or by the ball of another: who was put together
is near together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from starshade.release.verify.points import Columns, Points

__all__ = ["ball_totals", "certified"]

_LEAF = 32  # points whose balls are sought in one list
_FEW = 1024  # candidates that are not divided any further
_AT_ONCE = 4  # points after whose balls others may be settled
_PAIRS = 2**19  # compared in one step
_TOGETHER = 256  # points compared with each other

Floats = NDArray[np.float64]
Places = NDArray[np.int32]


def certified(table: Columns, groups: NDArray[np.integer], k: int) -> NDArray[np.bool_]:
    """Tell which records have k within reach because all of their group have.

    A group is a mere hint: it counts where at least k records are in it and, on every item, its
    least and greatest value are near each other and either all or none of it are without one.

    Parameters
    ----------
    table : Columns
    groups : ndarray of int, shape (records,)
        Any numbers.
    k : int

    Returns
    -------
    ndarray of bool, shape (records,)
    """
    order = np.argsort(groups, kind="stable")
    number = groups[order]
    starts = np.flatnonzero(np.append(True, number[1:] != number[:-1]))
    sizes = np.diff(np.append(starts, len(order)))
    good = sizes >= k
    for column in table.columns:
        values = column[order]
        low, high = np.fmin.reduceat(values, starts), np.fmax.reduceat(values, starts)
        good &= ~(high - low > table.reach)  # a NaN is near everything
    out = np.empty(len(order), dtype=np.bool_)
    out[order] = np.repeat(good, sizes)
    return out


@dataclass(frozen=True, eq=False)
class _Search:
    """What is sought, and what is known so far.

    `columns` are summed over balls into `total`; who is not `open` is settled.
    """

    points: Points
    columns: Floats
    enough: float | None
    total: Floats
    open: NDArray[np.bool_]


def ball_totals(
    points: Points,
    columns: Floats,
    enough: float | None = None,
    settled: NDArray[np.bool_] | None = None,
) -> Floats:
    """Sum numbers of points over the ball of each point.

    Parameters
    ----------
    points : Points
    columns : ndarray of float64, shape (points, q)
        The first column is the weight.
    enough : float, optional
        Balls that are known to weigh this much may be left at what is known.
    settled : ndarray of bool, shape (points,), optional
        Whose balls are known to weigh enough.

    Returns
    -------
    ndarray of float64, shape (points, q)
    """
    n = len(points)
    search = _Search(points, columns, enough, columns.copy(), np.ones(n, dtype=np.bool_))
    if enough is not None:
        if settled is not None:
            search.total[settled, 0] = enough
        search.open[:] = search.total[:, 0] < enough
        for start in range(0, n, _TOGETHER):
            _settle(search, np.arange(start, min(start + _TOGETHER, n), dtype=np.int32))
    for start, stop, depth, near in _leaves(search):
        _leaf(search, start, stop, depth, near)
    return search.total


def _leaves(search: _Search) -> Iterator[tuple[int, int, int, Places]]:
    """Yield points that begin alike, on how many items, and who may be near them on these."""
    points = search.points
    stack = [(0, len(points), 0, np.arange(len(points), dtype=np.int32))]
    while stack:
        start, stop, depth, near = stack.pop()
        if not search.open[start:stop].any():
            continue
        if depth:  # what is near these points on the item that they were told apart by
            code = points.codes[depth - 1]
            near = near[points.near[depth - 1][code[start]].take(code.take(near))]
        if stop - start <= _LEAF or depth == len(points.codes) or len(near) <= _FEW:
            yield start, stop, depth, near
            continue
        own = points.codes[depth][start:stop]
        cuts = [start, *(start + 1 + np.flatnonzero(own[1:] != own[:-1])).tolist(), stop]
        stack += [(a, b, depth + 1, near) for a, b in pairwise(cuts)]


def _leaf(search: _Search, start: int, stop: int, depth: int, near: Places) -> None:
    """Find the balls of the points of a leaf; `near` holds them all."""
    points, enough = search.points, search.enough
    # the bits of the items that they begin with tell least
    words = len(points.own)
    first = points.word_of[depth] + 1 if depth < len(points.codes) else 0
    turned = [(first + i) % words for i in range(words)]
    for word in turned:
        common = np.bitwise_and.reduce(points.apart[word, start:stop])
        if common:
            near = near[(points.own[word].take(near) & common) == 0]
    shown = [points.own[word].take(near) for word in turned]
    at_once = max(1, _PAIRS // max(len(near), 1))
    at_once = min(at_once, _LEAF if enough is None else _AT_ONCE)
    while (rest := np.flatnonzero(search.open[start:stop])[:at_once]).size:
        asked = (start + rest).astype(np.int32)
        row, member = _balls(points, asked, near, turned, shown)
        for q in range(search.columns.shape[1]):
            weights = search.columns[member, q]
            search.total[asked, q] = np.bincount(row, weights, minlength=len(asked))
        search.open[asked] = False
        if enough is not None:
            ends = np.searchsorted(row, np.arange(len(asked) + 1))
            for i, (a, b) in enumerate(pairwise(ends.tolist())):
                ball = member[a:b]
                place = max(0, int(np.searchsorted(ball, asked[i])) - _TOGETHER // 2)
                _settle(search, ball[place : place + _TOGETHER])


def _balls(
    points: Points,
    asked: Places,
    near: Places,
    words: list[int],
    shown: list[NDArray[np.uint64]],
) -> tuple[NDArray[np.int64], Places]:
    """Return pairs: a place in `asked`, ascending, and a point of its ball, ascending."""
    first = points.apart[words[0], asked]
    row, at = np.divmod(np.flatnonzero((first[:, None] & shown[0]) == 0), max(len(near), 1))
    for word, own in zip(words[1:], shown[1:], strict=True):
        both = (points.apart[word, asked][row] & own[at]) == 0
        row, at = row[both], at[both]
    member = near[at]
    for values in points.values:
        both = ~(np.abs(values[asked[row]] - values[member]) > points.reach)
        row, member = row[both], member[both]
    return row, member


def _settle(search: _Search, some: Places) -> None:
    """Settle those of some points who have enough among them."""
    assert search.enough is not None
    points = search.points
    if not search.open[some].any():
        return
    near = np.ones((len(some), len(some)), dtype=np.bool_)
    for own, apart in zip(points.own, points.apart, strict=True):
        near &= (apart[some][:, None] & own[some]) == 0
    for values in points.values:
        here = values[some]
        near &= ~(np.abs(here[:, None] - here) > points.reach)
    weight = near @ search.columns[some, 0]
    done = some[weight >= search.enough]
    search.total[done, 0] = np.maximum(search.total[done, 0], weight[weight >= search.enough])
    search.open[done] = False
