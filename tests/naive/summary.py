"""Figures of a list of scores, in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction


def summary(scores: list[int], sizes: list[int], repeated: list[int]) -> dict[str, int]:
    """Return the sums of `kernels.attack.summary` over rows that stand for `sizes` records each.

    `repeated` are scores of rows that are no profile of their own.
    """
    profiles = list(scores)
    for s in repeated:
        profiles.remove(s)
    top = max(scores, default=-1)
    below = max((s for s in scores if s < top), default=-1)
    return {
        "records": sum(sizes),
        "profiles": len(profiles),
        "top": top,
        "runner_up": below,
        "top_records": sum(n for s, n in zip(scores, sizes, strict=True) if s == top),
        "top_profiles": profiles.count(top),
        "total": sum(s * n for s, n in zip(scores, sizes, strict=True)),
        "square": sum(s * s * n for s, n in zip(scores, sizes, strict=True)),
        "profile_total": sum(profiles),
        "profile_square": sum(s * s for s in profiles),
    }


def sigma(scores: list[int], sizes: list[int]) -> float:
    """Population SD over records."""
    n = sum(sizes)
    if n == 0:
        return 0.0
    mean = Fraction(sum(s * w for s, w in zip(scores, sizes, strict=True)), n)
    variance = sum(w * (s - mean) ** 2 for s, w in zip(scores, sizes, strict=True)) / n
    # the root of a fraction with 40 further bits
    return math.isqrt(int(variance * 2**80)) / 2**40


def mass(scores: list[int], sizes: list[int], reference: int, rate: float) -> float:
    """Sum up the weights 2^((score - reference) · rate)."""
    pairs = zip(scores, sizes, strict=True)
    return math.fsum(n * 2.0 ** ((s - reference) * rate) for s, n in pairs)
