"""The page of a job: how far it is, what it found, what to do next."""

from __future__ import annotations

import time
from typing import Any

from starshade.plain import percent
from starshade.server.contexts import Figure, JobPage, JobView, Link, Next, StepView
from starshade.server.outcomes import outcome_of
from starshade.server.page_frame import HOME, frame, title_of
from starshade.server.rows import JobRow, Step
from starshade.server.store import Store
from starshade.server.suggest import after_attack, after_compare, after_failure
from starshade.server.words import count, duration, sentence

__all__ = ["job_page", "job_view"]

_LABELS = {
    "attack": "Attack",
    "known": "Facts known",
    "wrong": "Of these wrong",
    "wrong_kind": "A wrong fact is a wrong",
    "rating_error": "Ratings known to within",
    "day_error": "Days known to within",
    "outside_top": "Not among the most rated",
    "about_count": "Knows about how many",
    "ratings": "Knows the ratings",
    "dates": "Knows dates",
    "targets": "People attacked, at most",
    "seed": "Seed",
    "method": "Method",
    "methods": "Methods",
    "ks": "k",
    "items": "Items",
    "eps": "ε",
    "held_out": "Kept apart for tests",
    "like": "Made up like",
    "scale": "Scale",
    "user_col": "People in column",
    "item_col": "Items in column",
    "rating_col": "Ratings in column",
    "day_col": "Dates in column",
}
_HIDDEN = (None, False, "", 0, 0.0)


def job_page(store: Store, job: JobRow) -> JobPage:
    """Build the page of a job."""
    data = store.data(job.data_id)
    outcome = outcome_of(job)
    return JobPage(
        frame=frame(store, title_of(job), (HOME, Link(data.name, f"/data/{data.id}"))),
        data=Link(data.name, f"/data/{data.id}"),
        job=job_view(job),
        outcome=outcome,
        next=_next(job, outcome, data.facts or {}),
    )


def _next(job: JobRow, outcome: Any, facts: Any) -> tuple[Next, ...]:
    if job.state == "failed":
        return after_failure(job)
    if outcome is None:
        return ()
    if job.kind == "attack":
        return after_attack(job, facts)
    if job.kind == "compare":
        return after_compare(job, outcome)
    if job.kind == "release":
        link = Link("See the release", f"/releases/{job.id}")
        return (Next("Read the verdict, then the report, before anything leaves the house.", link),)
    return (Next("See what was recognised.", Link("To the data", f"/data/{job.data_id}")),)


def job_view(job: JobRow) -> JobView:
    """Return a job as it is now."""
    again = job.ended and job.state != "done"
    return JobView(
        id=str(job.id),
        kind=job.kind,
        title=title_of(job),
        state=job.state,
        state_text=_state_text(job),
        ended=job.ended,
        steps=tuple(map(_step, job.progress)),
        notes=job.notes,
        settings=tuple(_settings(job.settings)),
        error=sentence(job.error or ""),
        advice=job.advice or "",
        cancel="" if job.ended else f"/jobs/{job.id}/cancel",
        again=f"/jobs/{job.id}/again" if again else "",
        events=f"/jobs/{job.id}/events",
        panel=f"/jobs/{job.id}/panel",
    )


def _state_text(job: JobRow) -> str:
    if job.state == "queued":
        return "Waiting until the work before it is done."
    if job.state == "running":
        since = duration(time.time() - (job.started or job.created))
        return f"Running for {since}. You may close this page; the work goes on."
    if job.state == "done":
        if job.started is None or job.finished is None:
            return "Done."
        return f"Done, in {duration(job.finished - job.started)}."
    return {
        "failed": "This could not be done. Nothing was changed.",
        "cancelled": "Cancelled. Nothing was kept of it, and nothing else was changed.",
        "interrupted": "The studio was ended while this was running. Nothing was kept of it; "
        "what was finished before is there. It can be started again.",
    }[job.state]


def _step(step: Step) -> StepView:
    if step.over:
        return StepView(step.label, 100, f"done, in {duration(step.seconds)}", done=True)
    if not step.total or step.total <= 0:
        return StepView(step.label, None, f"for {duration(step.seconds)}")
    share = min(max(step.done / step.total, 0.0), 1.0)
    left = step.seconds_left
    still = "" if left is None or share >= 1 else f", about {duration(left)} more"
    return StepView(step.label, int(100 * share), f"{percent(share)}{still}")


def _settings(settings: dict[str, Any]) -> list[Figure]:
    """Say what was asked for; what was left alone is not told."""
    told: list[Figure] = []
    for name, value in settings.items():
        if isinstance(value, dict):
            told += _settings(value)
        elif value not in _HIDDEN and value != []:
            told.append(Figure(_LABELS.get(name, name.replace("_", " ")), _written(name, value)))
    return told


def _written(name: str, value: Any) -> str:
    if value is True:
        return "yes"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if name == "items" and isinstance(value, str) and value.startswith("top:"):
        return f"the {count(int(value[4:]), 'most rated item')}"
    if name == "day_error":
        return count(int(value), "day")
    return f"{value:g}" if isinstance(value, float) else str(value)
