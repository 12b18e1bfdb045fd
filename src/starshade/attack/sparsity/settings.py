"""Settings of the nearest-neighbour search."""

from __future__ import annotations

from dataclasses import dataclass

from starshade.setting import settable


@dataclass(frozen=True)
class SparsitySettings:
    """NS §3; definitions, "sparsity"."""

    targets: int | None = settable(
        "Sampled records",
        "Number of records whose nearest neighbour is computed (a seeded sample).",
        default=2000,
        least=1,
        unset="all",
    )
    rating_error: float | None = settable(
        "Tolerance of ratings",
        "Largest difference at which two ratings count as close.",
        default=None,
        least=0,
        unset="a quarter of the scale's width",
        unit="ratings",
    )
    day_error: int = settable(
        "Tolerance of dates (days)",
        "Largest difference at which two days count as close; an unknown day never does.",
        default=14,
        least=0,
        most=65535,
        unit="days",
    )
