"""Rows that are wrong: counted whole, the first few named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starshade.ratings.scale import Scale

NAMED = 5  # rows named in a message


@dataclass(frozen=True)
class Wrong:
    """Rows that are wrong: how many, and the first few with what is to be said of each."""

    total: int = 0
    first: tuple[tuple[int, str], ...] = ()

    def __bool__(self) -> bool:
        return self.total > 0

    def __add__(self, other: Wrong) -> Wrong:
        first = sorted(self.first + other.first)[:NAMED]
        return Wrong(self.total + other.total, tuple(first))

    def named(self, locate: Callable[[int], str], of: str = "rows") -> str:
        """Name the first rows, or cells, and say how many there are."""
        lines = [f"  {locate(row)}: {what}" for row, what in self.first]
        if self.total > len(lines):
            lines.append(f"  … {self.total:,} {of} in all")
        return "\n".join(lines)


def allowed_ratings(scale: Scale) -> str:
    """Say in words which ratings a scale allows."""
    if scale.step is None:
        return f"{scale.minimum:g} to {scale.maximum:g}"
    if len(scale.levels) <= 12:
        return ", ".join(f"{level:g}" for level in scale.levels)
    return f"{scale.minimum:g} to {scale.maximum:g} in steps of {scale.step:g}"
