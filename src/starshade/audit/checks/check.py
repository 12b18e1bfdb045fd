"""`Check`: one risk of a policy, as measured, and whether it is within its threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from starshade.audit.checks.policy import CHECKED, Threshold
from starshade.figure import Rate
from starshade.naming import Advice
from starshade.plain import counted, percent

Status = Literal[
    "pass",
    "fail",
    "not demonstrated",
    "not measured",
    "not applicable",
    "accepted without limit",
    "no threshold",
]
Verdict = Literal["PASS", "FAIL", "INCOMPLETE"]
#: exit code of an audit
EXIT_CODES: dict[Verdict, int] = {"PASS": 0, "FAIL": 1, "INCOMPLETE": 4}
MARKS: dict[Status, str] = {
    "pass": "✓",
    "fail": "✗",
    "not demonstrated": "✗",
    "not measured": "–",
    "not applicable": "–",
    "accepted without limit": "∞",
    "no threshold": "",
}
#: why composition does not apply to a release alone
ALONE = "no earlier release was named"
SLACK = 1e-9  # credits are sums of 1/t
_WIDE = 0.5  # length of an interval from which nothing is concluded
_TOO_WIDE = "The interval is too wide to conclude."


@dataclass(frozen=True)
class Check:
    """One risk, measured by the strongest attack.

    Attributes
    ----------
    name : str
        As policies name it.
    text : str
        The measurement in a sentence or two, or why nothing was measured.
    attack, knew : str
        The strongest attack and its knowledge of a person; empty where nothing was measured.
    known : int or None
        Ratings known of each target; None where that is no part of the measure.
    rate : Rate or None
        With a simultaneous 95 % interval; None: not measured.
    baseline : float or None
        The rate without the release.
    threshold : Threshold or None
        None: it is printed, and decides nothing.
    before : Rate or None
        The initial risk: the same in the original data.
    beside : tuple of (str, Rate)
        Related figures.
    note : str
        A qualification of the figure, in a sentence or two; may be empty.
    title_of : str
        The title, where it is not the usual one.
    targets, of : int or None
        How many people were tested, and how many are in the release.
    size : int or None
        Of the class size: the smallest class.
    undecided : str
        Why the figure, though measured, cannot show that a threshold is kept; empty: it can.
    rough : bool
        Whether the figure itself is too uncertain to show that a threshold is exceeded.
    inapplicable : str
        Why it does not apply; empty: it does.
    failed : bool
        Whether it fails whatever the figure is.
    advice : str or Advice
        How to measure it, where it was not measured; empty: not possible.
    """

    name: str
    text: str
    attack: str = ""
    knew: str = ""
    known: int | None = None
    rate: Rate | None = None
    baseline: float | None = None
    threshold: Threshold | None = None
    before: Rate | None = None
    beside: tuple[tuple[str, Rate], ...] = ()
    note: str = ""
    title_of: str = ""
    targets: int | None = None
    of: int | None = None
    size: int | None = None
    undecided: str = ""
    rough: bool = False
    inapplicable: str = ""
    failed: bool = False
    advice: str | Advice = ""

    @property
    def title(self) -> str:
        """The name in the field's terms, with the number of known ratings."""
        title = self.title_of or CHECKED[self.name].title
        if self.known is not None:
            split = self.name == "linkability"  # half by each source
            title += f" (2×{self.known // 2} known)" if split else f" ({self.known} known)"
        return title

    @property
    def status(self) -> Status:
        """The status against the threshold, by the upper end of the interval."""
        if self.inapplicable:
            return "not applicable"
        if self.threshold is None:
            return "no threshold"
        if self.failed:
            return "fail"
        if not self.threshold.effective:
            return "accepted without limit"
        if self.rate is None or self.rough:
            return "not measured"
        if self.undecided:  # too few shadow releases give a lower bound
            exceeded = self.rate.low > float(self.threshold.share) + SLACK
            return "fail" if exceeded else "not measured"
        if self.size is not None:  # compared exactly
            return "pass" if Fraction(1, self.size) <= self.threshold.share else "fail"
        most = float(self.threshold.share) + SLACK
        if self.rate.rate > most:
            return "fail"
        return "pass" if self.rate.high <= most else "not demonstrated"

    @property
    def fails(self) -> bool:
        """Whether the verdict is FAIL because of it."""
        return self.status in ("fail", "not demonstrated")

    @property
    def remark(self) -> str:
        """The note, and whether the interval is too wide to conclude anything; may be empty."""
        wide = self.rate is not None and self.rate.high - self.rate.low > _WIDE
        return f"{self.note} {_TOO_WIDE * (wide and self.status != 'pass')}".strip()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        rate, threshold = self.rate, self.threshold
        return {
            "name": self.name,
            "title": self.title,
            "value": None if rate is None else rate.rate,
            "low": None if rate is None else rate.low,
            "high": None if rate is None else rate.high,
            "baseline": self.baseline,
            "threshold": None if threshold is None else float(threshold.share),
            "source": None if threshold is None else threshold.source,
            "status": self.status,
            "known": self.known,
            "targets": self.targets,
            "of": self.of,
            "attack": self.attack or None,
            "knowledge": self.knew or None,
            "initial": None if self.before is None else self.before.to_dict(),
            "other_values": {title: each.to_dict() for title, each in self.beside},
            "text": self.text,
            "advice": str(self.advice) or None,
        }

    @property
    def value_text(self) -> str:
        """The figure, without its interval."""
        if self.size is not None:
            return f"{self.size:,}"
        return "not measured" if self.rate is None else self._signed(percent(self.rate.rate))

    @property
    def measured_text(self) -> str:
        """The figure with its interval, unless everyone was counted, and the number of people."""
        if self.size is not None or self.rate is None:
            return self.value_text
        exact = self.rate.low == self.rate.high
        text = self._signed(percent(self.rate.rate) if exact else str(self.rate))
        return text if self.targets is None else f"{text}, {self.people_text}"

    @property
    def excess(self) -> bool:
        """Whether it is an excess over the baseline, (rate − baseline) / (1 − baseline)."""
        return CHECKED[self.name].excess

    def _signed(self, text: str) -> str:
        return f"+{text}" if self.excess and not text.startswith("-") else text

    @property
    def people_text(self) -> str:
        """The number of people tested; empty where it is not stated."""
        if self.targets is None:
            return ""
        if self.of is None or self.of == self.targets:
            return counted(self.targets, "person", "people")
        return f"{self.targets:,} of {counted(self.of, 'person', 'people')}"

    @property
    def threshold_text(self) -> str:
        """The threshold in its usual form."""
        return "none" if self.threshold is None else self.threshold.text(self.name)

    @property
    def short(self) -> str:
        """The figure and the threshold in a few words."""
        if self.status == "not measured" or self.rate is None:
            return f"{self.title}: {'fails' if self.fails else 'not measured'}"
        sign = "minimum" if self.name == "class-size" else "threshold"
        upper = ""
        if self.status == "not demonstrated":
            upper = f", upper end {percent(self.rate.high)}"
        return f"{self.title}: {self.value_text}{upper} ({sign} {self.threshold_text})"


