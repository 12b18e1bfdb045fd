"""The checks of a verdict, one a line, for programs that read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from starshade.audit.questions.question import Measured, Question

Status = Literal["pass", "fail", "not measured", "no threshold"]


@dataclass(frozen=True)
class Check:
    """One line of a verdict.

    Attributes
    ----------
    name : str
        As thresholds and findings name it.
    value, low, high : float or None
        The figure and its interval; None where it is no figure, or was not measured.
    threshold : float or None
        What the upper end must not exceed; None where none is set, or it is no figure.
    status : {"pass", "fail", "not measured", "no threshold"}
        "no threshold": it was measured, and nothing is decided by it.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    threshold: float | None
    status: Status

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return asdict(self)


def checks_of(findings: Mapping[str, bool], questions: Sequence[Question]) -> tuple[Check, ...]:
    """Return the checks of a verdict: what was measured first, then the other findings.

    `findings`: whether each passed, by its name.
    """
    measured = [each for question in questions for each in question.measured]
    figures = tuple(_figure(each, findings) for each in measured)
    return figures + tuple(_others(findings, measured))


def _figure(measured: Measured, findings: Mapping[str, bool]) -> Check:
    rate, limit = measured.rate, measured.limit
    passed = findings.get(measured.finding, measured.holds)
    status: Status = "pass" if passed else "fail"
    if rate is None:
        status = "not measured"
    elif limit is None:
        status = "no threshold"
    value, low, high = (None, None, None) if rate is None else (rate.rate, rate.low, rate.high)
    threshold = None if limit is None else limit.value
    return Check(measured.name, value, low, high, threshold, status)


def _others(findings: Mapping[str, bool], measured: Sequence[Measured]) -> Iterator[Check]:
    figures = {each.finding for each in measured if each.limit is not None}
    for name, passed in findings.items():
        if name not in figures:
            yield Check(name, None, None, None, None, "pass" if passed else "fail")
