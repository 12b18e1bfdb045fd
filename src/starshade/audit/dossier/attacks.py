"""The attacks of an audit as rows of a table: before, after, guessing, the limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starshade.audit.dossier.bounds import at_most, bound_of, least_tried, limit_met, limit_of
from starshade.audit.evidence import Evidence
from starshade.audit.few import WITHHELD, fewer, hides, in_words, is_few, number
from starshade.audit.findings import records_differ
from starshade.audit.giveaway import GivesAway
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


def attack_rows(
    result: AuditResult, release: Release, people: int, k: int = 1
) -> list[dict[str, Any]]:
    """Return a row for each attack and knowledge.

    Parameters
    ----------
    result : AuditResult
    release : Release
    people : int
        Whom the release is of.
    k : int
        The fewest people that a figure may rest on; for others a bound stands in `withheld`.
    """
    limit = limit_of(result, differ=records_differ(release))
    met = limit_met(result, release)
    unknown = result.gives_away is not None and not result.gives_away.linked
    return [
        {
            "attack": tried.after.attack,
            "title": _TITLES.get(tried.after.attack, tried.after.attack),
            "knowledge": _knows(tried),
            "known": tried.knowledge.known,
            "exact": not (tried.knowledge.rating_error or tried.knowledge.wrong),
            "limit": limit,
            "guessing": 1 / max(tried.after.records, 1),
            **_figures(tried, result, unknown=unknown, k=k, people=people, met=met),
            **_tried_on(tried, people, k),
        }
        for tried in result.evidence
    ]


def _figures(
    tried: Evidence, result: AuditResult, *, unknown: bool, k: int, people: int, met: float | None
) -> dict[str, Any]:
    """Return what was found before and after, and which of it is withheld, with its bound."""
    before, after = tried.before, tried.after
    rates: dict[str, tuple[Rate, int] | None] = {
        "before": (before.expected_top1, before.targets),
        "after": None if unknown else (after.expected_top1, after.targets),
        "profile": None if result.gives_away else (after.disclosed, after.targets),
    }
    least = least_tried(tried, people, k)
    told = _told(rates, k, least)
    withheld = told["withheld"]
    if "after" in withheld:
        share = after.expected_top1.rate
        withheld["after"] = at_most(withheld["after"], share, least or after.targets, k, met)
    for name in rates if least else ():
        if told[name] is not None:  # its width says how many were tried
            told[name] |= {"low": None, "high": None}
    return told


def _told(
    rates: Mapping[str, tuple[Rate, int] | None], k: int, least: int | None = None
) -> dict[str, Any]:
    """Return rates as plain values; those of too few people are None, their bounds `withheld`."""
    bounds = {
        name: bound_of(rate[0].rate, rate[1], k, least)
        for name, rate in rates.items()
        if rate is not None
    }
    withheld = {name: bound for name, bound in bounds.items() if bound}
    plain = {
        name: None if rate is None or name in withheld else rate_of(rate[0])
        for name, rate in rates.items()
    }
    return {**plain, "withheld": withheld}


def _tried_on(tried: Evidence, people: int, k: int) -> dict[str, Any]:
    """Say how many people were tried, and how many have too few ratings to be."""
    targets, other = tried.before.targets, tried.before.ineligible
    few = is_few(targets, k) or is_few(other, k)
    return {
        "targets": None if few else targets,
        "people": people,
        "tried": tried_on(tried, people, k),
    }


def tried_on(tried: Evidence, people: int, k: int) -> str:
    """Say of how many people so much can be known; empty where of everybody."""
    other, known = tried.before.ineligible, counted(tried.knowledge.known, "rating")
    if not other:
        return ""
    able: int | str = number(people - other, k)
    if is_few(other, k):
        able = f"all but {fewer(k)}"
    elif isinstance(able, int):
        able = f"{able:,}"
    return (
        f"{able} of {counted(people, 'person', 'people')} "
        f"{'has' if able == '1' else 'have'} {known} or more on these items; the others could not "
        "be tried"
    )


def rate_of(rate: Rate | None) -> dict[str, float] | None:
    """Return a rate as plain values; None where nobody was tried."""
    return None if rate is None or rate.rate != rate.rate else rate.to_dict()


def tracker_row(result: AuditResult, k: int = 1) -> dict[str, Any] | None:
    """Return whom counting queries single out; for shares of too few people a bound stands."""
    if result.tracker is None:
        return None
    before, after = result.tracker.before, result.tracker.after
    rates = {
        "before": (before.at_risk, before.targets),
        "after": (after.at_risk, after.targets),
    }
    return {
        **_told(rates, k),
        "meaning": "The share of people whom somebody singles out who sees no data and only asks "
        "how many people meet a condition. Above 0 means risk for a query service; 0 is what a "
        "release with k of 2 or more must come to.",
    }


def given_away(given: GivesAway | None, k: int = 1) -> dict[str, Any] | None:
    """Return what averaged profiles tell beyond who is who; no model limits it."""
    if given is None:
        return None
    group, links, padding = given.group, given.links, given.padding
    told = given.cells_told(k)
    rows = [
        (
            "group_found",
            "Right group named by who must name one",
            group and _share(group.share.rate, group.targets, k),
            "High means risk: whoever finds a person's group reads its profile.",
        ),
        (
            "member_rated",
            "Filled cell that a given member of the group rated",
            links and (links.confidence if told else WITHHELD.format(k)),
            "High means risk: a filled cell then says that this person rated the item.",
        ),
        (
            "everybody_rated",
            "Filled cells that everybody of the group rated",
            links and (links.everybody if told else WITHHELD.format(k)),
            "High means risk: for these it is certain that a member rated the item.",
        ),
        (
            "auc",
            "Cells with a real rating told from the others",
            padding and padding.auc and (padding.auc.rate if told else WITHHELD.format(k)),
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
        "text": given.text(k),
    }


def _share(share: float, people: int, k: int) -> float | str:
    return in_words(share, people, k) if hides(share, people, k) else share


def _knows(tried: Evidence) -> str:
    knowledge = tried.knowledge
    many = counted(knowledge.known, "rating")
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
