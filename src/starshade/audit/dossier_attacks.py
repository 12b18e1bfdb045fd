"""The attacks of an audit as rows of a table: before, after, guessing, the limit."""

from __future__ import annotations

from typing import Any

from starshade.audit.evidence import Evidence
from starshade.audit.giveaway import GivesAway
from starshade.audit.result import AuditResult
from starshade.stats import Rate

__all__ = ["ATTACK_MEANING", "attack_rows", "given_away", "limit_of", "rate_of", "tracker_row"]

ATTACK_MEANING = (
    "How often somebody who knows so much about a person, and must point at one record, points at "
    "the right one. 100 % finds everybody; 1 in the number of records is what blind guessing "
    "achieves; a release passes while no figure is above its limit. Low after and high before is "
    "what a release is made for."
)

_TITLES = {
    "scoreboard-rh": "best match, rare items counting more",
    "label": "records that agree with all that is known",
    "structure": "records that rated the same items",
}


def attack_rows(result: AuditResult, *, differ: bool) -> list[dict[str, Any]]:
    """Return a row for each attack and knowledge; `differ`: see `records_differ`."""
    limit = limit_of(result, differ=differ)
    unknown = result.gives_away is not None and not result.gives_away.linked
    return [
        {
            "attack": tried.after.attack,
            "title": _TITLES.get(tried.after.attack, tried.after.attack),
            "knowledge": _knows(tried),
            "known": tried.knowledge.known,
            "exact": not (tried.knowledge.rating_error or tried.knowledge.wrong),
            "before": rate_of(tried.before.expected_top1),
            "after": None if unknown else rate_of(tried.after.expected_top1),
            "profile": None if result.gives_away else rate_of(tried.after.disclosed),
            "guessing": 1 / max(tried.after.records, 1),
            "limit": limit,
            "targets": tried.after.targets,
        }
        for tried in result.evidence
    ]


def rate_of(rate: Rate | None) -> dict[str, float] | None:
    """Return a rate as plain values; None where nobody was tried."""
    return None if rate is None or rate.rate != rate.rate else rate.to_dict()


def tracker_row(result: AuditResult, k: int = 1) -> dict[str, Any] | None:
    """Return whom counting queries single out; shares that rest on too few people are None."""
    if result.tracker is None:
        return None

    def share(rate: Rate, targets: int) -> dict[str, float] | None:
        people = round(rate.rate * targets)
        plain = all(n == 0 or n >= k for n in (people, targets - people))
        return rate_of(rate) if plain else None

    before, after = result.tracker.before, result.tracker.after
    return {
        "before": share(before.at_risk, before.targets),
        "after": share(after.at_risk, after.targets),
        "meaning": "The share of people whom somebody singles out who sees no data and only asks "
        "how many people meet a condition. Above 0 means risk for a query service; 0 is what a "
        "release with k of 2 or more must come to.",
    }


def given_away(given: GivesAway | None) -> dict[str, Any] | None:
    """Return what averaged profiles tell beyond who is who; no model limits it."""
    if given is None:
        return None
    group, links, padding = given.group, given.links, given.padding
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
            "50 % is not at all, 100 % every time; high means that real ratings can be told from "
            "predictions.",
        ),
    ]
    return {
        "rows": [
            {"name": name, "title": title, "value": value, "unit": "share", "meaning": meaning}
            for name, title, value, meaning in rows
            if value is not None
        ],
        "text": str(given),
    }


def limit_of(result: AuditResult, *, differ: bool) -> float | None:
    """Return what the audit held the attacks against."""
    asked = result.config.get("max_success")
    limits = [limit for limit in (asked, 1 / result.k if result.k else None) if limit]
    return next(iter(limits), None) if differ else min(limits, default=None)


def _knows(tried: Evidence) -> str:
    knowledge = tried.knowledge
    many = "1 rating" if knowledge.known == 1 else f"{knowledge.known} ratings"
    if not knowledge.rating_error:
        told = f"{many}, exactly"
    else:
        told = f"{many}, to within {knowledge.rating_error:g}"
    if knowledge.wrong:
        told += f", {knowledge.wrong} of them wrong"
    allowed = tried.after.config.get("tolerance")
    if allowed is not None and allowed > knowledge.rating_error:  # a mean is nobody's rating
        told += f" (what lies within {allowed:g} fits)"
    return told
