"""The verdict in a dossier, and the same without the owner's paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from starshade.audit.result import AuditResult, Finding

__all__ = ["finding_rows", "for_anybody", "verdict_section"]

_EARLIER = "an earlier release"


def for_anybody(result: AuditResult, earlier: Sequence[str]) -> AuditResult:
    """Return the judgement without the paths of earlier releases and the input's own scale."""
    return replace(
        result,
        findings=tuple(map(_published, result.findings)),
        warnings=tuple(_unnamed(text, earlier) for text in result.warnings),
        same_data=tuple(dict.fromkeys(_EARLIER for _ in result.same_data)),
    )


def verdict_section(result: AuditResult) -> dict[str, Any]:
    """Return the verdict in words."""
    if result.passed and result.same_data:
        headline = "May leave the house by itself, but not together with an earlier release"
    elif result.passed:
        headline = "This release may leave the house"
    else:
        headline = "This release should not leave the house"
    return {
        "passed": result.passed,
        "headline": headline,
        "paragraph": str(result),
        "reasons": list(result.reasons),
        "advice": _advice(result),
    }


def finding_rows(result: AuditResult) -> list[dict[str, Any]]:
    """Return every question and its answer."""
    return [{"name": f.name, "passed": f.passed, "text": f.text} for f in result.findings]


def _advice(result: AuditResult) -> list[str]:
    return ["Read the warnings, then publish the folder as it is."] if result.passed else []


def _published(finding: Finding) -> Finding:
    """Leave out the scale of the ratings: an end of it may be one person's rating."""
    if finding.name != "scale":
        return finding
    return replace(finding, text="release.json says another scale than the ratings have.")


def _unnamed(text: str, earlier: Sequence[str]) -> str:
    for path in sorted(earlier, key=len, reverse=True):
        if text.startswith(path):
            return _EARLIER[0].upper() + _EARLIER[1:] + text[len(path) :]
    return text
