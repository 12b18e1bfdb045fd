"""The verifier's own count of ε-proximate records (Sun & Sun 2013, Def. 1-3; definitions, "k-eps").

Points are sorted, so that those which begin alike stand together, and all that may be near a
beginning is found once for all of them. Where balls are only counted up to k, most points are
settled by what stands next to them, or by the ball of another.
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
_UNDIVIDED = 1024  # candidates that are not divided any further
_AT_ONCE = 4  # points after whose balls others may be settled
_PAIRS = 2**19  # compared in one step
_TOGETHER = 256  # points compared with each other

Floats = NDArray[np.float64]
Places = NDArray[np.int32]


def certified(table: Columns, groups: NDArray[np.integer], k: int) -> NDArray[np.bool_]:
    """Tell which records have k within reach because all of their group have.

    A group is a mere hint: it counts where at least k records are in it and, on every item, its
    least and greatest value are proximate and either all or none of it are without one.

    `groups` (records,): any numbers. Returns (records,).
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

    `columns` (float64 (points, q)): the first column is the weight. `enough`: balls that are known
    to weigh this much may be left at what is known. `settled` (points,): whose balls are known to
    weigh enough. Returns float64 (points, q).
    """
    n = len(points)
    search = _Search(points, columns, enough, columns.copy(), np.ones(n, dtype=np.bool_))
    if enough is not None:
        if settled is not None:
            search.total[settled, 0] = enough
        search.open[:] = search.total[:, 0] < enough
        for start in range(0, n, _TOGETHER):
            _settle(search, np.arange(start, min(start + _TOGETHER, n), dtype=np.int32))
    for start, stop, depth, proximate in _leaves(search):
        _leaf(search, start, stop, depth, proximate)
    return search.total


def _leaves(search: _Search) -> Iterator[tuple[int, int, int, Places]]:
    """Yield points that begin alike, on how many items, and who may be near them on these."""
    points = search.points
    stack = [(0, len(points), 0, np.arange(len(points), dtype=np.int32))]
    while stack:
        start, stop, depth, proximate = stack.pop()
        if not search.open[start:stop].any():
            continue
        if depth:  # what is proximate on the item that parts these points
            code = points.codes[depth - 1]
            proximate = proximate[
                points.proximate[depth - 1][code[start]].take(code.take(proximate))
            ]
        if stop - start <= _LEAF or depth == len(points.codes) or len(proximate) <= _UNDIVIDED:
            yield start, stop, depth, proximate
            continue
        own = points.codes[depth][start:stop]
        cuts = [start, *(start + 1 + np.flatnonzero(own[1:] != own[:-1])).tolist(), stop]
        stack += [(a, b, depth + 1, proximate) for a, b in pairwise(cuts)]


def _leaf(search: _Search, start: int, stop: int, depth: int, proximate: Places) -> None:
    """Find the balls of the points of a leaf; `proximate` holds them all."""
    points, enough = search.points, search.enough
    # the bits of the items that they begin with tell least
    words = len(points.own)
    first = points.word_of[depth] + 1 if depth < len(points.codes) else 0
    turned = [(first + i) % words for i in range(words)]
    for word in turned:
        common = np.bitwise_and.reduce(points.apart[word, start:stop])
        if common:
            proximate = proximate[(points.own[word].take(proximate) & common) == 0]
    shown = [points.own[word].take(proximate) for word in turned]
    at_once = max(1, _PAIRS // max(len(proximate), 1))
    at_once = min(at_once, _LEAF if enough is None else _AT_ONCE)
    while (rest := np.flatnonzero(search.open[start:stop])[:at_once]).size:
        sought = (start + rest).astype(np.int32)
        row, member = _balls(points, sought, proximate, turned, shown)
        for q in range(search.columns.shape[1]):
            weights = search.columns[member, q]
            search.total[sought, q] = np.bincount(row, weights, minlength=len(sought))
        search.open[sought] = False
        if enough is not None:
            ends = np.searchsorted(row, np.arange(len(sought) + 1))
            for i, (a, b) in enumerate(pairwise(ends.tolist())):
                ball = member[a:b]
                place = max(0, int(np.searchsorted(ball, sought[i])) - _TOGETHER // 2)
                _settle(search, ball[place : place + _TOGETHER])


def _balls(
    points: Points,
    sought: Places,
    proximate: Places,
    words: list[int],
    shown: list[NDArray[np.uint64]],
) -> tuple[NDArray[np.int64], Places]:
    """Return pairs: a place in `sought`, ascending, and a point of its ball, ascending."""
    first = points.apart[words[0], sought]
    row, at = np.divmod(np.flatnonzero((first[:, None] & shown[0]) == 0), max(len(proximate), 1))
    for word, own in zip(words[1:], shown[1:], strict=True):
        both = (points.apart[word, sought][row] & own[at]) == 0
        row, at = row[both], at[both]
    member = proximate[at]
    for values in points.values:
        both = ~(np.abs(values[sought[row]] - values[member]) > points.reach)
        row, member = row[both], member[both]
    return row, member


def _settle(search: _Search, some: Places) -> None:
    assert search.enough is not None
    points = search.points
    if not search.open[some].any():
        return
    proximate = np.ones((len(some), len(some)), dtype=np.bool_)
    for own, apart in zip(points.own, points.apart, strict=True):
        proximate &= (apart[some][:, None] & own[some]) == 0
    for values in points.values:
        here = values[some]
        proximate &= ~(np.abs(here[:, None] - here) > points.reach)
    weight = proximate @ search.columns[some, 0]
    done = some[weight >= search.enough]
    search.total[done, 0] = np.maximum(search.total[done, 0], weight[weight >= search.enough])
    search.open[done] = False
