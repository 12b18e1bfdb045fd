"""The verifier's own count of ε-proximate records (Sun & Sun 2013, Def. 1-3; definitions, "k-eps").

Points are sorted, so that those which begin alike stand together, and all that may be near a
beginning is found once for all of them. Where balls are only counted up to k, most points are
settled by what stands next to them, or by the ball of another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


_SLACK = 1e-9
_APART = -1e30  # a null that is near nulls alone
_BITS = 32  # values or bins of an item


@dataclass(frozen=True, eq=False)
class Columns:
    """Items on which some records are apart.

    `columns` (records,): proximate is what is at most `reach` apart; a NaN is proximate to
    everything.
    """

    columns: list[NDArray[Any]]
    reach: float


@dataclass(frozen=True, eq=False)
class Points:
    """Distinct records, sorted, the items that tell most first.

    `of_record` (records,): the point of each record. `codes` (points,): for each item the place of
    the value, or of the bin, that a point has. `proximate` (codes, codes): which places may be near
    each other. `own`, `apart` (words, points): the bits of a point, and those of what is apart from
    it. `word_of`: the word that holds the bits of an item. `values` (points,): of the items whose
    bits do not decide.
    """

    of_record: NDArray[np.int64]
    codes: list[NDArray[np.uint8]]
    proximate: list[NDArray[np.bool_]]
    own: NDArray[np.uint64]
    apart: NDArray[np.uint64]
    word_of: list[int]
    values: list[NDArray[Any]]
    reach: float

    def __len__(self) -> int:
        return int(self.own.shape[1])


def columns_of(
    ratings: list[Floats], scale: tuple[float, float, float | None], eps: float, nulls: str
) -> Columns:
    """Put nulls where the rule wants them.

    `ratings` (records,): NaN for null; on a stepped scale the number of the level, from 1. `scale`
    (minimum, maximum, step). `eps`, `nulls`: definitions, "k-eps".
    """
    minimum, maximum, step = scale
    cost = max(maximum, maximum - minimum)
    # two ratings may miss ε by 1e-9, or by what rounding does to large numbers
    slack = max(_SLACK, 8 * float(np.spacing(max(abs(minimum), abs(maximum)))))
    null = np.nan
    if nulls == "zero":
        width = maximum - minimum
        null = 0.0 if step is not None else minimum - (width / 20 if width else 1.0)
    elif nulls == "strict" and cost > eps + slack:
        null = _APART
    reach = eps + slack if step is None else float(np.floor((eps + slack) / step)) + 0.5
    kind: Any = np.float64 if step is None else np.float32  # numbers of levels are exact in either
    columns: list[NDArray[Any]] = [np.where(np.isnan(c), null, c).astype(kind) for c in ratings]
    return Columns([c for c in columns if np.fmax.reduce(c) - np.fmin.reduce(c) > reach], reach)


def points_of(table: Columns, n: int) -> Points:
    """Sort `n` records, join those that are equal, and set their bits."""
    coded = [_coded(column, table.reach) for column in table.columns]
    coded.sort(key=lambda item: _share_proximate(item[0], item[1]))  # stable
    codes, values = [c for c, _, _ in coded], [v for _, _, v in coded if v is not None]
    order = np.lexsort(values + codes[::-1]) if coded else np.arange(n)
    new = np.zeros(n, dtype=np.bool_)
    new[:1] = True
    for column in codes + values:
        here = column[order]
        new[1:] |= (here[1:] != here[:-1]) & ~((here[1:] != here[1:]) & (here[:-1] != here[:-1]))
    of_record = np.empty(n, dtype=np.int64)
    of_record[order] = np.cumsum(new) - 1
    first = order[new]
    codes, proximate = [c[first] for c in codes], [proximate for _, proximate, _ in coded]
    own, apart, word_of = _bits(codes, proximate, len(first))
    return Points(
        of_record, codes, proximate, own, apart, word_of, [v[first] for v in values], table.reach
    )


def _coded(
    column: NDArray[Any], reach: float
) -> tuple[NDArray[np.uint8], NDArray[np.bool_], NDArray[Any] | None]:
    """Give the values of an item numbers, one to several where there are many.

    The last number is that of NaN. Two numbers may be proximate where the closest of their values
    are; values are returned where that does not decide.
    """
    distinct = np.unique(column)
    distinct = distinct[~np.isnan(distinct)]
    starts = np.unique(np.linspace(0, len(distinct), _BITS + 1)[:-1].astype(np.int64))
    low, high = distinct[starts], distinct[np.append(starts[1:], len(distinct)) - 1]
    code = (np.searchsorted(low, column, side="right") - 1).astype(np.uint8)  # NaN: the last
    code[np.isnan(column)] = len(low)
    proximate = np.ones((len(low) + 1, len(low) + 1), dtype=np.bool_)
    above = low[:, None] - high[None, :] > reach
    proximate[:-1, :-1] = ~(above | above.T)
    return code, proximate, None if np.array_equal(low, high) else column


def _share_proximate(code: NDArray[np.uint8], proximate: NDArray[np.bool_]) -> float:
    """Return the share of pairs that may be near on one item."""
    share = np.bincount(code, minlength=len(proximate)) / len(code)
    return float(share @ proximate @ share)


def _bits(
    codes: list[NDArray[np.uint8]], proximate: list[NDArray[np.bool_]], n: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], list[int]]:
    """Set the bits of each point; items are spread evenly over the words."""
    total = sum(len(table) - 1 for table in proximate)
    even = total / max(1, -(-total // 64))
    word, used = 0, 0
    place: list[tuple[int, int]] = []
    for table in proximate:
        if used >= even or used + len(table) - 1 > 64:
            word, used = word + 1, 0
        place.append((word, used))
        used += len(table) - 1
    own, apart = (np.zeros((word + 1, n), dtype=np.uint64) for _ in range(2))
    for code, table, (word, used) in zip(codes, proximate, place, strict=True):
        bit = [1 << (used + i) for i in range(len(table) - 1)] + [0]  # NaN has no bit
        far = [sum(b for b, is_near in zip(bit, row, strict=True) if not is_near) for row in table]
        own[word] |= np.array(bit, dtype=np.uint64)[code]
        apart[word] |= np.array(far, dtype=np.uint64)[code]
    return own, apart, [word for word, _ in place]