def unmeasured(
    name: str,
    why: str,
    threshold: Threshold | None,
    *,
    known: int | None = None,
    advice: str | Advice = "",
) -> Check:
    """Return a check that was not measured, with the reason and what would measure it."""
    why = why[:1].upper() + why[1:].rstrip(".")
    return Check(name, f"Not measured. {why}.", threshold=threshold, known=known, advice=advice)


def verdict_of(checks: Sequence[Check], others: Sequence[bool]) -> Verdict:
    """Return the verdict: `others` are the other conditions, each of which must hold."""
    if not all(others) or any(check.fails for check in checks):
        return "FAIL"
    open_ = any(check.status == "not measured" for check in checks)
    return "INCOMPLETE" if open_ else "PASS"


def without_limit(checks: Sequence[Check]) -> tuple[str, ...]:
    """Return the names of the usual checks without effective threshold, in order."""
    loose = [
        check.name
        for check in checks
        if CHECKED[check.name].usual
        and (
            check.status == "accepted without limit"
            or (check.threshold is None and not check.inapplicable)
        )
    ]
    return tuple(dict.fromkeys(loose))


def words_of(verdict: Verdict, checks: Sequence[Check]) -> str:
    """Return the verdict, and the number of checks without effective threshold.

    >>> words_of("PASS", [])
    'PASS'
    """
    loose = len(without_limit(checks))
    return verdict + f" ({counted(loose, 'check')} without effective threshold)" * bool(loose)


#: heads of `check_rows`
CHECK_HEAD = ("check", "measured", "baseline", "threshold", "status")


def check_rows(checks: Sequence[Check]) -> list[tuple[str, str, str, str, str]]:
    """Return a row of texts for each check."""
    return [
        (
            each.title,
            each.measured_text,
            percent(each.baseline),
            each.threshold_text,
            each.status,
        )
        for each in checks
    ]
