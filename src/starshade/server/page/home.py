"""The first page: what is there, and three ways to bring data."""

from __future__ import annotations

from starshade.report.phrases import size
from starshade.server.ask.asking import form
from starshade.server.ask.data import PATH, SYNTHETIC
from starshade.server.context.forms import Form
from starshade.server.jobs.rows import JobRow
from starshade.server.jobs.store import Store
from starshade.server.page.frame import Shown, data_line, frame, job_line, latest_reading

__all__ = ["home_page"]

_LISTED = 50  # data sets
_LATEST = 10  # jobs
_STEPS = (
    "Choose ratings: a file, an upload, or made-up ones to try.",
    "Check what was recognised: people, items, ratings, scale.",
    "Attack them: see how many people a few known facts identify.",
    "Compare methods: what each loses, and what it still gives away.",
    "Make a release, read its report, download it.",
)


def home_page(store: Store, *, most_upload: int, refused: Form | None = None) -> Shown:
    """Build the first page; of its forms one may have been sent and `refused`."""
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
        intro="Find out how exposed the people in your ratings are, and make a version in which "
        "they can hide. Everything happens on this machine; nothing is sent anywhere.",
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
