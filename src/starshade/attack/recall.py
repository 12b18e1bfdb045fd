"""Recall at a given precision: targets re-identified by confident answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.chart import Chart
from starshade.chart.shapes import Axis, curve_chart
from starshade.figure import Rate, Table
from starshade.plain import counted
from starshade.stats import bootstrap

Floats = NDArray[np.float64]
_SAME = 1e-9  # statistics are equal when they differ by less than this share
_LEVELS = 0.9, 0.99
_NONE = Rate(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Recall:
    """Share of the targets who are re-identified by answers of a given precision.

    The adversary answers for targets whose statistic is at least t: the posterior of the likeliest
    record, or its eccentricity. t is the one with the largest recall.

    Attributes
    ----------
    candidates : int
        Records in the pool: the target's, and others drawn by the seed.
    recall_90, recall_99 : Rate
        With at least 90 % and 99 % of the answers right; 0 where no t achieves that. Intervals
        take t as given.
    """

    candidates: int
    recall_90: Rate
    recall_99: Rate


def recall_in_pools(
    statistic: Floats, credit: Floats, sizes: Sequence[int], *, most: float, seed: int
) -> tuple[Recall, ...]:
    """Return the recall in each pool.

    `statistic`, `credit` (targets, pools): how sure the adversary is, 0 where there is no answer,
    and how much of the answer is right. `most`: the largest credit that any answer can earn.
    """
    return tuple(
        Recall(
            size, *(_rate(statistic[:, q], credit[:, q], level, most, seed) for level in _LEVELS)
        )
        for q, size in enumerate(sizes)
    )


def _rate(statistic: Floats, credit: Floats, precision: float, most: float, seed: int) -> Rate:
    if most < precision:
        return _NONE
    answered = statistic >= threshold(statistic, credit, precision)
    return bootstrap(np.where(answered, credit, 0.0), seed=seed)


def threshold(statistic: Floats, credit: Floats, precision: float) -> float:
    """Return the t with the largest recall at a precision; infinity where there is none.

    Targets of the same statistic are answered together. Of equal recalls the larger t is taken.

    >>> threshold(np.array([0.9, 0.8, 0.8, 0.5]), np.array([1.0, 1.0, 0.0, 0.0]), 0.6)
    0.8
    """
    order = np.argsort(-statistic, kind="stable")
    sorted_ = statistic[order]
    right = np.cumsum(credit[order])
    ends = np.flatnonzero(np.append(sorted_[1:] < sorted_[:-1] * (1 - _SAME), True))
    ends = ends[(sorted_[ends] > 0) & (right[ends] >= precision * (ends + 1) - _SAME)]
    if not len(ends) or right[ends].max() <= 0:
        return float("inf")
    return float(sorted_[ends[np.argmax(right[ends])]])


def recall_table(recalls: Sequence[Recall]) -> Table:
    """Return the recalls as a table, one row per pool."""
    rows = ((f"{each.candidates:,}", str(each.recall_90), str(each.recall_99)) for each in recalls)
    head = ("candidates", "at 90 % precision", "at 99 % precision")
    return Table("Recall by number of candidates", head, tuple(rows))


def recall_text(recalls: Sequence[Recall], most: float, statistic: str) -> str:
    """Say how many targets are re-identified among all records and in the smallest pool."""
    if most < _LEVELS[0]:
        return (
            f"Every record equals at least {counted(round(1 / most) - 1, 'other')}, so no answer "
            "has 90 % precision: recall at 90 % and 99 % precision is 0."
        )
    few, every = recalls[0], recalls[-1]
    text = (
        f"At 90 % precision (by {statistic}) the adversary re-identifies {every.recall_90} of "
        f"targets among all {counted(every.candidates, 'record')}"
    )
    if few is not every:
        text += f" and {few.recall_90} among {few.candidates:,} candidates"
    return f"{text}; at 99 % precision {every.recall_99}."


def recall_chart(recalls: Sequence[Recall]) -> Chart:
    """Draw recall over the number of candidates."""
    points: dict[str, Any] = {
        f"{level:.0%} precision": [
            (each.candidates, rate.rate, rate.low, rate.high)
            for each in recalls
            for rate in [getattr(each, f"recall_{level:.0%}"[:-1])]
        ]
        for level in _LEVELS
    }
    return curve_chart(
        "Recall at a precision",
        "share of targets re-identified by answers of that precision",
        points,
        Axis("candidates", log=True),
        Axis("targets re-identified", share=True),
    )
