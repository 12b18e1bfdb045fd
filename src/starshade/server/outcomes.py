"""Outcomes of jobs as texts and figures, from the results of the worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from starshade.plain import counted, percent
from starshade.report.page import count as whole
from starshade.report.page import figure
from starshade.server.ask.labels import address
from starshade.server.ask.release import PREDICTIVE_ITEMS, WITH_EPS
from starshade.server.jobs.store import JobRow
from starshade.server.parts import Chart, Figure, Outcome, Point, sentence, without_paths

Result = Mapping[str, Any]

_NO_LIMIT = "none"
_FOUND = (
    "Re-identification: share of targets whose record the adversary names correctly. A release "
    "with k allows at most 1/k. Records of interval and suppress are similar, not equal, and have "
    "no such bound."
)


def outcome_of(job: JobRow) -> Outcome | None:
    """Return the outcome of a job; None until it is done."""
    if job.state != "done" or job.result is None:
        return None
    if job.kind == "compare":
        return _compare(job, job.result)
    return {"attack": attack_outcome, "release": _release, "read": _read}[job.kind](job.result)


def summary_of(job: JobRow) -> str:
    """Return the outcome of a job in one line; empty until it ends."""
    if job.state == "failed":
        return sentence(without_paths(job.error or ""))
    if job.state != "done" or job.result is None:
        return ""
    result = job.result
    if job.kind == "attack":
        tried = result.get("targets")
        of = "targets" if tried is None else counted(tried, "target")
        return f"Re-identification {percent(top1_of(result))} of {of}"
    if job.kind == "compare":
        best = [row for row in result.get("rows", ()) if row.get("frontier")]
        return counted(len(best), "Pareto-optimal release")
    if job.kind == "release":
        word = (result.get("verdict") or {}).get("word")
        return str(word or ("PASS" if result.get("passed") else "FAIL"))
    return f"{whole(result.get('ratings'))} ratings"


def _read(result: Result) -> Outcome:
    return Outcome(
        headline=f"{counted(result['ratings'], 'rating')} of "
        f"{counted(result['users'], 'person', 'people')} on {counted(result['items'], 'item')}",
        text="",
    )


def _compare(job: JobRow, result: Result) -> Outcome:
    rows = result.get("rows") or []
    items = (job.settings.get("items") or "").removeprefix("top:")
    points = sorted(
        (_point(row, job.data_id, items, result.get("losses") or ()) for row in rows),
        key=lambda point: (not point.best, bool(point.refused)),
    )
    best = [point for point in points if point.best]
    original = result.get("original", {})
    knows = facts_known({"known": result.get("known"), "dates": False})
    if best:
        headline = (
            f"{len(best)} of {counted(len(rows), 'release')} "
            f"{'is' if len(best) == 1 else 'are'} Pareto-optimal."
        )
    else:
        headline = "No release was possible with these settings."
    return Outcome(
        headline=headline,
        text=str(result.get("text") or ""),
        figures=(
            Figure(
                "Re-identification in the original ratings",
                percent(original.get("expected_top1")),
                f"Initial risk, for an adversary who knows {knows}.",
                original.get("expected_top1"),
            ),
        ),
        chart=_frontier(result.get("chart"), points),
        points=tuple(points),
        attacker=knows,
        reading_help=f"The adversary knows {knows}; more knowledge means more risk. {_FOUND} In "
        "the chart, left is less loss, low is less risk. A release is Pareto-optimal if no other "
        "is as good in everything and better in something. Losses of different kinds are in "
        "separate panels and cannot be compared.",
    )


def _point(row: Result, data_id: int, items: str, losses: Sequence[Result]) -> Point:
    lost = next((loss for loss in losses if row.get(loss["key"]) is not None), None)
    k, method = int(row["k"]), str(row["method"])
    profile, eps = row.get("profile"), row.get("eps")
    label = method if profile is None else f"{method}, {profile}"
    refused = str(row.get("refused") or "")
    where = PREDICTIVE_ITEMS if method == "predictive" else "items"
    settings = {"method": method, "k": k, "eps": eps, "profile": profile, where: items}
    return Point(
        name=f"{label} (k = {k}{'' if eps is None else f', ε = {eps:g}'})",
        method=method,
        k=k,
        loss="" if refused or lost is None else figure(row[lost["key"]], lost["unit"]),
        success="" if refused else percent(row.get("expected_top1")),
        loss_kind="" if lost is None else f"{lost['title']}: {lost['meaning'].removesuffix('.')}",
        best=bool(row.get("frontier")),
        limit="" if refused else _NO_LIMIT if method in WITH_EPS else percent(1 / k),
        href="" if refused else address(data_id, "release", settings),
        refused=refused,
    )


def _frontier(spec: Any, points: list[Point]) -> Chart | None:
    if not isinstance(spec, Mapping):
        return None
    made = [point for point in points if not point.refused]
    linked = deepcopy(dict(spec))
    _link(linked, {(p.name.partition(" (k = ")[0], p.k): p.href for p in made})
    best = ", ".join(point.name for point in made if point.best)
    return Chart(
        title="Loss and residual risk",
        spec=linked,
        text=f"Pareto-optimal: {best}. The table has the values of each point and a link to its "
        "form.",
    )


def _link(node: Any, addresses: Mapping[tuple[str, int], str]) -> None:
    if isinstance(node, list):
        for child in node:
            _link(child, addresses)
    elif isinstance(node, dict):
        method, k = node.get("method"), node.get("k")
        if isinstance(method, str) and isinstance(k, int) and (method, k) in addresses:
            node["href"] = addresses[method, k]
        for child in node.values():
            _link(child, addresses)


def _release(result: Result) -> Outcome:
    verdict = result.get("verdict", {})
    return Outcome(
        headline=str(verdict.get("headline") or ""),
        text=str(verdict.get("paragraph") or result.get("text") or ""),
    )


def attack_outcome(result: Result) -> Outcome:
    """Return the outcome of an attack."""
    success, records = top1_of(result), result.get("records") or 0
    figures = sorted(result.get("figures") or (), key=lambda figure: figure["unit"] != "share")
    first, *rest = [*map(Figure.of, figures)] or [
        Figure("Re-identification (best guess correct)", percent(success))
    ]
    guess = Figure(
        "Baseline (guessing)",
        "not known" if not records else f"1 in {records:,}",
        "Success without any knowledge.",
        1 / records if records else None,
    )
    headline = (
        f"An adversary who knows {facts_known(result.get('knowledge') or {})} re-identifies "
        f"{percent(success)} of {_attacked(result)}."
    )
    chart = result.get("chart")
    return Outcome(
        headline=headline,
        text=str(result.get("text") or ""),
        figures=(first, guess, *rest),
        chart=chart and Chart("Result of the attack", chart, f"{headline} The values are below."),
        reading_help=f"{_rests_on(result)} Brackets hold 95 % confidence intervals. An adversary "
        "with more or other knowledge may re-identify more.",
    )


def facts_known(knowledge: Mapping[str, Any]) -> str:
    """Return what an adversary knows (fields of `Knowledge`), after “an adversary who knows”.

    Examples
    --------
    >>> facts_known({"known": 8, "ratings": True, "wrong": 2, "dates": True, "day_error": 14})
    "8 of a person's ratings (exactly, dates to within 14 days, 2 of them wrong)"
    """
    of = knowledge.get
    known, wrong, error = of("known") or 0, of("wrong") or 0, of("rating_error") or 0
    how = [f"to within {error:g}" if error else "exactly"] if of("ratings", True) else []
    days = of("day_error") if of("dates", True) else None
    if days is None:
        how.append("no dates")
    else:
        how.append(f"dates to within {counted(int(days), 'day')}" if days else "dates exactly")
    if wrong:
        never = of("wrong_kind") == "item"
        how.append(f"{wrong:,} of them " + ("items that were never rated" if never else "wrong"))
    if outside := of("outside_top"):
        how.append(f"none of the {counted(outside, 'most rated item')}")
    if of("about_count"):
        how.append("and about how many there are")
    what = "a person's ratings" if of("ratings", True) else "the items that a person rated"
    return f"{known:,} of {what} ({', '.join(how)})"


def top1_of(result: Result) -> float | None:
    """Return the rate of correct best guesses."""
    rate = result.get("expected_top1")
    value = rate.get("rate") if isinstance(rate, Mapping) else rate
    return None if value is None else float(value)


def _attacked(result: Result) -> str:
    """Return the targets, and the people who are ineligible."""
    tried, left_out = result.get("targets"), result.get("ineligible")
    if tried is None or left_out is None:
        return "targets"
    able = max((result.get("records") or 0) - left_out, tried)
    people = counted(able, "person", "people")
    drawn = f"{counted(tried, 'person', 'people')} drawn from {able:,}" if tried < able else ""
    if not left_out:
        return drawn or f"all {people}"
    enough, fewer = _enough(result.get("knowledge") or {})
    return (
        f"{drawn or f'the {people}'} {enough}; {left_out:,} with {fewer} "
        f"{'is' if left_out == 1 else 'are'} ineligible"
    )


def _enough(knowledge: Mapping[str, Any]) -> tuple[str, str]:
    if knowledge.get("wrong") and knowledge.get("wrong_kind") == "item":  # unrated ones are needed
        return "with enough ratings and unrated items", "too few of either"
    outside = knowledge.get("outside_top") or 0
    rare = f" outside the {counted(outside, 'most rated item')}" if outside else ""
    return f"with at least {counted(knowledge.get('known') or 0, 'rating')}{rare}", "fewer"


def _rests_on(result: Result) -> str:
    tried, left_out = result.get("targets") or 0, result.get("ineligible") or 0
    if tried < (result.get("records") or 0) - left_out:
        return "The targets and their known ratings were drawn at random."
    return "All eligible people were attacked; their known ratings were drawn at random."
