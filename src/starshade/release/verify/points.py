"""The verifier's own layout of records for nearness (Sun & Sun 2013, Def. 1; definitions, "k-eps").

First each item is made a column of numbers in which two records are near where they differ by no
more than `reach`. Then records that are equal become one *point*, and each point gets two patterns
of bits: the values it has, a bit for each, and those that would be apart from its own. Two points
are near where the one pattern of the one and the other of the other have no bit in common. On long
or real scales a bit stands for some neighbouring values: then what the bits let pass is looked at
once more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Columns", "Points", "columns_of", "points_of"]

_SLACK = 1e-9
_APART = -1e30  # a null that is near nulls alone
_BITS = 32  # values or bins of an item

Floats = NDArray[np.float64]


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
