"""Link existence once more, edge by edge with fractions (PA §6; definitions, "link-existence")."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from tests.naive.scoreboard_rh import Record


@dataclass
class Counted:
    """Every edge on its own, and the cells without one."""

    confidence: list[Fraction] = field(default_factory=list)
    no_prior: list[Fraction] = field(default_factory=list)
    exact: list[Fraction] = field(default_factory=list)
    bound: list[Fraction | None] = field(default_factory=list)
    missing: int = 0
    missing_true: int = 0


def exact(p: Fraction, g: int) -> Fraction:
    """p / (1 - (1-p)^g), Bayes' rule in the proof of Thm 6.3; its limit where p = 0."""
    return p / (1 - (1 - p) ** g) if p else Fraction(1, g)


def bound(p: Fraction, g: int) -> Fraction | None:
    """1/g + p/(2 - gp) of Thm 6.3, for p ≤ 1/g; no confidence is above 1."""
    return min(Fraction(1, g) + p / (2 - g * p), Fraction(1)) if p <= Fraction(1, g) else None


def count(
    groups: list[list[tuple[Record, Record]]],
    items: range,
    priors: dict[int, Fraction],
    minimum: float,
) -> Counted:
    """Look at every record of every group: its released row and its user's true one."""
    out = Counted()
    for group in groups:
        g = len(group)
        for item in items:
            j = sum(item in truth for _, truth in group)
            for row, truth in group:
                if item in row and row[item].rated(minimum):
                    out.confidence.append(Fraction(j, g))
                    out.no_prior.append(Fraction(1, g))
                    out.exact.append(exact(priors[item], g))
                    out.bound.append(bound(priors[item], g))
                else:
                    out.missing += 1
                    out.missing_true += item not in truth
    return out
