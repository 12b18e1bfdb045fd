"""The verdict in a dossier, and what to do now."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starshade.audit.dossier.paragraph import paragraph_of
from starshade.audit.findings import understated
from starshade.audit.result import AuditResult
from starshade.naming import aside, named
from starshade.release.table import Release

__all__ = ["finding_rows", "headline", "owners_advice", "readers_advice", "verdict_section"]


def headline(*, passed: bool, alone: bool) -> str:
    """Say in a line whether a release may be published; `alone`: were none out already."""
    if passed:
        return "This release may be published"
    if alone:
        return "This release may be published alone, not beside an earlier one"
    return "This release should not be published"


def verdict_section(result: AuditResult, release: Release, people: int) -> dict[str, Any]:
    """Return the verdict in words; `people`: whom the release is of."""
    return {
        "passed": result.passed,
        "headline": headline(passed=result.passed, alone=result.passed_alone),
        "paragraph": paragraph_of(result, release, people),
        "reasons": list(result.reasons),
        "advice": owners_advice(result, release),
    }


def finding_rows(result: AuditResult) -> list[dict[str, Any]]:
    """Return every question and its answer."""
    return [asdict(finding) for finding in result.findings]


def _remedies() -> dict[str, str]:
    larger = f"a larger {named('k')}"
    return {
        "claims": "Do not publish these files: what they claim is not what they are. Make the "
        "release again (starshade anonymize), and audit the new one.",
        "attack": f"Make a release that hides people better: {larger}, fewer items"
        f"{aside('items', 'top:N')}, or another method (starshade compare shows what each costs), "
        "and audit it again.",
        "tracker": f"Do not let queries be asked of it. Make the release again with {larger}.",
        "audience": "Keep the folder to yourself and answer queries over it (starshade query). To "
        "publish, make another release without exact attributes"
        f"{aside('attributes', 'none', 'or generalized')}.",
        "identifying": "Make the release again and leave that attribute out"
        f"{aside('quasi_identifiers', rest='names the others')}, or join its values by a "
        f"hierarchy{aside('attribute_hierarchies')}.",
        "rare-values": "Make the release again with this version, which refuses such values"
        f"{aside('rare_values', 'blank', 'leaves them out')}.",
        "disclosed": f"Make a release that tells less: {larger} or fewer items; or, if what it "
        f"tells does no harm, decide so and raise {named('max_disclosed')}.",
        "scale": "Read the ratings with the scale that was declared when the release was made"
        f"{aside('scale')}, or make the release again.",
        "settings": "Do not publish it: make the release again, and let nobody edit release.json.",
        "earlier": "Choose one of the releases of these data. Where an earlier one is out already, "
        "publishing this one too undoes the promise of both.",
    }


_OF_A_MODEL = (
    "Do not publish it: a check of its own does not find what {} asks. Make the release again."
)


def owners_advice(result: AuditResult, release: Release) -> list[str]:
    """Say what the owner does now, as far as the receipt told who is who."""
    failed = [finding.name for finding in result.findings if not finding.passed]
    advice = []
    if release.private is None:
        advice.append(
            "Give the receipt that was written with the release, if there is one"
            f"{aside('private', 'FILE')}: only with it do the attacks count what is really found."
        )
    if understated(release) is not None and "attack" in failed:
        failed.remove("attack")
        advice.append(
            "Without a receipt nobody can tell whether this release hides people well enough. If "
            "there is none, make the release again and keep its receipt"
            f"{aside('private', 'FILE')}."
        )
    remedies = _remedies()
    advice += [remedies.get(name, _OF_A_MODEL.format(name)) for name in failed]
    if result.passed:
        advice += [
            "Read what the release still tells (below) and decide whether that may be known. If "
            f"not, use a larger {named('k')} or fewer items.",
            _PUBLISH,
        ]
    return list(dict.fromkeys(advice))


def readers_advice(*, passed: bool) -> list[str]:
    """Say what somebody does now to whom the release was given."""
    if not passed:
        return ["Do not use it, and tell its owner: by this report it should not have been given."]
    return [
        "Compare the digests at the end with the files that you hold: this report is about no "
        "others.",
        "These are still data about people. What is promised is that nobody can be pointed at "
        "more often than said here, not that nothing can be learned; try to find nobody.",
    ]


_PUBLISH = (
    "Publish the whole folder, its README.md included. Keep the receipt, the ratings and the "
    "internal edition of this report to yourself."
)
