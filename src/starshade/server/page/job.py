"""The page of a job: progress, outcome, next steps."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starshade.plain import counted, percent
from starshade.server.ask.data import SYNTHETIC
from starshade.server.ask.labels import field_of, settings_of
from starshade.server.ask.suggest import after_attack, after_compare, after_failure
from starshade.server.forms import Setting
from starshade.server.jobs.store import DataRow, JobKind, JobRow, Step, Store
from starshade.server.outcomes import outcome_of
from starshade.server.page.frame import HOME, Shown, frame, title_of
from starshade.server.parts import Figure, Link, Next, duration, sentence, without_paths


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
    """Return the names that pages show for the files of a data set: path → name."""
    if data.kind == "synthetic":
        return {}
    beside = {path: Path(path).name for path in store.beside(data.id).values()}
    return {str(source_of(store, data)): data.name, **beside}


def source_of(store: Store, data: DataRow) -> Path:
    """Return the path of the file of a data set."""
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
        link = Link("Open the release", f"/releases/{job.id}")
        return (Next("Read the verdict and the report before you publish.", link),)
    return (Next("Check the recognised columns.", Link("Open the data", f"/data/{job.data_id}")),)


def job_view(job: JobRow, files: Mapping[str, str]) -> Shown:
    """Return the view of a job; `files`: see `files_of`."""

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
        # the same may succeed, except for a file that cannot be read
        again=job.ended and job.state != "done" and (job.kind, job.state) != ("read", "failed"),
    )


def field_at_fault(job: JobRow) -> Setting | None:
    """Return the form field that made a job fail, if one did."""
    name = (job.result or {}).get("setting") if job.state == "failed" else None
    return settings_of(job.kind).get(field_of(job.kind, str(name), job.settings))


def _state_text(job: JobRow) -> str:
    if job.state == "running":
        since = duration(time.time() - (job.started or job.created))
        return f"Running for {since}. You can close this page; the job continues."
    if job.state == "done" and job.started and job.finished:
        return f"Done in {duration(job.finished - job.started)}."
    return {
        "queued": "Waiting for earlier jobs.",
        "done": "Done.",
        "failed": "Failed. Nothing was changed.",
        "cancelled": "Cancelled. Its results were discarded; nothing else was changed.",
        "interrupted": "Interrupted: the studio was stopped during this job. Its results were "
        "discarded; earlier results are kept. You can run it again.",
    }[job.state]


@dataclass(frozen=True)
class StepView:
    """A step of a job, as the page shows it."""

    label: str
    percent: int | None  # 0 to 100; None: unknown
    text: str  # how far and how long still, e.g. ``40 %, about 20 seconds left``
    done: bool = False
    within: str = ""  # what of it is worked on; empty: it says so itself


def steps_of(job: JobRow) -> tuple[StepView, ...]:
    """Return the finished steps, and the current step or the one that failed."""
    over = [step for step in job.progress if step.over]
    now = [step for step in job.progress if not step.over]
    if job.ended and job.state != "done":
        # a step in which something went wrong ends like any other
        broken = now[0] if now else over.pop() if over else None
        ended = () if broken is None else (StepView(broken.label, None, "not finished"),)
        return (*map(_done, over), *ended)
    return (*map(_done, over), *_current(now))


def _done(step: Step) -> StepView:
    return StepView(step.label, 100, f"done in {duration(step.seconds)}", done=True)


def _current(now: Sequence[Step]) -> tuple[StepView, ...]:
    """Return one bar, of the outermost step that says how far it is, and what goes on inside."""
    if not now:
        return ()
    shown = next((step for step in now if _share(step) is not None), now[0])
    inmost, share = now[-1], _share(shown)
    within = ""
    if inmost is not shown:
        far = _share(inmost)
        within = inmost.label if far is None else f"{inmost.label}: {percent(far)}"
    if share is None:
        return (StepView(shown.label, None, f"for {duration(shown.seconds)}", within=within),)
    left = shown.seconds_left
    still = "" if left is None or share >= 1 else f", about {duration(left)} left"
    return (StepView(shown.label, int(100 * share), f"{percent(share)}{still}", within=within),)


def _share(step: Step) -> float | None:
    if not step.total or step.total <= 0:
        return None
    return min(max(step.done / step.total, 0.0), 1.0)


#: what a form says by another field
_LABELS = {setting.name: setting.label for setting in SYNTHETIC.settings({})}
_LABELS |= {"dates": "The adversary knows dates"}
_HIDDEN = (None, False, "", 0, 0.0)


def requested(kind: JobKind, settings: Mapping[str, Any]) -> tuple[Figure, ...]:
    """Return the settings that were changed from their defaults."""
    return tuple(
        Figure(_label(kind, name), _written(kind, name, value))
        for name, value in _flat(settings)
        if value not in _HIDDEN and value != []
    )


def _flat(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return the settings, without those that have no effect."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value)
        elif name == "wrong_kind" and not settings.get("wrong"):
            continue
        elif name == "l" and settings.get("attributes"):  # of attributes: the form's other field
            yield "distinct", value
        else:
            yield name, value


def _label(kind: JobKind, name: str) -> str:
    setting = settings_of(kind).get(name)
    return setting.label if setting else _LABELS.get(name, name.replace("_", " ").capitalize())


def _written(kind: JobKind, name: str, value: Any) -> str:
    if value is True:
        return "yes"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if name == "items" and isinstance(value, str) and value.startswith("top:"):
        return f"the {counted(int(value[4:]), 'most rated item')}"
    if name == "day_error":
        return counted(int(value), "day")
    setting = settings_of(kind).get(name)
    words = {choice.value: choice.label for choice in setting.choices} if setting else {}
    return words.get(str(value)) or (f"{value:g}" if isinstance(value, float) else str(value))
