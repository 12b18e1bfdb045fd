"""Accepted risks: what an owner decided about checks that are no pass, by whom and until when."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from starshade.audit.checks.policy import CHECKED, Policy, check_named, share_of
from starshade.errors import ConfigError
from starshade.setting import date_of, shown

if TYPE_CHECKING:  # loading it takes longer than a run without changes
    from starshade.audit.checks.check import Check
    from starshade.audit.result import AuditResult
    from starshade.release.table import Release

NOT_MEASURED = "not measured"
SECTION = "accept"


@dataclass(frozen=True)
class Acceptance:
    """A decision on one check.

    Attributes
    ----------
    risk : str
        The check.
    up_to : Fraction or None
        The largest upper end that is accepted; None: that it was not measured.
    policy : str
        Name and version, as in "partner v1": another version needs another decision.
    reason, by : str
        Why, and who decided.
    until : date
        The last day on which it holds.
    """

    risk: str
    up_to: Fraction | None
    policy: str
    reason: str
    by: str
    until: datetime.date

    @property
    def up_to_text(self) -> str:
        """What is accepted: of the class size a number of people, else percent."""
        if self.up_to is None:
            return NOT_MEASURED
        if self.risk == "class-size" and self.up_to.numerator == 1:
            return str(self.up_to.denominator)
        return f"{float(100 * self.up_to):.12g}%"

    def to_dict(self) -> dict[str, str]:
        """Return texts, by the keys of the project file."""
        return {
            "risk": self.risk,
            "up_to": self.up_to_text,
            "policy": self.policy,
            "reason": self.reason,
            "by": self.by,
            "until": self.until.isoformat(),
        }

    def covers(self, check: Check, policy: Policy, today: datetime.date) -> str:
        """Return why it does not cover a check; empty: it does."""
        if self.policy != stated(policy):
            return f"it covers {self.policy}; the policy is {stated(policy)}"
        if today > self.until:
            return f"it expired on {self.until.isoformat()}"
        if _unmeasured(check):
            return (
                ""
                if self.up_to is None
                else f"it covers up to {self.up_to_text}, not an unmeasured check"
            )
        if self.up_to is None:
            return f"it covers {NOT_MEASURED}; the check was measured"
        assert check.rate is not None
        if check.rate.high > float(self.up_to) + 1e-9:
            return f"it covers up to {self.up_to_text}; the value reaches {check.rate.high:.1%}"
        return ""


def in_force(accepted: Sequence[Acceptance]) -> list[dict[str, str]]:
    """Return the decisions that have not ended, as plain values: what a run depends on."""
    today = datetime.date.today()
    return [each.to_dict() for each in accepted if today <= each.until]


def expired(accepted: Sequence[Acceptance]) -> list[str]:
    """Return a sentence on each decision that has ended and that no other one replaces."""
    today = datetime.date.today()
    last = dict[tuple[str, str], datetime.date]()
    for each in sorted(accepted, key=lambda each: each.until):
        last[each.risk, each.policy] = each.until
    sentences = (
        f"The acceptance of {risk} expired on {until.isoformat()}."
        for (risk, _), until in last.items()
        if today > until
    )
    return [*dict.fromkeys(sentences)]


def stated(policy: Policy) -> str:
    """Write name and version of a policy.

    >>> from starshade.audit.checks.policy import read_policy
    >>> stated(read_policy("public"))
    'public v1'
    """
    return f"{policy.name} v{policy.version}"


@dataclass(frozen=True)
class Decision:
    """Whether a release may be published, and by what.

    `published_by`: "policy" where the verdict is PASS, "acceptance" where every check that is no
    pass is covered by an accepted risk; empty: it may not be. `accepted`: those that count, also
    where other checks prevent publication.
    `gaps`: why others do not. `advice`: what would lead to publication.
    """

    audit: AuditResult
    published_by: str
    accepted: tuple[Acceptance, ...] = ()
    gaps: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()

    @property
    def rows(self) -> list[dict[str, str]]:
        """What reports say of the accepted risks that count."""
        return [each.to_dict() for each in self.accepted]

    @classmethod
    def of(cls, audit: AuditResult, accepted: Sequence[Acceptance]) -> Decision:
        """Decide; a condition beside the checks, such as a claim, cannot be accepted."""
        if audit.passed:
            return cls(audit, "policy")
        today, used, gaps = datetime.date.today(), dict[Acceptance, None](), list[str]()
        open_ = set[str]()
        for check in audit.decisive:
            own = [each for each in accepted if each.risk == check.name]
            why = {each: each.covers(check, audit.policy, today) for each in own}
            counts = [each for each, reason in why.items() if not reason]
            used |= dict.fromkeys(counts[:1])
            if not counts:
                open_.add(check.name)
                gaps += [f"{check.name}: the acceptance does not apply: {r}" for r in why.values()]
        counting = tuple(each for each in used if each.risk not in open_)
        publishable = not open_ and all(finding.passed for finding in audit.findings)
        return cls(audit, "acceptance" if publishable else "", counting, tuple(gaps))


def ways_out(judged: Decision, release: Release) -> tuple[str, ...]:
    """Say what would lead to publication: what changes each check, and how to accept its risk."""
    from starshade.audit.checks.advice import advice_on

    if judged.published_by:
        return ()
    audit = judged.audit
    accept = "Or accept it: `starshade accept {} --up-to {} --reason TEXT --by NAME --until DATE`"
    out = advice_on(audit, release)
    if all(finding.passed for finding in audit.findings):
        out += dict.fromkeys(accept.format(each.name, _bound(each)) for each in audit.decisive)
    return tuple(out)


def _unmeasured(check: Check) -> bool:
    """Return whether there is no figure that a bound could cover, as of joint classes at times.

    A figure that rests on too few shadow releases or false positives is one, and needs a bound.
    """
    return check.rate is None


def _bound(check: Check) -> str:
    """Write the smallest bound, in tenths of a percent, that would cover a check."""
    if check.rate is None:
        return f'"{NOT_MEASURED}"'
    if check.size is not None:
        return str(check.size)
    return f"{math.ceil(1000 * check.rate.high - 1e-6) / 10:g}%"


Problem = tuple[str, str, str]


def read_acceptances(
    entries: Any,
) -> tuple[tuple[Acceptance, ...], tuple[tuple[int, str, str, str], ...]]:
    """Read the entries of a project file.

    Returns what is right, and of what is wrong the number of the entry (from 1), the key, what is
    wrong, and what to do.
    """
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        return (), (
            (0, "", f"{SECTION}: must be a list of sections", f"Begin each with [[{SECTION}]]."),
        )
    right, wrong = [], []
    for number, entry in enumerate(entries, 1):
        problems = list(_problems(entry))
        wrong += [(number, *problem) for problem in problems]
        if not problems:
            right.append(_acceptance(entry))
    return tuple(right), tuple(wrong)


_KEYS = ("risk", "up-to", "policy", "reason", "by", "until")
_LIKE = "`starshade accept` writes complete sections."


def _problems(entry: Mapping[str, Any]) -> Iterator[Problem]:
    for key in entry:
        if key not in _KEYS:
            yield (
                key,
                f"{shown(key)}: [[{SECTION}]] has no such setting",
                f"It has {', '.join(_KEYS)}.",
            )
    for key in _KEYS:
        if key not in entry:
            yield "", f"[[{SECTION}]] lacks {key}", _LIKE
        elif problem := _wrong(key, entry[key], entry):
            yield key, f"{key} = {shown_value(entry[key])}: {problem}", _LIKE


def shown_value(value: Any) -> str:
    """Write a value for a message, a date as TOML has it."""
    return value.isoformat() if isinstance(value, datetime.date) else shown(value)


def _wrong(key: str, value: Any, entry: Mapping[str, Any]) -> str:
    if key == "until":
        return "" if date_of(value) else "must be a date such as 2027-06-30"
    if key == "up-to":
        if value == NOT_MEASURED:
            return ""
        try:
            share_of(check_named(str(entry.get("risk"))), value)
        except ConfigError:
            return f'must be a share such as 0.12 or "12%", or "{NOT_MEASURED}"'
        return ""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        return "must be a text"
    if key == "risk" and check_named(value) not in CHECKED:
        return f"unknown check; checks are {', '.join(CHECKED)}"
    return ""


def _acceptance(entry: Mapping[str, Any]) -> Acceptance:
    risk, up_to, until = check_named(entry["risk"]), entry["up-to"], date_of(entry["until"])
    assert until is not None
    return Acceptance(
        risk=risk,
        up_to=None if up_to == NOT_MEASURED else share_of(risk, up_to),
        policy=entry["policy"],
        reason=entry["reason"],
        by=entry["by"],
        until=until,
    )
