"""The verdict in a dossier, and the same without the owner's paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from starshade.audit.dossier_paragraph import paragraph_of
from starshade.audit.findings import understated
from starshade.audit.result import AuditResult, Finding
from starshade.release.table import Release

__all__ = ["finding_rows", "for_anybody", "owners_advice", "readers_advice", "verdict_section"]

_EARLIER = "an earlier release"


def for_anybody(result: AuditResult, earlier: Sequence[str]) -> AuditResult:
    """Return the judgement without the paths of earlier releases and the input's own scale."""
    return replace(
        result,
        findings=tuple(map(_published, result.findings)),
        warnings=tuple(_unnamed(text, earlier) for text in result.warnings),
        same_data=tuple(dict.fromkeys(_EARLIER for _ in result.same_data)),
    )


def verdict_section(result: AuditResult, release: Release, advice: list[str]) -> dict[str, Any]:
    """Return the verdict in words."""
    if result.passed and result.same_data:
        headline = "This release may leave the house alone, not beside an earlier one"
    elif result.passed:
        headline = "This release may leave the house"
    else:
        headline = "This release should not leave the house"
    return {
        "passed": result.passed,
        "headline": headline,
        "paragraph": paragraph_of(result, release),
        "reasons": list(result.reasons),
        "advice": advice,
    }


def finding_rows(result: AuditResult) -> list[dict[str, Any]]:
    """Return every question and its answer."""
    return [{"name": f.name, "passed": f.passed, "text": f.text} for f in result.findings]


#: what to do about a question that was answered with no; others are about a claimed model
_REMEDIES = {
    "claims": "Do not publish these files: what they claim is not what they are. Make the release "
    "again (starshade anonymize), and audit the new one.",
    "attack": "Make a release that hides people better: a larger --k, fewer items (--items top:N), "
    "or another method (starshade compare shows what each costs), and audit it again.",
    "tracker": "Do not let queries be asked of it. Make the release again with a larger --k.",
    "audience": "Keep the folder to yourself and answer queries over it (starshade query). To "
    "publish, make another release without exact attributes (--attributes none or generalized).",
    "disclosed": "Make a release that tells less: a larger --k or fewer items; or, if what it "
    "tells does no harm, decide so and raise --max-disclosed.",
    "scale": "Read the ratings with the scale that was declared when the release was made "
    "(--scale), or make the release again.",
    "settings": "Do not publish it: make the release again, and let nobody edit release.json.",
}
_OF_A_MODEL = (
    "Do not publish it: a check of its own does not find what {} asks. Make the release again."
)


def owners_advice(result: AuditResult, release: Release) -> list[str]:
    """Say what the owner does now, as far as the receipt told who is who."""
    failed = [finding.name for finding in result.findings if not finding.passed]
    advice = []
    if release.private is None:
        advice.append(_RECEIPT)
    if understated(release) is not None and "attack" in failed:
        failed.remove("attack")
        advice.append(_NO_RECEIPT)
    advice += [_REMEDIES.get(name, _OF_A_MODEL.format(name)) for name in failed]
    if result.same_data:
        advice.append(
            "Choose one of the releases of these data. Where an earlier one is out already, "
            "publishing this one too undoes the promise of both."
        )
    return list(dict.fromkeys(advice)) + ([_STILL, _PUBLISH] if result.passed else [])


def readers_advice(result: AuditResult) -> list[str]:
    """Say what somebody does now to whom the release was given."""
    if not result.passed:
        return ["Do not use it, and tell its owner: by this report it should not have been given."]
    return [
        "Compare the digests at the end with the files that you hold: this report is about no "
        "others.",
        "These are still data about people. What is promised is that nobody can be pointed at "
        "more often than said here, not that nothing can be learned; try to find nobody.",
    ]


_RECEIPT = (
    "Give the receipt that was written with the release, if there is one (--private FILE): only "
    "with it do the attacks count what is really found."
)
_NO_RECEIPT = (
    "Without a receipt nobody can tell whether this release hides people well enough. If there is "
    "none, make the release again and keep its receipt (--private FILE)."
)
_STILL = (
    "Read what the release still tells (below) and decide whether that may be known. If not, use a "
    "larger --k or fewer items."
)
_PUBLISH = (
    "Publish the whole folder, its README.md included. Keep the receipt, the ratings and the "
    "internal edition of this report to yourself."
)


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
