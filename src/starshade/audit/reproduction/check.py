"""`Check`: a sentence about a curve, held against the curve found here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starshade.audit.reproduction.figures import Point

__all__ = ["Check", "apart", "falls", "is_above", "rises", "told_apart"]

_DUST = 1e-9


@dataclass(frozen=True)
class Check:
    """One sentence of the paper, or a promise of ours, on one line of a figure."""

    figure: str
    says: str  # the paper's words in quotation marks, or ours
    where: str  # the data, the null rule, the line
    ours: str  # the figures that decide
    holds: bool

    @property
    def is_ours(self) -> bool:
        """Whether it is a sentence of ours that the paper does not have."""
        return self.says.startswith("ours")


def apart(checks: Sequence[Check]) -> tuple[list[Check], list[Check]]:
    """Return the paper's sentences, and our own claims."""
    papers = [check for check in checks if not check.is_ours]
    return papers, [check for check in checks if check.is_ours]


def told_apart(checks: Sequence[Check]) -> str:
    """Count how many of the paper's sentences hold, and how many of our own claims."""
    papers, ours = apart(checks)
    text = (
        f"What the paper says of its curves was held against ours in {len(papers)} places; it "
        f"holds in {sum(check.holds for check in papers)}."
    )
    if ours:
        holding = sum(check.holds for check in ours)
        text += f" Our own claims were held in {len(ours)} places; they hold in {holding}."
    return text


def rises(points: Sequence[Point], slack: float = 0) -> bool:
    """Tell whether the end is plainly above the beginning, and nothing plainly falls."""
    pairs = combinations(points, 2)
    return is_above(points[-1], points[0], slack) and not any(
        is_above(a, b, slack) for a, b in pairs
    )


def falls(points: Sequence[Point], slack: float = 0) -> bool:
    """Tell whether the end is plainly below the beginning, and nothing plainly rises."""
    return rises(points[::-1], slack)


def is_above(a: Point, b: Point, slack: float = 0) -> bool:
    """Tell whether a point is plainly above another: their runs are apart, by a share `slack`."""
    return a.lowest > b.highest + _DUST and a.y > (1 + slack) * b.y
