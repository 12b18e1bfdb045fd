"""Trade-off of the two error rates over φ (NS §3 Def. 3, §4 footnote 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.chart import Chart
from starshade.chart.shapes import Axis, Level, curve_chart
from starshade.figure import Figure
from starshade.markup import block, paragraph

SLACK = 1e-9  # an eccentricity of exactly φ must not fail by rounding
_POINTS = 200  # of a curve


_PHI = Figure("equal_error_phi", "φ of the equal error rate", "ratio", None, "", "NS §5")
_ERROR = Figure(
    "equal_error_rate",
    "Equal error rate",
    "share",
    False,
    "Missed targets equal false matches of absent ones; low: the attack distinguishes them.",
    "NS §5",
)


@dataclass(frozen=True)
class TradeOff:
    """Rates of missed targets and of false matches of absent ones, at each φ.

    Attributes
    ----------
    phi : tuple of float, at most 200
        Ascending from 0 to beyond the largest eccentricity. Both rates are steps: constant
        above one point of the whole curve up to and including the next; of a long curve some
        points are left out, never the two that the equal error lies between.
    false_negative : tuple of float
        Share of present targets that are missed: no record stands out, or a wrong one.
    false_match_absent : tuple of float
        Share of targets for whom a record stands out although theirs was removed.
    equal_error_phi, equal_error_rate : float or None
        Where the two rates meet (the least such φ), by linear interpolation between the two
        neighbouring points of the whole curve; None where they do not meet.
    reason : str or None
        Why they do not meet.
    """

    phi: tuple[float, ...]
    false_negative: tuple[float, ...]
    false_match_absent: tuple[float, ...]
    equal_error_phi: float | None = None
    equal_error_rate: float | None = None
    reason: str | None = None

    @property
    def found(self) -> tuple[Figure, ...]:
        """Where both errors are equal; nothing where they do not meet."""
        if self.equal_error_phi is None:
            return ()
        return _PHI.of(self.equal_error_phi), _ERROR.of(self.equal_error_rate)

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"phi", "false_negative", "false_match_absent", "equal_error", "reason"}``."""
        equal = None
        if self.equal_error_phi is not None:
            equal = {"phi": self.equal_error_phi, "rate": self.equal_error_rate}
        return {
            "phi": list(self.phi),
            "false_negative": list(self.false_negative),
            "false_match_absent": list(self.false_match_absent),
            "equal_error": equal,
            "reason": self.reason,
        }

    def __str__(self) -> str:
        if self.equal_error_phi is None:
            return f"The two error rates are never equal: {self.reason}"
        return (
            f"Equal error rate {self.equal_error_rate:.1%} at φ = {self.equal_error_phi:.2f}: as "
            "many present targets are missed as absent ones are matched."
        )

    def plot(self) -> Chart:
        """Draw both error rates over φ."""
        curves = {
            "missed (present)": list(zip(self.phi, self.false_negative, strict=True)),
            "false match (absent)": list(zip(self.phi, self.false_match_absent, strict=True)),
        }
        rate = self.equal_error_rate
        return curve_chart(
            "Error rates over φ",
            "low curves: the adversary distinguishes present from absent targets",
            curves,
            Axis("φ, required eccentricity"),
            Axis("share of targets", share=True),
            None if rate is None else Level(rate, "equal error rate"),
        )

    def _repr_html_(self) -> str:
        return block("Error rates over φ", paragraph(str(self)))


def trade_off(
    present: NDArray[np.float64], absent: NDArray[np.float64], phi: float | None = None
) -> TradeOff:
    """Return both error rates over φ.

    `present` (targets,): eccentricity where the record that scores highest is the target's own; 0
    where it is not, or where none stands out at any φ. `absent` (targets,): eccentricity with the
    target's record taken out; 0 where none stands out at any φ. `phi`: one more point that the
    curve shall have: the attack's own.

    NS Def. 3 asks for one ω such that a present target is found, and an absent one gets ⊥, with
    probability ω at least. Raising φ misses more and matches fewer; where both errors are equal,
    ω is 1 - the equal-error rate.

    >>> curve = trade_off(np.array([0.0, 2.0, 3.0, 4.0]), np.array([0.0, 0.0, 1.0, 3.0]))
    >>> curve.equal_error_phi, curve.equal_error_rate
    (2.0, 0.25)
    """
    given = [] if phi is None else [phi]
    changes = np.concatenate([[0.0], present, absent])
    points = np.unique(np.concatenate([changes, given, [_beyond(changes.max())]]))
    n = len(present)  # counts are compared, not rates: equal ones are equal
    missed, matched = n - _reaching(present, points), _reaching(absent, points)
    after = int(np.argmax(missed >= matched))  # beyond all eccentricities at the latest
    keep = _thin(points, must=[after - 1, after, *np.searchsorted(points, given)])
    phis, misses, matches = (
        tuple(side[keep].tolist()) for side in (points, missed / n, matched / n)
    )
    if missed[0] > matched[0]:
        reason = (
            f"at φ = 0 already {missed[0] / n:.1%} of targets are missed, and only "
            f"{matched[0] / n:.1%} of absent ones are matched."
        )
        return TradeOff(phis, misses, matches, reason=reason)
    before = max(after - 1, 0)
    gap, next_gap = ((matched - missed)[[before, after]]).tolist()
    share = 0.0 if gap == next_gap else gap / (gap - next_gap)
    equal_phi, equal_rate = (
        float(side[before] + share * (side[after] - side[before])) for side in (points, missed / n)
    )
    return TradeOff(phis, misses, matches, equal_phi, equal_rate)


def _reaching(eccentricity: NDArray[np.float64], phi: NDArray[np.float64]) -> NDArray[np.int64]:
    some = np.sort(eccentricity[eccentricity > 0])
    return np.asarray(len(some) - np.searchsorted(some, phi * (1 - SLACK)))


def _beyond(largest: float) -> float:
    """Return the first whole tenth that no target reaches."""
    return float(np.floor(10 * largest * (1 + 2 * SLACK)) + 1) / 10


def _thin(points: NDArray[np.float64], must: list[int]) -> NDArray[np.int64]:
    """Choose points evenly by rank, so that there are more where more changes."""
    last = len(points) - 1
    room = min(_POINTS - len(must), len(points))
    evenly = np.linspace(0, last, room).round().astype(np.int64)
    return np.unique(np.concatenate([evenly, np.clip(must, 0, last)]))
