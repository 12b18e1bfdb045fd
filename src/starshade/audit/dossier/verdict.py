"""The verdict in a dossier: one paragraph, and the next steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from starshade.anonymize.registry import FOR_ITEMS
from starshade.audit.checks.advice import advice_on
from starshade.audit.checks.check import MARKS, Verdict
from starshade.audit.checks.policy import Policy
from starshade.audit.dossier.release import tried_on
from starshade.audit.evidence import best_of
from starshade.audit.findings import proximate, understated
from starshade.audit.profile_disclosure import ProfileDisclosure
from starshade.audit.result import AuditResult
from starshade.audit.shares import (
    MORE,
    PROXIMITY_CAVEAT,
    rated_in_words,
    read_from_records,
    within,
)
from starshade.naming import Value, speak
from starshade.plain import counted, percent
from starshade.release.promise import crowd
from starshade.release.table import Release

#: what a verdict means for a release
MEANINGS: Mapping[Verdict, str] = {
    "PASS": "Every check of the policy is within its threshold",
    "FAIL": "A check of the policy is not within its threshold, or a condition does not hold",
    "INCOMPLETE": "Nothing exceeds a threshold, but a check of the policy was not measured",
}


def stated(policy: Policy) -> str:
    """Return name and version of a policy, and whether it has overrides."""
    return f"{policy.name} v{policy.version}" + ", with overrides" * bool(policy.overridden)


def verdict_section(
    result: AuditResult, release: Release, people: int, publishable: str
) -> dict[str, Any]:
    """Return the verdict with its texts.

    `people`: how many are in the release; `publishable`: by what it may be published, or "".
    """
    return {
        "verdict": result.verdict,
        "passed": result.passed,
        "word": result.word,
        "headline": f"{result.word}: policy {stated(result.policy)}",
        "policy": result.policy.to_dict() | {"title": result.policy.title},
        "paragraph": paragraph_of(result, release, people),
        "reasons": list(result.reasons),
        "utility": [str(result.utility_round)],
        "publishable": publishable,
        "advice": owners_advice(result, release, publishable),
    }


def check_section(result: AuditResult) -> list[dict[str, Any]]:
    """Return every check with its figures, as text too."""
    return [
        {
            **each.to_dict(),
            "mark": MARKS[each.status],
            "measured_text": each.measured_text,
            "value_text": each.value_text,
            "people_text": each.people_text,
            "threshold_text": each.threshold_text,
            "note": each.remark,
        }
        for each in result.checks
    ]


def finding_rows(result: AuditResult) -> list[dict[str, Any]]:
    """Return every other condition, and whether it holds."""
    return [asdict(finding) for finding in result.findings]


_REMEDIES = {
    "claims": "Do not publish these files: their claims do not hold. Make the release again, and "
    "audit the new one.",
    "tracker": "Do not offer queries over the release. Make it again with a larger k.",
    "audience": "Keep the folder private, and use it for a query service only. To publish, make a "
    "release without exact attributes.",
    "identifying": "Make the release again without that attribute, or generalize its values with a "
    "hierarchy.",
    "rare-values": "Make the release again with this version, which refuses such values "
    "or leaves them out.",
    "profiles": "The release is useless. If all ratings are equal, make a release by "
    f"{FOR_ITEMS.method} {FOR_ITEMS.where}; otherwise choose a smaller k.",
    "scale": "Read the ratings with the scale that was declared when the release was made, "
    "or make the release again.",
    "settings": "Do not publish it. Make the release again, and do not edit release.json.",
}
_OF_A_MODEL = (
    "Do not publish it: the independent check of {} does not confirm the claim. Make the release "
    "again."
)


def owners_advice(result: AuditResult, release: Release, publishable: str) -> list[str]:
    """Return the owner's next steps: an action for each failing check and condition.

    `publishable`: by what the release may be published, or "". Settings are named without the
    syntax of a command line or of Python.
    """
    failed = [finding.name for finding in result.findings if not finding.passed]
    with speak(_on_a_page):
        advice = advice_on(result, release)
    advice += [_REMEDIES.get(name, _OF_A_MODEL.format(name)) for name in failed]
    if result.passed:
        advice.append(
            "Read what the release still discloses (Remaining disclosure). If that is too much, "
            "use a larger k or item support."
        )
    if publishable:
        advice.append(_PUBLISH)
    return list(dict.fromkeys(advice))


def _on_a_page(setting: str, value: Value) -> str:
    return "" if value is None else f"{setting.replace('_', ' ')} = {value}"


def readers_advice(publishable: str) -> list[str]:
    """Return the next steps of a recipient of the release."""
    if not publishable:
        return [
            "Do not use the release, and inform its owner: by this report it must not be shared."
        ]
    return [
        "Compare your files with the digests at the end: this report covers no others.",
        "These are still data about people. The release limits re-identification as stated here; "
        "it does not prevent learning about people. Do not try to identify anyone.",
    ]


_PUBLISH = (
    "After a sign-off that permits it, publish the whole release folder and nothing else: never "
    "the private key file, the ratings or this report."
)


def paragraph_of(result: AuditResult, release: Release, people: int) -> str:
    """Summarize the checks, the attacks, the guarantee and the remaining disclosure.

    Without names of attacks and intervals, which are elsewhere in a report. `people`: how many are
    in the release.
    """
    near = proximate(release)
    return " ".join(
        [
            f"{MEANINGS[result.verdict]} (policy {stated(result.policy)}).",
            *_reasons(result),
            *(hidden(release, proximate=near) if result.passed_alone else ()),
            *_attack_sentences(result, release, proximate=near, people=people),
            *_disclosure_sentences(result, proximate=near),
        ]
    )


def _reasons(result: AuditResult) -> Iterator[str]:
    """Say why the verdict is not PASS: each check with its figure, or why it has none."""
    yield from (f"{each.short}." for each in result.decisive if each.fails)
    unmeasured: dict[str, list[str]] = {}
    for each in result.decisive:
        if not each.fails:
            why = each.text.removeprefix("Not measured. ") if each.rate is None else each.undecided
            unmeasured.setdefault(f"{why[:1].upper()}{why[1:].rstrip('.')}.", []).append(each.title)
    yield from (f"Not measured: {'; '.join(t)}. {why}" for why, t in unmeasured.items())
    yield from (finding.text for finding in result.findings if not finding.passed)


def hidden(release: Release, *, proximate: bool) -> Iterator[str]:
    """State the class size of every record."""
    k = release.manifest.claimed_k
    if k:
        yield crowd(release.n_records, k, release.manifest.alike_by, near=proximate)


def _attack_sentences(
    result: AuditResult, release: Release, *, proximate: bool, people: int
) -> Iterator[str]:
    worst, disclosure = best_of(result.evidence), result.profile_disclosure
    before, after = (percent(side.expected_top1.rate) for side in (worst.before, worst.after))
    known = counted(worst.knowledge.known, "rating")
    where = f"the original data of the same {'people and ' * result.same_people}items"
    text = f"An adversary who knows {known} of a person re-identifies"
    if disclosure is not None and not disclosure.linked:
        yield f"{text} {before} of targets in {where}. For this release that is not measured."
    elif understated(release) is not None:
        yield f"{text} {before} of targets in {where}."
    else:
        yield f"{text} {after} of targets in this release, and {before} in {where}."
    tried = tried_on(worst, people)
    if tried:
        yield f"{tried[0].upper()}{tried[1:]}."
    if proximate:
        yield PROXIMITY_CAVEAT
    elif result.k and result.passed_alone:
        yield within(result.k, result.alike_by, alone=result.named_earlier)
    else:
        yield MORE


def _disclosure_sentences(result: AuditResult, *, proximate: bool) -> Iterator[str]:
    if result.profile_disclosure is not None and not proximate:
        yield from _profile_sentences(result.profile_disclosure)
    else:
        yield from shown_of(result.disclosure, proximate=proximate, fine=result.fine)


def shown_of(shares: Mapping[str, float | None], *, proximate: bool, fine: bool) -> Iterator[str]:
    """Say for how many people a rating, or its existence, is disclosed."""
    shown, exists = (shares[f"users_rating_{what}"] for what in ("disclosed", "exists"))
    if proximate:
        text = read_from_records(shares, fine=fine)
        yield text[0].upper() + text[1:]
    elif shown is None or exists is None:
        yield "An adversary who finds a person's class reads its profile."
    else:
        text = rated_in_words(shares, fine=fine)
        yield f"k-anonymity does not prevent attribute disclosure: {text}"


def _profile_sentences(disclosure: ProfileDisclosure) -> Iterator[str]:
    text = "An adversary who finds a person's class reads its profile"
    if disclosure.group is None:
        yield f"{text}; class linkage is not measured."
        return
    known = counted(disclosure.group.knowledge.known, "rating")
    yield (
        f"{text}; with {known} known the right class is found for "
        f"{percent(disclosure.group.share.rate)} of targets."
    )
    padding = disclosure.padding
    if padding is not None and padding.auc is not None:
        yield (
            "The release ranks a rated cell above an imputed one in "
            f"{percent(padding.auc.rate)} of pairs (50% is guessing)."
        )
    yield "No privacy model bounds these figures."
