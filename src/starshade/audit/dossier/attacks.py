"""The attacks of an audit as rows of a table: before, after, guessing, the limit."""

from __future__ import annotations

from typing import Any

from starshade.audit.evidence import Evidence
from starshade.audit.findings import limit_of, records_differ
from starshade.audit.profile_disclosure import ProfileDisclosure
from starshade.audit.result import AuditResult
from starshade.figure import Rate
from starshade.plain import counted
from starshade.release.table import Release

__all__ = [
    "ATTACK_MEANING",
    "attack_rows",
    "given_away",
    "rate_of",
    "tracker_row",
    "tried_on",
]

ATTACK_MEANING = (
    "How often somebody who knows so much about a person, and must point at one record, points at "
    "the right one. 100% finds everybody; 1 in the number of records is what blind guessing "
    "achieves; a release passes while no figure is above its limit. Low after and high before is "
    "what a release is made for."
)

_TITLES = {
    "scoreboard-rh": "best match, rare items counting more",
    "label": "records that agree with all that is known",
    "structure": "records that rated the same items",
}


def attack_rows(result: AuditResult, release: Release, people: int) -> list[dict[str, Any]]:
    """Return a row for each attack and knowledge; `people`: whom the release is of."""
    limit = limit_of(result.config["max_success"], result.k, differ=records_differ(release))
    unknown = result.profile_disclosure is not None and not result.profile_disclosure.linked
    return [
        {
            "attack": evidence.after.attack,
            "title": _TITLES.get(evidence.after.attack, evidence.after.attack),
            "knowledge": _knowledge_text(evidence),
            "known": evidence.knowledge.known,
            "exact": not (evidence.knowledge.rating_error or evidence.knowledge.wrong),
            "limit": limit,
            "guessing": 1 / max(evidence.after.records, 1),
            "before": rate_of(evidence.before.expected_top1),
            "after": None if unknown else rate_of(evidence.after.expected_top1),
            "profile": None if result.profile_disclosure else rate_of(evidence.after.disclosed),
            "targets": evidence.before.targets,
            "people": people,
            "tried": tried_on(evidence, people),
        }
        for evidence in result.evidence
    ]


def tried_on(evidence: Evidence, people: int) -> str:
    """Say of how many people so much can be known; empty where of everybody."""
    other, known = evidence.before.ineligible, counted(evidence.knowledge.known, "rating")
    if not other:
        return ""
    able = people - other
    return (
        f"{able:,} of {counted(people, 'person', 'people')} {'has' if able == 1 else 'have'} "
        f"{known} or more on these items; the others could not be tried"
    )


def rate_of(rate: Rate | None) -> dict[str, float] | None:
    """Return a rate as plain values; None where nobody was tried."""
    return None if rate is None or rate.rate != rate.rate else rate.to_dict()


def tracker_row(result: AuditResult) -> dict[str, Any] | None:
    """Return whom counting queries single out."""
    if result.tracker is None:
        return None
    return {
        "before": rate_of(result.tracker.before.at_risk),
        "after": rate_of(result.tracker.after.at_risk),
        "meaning": "The share of people whom somebody singles out who sees no data and only asks "
        "how many people meet a condition. Above 0 means risk for a query service; 0 is what a "
        "release with k of 2 or more must come to.",
    }


def given_away(disclosure: ProfileDisclosure | None) -> dict[str, Any] | None:
    """Return what averaged profiles tell beyond who is who; no model limits it."""
    if disclosure is None:
        return None
    group, links, padding = disclosure.group, disclosure.links, disclosure.padding
    rows = [
        (
            "group_found",
            "Right group named by who must name one",
            group and group.share.rate,
            "High means risk: whoever finds a person's group reads its profile.",
        ),
        (
            "member_rated",
            "Filled cell that a given member of the group rated",
            links and links.confidence,
            "High means risk: a filled cell then says that this person rated the item.",
        ),
        (
            "everybody_rated",
            "Filled cells that everybody of the group rated",
            links and links.everybody,
            "High means risk: for these it is certain that a member rated the item.",
        ),
        (
            "auc",
            "Cells with a real rating told from the others",
            padding and padding.auc and padding.auc.rate,
            "50% is not at all, 100% every time; high means that real ratings can be told from "
            "predictions.",
        ),
    ]
    return {
        "rows": [
            {"name": name, "title": title, "value": value, "unit": "share", "meaning": meaning}
            for name, title, value, meaning in rows
            if value is not None
        ],
        "text": str(disclosure),
    }


def _knowledge_text(evidence: Evidence) -> str:
    knowledge = evidence.knowledge
    text = counted(knowledge.known, "rating")
    if not knowledge.rating_error:
        text += ", exactly"
    else:
        text += f", to within {knowledge.rating_error:g}"
    if knowledge.wrong:
        text += f", {knowledge.wrong} of them wrong"
    allowed = evidence.after.config.get("tolerance")
    if allowed is not None and allowed > knowledge.rating_error:  # a mean is nobody's rating
        text += f" (what lies within {allowed:g} fits)"
    return text
