"""What jobs found, in figures and words; nothing is computed that the worker did not say."""

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

_NO_LIMIT = "no limit"
_FOUND = (
    "“Found” is how often somebody who knows the facts, and must point at one record, points at "
    "the right one. 1/k is the most that a release with this k allows; the records of interval and "
    "suppress are near each other, not equal, and have no such limit."
)


def outcome_of(job: JobRow) -> Outcome | None:
    """Say what a job found; None while it is not done."""
    if job.state != "done" or job.result is None:
        return None
    if job.kind == "compare":
        return _compare(job, job.result)
    return {"attack": attack_outcome, "release": _release, "read": _read}[job.kind](job.result)


def summary_of(job: JobRow) -> str:
    """Say in a line what came of a job; empty while there is nothing to say."""
    if job.state == "failed":
        return sentence(without_paths(job.error or ""))
    if job.state != "done" or job.result is None:
        return ""
    result = job.result
    if job.kind == "attack":
        tried = result.get("targets")
        of = "the people" if tried is None else f"{counted(tried, 'person', 'people')} attacked"
        return f"{percent(top1_of(result))} found, of {of}"
    if job.kind == "compare":
        best = [row for row in result.get("rows", ()) if row.get("frontier")]
        return f"{counted(len(best), 'release')} on the frontier"
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
            f"{counted(len(best), 'release')} of {len(rows)} {'is' if len(best) == 1 else 'are'} "
            "beaten by no other: choose among these."
        )
    else:
        headline = "No release could be made at these settings."
    return Outcome(
        headline=headline,
        text=str(result.get("text") or ""),
        figures=(
            Figure(
                "Found in the ratings as they are",
                percent(original.get("expected_top1")),
                f"Before any release, by somebody who knows {knows}: what the releases are to be "
                "held against.",
                original.get("expected_top1"),
            ),
        ),
        chart=_frontier(result.get("chart"), points),
        points=tuple(points),
        attacker=knows,
        reading_help=f"The attacker of every release knows {knows}. Somebody who knows more finds "
        f"more. {_FOUND} Left in the chart loses less, low gives less away. A release is on "
        "the frontier when no other one is as good in everything and better in something. "
        "Losses of different kinds are in different panels and cannot be compared.",
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
        title="What methods lose, and what an attack still finds",
        spec=linked,
        text=f"On the frontier: {best}. Every point's figures are in the table, with a link to "
        "make that release.",
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
    """Say what an attack found."""
    success, records = top1_of(result), result.get("records") or 0
    figures = sorted(result.get("figures") or (), key=lambda figure: figure["unit"] != "share")
    first, *rest = [*map(Figure.of, figures)] or [
        Figure("Right when it must answer", percent(success))
    ]
    guess = Figure(
        "Guessing without the data",
        "not known" if not records else f"1 in {records:,}",
        "What somebody achieves who knows nothing.",
        1 / records if records else None,
    )
    headline = (
        f"Somebody who knows {facts_known(result.get('knowledge') or {})} finds the right record "
        f"in {percent(success)} of the cases{_attacked(result)}."
    )
    chart = result.get("chart")
    return Outcome(
        headline=headline,
        text=str(result.get("text") or ""),
        figures=(first, guess, *rest),
        chart=chart and Chart("What the attack found", chart, f"{headline} The figures are below."),
        reading_help=f"{_rests_on(result)} The range in brackets is where the figure of many such "
        "people lies, in 19 of 20 cases. An attacker who knows more, or other things, may find "
        "more.",
    )


def facts_known(knowledge: Mapping[str, Any]) -> str:
    """Say what an attacker knows (fields of `Knowledge`), after “somebody who knows”.

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
    """Return how often the attacker who must answer is right."""
    rate = result.get("expected_top1")
    value = rate.get("rate") if isinstance(rate, Mapping) else rate
    return None if value is None else float(value)


def _attacked(result: Result) -> str:
    """Say of whom the figure is, and of whom it says nothing."""
    tried, left_out = result.get("targets"), result.get("ineligible")
    if tried is None or left_out is None:
        return ""
    able = max((result.get("records") or 0) - left_out, tried)
    drawn = f"{tried:,} drawn from the " if tried < able else "the "
    if not left_out:
        return f", among {drawn if tried < able else 'all '}{counted(able, 'person', 'people')}"
    enough, fewer = _enough(result.get("knowledge") or {})
    return (
        f", among {drawn}{counted(able, 'person', 'people')} {enough}; {left_out:,} "
        f"{'has' if left_out == 1 else 'have'} {fewer} and "
        f"{'was' if left_out == 1 else 'were'} not tried"
    )


def _enough(knowledge: Mapping[str, Any]) -> tuple[str, str]:
    if knowledge.get("wrong") and knowledge.get("wrong_kind") == "item":  # unrated ones are needed
        return "of whom so much can be known", "too few ratings, or too many,"
    outside = knowledge.get("outside_top") or 0
    rare = f" outside the {counted(outside, 'most rated item')}" if outside else ""
    return f"with {counted(knowledge.get('known') or 0, 'rating')} or more{rare}", "fewer"


def _rests_on(result: Result) -> str:
    tried, left_out = result.get("targets") or 0, result.get("ineligible") or 0
    if tried < (result.get("records") or 0) - left_out:
        return "The people were drawn at random, and so were the facts known of each."
    return "Everybody of whom so much can be known was tried; the facts were drawn at random."
