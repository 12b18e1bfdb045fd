"""The verdict in a dossier, and the same without the owner's paths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starshade.audit.dossier.bounds import limit_of
from starshade.audit.dossier.paragraph import paragraph_of
from starshade.audit.few import fewer, hides, in_words, is_few
from starshade.audit.findings import records_differ, understated
from starshade.audit.result import AuditResult, Finding
from starshade.audit.to_know import OWNERS_ALONE
from starshade.naming import aside, named
from starshade.plain import percent
from starshade.release.table import Release

__all__ = ["finding_rows", "for_anybody", "owners_advice", "readers_advice", "verdict_section"]


def for_anybody(result: AuditResult, release: Release, k: int, *, part: bool = True) -> AuditResult:
    """Return the judgement as all may read it.

    Without the paths of earlier releases, the input's own scale, and figures on 1 to `k` - 1
    people: a bound stands for them. Where nobody can tell the released people from the others
    (`part` is False), what attacks came to is about others, too, and is left out.
    """
    if not part:
        findings = (_of_nobody(finding, release) for finding in result.findings)
        result = replace(
            result, findings=tuple(findings), evidence=(), tracker=None, gives_away=None
        )

    def told(text: str) -> str:
        return _few_left_out(text, release, k)

    warnings = (_calm(text) for text in result.warnings if not text.startswith(OWNERS_ALONE))
    findings = (_published(finding, result, release, k) for finding in result.findings)
    return replace(
        result,
        findings=tuple(replace(each, text=told(each.text)) for each in findings),
        warnings=tuple(map(told, warnings)),
    )


def verdict_section(
    result: AuditResult, release: Release, advice: list[str], people: int, k: int = 1
) -> dict[str, Any]:
    """Return the verdict in words; `people`, `k`: see `paragraph_of`."""
    if result.passed:
        headline = "This release may leave the house"
    elif result.passed_alone:
        headline = "This release may leave the house alone, not beside an earlier one"
    else:
        headline = "This release should not leave the house"
    return {
        "passed": result.passed,
        "headline": headline,
        "paragraph": _few_left_out(paragraph_of(result, release, people, k), release, k),
        "reasons": list(result.reasons),
        "advice": advice,
    }


def finding_rows(result: AuditResult) -> list[dict[str, Any]]:
    """Return every question and its answer."""
    return [{"name": f.name, "passed": f.passed, "text": f.text} for f in result.findings]


def _remedies() -> dict[str, str]:
    """Say what to do about a question that was answered with no; others are about a model."""
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


_PUBLISH = (
    "Publish the whole folder, its README.md included. Keep the receipt, the ratings and the "
    "internal edition of this report to yourself."
)


def _published(finding: Finding, result: AuditResult, release: Release, k: int) -> Finding:
    """Say the same without what may speak of few people, or of one person's rating."""
    if finding.name in ("claims", "audience", "settings"):
        return finding
    if finding.name == "identifying":
        text = "A personal attribute that it tells is as good as a name."
        return finding if finding.passed else replace(finding, text=text)
    if finding.name == "rare-values":
        text = "A personal attribute that it tells has values that fewer than k people have."
        return finding if finding.passed else replace(finding, text=text)
    if finding.name == "scale":
        return replace(finding, text="release.json says another scale than the ratings have.")
    if finding.name == "earlier":
        return replace(finding, text=_WITHOUT_PATHS[finding.passed])
    if finding.name == "attack":
        return replace(finding, text=_of_attack(finding, result, release, k))
    if finding.name == "tracker":
        return replace(finding, text=_of_tracker(finding, result, k))
    if finding.name == "disclosed":
        return replace(finding, text=_of_shown(finding, result, k))
    if not finding.passed:
        text = f"The check of {finding.name} does not find what is claimed."
    elif is_few(result.utility.get("smallest_class") or 0, k) and finding.name in _OF_SETS:
        by = result.alike_by
        equal = f"records that are equal{by}" if by else "equal records"
        text = f"The smallest set of {equal} has {result.k:,} or more, as claimed."
    else:
        return finding
    return replace(finding, text=text)


_WITHOUT_PATHS = {
    True: "No earlier release that was named is of the same data, but for this very one.",
    False: "An earlier release is of the same data, or may be: whoever holds both can intersect "
    "their groups, and then nobody hides among k any more.",
}
_OF_SETS = ("k-anonymity", "review-graph")


def _of_nobody(finding: Finding, release: Release) -> Finding:
    """Say the same without what attacks came to on people who may have been left out."""
    why = understated(release)
    if finding.name == "attack" and why is not None:
        text = (
            f"How often anybody is found is not known: {why[0]}, and without the receipt"
            f"{aside('private')} nobody can tell {why[1]}."
        )
        return replace(finding, text=text)
    if finding.name == "tracker":
        text = (
            "Behind a query interface nobody is singled out by counting."
            if finding.passed
            else "Behind a query interface some COUNT queries rest on fewer records than are "
            "claimed; they single people out unless refused."
        )
        return replace(finding, text=text)
    return finding


def _of_attack(finding: Finding, result: AuditResult, release: Release, k: int) -> str:
    """Say what the attacks came to, as a bound where it speaks of few people."""
    few = any(
        hides(rate, e.after.targets, k) or is_few(e.after.ineligible, k)
        for e in result.evidence
        for rate in (e.after.expected_top1.rate, e.after.disclosed.rate)
    )
    limit = limit_of(result, differ=records_differ(release))
    if not few or limit is None or understated(release) is not None:
        return finding.text
    if finding.passed:
        return f"No attack that was tried came to more than the limit of {percent(limit)}."
    return f"An attack that was tried came to more than the limit of {percent(limit)}."


def _of_tracker(finding: Finding, result: AuditResult, k: int) -> str:
    asked = result.tracker
    if asked is None or not any(
        hides(side.at_risk.rate, side.targets, k) for side in (asked.before, asked.after)
    ):
        return finding.text
    if not finding.passed:
        return (
            "Behind a query interface some COUNT queries rest on fewer records than are claimed; "
            "they single people out unless refused."
        )
    before = in_words(asked.before.at_risk.rate, asked.before.targets, k)
    return (
        "Behind a query interface nobody is singled out by counting; on the ratings the share of "
        f"people singled out in the same way is {before}."
    )


def _of_shown(finding: Finding, result: AuditResult, k: int) -> str:
    share, limit = result.disclosure["users_rating_disclosed"], result.config["max_disclosed"]
    if share is None or not hides(share, result.records, k):
        return finding.text
    return (
        f"The share of people of whom a rating is disclosed is {in_words(share, result.records, k)}"
        f"; the limit is {percent(limit)}."
    )


def _calm(text: str) -> str:
    """Say a warning that counts few people, or single ones, without its figures."""
    if "so that the interval is wide" in text:
        return "Some of the attacks had few targets, so that their intervals are wide."
    if "rest on one person's rating" in text:
        return "Some of the filled cells rest on one person's rating and say just that rating."
    return text


def _few_left_out(text: str, release: Release, k: int) -> str:
    """Leave out how many people were left out, where they are few."""
    left_out = release.manifest.users_deleted
    if not is_few(left_out, k):
        return text
    was = "1 person was" if left_out == 1 else f"{left_out:,} people were"
    return text.replace(f"{was} left out", f"{fewer(k)} people were left out")
