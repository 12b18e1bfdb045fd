"""The verdict in a dossier: in one plain paragraph, and what to do now."""

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
from starshade.audit.findings import records_differ, understated
from starshade.audit.profile_disclosure import ProfileDisclosure
from starshade.audit.result import AuditResult
from starshade.audit.shares import rated_in_words, read_from_records
from starshade.naming import Value, speak
from starshade.plain import counted, percent
from starshade.release.promise import crowd
from starshade.release.table import Release
from starshade.release.verify.claims import PROXIMITY_MODELS

#: what a verdict means for a release
MEANINGS: Mapping[Verdict, str] = {
    "PASS": "Every check of the policy is within its threshold",
    "FAIL": "A check of the policy is not within its threshold, or a condition does not hold",
    "INCOMPLETE": "Nothing exceeds a threshold, but a check of the policy was not measured",
}


def stated(policy: Policy) -> str:
    """Return name and version of a policy, and whether thresholds of it were replaced."""
    return f"{policy.name} v{policy.version}" + ", with overrides" * bool(policy.overridden)


def verdict_section(
    result: AuditResult, release: Release, people: int, publishable: str
) -> dict[str, Any]:
    """Return the verdict in words.

    `people`: whom the release is of; `publishable`: by what it may be published, or "".
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
    """Return every check with what it rests on, in words too."""
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
    "claims": "Do not publish these files: what they claim is not what they are. Make the "
    "release again, and audit the new one.",
    "tracker": "Do not let queries be asked of it. Make the release again with a larger k.",
    "audience": "Keep the folder to yourself and answer queries over it. To "
    "publish, make another release without exact attributes.",
    "identifying": "Make the release again and leave that attribute out, or join its values "
    "by a hierarchy.",
    "rare-values": "Make the release again with this version, which refuses such values "
    "or leaves them out.",
    "profiles": "It is of no use. Where all ratings are equal, make a release by "
    f"{FOR_ITEMS.method} {FOR_ITEMS.where}; else with a smaller k.",
    "scale": "Read the ratings with the scale that was declared when the release was made, "
    "or make the release again.",
    "settings": "Do not publish it: make the release again, and let nobody edit release.json.",
}
_OF_A_MODEL = (
    "Do not publish it: an independent check of {} does not confirm the claim. Make the release "
    "again."
)


def owners_advice(result: AuditResult, release: Release, publishable: str) -> list[str]:
    """Say what the owner does now: an action for each check and condition that is not met.

    `publishable`: by what the release may be published, or "". Settings are named without the
    syntax of a command line or of Python.
    """
    failed = [finding.name for finding in result.findings if not finding.passed]
    with speak(_on_a_page):
        advice = advice_on(result, release)
    advice += [_REMEDIES.get(name, _OF_A_MODEL.format(name)) for name in failed]
    if result.passed:
        advice.append(
            "Read what the release still discloses (below). If that is too much, ask for a larger "
            "k or item support."
        )
    if publishable:
        advice.append(_PUBLISH)
    return list(dict.fromkeys(advice))


def _on_a_page(setting: str, value: Value) -> str:
    return "" if value is None else f"{setting.replace('_', ' ')} = {value}"


def readers_advice(publishable: str) -> list[str]:
    """Say what a recipient of the release does now."""
    if not publishable:
        return [
            "Do not use it, and inform its owner: by this report it should not have been given."
        ]
    return [
        "Compare the digests at the end with the files that you hold: this report is about no "
        "others.",
        "These are still data about people. What is promised is that no person can be pointed at "
        "more often than stated here, not that nothing can be learned; do not try to identify "
        "anybody.",
    ]


_PUBLISH = (
    "If a box that allows it is ticked and signed: publish the folder of the release, all of it "
    "and nothing else; never the private key file, the ratings, this report."
)


def paragraph_of(result: AuditResult, release: Release, people: int) -> str:
    """Say how the checks stand, what was tried, what holds, and what is still disclosed.

    Without names of attacks and intervals, which stand elsewhere in a report. `people`: whom the
    release is of.
    """
    proximate = records_differ(release) and any(
        c["model"] in PROXIMITY_MODELS for c in result.claims
    )
    return " ".join(
        [
            f"{MEANINGS[result.verdict]} (policy {stated(result.policy)}).",
            *_reasons(result),
            *(hidden(release, proximate=proximate) if result.passed_alone else ()),
            *_attack_sentences(result, release, proximate=proximate, people=people),
            *_disclosure_sentences(result, proximate=proximate),
        ]
    )


def _reasons(result: AuditResult) -> Iterator[str]:
    """Say why the verdict is not PASS: each check with its figure, or why there is none."""
    yield from (f"{each.short}." for each in result.decisive if each.fails)
    unmeasured: dict[str, list[str]] = {}
    for each in result.decisive:
        if not each.fails:
            why = each.text.removeprefix("Not measured. ") if each.rate is None else each.undecided
            unmeasured.setdefault(f"{why[:1].upper()}{why[1:].rstrip('.')}.", []).append(each.title)
    yield from (f"Not measured: {'; '.join(t)}. {why}" for why, t in unmeasured.items())
    yield from (finding.text for finding in result.findings if not finding.passed)


def hidden(release: Release, *, proximate: bool) -> Iterator[str]:
    """Say among how many others each record hides."""
    k = release.manifest.claimed_k
    if k:
        yield crowd(release.n_records, k, release.manifest.alike_by, near=proximate)


def _attack_sentences(
    result: AuditResult, release: Release, *, proximate: bool, people: int
) -> Iterator[str]:
    worst, disclosure = best_of(result.evidence), result.profile_disclosure
    before, after = (percent(side.expected_top1.rate) for side in (worst.before, worst.after))
    known = counted(worst.knowledge.known, "rating")
    where = "of the same people and items" if result.same_people else "of these items as they are"
    text = (
        f"An adversary who knows {known} of a person re-identifies {before} of targets in the "
        f"ratings {where}"
    )
    if disclosure is not None and not disclosure.linked:
        yield f"{text}; for this release that is not known without the private key file."
    elif understated(release) is not None:
        yield f"{text}."
    else:
        yield f"{text}, and {after} in this release."
    tried = tried_on(worst, people)
    if tried:
        yield f"{tried[0].upper()}{tried[1:]}."
    if proximate:
        yield PROXIMITY_CAVEAT
    elif result.k and result.passed_alone:
        yield within(result.k, result.alike_by, alone=result.named_earlier)
    else:
        yield "Other attacks may find more."


PROXIMITY_CAVEAT = (
    "That others are near a record does not keep an adversary who knows exact ratings from telling "
    "it apart."
)


def within(k: int, by: str, *, alone: bool) -> str:
    """Say what holds whatever is tried where k records are equal."""
    return (
        "Other attacks may find a person's class more often; but no attack on this release"
        f"{' alone' * alone} finds the right record more often than 1 in {k}{by}."
    )


def _disclosure_sentences(result: AuditResult, *, proximate: bool) -> Iterator[str]:
    if result.profile_disclosure is not None and not proximate:
        yield from _profile_sentences(result.profile_disclosure)
    else:
        yield from shown_of(result.disclosure, proximate=proximate, fine=result.fine)


def shown_of(shares: Mapping[str, float | None], *, proximate: bool, fine: bool) -> Iterator[str]:
    """Say of how many people a rating is shown, or that there is one."""
    shown, exists = (shares[f"users_rating_{what}"] for what in ("disclosed", "exists"))
    if proximate:
        text = read_from_records(shares, fine=fine)
        yield text[0].upper() + text[1:]
    elif shown is None or exists is None:
        yield "An adversary who finds a person's class reads its profile."
    else:
        yield f"k-anonymity does not hide what one rated: {rated_in_words(shares, fine=fine)}"


def _profile_sentences(disclosure: ProfileDisclosure) -> Iterator[str]:
    text = "An adversary who finds a person's class reads its profile"
    if disclosure.group is None:
        yield f"{text}; how often it is found is not known."
        return
    known = counted(disclosure.group.knowledge.known, "rating")
    yield (
        f"{text}; with {known} known the right class is found for "
        f"{percent(disclosure.group.share.rate)} of targets."
    )
    padding = disclosure.padding
    if padding is not None and padding.auc is not None:
        yield (
            "Of two cells, one of a real rating and one imputed, the release shows which is which "
            f"in {percent(padding.auc.rate)} of the cases (50% is guessing)."
        )
    yield "No privacy model bounds these figures."
