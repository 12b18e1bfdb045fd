"""The page of a job: how far it is, what it found, what to do next."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starshade.server.ask.again import field_of
from starshade.server.ask.labels import settings_of
from starshade.server.ask.suggest import after_attack, after_compare, after_failure
from starshade.server.context.parts import Link, Next
from starshade.server.context.requested import requested
from starshade.server.context.steps import steps_of
from starshade.server.forms import Setting
from starshade.server.jobs.rows import DataRow, JobRow
from starshade.server.jobs.store import Store
from starshade.server.outcome.outcomes import outcome_of
from starshade.server.page.frame import HOME, Shown, frame, title_of
from starshade.server.words import duration, sentence, without_paths

__all__ = ["field_at_fault", "files_of", "job_page", "job_view", "source_of"]


def job_page(store: Store, job: JobRow) -> Shown:
    """Build the page of a job."""
    data = store.data(job.data_id)
    outcome = outcome_of(job)
    above = Link(data.name, f"/data/{data.id}")
    return Shown(
        frame=frame(store, title_of(job), (HOME, above)),
        data=above,
        job=job_view(job, files_of(store, data)),
        outcome=outcome,
        next=_next(job, outcome, data.facts or {}),
    )


def files_of(store: Store, data: DataRow) -> dict[str, str]:
    """Return by which name a page calls the files of a data set: path → name."""
    return {} if data.kind == "synthetic" else {str(source_of(store, data)): data.name}


def source_of(store: Store, data: DataRow) -> Path:
    """Return where the file of a data set lies."""
    if data.kind == "upload":
        return store.places.upload(data.id) / data.source
    return Path(data.source).expanduser()


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
        return (Next("Read the verdict, then the report, before anything is published.", link),)
    return (Next("See what was recognised.", Link("To the data", f"/data/{job.data_id}")),)


def job_view(job: JobRow, files: Mapping[str, str]) -> Shown:
    """Return a job as it is now; `files`: see `files_of`."""

    def shown(text: str) -> str:
        return without_paths(text, files)

    at, error = field_at_fault(job), shown(job.error or "")
    if at is not None and f"“{at.label}”" not in f"{error} {job.advice}":
        error = f"“{at.label}”: {error}"
    return Shown(
        id=job.id,
        state=job.state,
        state_text=_state_text(job),
        ended=job.ended,
        steps=steps_of(job),
        notes=[*map(shown, job.notes)],
        settings=requested(job.kind, job.settings),
        error=error if error.startswith(tuple(files.values())) else sentence(error),
        advice=shown(job.advice or ""),
        # the same may succeed, but for a file that nobody changes and that is not understood
        again=job.ended and job.state != "done" and (job.kind, job.state) != ("read", "failed"),
    )


def field_at_fault(job: JobRow) -> Setting | None:
    """Return the field of the job's form that made it fail, if one did."""
    name = (job.result or {}).get("setting") if job.state == "failed" else None
    return settings_of(job.kind).get(field_of(job.kind, str(name), job.settings))


def _state_text(job: JobRow) -> str:
    if job.state == "running":
        since = duration(time.time() - (job.started or job.created))
        return f"Running for {since}. You may close this page; the work goes on."
    if job.state == "done" and job.started and job.finished:
        return f"Done, in {duration(job.finished - job.started)}."
    return {
        "queued": "Waiting until the work before it is done.",
        "done": "Done.",
        "failed": "This could not be done. Nothing was changed.",
        "cancelled": "Cancelled. Nothing was kept of it, and nothing else was changed.",
        "interrupted": "The studio was ended while this was running. Nothing was kept of it; "
        "what was finished before is there. It can be started again.",
    }[job.state]
