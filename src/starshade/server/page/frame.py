"""The frame of every page, and the home page."""

from __future__ import annotations

import time
from types import SimpleNamespace as Shown
from typing import Any

from starshade._version import __version__
from starshade.plain import counted
from starshade.report.page import size
from starshade.server.ask.asking import form
from starshade.server.ask.attack import attack_title
from starshade.server.ask.compare import compare_title
from starshade.server.ask.data import PATH, SYNTHETIC, undecided
from starshade.server.ask.release import release_title
from starshade.server.forms import Form
from starshade.server.jobs.store import DataRow, JobRow, Store
from starshade.server.outcomes import summary_of
from starshade.server.parts import Link, ago, duration, iso

__all__ = [
    "HOME",
    "KINDS",
    "Shown",
    "bare_frame",
    "data_line",
    "frame",
    "job_line",
    "latest_reading",
    "options_of",
    "shape_of",
    "title_of",
]

HOME = Link("All data", "/")

#: where data come from
KINDS = {
    "file": "a file on this machine",
    "upload": "uploaded to the studio",
    "synthetic": "synthetic, no real people",
}


def frame(store: Store, title: str, trail: tuple[Link, ...] = (HOME,)) -> Shown:
    """Return the frame of a page."""
    running = store.jobs(states=("running",))
    waiting = len(store.jobs(states=("queued",)))
    return bare_frame(title, trail, job_line(running[0]) if running else None, waiting)


def bare_frame(
    title: str, trail: tuple[Link, ...] = (), running: Shown | None = None, waiting: int = 0
) -> Shown:
    """Return a frame without content of the studio.

    `trail`: from the home page to the one above this; `waiting`: jobs behind the `running` one.
    """
    return Shown(title=title, trail=trail, version=__version__, running=running, waiting=waiting)


def title_of(job: JobRow) -> str:
    """Return the title of a job."""
    if job.kind == "read":
        return "Reading the ratings"
    titles = {"attack": attack_title, "compare": compare_title, "release": release_title}
    return titles[job.kind](job.settings)


def job_line(job: JobRow, name: str = "") -> Shown:
    """Return a job as a line of a list; with the name of its data where these differ."""
    moment = job.created if job.finished is None else job.finished
    return Shown(
        id=job.id,
        title=title_of(job) + (f" ({name})" if name else ""),
        state=job.state,
        state_text=_state_text(job),
        summary=summary_of(job),
        when=ago(moment),
        moment=iso(moment),
    )


def _state_text(job: JobRow) -> str:
    if job.state == "running":
        return f"running for {duration(time.time() - (job.started or job.created))}"
    if job.state == "done" and job.started and job.finished:
        return f"done in {duration(job.finished - job.started)}"
    return {
        "queued": "waiting",
        "done": "done",
        "failed": "failed",
        "cancelled": "cancelled",
        "interrupted": "interrupted: the studio was stopped",
    }[job.state]


def shape_of(data: DataRow) -> str:
    """Return the numbers of people, items and ratings; empty before they are read."""
    facts = data.facts
    if not facts:
        return ""
    return (
        f"{counted(facts['users'], 'person', 'people')}, {counted(facts['items'], 'item')}, "
        f"{counted(facts['ratings'], 'rating')}"
    )


def latest_reading(store: Store, data_id: int) -> JobRow | None:
    """Return the latest reading job of a data set."""
    jobs = store.jobs(data_id, kinds=("read",), limit=1)
    return jobs[0] if jobs else None


def options_of(store: Store, data: DataRow) -> dict[str, Any]:
    """Return the latest reading settings of a data set."""
    reading = latest_reading(store, data.id)
    return data.options if reading is None else reading.settings


def data_line(data: DataRow, reading: JobRow | None) -> Shown:
    """Return a data set as a line of a list."""
    return Shown(
        id=data.id,
        name=data.name,
        kind_text=KINDS[data.kind],
        state_text=_data_state(data, reading),
        shape=shape_of(data),
        ok=data.facts is not None,
        when=ago(data.created),
        created=iso(data.created),
    )


def _data_state(data: DataRow, reading: JobRow | None) -> str:
    if reading is not None and reading.state in ("queued", "running"):
        return "being read" if reading.state == "running" else "waiting to be read"
    if data.facts is not None:
        return "read; choose which repeated rating counts" if undecided(data.facts) else "read"
    if reading is not None and reading.state == "failed":
        return "could not be read: assign the columns"
    return "not read yet: assign the columns"


_LISTED = 50  # data sets
_LATEST = 10  # jobs
_STEPS = (
    "Choose ratings: a file, an upload, or synthetic ratings.",
    "Check the recognised people, items, ratings and scale.",
    "Attack the ratings: measure re-identification from a few known ratings.",
    "Compare methods by loss and residual risk.",
    "Make a release, read its report, download it.",
)


def home_page(store: Store, *, most_upload: int, refused: Form | None = None) -> Shown:
    """Build the home page; `refused`: a form that was sent and has errors."""
    data = store.all_data()
    names = {row.id: row.name for row in data}
    forms = {
        PATH.id: form(PATH, "/data/path", {}, {}, unfold=not data),
        SYNTHETIC.id: form(SYNTHETIC, "/data/synthetic", {}, {}),
    }
    if refused is not None:
        forms[refused.id] = refused
    return Shown(
        frame=frame(store, "Ratings to publish", ()),
        intro="Measure how identifiable the people in your ratings are, and make an anonymized "
        "release. All data stay on this machine.",
        steps=_STEPS,
        data=[data_line(row, latest_reading(store, row.id)) for row in data[:_LISTED]],
        data_left_out=max(len(data) - _LISTED, 0),
        jobs=[job_line(job, names.get(job.data_id, "")) for job in _jobs(store)],
        most=most_upload,
        most_text=size(most_upload),
        **forms,
    )


def _jobs(store: Store) -> tuple[JobRow, ...]:
    """Return what is under way or was cut short, then the latest others."""
    pressing = store.jobs(states=("running", "queued"), limit=_LATEST)
    cut = store.jobs(states=("interrupted",), limit=_LATEST)
    ended = store.jobs(states=("done", "failed", "cancelled"), limit=_LATEST)
    return (*reversed(pressing), *cut, *ended)[: 2 * _LATEST]
