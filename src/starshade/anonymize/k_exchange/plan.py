"""How much k-exchange does, settled by the shape of the table and never by the clock."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt, sqrt

import numpy as np

from starshade.anonymize.k_exchange.rows import GridRows
from starshade.kernels.arrays import Floats

__all__ = ["Plan", "Turn", "plan"]

_CELLS = 1 << 19  # of a leaf's table in exchanges, about
_START_CELLS = 1 << 21  # of a leaf's table while groups are formed, about
_START_RECORDS = 32_768  # in a leaf while groups are formed, at most

_STEPS = 1500  # for a record, at most, unless there are fewer than 200 …
_TINY_STEPS, _ALL_TINY = 6000, 300_000  # … for one, and for all of them: few get stuck soon
_ALL_STEPS = 6_000_000  # for all, in a table so large that they are fewer for a record, unless …
_LARGE = 2000  # … it is larger still: its greedy rivals take a time for each record that grows
_MANY = 250  # steps for a record that are worth large leaves, cut often
_TINY = 200  # records up to which one start after the other is tried
_STAGES = 24
_COOLED = 0.2  # of the heat, in the last stage but one; in the last there is none


@dataclass(frozen=True, eq=False)
class Turn:
    """One round of exchanges.

    `leaf`: groups in a leaf, at most. `effort`: steps per record and stage.
    """

    leaf: int
    heat: float
    shrink: Floats
    effort: float


@dataclass(frozen=True)
class Plan:
    """What is done, in order.

    `start`: blocks of k records in a leaf in which the first groups are formed, at most.
    `all_starts`: whether the turns are taken from every start, or from a rival's only where it is
    ahead.
    """

    start: int
    turns: tuple[Turn, ...]
    all_starts: bool = False


def plan(rows: GridRows, k: int) -> Plan:
    """Settle the size of leaves, the turns and their steps.

    One leaf for all needs one turn, hot enough to take groups apart. Where leaves are many,
    they are cut anew a few times, and the heat is less: most of it would be wasted before the
    groups have cooled.
    """
    most = max(_STEPS, min(_TINY_STEPS, _ALL_TINY // rows.n))
    steps = min(most, max(_ALL_STEPS // rows.n, rows.n // _LARGE))
    # a step takes as long as its columns and, where it is taken, its members
    effort = steps / max(1, _columns(rows, 64) // 256) / max(1, k // 32)
    many = steps >= _MANY
    leaf = max(_leaf(rows, _CELLS, 1024 if many else 512) // k, 8)
    heats = (0.7,) if rows.n // k <= leaf else (0.3, 0.21, 0.15, 0.1) if many else (0.2, 0.1)
    shrink = np.append(np.geomspace(1, _COOLED, _STAGES - 1), 0.0)
    return Plan(
        start=max(_leaf(rows, _START_CELLS, _START_RECORDS) // k, 4),
        turns=tuple(
            Turn(leaf, heat * sqrt(rows.unit), shrink, effort / len(heats) / _STAGES)
            for heat in heats
        ),
        all_starts=rows.n <= _TINY,
    )


def _leaf(rows: GridRows, cells: int, most: int) -> int:
    full = cells // max(1, _columns(rows, rows.n))
    return min(most, max(full, isqrt(cells // max(1, rows.filled // rows.n))))


def _columns(rows: GridRows, records: int) -> int:
    beside = int(rows.arrays[3].shape[1])
    return min(rows.n_columns, records * (rows.filled // rows.n + 1)) + beside
