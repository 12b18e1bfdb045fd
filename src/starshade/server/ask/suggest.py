"""Next steps after reading, an attack, a comparison, or a release."""

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
_FEW = 0.01  # re-identification up to which more knowledge is suggested first
_SURVEY = 0.5  # share of empty cells below which data look like a survey's
_FEW_ITEMS = 10


def with_data(data: DataRow, jobs: Sequence[JobRow]) -> tuple[Next, ...]:
    """Return the next steps for data, given their jobs (latest first)."""
    facts = data.facts or {}
    latest = {job.kind: job for job in reversed(jobs) if job.state == "done"}
    if "release" in latest:
        link = Link("Open the latest release", f"/releases/{latest['release'].id}")
        why = "A release of these data exists. Read its verdict before you publish."
        other = Next(
            "Do not publish two independent releases of the same data: together they can disclose "
            "more than either. To continue a published release, use the command line: "
            "starshade anonymize RATINGS --after FOLDER --after-private FILE (guide "
            "“Publishing again”).",
            Link("Make another release instead", address(data.id, "release", {})),
            main=False,
        )
        return Next(why, link), other
    if "compare" in latest:
        link = Link("Open the comparison", f"/jobs/{latest['compare'].id}")
        return (Next("Choose a Pareto-optimal release of the comparison, and make it.", link),)
    if "attack" in latest:
        return after_attack(latest["attack"], facts)
    return after_reading(data.id, facts)


def after_reading(data_id: int, facts: Facts) -> tuple[Next, ...]:
    """Suggest an attack for which most people have enough ratings."""
    if facts.get("users", FEWEST) < FEWEST:
        return (_nobody_can_hide(facts),)
    known = usual_known(facts)
    wrong = 2 if known >= 6 else 0
    mistaken = f", {wrong} of them wrong" if wrong else ""
    knowledge = {"known": known, "wrong": wrong}
    return (
        Next(
            "Measure how identifiable the people are. "
            f"Suggested adversary: knows {counted(known, 'rating')} of each target{mistaken}.",
            Link("Set up this attack", address(data_id, "attack", knowledge)),
        ),
    )


def after_attack(job: JobRow, facts: Facts) -> tuple[Next, ...]:
    """Suggest a method and a k, or an adversary who knows more."""
    success = top1_of(job.result or {})
    usual, items = _choice(facts)
    method = usual.method
    if facts.get("users", FEWEST) < FEWEST:
        return (_nobody_can_hide(facts),)
    k = usual_k(facts, method)
    what = f"{method} with k = {k}" + (f" on the {items} most rated items" if items else "")
    chosen = {"method": method, "k": k, "items": items, **usual.settings}
    make = Next(
        f"Suggested release: {what}. Each record is indistinguishable from "
        f"{counted(k - 1, 'other')}, so re-identification is at most 1 in {k} ({percent(1 / k)})."
        if method != "interval"
        else f"Suggested release: {what}, as the data look like a survey. Each record nearly "
        f"agrees with {counted(k - 1, 'other')}.",
        Link(
            "Set up this release",
            address(job.data_id, "release", chosen),
        ),
        main=False,
    )
    compare = Next(
        f"{_judged(success)} Compare the loss and the residual risk of the methods.",
        Link("Compare methods", address(job.data_id, "compare", {})),
    )
    known = int((job.settings.get("knowledge") or {}).get("known") or 8)
    if success is not None and success <= _FEW and 2 * known <= facts.get("items", 2 * known):
        more = {**form_values("attack", job.settings), "known": 2 * known}
        stronger = Next(
            "Few targets were re-identified. This holds only for an adversary who knows no more: "
            f"test one who knows {2 * known} ratings.",
            Link("Set up a stronger attack", address(job.data_id, "attack", more)),
        )
        return (stronger, Next(compare.why, compare.link, main=False), make)
    return (compare, make)


def _nobody_can_hide(facts: Facts) -> Next:
    people = facts["users"]
    return Next(
        f"There {only_people(people)} in these data. A release needs at least two. Choose ratings "
        "of more people.",
        Link("Choose other ratings", "/"),
    )


def _judged(success: float | None) -> str:
    if success is None:
        return "The re-identification rate is not known."
    if success <= _FEW:
        return "This adversary re-identifies few people."
    if success <= _LIMIT:
        return "This adversary re-identifies some people in the original ratings."
    return (
        f"The original ratings expose people. A release with k = {_USUAL_K} limits "
        f"re-identification to {percent(_LIMIT)}."
    )


def _choice(facts: Facts) -> tuple[Usual, str]:
    """Return the method to suggest, and how many items; empty: all."""
    if facts.get("sparsity", 1.0) < _SURVEY:
        return Usual("interval"), ""
    usual = suggested(facts)
    few = usual == FOR_ITEMS and (facts.get("items") or 0) > 3 * _FEW_ITEMS
    return usual, str(_FEW_ITEMS) if few else ""


def after_compare(job: JobRow, outcome: Outcome) -> tuple[Next, ...]:
    """Suggest the Pareto-optimal release with the least loss at the usual k or more."""
    best = [point for point in outcome.points if point.best]
    if not best:
        why = (
            "No method could make a release; the table has the reasons. Fewer items or a smaller k "
        )
        return (Next(f"{why}often help.", _change(job)),)
    enough = [point for point in best if point.k >= _USUAL_K] or best
    chosen = min(enough, key=lambda point: (point.k, float(point.loss.replace(",", "") or 0)))
    return (
        Next(
            f"Choose a Pareto-optimal release. Suggested: {chosen.name}. Its loss is {chosen.loss} "
            f"({chosen.loss_kind}). An adversary who knows {outcome.attacker} re-identifies "
            f"{chosen.success} (bound by design: {chosen.limit}).",
            Link(f"Set up {chosen.name}", chosen.href),
        ),
    )


def after_failure(job: JobRow) -> tuple[Next, ...]:
    """Return the step that corrects the settings of a failed job."""
    if job.kind == "read":
        link = Link("Change the reading settings", address(job.data_id, "read", {}))
        return (Next("Assign the columns, or choose another file.", link),)
    return (Next("Change the settings and try again.", _change(job)),)


def _change(job: JobRow) -> Link:
    values = form_values(job.kind, job.settings)
    return Link("Change the settings", address(job.data_id, job.kind, values, failed=job.id))
