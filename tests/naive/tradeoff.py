"""The error trade-off once more: every φ tried, every target asked (NS §3 Def. 3, footnote 4)."""

from __future__ import annotations

from fractions import Fraction

SLACK = 1e-9


def errors(found: list[float], absent: list[float], phi: float) -> tuple[Fraction, Fraction]:
    """Shares of targets who are missed though present, and matched though absent, at φ.

    An eccentricity of 0 says that no record stands out (or, for `found`, that a wrong one does).
    """
    missed = sum(1 for e in found if not (e > 0 and e >= phi * (1 - SLACK)))
    matched = sum(1 for e in absent if e > 0 and e >= phi * (1 - SLACK))
    return Fraction(missed, len(found)), Fraction(matched, len(absent))


def equal_error(
    found: list[float], absent: list[float], tried: list[float]
) -> tuple[float, float] | None:
    """Return φ and rate where the straight lines between the tried φ meet first."""
    previous: tuple[float, Fraction, Fraction] | None = None
    for phi in sorted({0.0, *tried}):
        missed, matched = errors(found, absent, phi)
        if missed == matched:
            return phi, float(missed)
        if missed > matched:
            if previous is None:
                return None
            before, missed_before, matched_before = previous
            # two lines over t in [0, 1]: missed_before + t·a and matched_before + t·b
            a, b = missed - missed_before, matched - matched_before
            t = (matched_before - missed_before) / (a - b)
            return before + float(t) * (phi - before), float(missed_before + t * a)
        previous = phi, missed, matched
    raise AssertionError("the last φ tried is one that nobody reaches")
