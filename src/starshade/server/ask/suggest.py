"""What to do next: after reading, after an attack, after a comparison, after a release."""

from __future__ import annotations

from collections.abc import Sequence

from starshade.anonymize.registry import FOR_ITEMS, Usual
from starshade.plain import counted, percent
from starshade.server.ask.asking import Facts
from starshade.server.ask.attack import usual_known
from starshade.server.ask.labels import address, form_values
from starshade.server.ask.release import FEWEST, only_people, suggested, usual_k
from starshade.server.jobs.store import DataRow, JobRow
from starshade.server.outcomes import top1_of
from starshade.server.parts import Link, Next, Outcome

_USUAL_K = 5
_LIMIT = 1 / _USUAL_K
_FEW = 0.01  # share found up to which more knowledge is suggested first
_SURVEY = 0.5  # share of empty cells below which data look like a survey's
_FEW_ITEMS = 10


def with_data(data: DataRow, jobs: Sequence[JobRow]) -> tuple[Next, ...]:
    """Say what to do with data that were read, given what was done with them (latest first)."""
    facts = data.facts or {}
    latest = {job.kind: job for job in reversed(jobs) if job.state == "done"}
    if "release" in latest:
        link = Link("See the latest release", f"/releases/{latest['release'].id}")
        why = "A release was made of these data. Read its verdict before you publish anything."
        other = Next(
            "Do not publish two releases of the same data: together they can tell more than "
            "either. Where one is out already, make one that continues it, on the command line: "
            "starshade anonymize RATINGS --after FOLDER --after-private RECEIPT (the guide "
            "“Publishing again”).",
            Link("Make another instead", address(data.id, "release", {})),
            main=False,
        )
        return Next(why, link), other
    if "compare" in latest:
        link = Link("See the comparison", f"/jobs/{latest['compare'].id}")
        return (
            Next("Methods were compared. Choose a release on the frontier, and make it.", link),
        )
    if "attack" in latest:
        return after_attack(latest["attack"], facts)
    return after_reading(data.id, facts)


def after_reading(data_id: int, facts: Facts) -> tuple[Next, ...]:
    """Suggest an attack that most people of these data have enough ratings for."""
    if facts.get("users", FEWEST) < FEWEST:
        return (_nobody_can_hide(facts),)
    known = usual_known(facts)
    wrong = 2 if known >= 6 else 0
    known_facts = f"{known} facts" if known > 1 else "1 fact"
    mistaken = f" and is wrong about {wrong}" if wrong else ""
    knowledge = {"known": known, "wrong": wrong}
    return (
        Next(
            "Check that columns and scale are right. Then see how exposed the people in it are. "
            f"Suggested: somebody knows {known_facts} about a person{mistaken}.",
            Link("Try this attack", address(data_id, "attack", knowledge)),
        ),
    )


def after_attack(job: JobRow, facts: Facts) -> tuple[Next, ...]:
    """Suggest a method and a k, or an attacker who knows more."""
    success = top1_of(job.result or {})
    usual, items = _choice(facts)
    method = usual.method
    if facts.get("users", FEWEST) < FEWEST:
        return (_nobody_can_hide(facts),)
    k = usual_k(facts, method)
    what = f"{method} with k = {k}" + (f" on the {items} most rated items" if items else "")
    chosen = {"method": method, "k": k, "items": items, **usual.settings}
    make = Next(
        f"Suggested release: {what}. By it nobody can be told apart from "
        f"{counted(k - 1, 'other')}: who must point at one record is right in at most 1 of {k} "
        f"cases ({percent(1 / k)})."
        if method != "interval"
        else f"Suggested release: {what}, as these look like a survey. Everybody gets "
        f"{counted(k - 1, 'other')} who nearly agree{'s' if k == 2 else ''} with them.",
        Link(
            "Set up this release",
            address(job.data_id, "release", chosen),
        ),
        main=False,
    )
    compare = Next(
        f"{_judged(success)} See what each method would lose, and still give away.",
        Link("Compare methods", address(job.data_id, "compare", {})),
    )
    known = int((job.settings.get("knowledge") or {}).get("known") or 8)
    if success is not None and success <= _FEW and 2 * known <= facts.get("items", 2 * known):
        more = {**form_values("attack", job.settings), "known": 2 * known}
        stronger = Next(
            "Few were found. That is good news only about an attacker who knows no more: try one "
            f"who knows {2 * known} facts.",
            Link("Try a stronger attack", address(job.data_id, "attack", more)),
        )
        return (stronger, Next(compare.why, compare.link, main=False), make)
    return (compare, make)


def _nobody_can_hide(facts: Facts) -> Next:
    people = facts["users"]
    return Next(
        f"There {only_people(people)} in these data: nothing can be released so that people hide "
        "among each other. Bring the ratings of two people or more.",
        Link("Choose other ratings", "/"),
    )


def _judged(success: float | None) -> str:
    if success is None:
        return "It is not known how many were found."
    if success <= _FEW:
        return "Few were found, by this attacker."
    if success <= _LIMIT:
        return "Some people can be found in these ratings as they are."
    return (
        f"Published as they are, these ratings would expose people: a release with k = {_USUAL_K} "
        f"lets an attacker be right in at most {percent(_LIMIT)} of the cases."
    )


def _choice(facts: Facts) -> tuple[Usual, str]:
    """Return the method to suggest, and how many items; empty: all."""
    if facts.get("sparsity", 1.0) < _SURVEY:
        return Usual("interval"), ""
    usual = suggested(facts)
    few = usual == FOR_ITEMS and (facts.get("items") or 0) > 3 * _FEW_ITEMS
    return usual, str(_FEW_ITEMS) if few else ""


def after_compare(job: JobRow, outcome: Outcome) -> tuple[Next, ...]:
    """Suggest the release of the frontier that loses least among those of the usual k or more."""
    best = [point for point in outcome.points if point.best]
    if not best:
        why = "No method could make a release. The table says why; fewer items or a smaller k "
        return (Next(f"{why}often help.", _change(job)),)
    enough = [point for point in best if point.k >= _USUAL_K] or best
    chosen = min(enough, key=lambda point: (point.k, float(point.loss.replace(",", "") or 0)))
    return (
        Next(
            f"Choose a point of the frontier; each makes that release. Suggested: {chosen.name}. "
            f"Its loss is {chosen.loss} ({chosen.loss_kind}); somebody who knows "
            f"{outcome.attacker} finds {chosen.success} (at most, by design: {chosen.limit}).",
            Link(f"Set up {chosen.name}", chosen.href),
        ),
    )


def after_failure(job: JobRow) -> tuple[Next, ...]:
    """Say where what was asked for can be changed."""
    if job.kind == "read":
        link = Link("Change how it is read", address(job.data_id, "read", {}))
        return (Next("Say which column is what, or choose another file.", link),)
    return (Next("Change the settings and try again.", _change(job)),)


def _change(job: JobRow) -> Link:
    values = form_values(job.kind, job.settings)
    return Link("Change the settings", address(job.data_id, job.kind, values, failed=job.id))
