"""The verifier's own count of ε-proximate records (Sun & Sun 2013, Def. 1-3; SPEC §2.1).

Nothing here is shared with the checks, the methods or the compiled search: numbers and NumPy.
Records that are equal on all items that are not sensitive are one *point* with a weight. Points
are sorted, so that those which begin alike stand together, and all that is near a beginning is
found once for all of them; what is left for each point is then looked at item by item.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Points", "ball_totals", "points_of"]

_SLACK = 1e-9
_FEW = 256  # candidates that are looked at on all items at once
_TOGETHER = 64  # of a ball, compared with each other
_APART = -1e30  # a null that is near nulls alone

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Points:
    """Distinct records.

    Attributes
    ----------
    table : ndarray of float32 or float64, shape (points, items)
        Near is what is at most `reach` apart; a NaN is near everything.
    cells : ndarray of the same shape
        What the points are sorted by: the table, its values rounded down to multiples of
        `reach` on a real scale, where few would begin alike otherwise.
    reach : float
    of_record : ndarray of int64, shape (records,)
        The point of each record.
    """

    table: NDArray[np.floating]
    cells: NDArray[np.floating]
    reach: float
    of_record: NDArray[np.int64]


def points_of(
    columns: list[Floats], scale: tuple[float, float, float | None], eps: float, nulls: str
) -> Points:
    """Lay out records so that nearness is one comparison.

    Parameters
    ----------
    columns : list of ndarray, one per item, shape (records,)
        Ratings, NaN for null; on a stepped scale the number of the level, from 1.
    scale : (minimum, maximum, step)
    eps, nulls
        SPEC §2.1.
    """
    minimum, maximum, step = scale
    cost = max(maximum, maximum - minimum)
    null = np.nan
    if nulls == "zero":
        width = maximum - minimum
        null = 0.0 if step is not None else minimum - (width / 20 if width else 1.0)
    elif nulls == "strict" and cost > eps + _SLACK:
        null = _APART
    reach = eps + _SLACK if step is None else np.floor((eps + _SLACK) / step) + 0.5
    kind: Any = np.float64 if step is None else np.float32  # numbers of levels are exact in either
    telling: list[NDArray[Any]] = [np.where(np.isnan(c), null, c).astype(kind) for c in columns]
    telling = [c for c in telling if np.fmax.reduce(c) - np.fmin.reduce(c) > reach]
    n = len(columns[0])
    if not telling:  # everybody is near everybody
        everybody = np.zeros((min(n, 1), 1))
        return Points(everybody, everybody, reach, np.zeros(n, dtype=np.int64))
    telling.sort(key=lambda c: _share_near(c, reach))
    rounded = telling if step is not None else [np.floor(c / reach) for c in telling]
    order = np.lexsort(telling[::-1] if step is not None else telling[::-1] + rounded[::-1])
    table = np.stack([c[order] for c in telling], axis=1)
    new = _starts(table)
    of_record = np.empty(n, dtype=np.int64)
    of_record[order] = np.cumsum(new) - 1
    cells = table if step is not None else np.stack([c[order] for c in rounded], axis=1)
    return Points(table[new], cells[new], reach, of_record)


def _starts(sorted_: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Tell which rows differ from the one before; NaN equals NaN."""
    plain = np.nan_to_num(sorted_, nan=2 * _APART)
    new = np.ones(len(plain), dtype=np.bool_)
    new[1:] = (plain[1:] != plain[:-1]).any(axis=1)
    return new


def _share_near(column: NDArray[np.floating], reach: float) -> float:
    """Estimate how many pairs are near on one item: the most telling items come first."""
    some = np.sort(column[:: max(1, len(column) // 1000)])  # NaN last
    rated = some[~np.isnan(some)]
    near = np.searchsorted(rated, rated + reach, "right") - np.searchsorted(rated, rated - reach)
    apart = int((len(rated) - near).sum())
    return 1 - apart / max(len(some), 1) ** 2


def ball_totals(points: Points, columns: Floats, enough: float | None = None) -> Floats:
    """Sum numbers of points over the ball of each point.

    Parameters
    ----------
    points : Points
    columns : ndarray of float64, shape (points, q)
        The first column is the weight.
    enough : float, optional
        Balls that are known to weigh this much may be left at what is known.

    Returns
    -------
    ndarray of float64, shape (points, q)
    """
    total = columns.copy()
    n, width = points.table.shape
    open_ = np.ones(n, dtype=np.bool_) if enough is None else columns[:, 0] < enough
    flat = np.ascontiguousarray(points.table.T)
    stack = [(0, n, 0, np.arange(n, dtype=np.int32))]
    while stack:
        start, stop, depth, near = stack.pop()
        if not open_[start:stop].any():
            continue
        if depth:  # what is near these points on the item that they were told apart by
            own = flat[depth - 1]
            low, high = own[start:stop].min(), own[start:stop].max()
            there = own[near]
            near = near[~((there < low - points.reach) | (there > high + points.reach))]
        if stop - start == 1 or depth == width or len(near) <= _FEW:
            for point in range(start, stop):
                if not open_[point]:
                    continue
                ball = _ball(points, flat, point, depth, near, columns, enough)
                total[point] = columns[ball].sum(axis=0)
                if enough is not None:
                    _settle(points, ball, columns, enough, total, open_)
            continue
        cuts = start + np.append(
            np.flatnonzero(_starts(points.cells[start:stop, depth, None])), stop - start
        )
        stack += [(a, b, depth + 1, near) for a, b in pairwise(cuts.tolist())]
    return total


def _ball(
    points: Points,
    flat: NDArray[np.floating],
    point: int,
    depth: int,
    near: NDArray[np.int32],
    columns: Floats,
    enough: float | None,
) -> NDArray[np.int32]:
    """Return who is in one ball, or enough of them; `near` holds it, looked at up to an item."""
    reach, own = points.reach, points.table[point]
    if enough is not None and len(near) > 2 * _FEW:  # those that begin alike may suffice
        place = int(np.searchsorted(near, point))
        some = near[max(0, place - _FEW // 2) : place + _FEW // 2]
        alike = some[~(np.abs(points.table[some] - own) > reach).any(axis=1)]
        if columns[alike, 0].sum() >= enough:
            return np.asarray(alike)
    while len(near) > _FEW and depth < len(own):
        near = near[~(np.abs(flat[depth][near] - own[depth]) > reach)]
        depth += 1
    return np.asarray(near[~(np.abs(points.table[near] - own) > reach).any(axis=1)])


def _settle(
    points: Points,
    ball: NDArray[np.int32],
    columns: Floats,
    enough: float,
    total: Floats,
    open_: NDArray[np.bool_],
) -> None:
    """Close those of a ball who find enough within it: what was put together is near together."""
    ball = ball[:_TOGETHER]
    rows = points.table[ball]
    apart = (np.abs(rows[:, None, :] - rows[None, :, :]) > points.reach).any(axis=2)
    weight = np.where(apart, 0.0, columns[ball, 0]).sum(axis=1)
    done = ball[weight >= enough]
    total[done, 0] = np.maximum(total[done, 0], weight[weight >= enough])
    open_[done] = False
