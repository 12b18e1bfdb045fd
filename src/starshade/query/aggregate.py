"""Aggregates with their bounds: extremes over the records between certain and possible."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.query.columns import Column, Ranked
from starshade.query.regions import NEVER, SURELY

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Answer:
    """A value and its bounds, before the guard; `records` is what it rests on."""

    value: Any
    low: Any
    high: Any
    records: int


@dataclass(frozen=True, eq=False)
class Chosen:
    """The classes that a condition chooses.

    `share` (float64 (n_classes,)). `status` (n_classes,). `sizes` (int64 (n_classes,)).
    """

    share: Floats
    status: NDArray[np.uint8]
    sizes: Ints

    @cached_property
    def _of_record(self) -> NDArray[np.uint8]:
        return np.repeat(self.status, self.sizes)

    @property
    def n_possible(self) -> int:
        """Records that may satisfy."""
        return int(self.sizes[self.status > NEVER].sum())

    @property
    def n_certain(self) -> int:
        """Records that satisfy whatever is true."""
        return int(self.sizes[self.status == SURELY].sum())

    @cached_property
    def certain(self) -> Bools:
        """Which records satisfy whatever is true, shape (n_records,)."""
        return np.asarray(self._of_record == SURELY)

    @cached_property
    def possible(self) -> Bools:
        """Which records may satisfy, shape (n_records,)."""
        return np.asarray(self._of_record > NEVER)


def count_records(chosen: Chosen) -> Answer:
    """COUNT(*)."""
    low, high = chosen.n_certain, chosen.n_possible
    return Answer(_sum(chosen.share * chosen.sizes, low, high), low, high, high)


def count_column(column: Column, chosen: Chosen) -> Answer:
    """COUNT(attribute)."""
    low = int((chosen.certain & column.known).sum())
    high = int((chosen.possible & column.maybe).sum())
    return Answer(_sum(chosen.share * column.counts, low, high), low, high, high)


def _sum(expected: Floats, low: int, high: int) -> float | int:
    """Return a count that is certain as a whole number."""
    return low if low == high else float(expected.sum())


def total(column: Column, chosen: Chosen) -> Answer:
    """SUM(attribute)."""
    spread = _Spread(column, chosen)
    if not spread.records:
        return Answer(None, None, None, 0)
    low, high = spread.low.least_total(), -spread.high.mirrored().least_total()
    return Answer(float((chosen.share * column.totals).sum()), low, high, spread.records)


def mean(column: Column, chosen: Chosen) -> Answer:
    """AVG(attribute)."""
    spread = _Spread(column, chosen)
    if not spread.records:
        return Answer(None, None, None, 0)
    weight = float((chosen.share * column.counts).sum())
    value = float((chosen.share * column.totals).sum()) / weight if weight > 0 else None
    low, high = spread.low.least_mean(), -spread.high.mirrored().least_mean()
    return Answer(value, low, high, spread.records)


def extreme(column: Column, chosen: Chosen, greatest: bool) -> Answer:
    """MIN(attribute), or MAX: value and one bound over the possible, the other over the certain."""
    assert column.low is not None
    assert column.high is not None
    assert column.middle is not None
    possible = chosen.possible & column.maybe
    certain = chosen.certain & column.known
    outward, inward = (column.high, column.low) if greatest else (column.low, column.high)
    value = _end(column.middle, possible, greatest)
    outer, inner = _end(outward, possible, greatest), _end(inward, certain, greatest)
    low, high = (inner, outer) if greatest else (outer, inner)
    return Answer(value, low, high, int(possible.sum()))


def _end(ranked: Ranked, records: Bools, greatest: bool) -> Any:
    codes = ranked.codes[records]
    if not len(codes):
        return None
    value = ranked.values[int(codes.max() if greatest else codes.min())]
    return value if isinstance(value, str) else float(value)


@dataclass(frozen=True, eq=False)
class _Ends:
    """How often each low (or high) end occurs.

    `values` (n_values,): ascending. `others` (n_values,): records with this end that may satisfy
    and need not. `weighted` (n_values,): values times others. `count`, `total`: of the certain
    records.
    """

    values: Floats
    others: Ints
    weighted: Floats
    count: int
    total: float

    @classmethod
    def of(cls, ranked: Ranked, certain: Bools, others: Bools) -> _Ends:
        counts = ranked.counts(others)
        sure = ranked.values[ranked.codes[certain]]
        return cls(ranked.values, counts, ranked.values * counts, len(sure), float(sure.sum()))

    def mirrored(self) -> _Ends:
        """Turn the greatest into the least."""
        return _Ends(
            -self.values[::-1], self.others[::-1], -self.weighted[::-1], self.count, -self.total
        )

    def least_total(self) -> float:
        """Return the least sum: the certain values, and of the others those below zero."""
        below = int(np.searchsorted(self.values, 0.0))
        if not self.count and not self.others[:below].any():
            return self._least()  # no set is empty
        return self.total + float(self.weighted[:below].sum())

    def least_mean(self) -> float:
        """Return the least mean: of the others, all those below it are added."""
        if not self.count:
            return self._least()
        least, below = self.total / self.count, len(self.values) + 1
        # each round lowers the mean and keeps fewer of the others; a handful of rounds is usual
        while (fewer := int(np.searchsorted(self.values, least))) < below:
            below = fewer
            number = self.count + int(self.others[:below].sum())
            least = min(least, (self.total + float(self.weighted[:below].sum())) / number)
        return least

    def _least(self) -> float:
        return float(self.values[int(np.argmax(self.others > 0))])


class _Spread:
    """The low and the high ends of the records that a condition chooses."""

    def __init__(self, column: Column, chosen: Chosen) -> None:
        assert column.low is not None
        assert column.high is not None
        possible = chosen.possible & column.maybe
        certain = chosen.certain & column.known
        others = possible & ~certain
        self.records = int(possible.sum())
        self.low = _Ends.of(column.low, certain, others)
        self.high = self.low if column.exact else _Ends.of(column.high, certain, others)
