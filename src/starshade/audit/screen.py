"""The first screen of an audit: verdict, checks, utility and next command, in 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from starshade.audit.checks.check import MARKS, Check
from starshade.audit.result import AuditResult
from starshade.plain import counted, percent

_WIDTH = 80
_TITLE, _MEASURED, _BASELINE, _THRESHOLD = 36, 8, 9, 10
_INDENT = "      "
_NOT_MEASURED = "not measured"


def first_screen(result: AuditResult, advice: Sequence[str], following: str = "") -> Iterator[str]:
    """Yield the lines.

    `advice`: what would change the verdict. `following`: the command to type next; may be empty.
    Commands are never broken.
    """
    made = f"{result.method}, k = {result.k}" if result.k else result.method
    of = f"{counted(result.records, 'person', 'people')}, {counted(result.items, 'item')}"
    yield from _wrapped(f"{result.word}  policy {result.policy.title}  {made}: {of}", _INDENT)
    all_known = result.check("membership-all")
    if all_known.rate is not None:
        yield from _wrapped(
            f"{_INDENT}An adversary who knows all ratings of a person detects "
            f"{percent(all_known.rate.rate)} of members at 1 % FPR"
            + " (no threshold in this policy)"
            * (all_known.threshold is None),
            _INDENT,
        )
    yield (
        f"{'':{_TITLE + 2}}{'measured':>{_MEASURED}}{'baseline':>{_BASELINE}}"
        f"{'threshold':>{_THRESHOLD}}"
    )
    for check in sorted(result.checks, key=lambda each: each.status == "no threshold"):  # last
        if not check.inapplicable and (check is not all_known or check.threshold is not None):
            yield _line(check)
    if any(check.excess and check.rate is not None for check in result.checks):
        yield "  +: not a rate, but its excess: (rate − baseline) / (1 − baseline)"
    for finding in result.findings:
        if not finding.passed:
            yield from _wrapped(f"  ✗ {finding.text}", "    ")
    for each in advice:
        yield from [f"  → {each}"] if "`starshade " in each else _wrapped(f"  → {each}", "    ")
    yield from result.utility_round.lines
    if following and result.verdict == "FAIL":
        yield "Next     Search for a release that passes (larger k, then fewer rare items):"
        yield f"         {following}"
    elif following:
        yield f"Next     {following}"


def _line(check: Check) -> str:
    value = "–" if check.rate is None else check.value_text
    baseline = "" if check.baseline is None else percent(check.baseline)
    return (
        f"  {check.title:<{_TITLE}}{value:>{_MEASURED}}{baseline:>{_BASELINE}}"
        f"{check.threshold_text:>{_THRESHOLD}}{MARKS[check.status]:>2} {_tail(check)}"
    ).rstrip()


def _tail(check: Check) -> str:
    """Return the status of a figure in a few words, or its initial risk in the original data."""
    if check.status == "not demonstrated":
        assert check.rate is not None
        return f"to {percent(check.rate.high)}"
    if check.status == _NOT_MEASURED or check.rate is None:
        return _NOT_MEASURED
    return "" if check.before is None else f"was {percent(check.before.rate)}"


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
