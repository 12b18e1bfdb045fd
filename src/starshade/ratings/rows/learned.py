"""What rows of ratings hold, known when all are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InputError
from starshade.naming import named
from starshade.ratings.rows.wrong import Wrong, allowed_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.table import UNKNOWN_DAY


@dataclass(frozen=True, eq=False)
class Learned:
    """What rows hold, and what is wrong with them that no later step could repair.

    `distinct`: ratings in order of first appearance. `empty`: rows without a usable rating.
    `foreign`: rows off the declared scale. `first`, `last`: the span of the days, with rows that
    mark it; None: no row has one.
    """

    distinct: NDArray[np.float64]
    empty: Wrong
    foreign: Wrong
    first: tuple[int, int] | None
    last: tuple[int, int] | None

    def __add__(self, other: Learned) -> Learned:
        """Add later rows."""
        ends = [(self.first, self.last), (other.first, other.last)]
        firsts = [first for first, _ in ends if first is not None]
        lasts = [last for _, last in ends if last is not None]
        both, places = np.unique(np.concatenate([self.distinct, other.distinct]), return_index=True)
        return Learned(
            both[np.argsort(places)],
            self.empty + other.empty,
            self.foreign + other.foreign,
            min(firsts, key=_day, default=None),
            max(lasts, key=_day, default=None),
        )

    def refuse(self, scale: Scale | None, locate: Callable[[int], str]) -> None:
        """Raise one InputError about all that is wrong, if anything is."""
        parts, advice = [], []
        if self.empty:
            parts.append(
                "rows without a usable rating (allowed: finite "
                f"numbers)\n{self.empty.named(locate)}"
            )
            advice.append("Remove those rows or give them a rating.")
        if self.foreign and scale is not None:
            parts.append(
                f"ratings off the scale {scale} (allowed: {allowed_ratings(scale)})\n"
                f"{self.foreign.named(locate)}"
            )
            advice.append("Correct those rows, or declare the scale they are on.")
        if parts:
            raise InputError("\n".join(parts), advice=" ".join(advice))
        if self.first is None or self.last is None:
            return
        if self.last[0] - self.first[0] >= UNKNOWN_DAY:
            ends = ((row, _date(day)) for day, row in sorted((self.first, self.last)))
            raise InputError(
                f"dates lie more than {UNKNOWN_DAY - 1:,} days apart\n"
                f"{Wrong(2, tuple(ends)).named(locate)}",
                advice=f"Correct them, or leave the dates out with {named('dates', False)}.",
            )


def _day(end: tuple[int, int]) -> int:
    return end[0]


def _date(day: int) -> str:
    """Write a day as a date, also one beyond the years that `datetime` knows."""
    return f"date {np.datetime64(day, 'D')}"
