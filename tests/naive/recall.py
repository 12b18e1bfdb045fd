"""Recall at a precision among pools of candidates, pool by pool and threshold by threshold."""

from __future__ import annotations

from collections.abc import Sequence


def candidates(order: Sequence[int], records: Sequence[int], own: int, size: int) -> list[int]:
    """Walk along a circle of units, from one's own on, until so many records have begun."""
    at, met, out = list(order).index(own), 0, []
    while met < size:
        out.append(order[(at + len(out)) % len(order)])
        met += records[out[-1]]
    return out


def named(chances: Sequence[tuple[float, int]], own: float) -> tuple[float, float]:
    """Return the posterior of the likeliest record, and the credit of naming one of these.

    `chances`: of a record, and how many records have it. `own`: that of the target's.
    """
    best = max(chance for chance, _ in chances)
    if best == 0:
        return 0.0, 0.0
    tied = sum(n for chance, n in chances if chance >= best * (1 - 1e-9))
    mass = sum(chance * n for chance, n in chances)
    return best / mass, (own >= best * (1 - 1e-9)) / tied


def recall(statistic: Sequence[float], credit: Sequence[float], precision: float) -> float:
    """Try every threshold; answers are given from it on, and equal statistics together."""
    best = 0.0
    for t in statistic:
        answers = [
            c for s, c in zip(statistic, credit, strict=True) if s > 0 and s >= t * (1 - 1e-9)
        ]
        if answers and sum(answers) >= precision * len(answers) - 1e-9:
            best = max(best, sum(answers) / len(statistic))
    return best
