"""What can be set of the search for nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass

from starshade.setting import settable


@dataclass(frozen=True)
class SparsitySettings:
    """NS §3; definitions, "sparsity"."""

    targets: int | None = settable(
        "Records looked at",
        "Records whose nearest neighbour is sought, a seeded sample.",
        default=2000,
        least=1,
        unset="all",
    )
    rating_error: float | None = settable(
        "Ratings that are alike",
        "Ratings within this much are close.",
        default=None,
        least=0,
        unset="a quarter of the scale's width",
        unit="ratings",
    )
    day_error: int = settable(
        "Days that are alike",
        "Days within this many are close; an unknown day is close to none.",
        default=14,
        least=0,
        most=65535,
        unit="days",
    )
