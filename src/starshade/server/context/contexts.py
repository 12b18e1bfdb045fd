"""All that a template sees: one frozen dataclass per page, given to it as ``page``.

A template decides how a page looks, never what it says: sentences, formatted figures, addresses and
the next step to take are worked out before. Texts are plain text (the templates escape them);
`Chart.spec` is a Vega-Lite specification.

=====================  ==================  =================================================
template               context             address
=====================  ==================  =================================================
``home.html.j2``       `HomePage`          ``GET /``, and ``POST /data/…`` that was refused
``data.html.j2``       `DataPage`          ``GET /data/ID``, and ``POST /data/ID/…`` refused
``job.html.j2``        `JobPage`           ``GET /jobs/ID``
``job_panel.html.j2``  `JobPage`           ``GET /jobs/ID/panel``, and each event ``panel``
``release.html.j2``    `ReleasePage`       ``GET /releases/JOB``
``error.html.j2``      `ErrorPage`         whatever is refused or not there
=====================  ==================  =================================================

``GET /jobs/ID/events`` sends the event ``panel`` (the fragment ``job_panel.html.j2`` anew, when
something moved) and, at the end, ``done`` (its data: the state that the job ended in).
"""

from __future__ import annotations

from dataclasses import dataclass

from starshade.server.context.forms import Choice, Field, Form, Upload
from starshade.server.context.lists import DataLine, Frame, JobLine, JobView, StepView
from starshade.server.context.parts import Chart, Figure, Link, Next, Outcome, Point, Table, Verdict

__all__ = [
    "Chart",
    "Choice",
    "DataLine",
    "DataPage",
    "ErrorPage",
    "Field",
    "Figure",
    "Form",
    "Frame",
    "HomePage",
    "JobLine",
    "JobPage",
    "JobView",
    "Link",
    "Next",
    "Outcome",
    "Point",
    "ReleasePage",
    "StepView",
    "Table",
    "Upload",
    "Verdict",
]


@dataclass(frozen=True)
class HomePage:
    """The first page: choose data, or go on with some."""

    frame: Frame
    intro: str  # what this is for, in two sentences
    steps: tuple[str, ...]  # the whole way in a few short sentences
    data: tuple[DataLine, ...]  # the latest first
    data_left_out: int  # older ones that are not listed
    jobs: tuple[JobLine, ...]  # running, waiting and interrupted ones, then the latest others
    path: Form  # name a file on this machine
    upload: Upload
    synthetic: Form


@dataclass(frozen=True)
class DataPage:
    """One data set: what was recognised, what was found, what to do with it."""

    frame: Frame
    id: str
    name: str
    kind_text: str
    ok: bool  # it was read; otherwise there are neither figures nor forms but `mapping`
    # the job that reads it, while it is waiting, running, failed, cancelled or interrupted
    reading: JobView | None
    intro: str  # what was found, in a sentence or two
    figures: tuple[Figure, ...]  # shape, scale, sparsity, long tail
    columns: Table | None  # which column was taken for what
    histogram: Chart | None  # how ratings spread
    per_user: Table | None  # ratings per user and per item
    # what was dropped, merged or decided while reading; nothing is done silently
    notes: tuple[str, ...]
    next: tuple[Next, ...]  # what to do now; the main one first
    mapping: Form | None  # read it again with other columns or another scale; None: made-up data
    # `attack`, `compare`, `release`: none before it was read; the last two also where there are too
    # few people
    attack: Form | None
    compare: Form | None
    release: Form | None
    jobs: tuple[JobLine, ...]  # of this data set, the latest first, reading left out
    jobs_left_out: int  # older ones that are not listed
    delete: Form  # removes the data set, what was uploaded, and its jobs and releases


@dataclass(frozen=True)
class JobPage:
    """One job: progress while it runs, what it found when it is done."""

    frame: Frame
    data: Link  # the data set that it is about
    job: JobView
    outcome: Outcome | None  # None until it is done
    next: tuple[Next, ...]


@dataclass(frozen=True)
class ReleasePage:
    """A release that was made: its verdict, its files, and what to do with each."""

    frame: Frame
    data: Link
    job: Link  # the job that made it
    verdict: Verdict
    claims: Table | None  # what was requested, what was counted on the files, whether it holds
    findings: tuple[str, ...]  # why the verdict is as it is
    warnings: tuple[str, ...]  # what to know
    figures: tuple[Figure, ...]  # risk before and after, what is disclosed, what was lost
    attacks: Table | None  # the same attacks before and after
    files: Table | None  # names, sizes and hashes of what is in the release
    # the release as one zip file. None: it is not for publication, or it is gone.
    download: Link | None
    # `report`, `public_report`: the two editions: for the owner, and for publication
    report: Link | None
    public_report: Link | None
    receipt: Link | None  # who is which record
    publish: tuple[str, ...]  # what may be published
    keep: tuple[str, ...]  # what must be kept private, and why
    next: tuple[Next, ...]


@dataclass(frozen=True)
class ErrorPage:
    """Something that is refused, not there, or broken."""

    frame: Frame  # without a running job where the visitor is not known
    status: int  # of HTTP
    message: str  # what happened
    advice: str  # what to do
    home: Link | None  # None where the visitor is not let in
