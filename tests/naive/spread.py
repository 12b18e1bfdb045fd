"""Standard deviation of sensitive ratings (SR Eq. 3), written for reading."""

from __future__ import annotations

import math


def spread(ratings: list[float | None]) -> float | None:
    """SD of one item in one ball; None stands for null, and for no rating at all."""
    given = [r for r in ratings if r is not None]
    if not given:
        return None
    mean = math.fsum(given) / len(given)
    deviations = [(0.0 if r is None else r) - mean for r in ratings]  # s_i ± null = s_i
    return math.sqrt(math.fsum(d * d for d in deviations) / len(ratings))
