"""The first page: what is there, and three ways to bring data."""

from __future__ import annotations

from starshade.report.phrases import size
from starshade.server.ask.asking import form
from starshade.server.ask.data import PATH, SYNTHETIC
from starshade.server.context.contexts import Form, HomePage, Upload
from starshade.server.jobs.rows import JobRow
from starshade.server.jobs.store import Store
from starshade.server.page.frame import data_line, frame, job_line, latest_reading

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


def home_page(
    store: Store, *, most_upload: int, path: Form | None = None, synthetic: Form | None = None
) -> HomePage:
    """Build the first page; `path` and `synthetic` are forms that were refused."""
    data = store.all_data()
    shown = data[:_LISTED]
    names = {row.id: row.name for row in data}
    reading = {row.id: latest_reading(store, row.id) for row in shown}
    return HomePage(
        frame=frame(store, "Ratings to publish", ()),
        intro="Find out how exposed the people in your ratings are, and make a version in which "
        "they can hide. Everything happens on this machine; nothing is sent anywhere.",
        steps=_STEPS,
        data=tuple(data_line(row, reading[row.id]) for row in shown),
        data_left_out=len(data) - len(shown),
        jobs=tuple(job_line(job, names.get(job.data_id, "")) for job in _jobs(store)),
        path=path or form(PATH, "/data/path", {}, {}, unfold=not data),
        upload=Upload(
            action="/data/upload",
            most=most_upload,
            most_text=size(most_upload),
            help="CSV, TSV, Parquet, zip and the formats of MovieLens, Netflix Prize and RecBole. "
            f"Up to {size(most_upload)}; name larger files by their path. The file is copied "
            "into the studio's work folder on this machine, and goes nowhere else. Is there a "
            "second file, with personal attributes? Name both by their paths instead.",
        ),
        synthetic=synthetic or form(SYNTHETIC, "/data/synthetic", {}, {}),
    )


def _jobs(store: Store) -> tuple[JobRow, ...]:
    """Return what is under way or was cut short, then the latest others."""
    pressing = store.jobs(states=("running", "queued"), limit=_LATEST)
    cut = store.jobs(states=("interrupted",), limit=_LATEST)
    ended = store.jobs(states=("done", "failed", "cancelled"), limit=_LATEST)
    return (*reversed(pressing), *cut, *ended)[: 2 * _LATEST]
