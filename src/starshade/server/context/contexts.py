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
    """The first page: choose data, or go on with some.

    Attributes
    ----------
    frame : Frame
    intro : str
        What this is for, in two sentences.
    steps : tuple of str
        The whole way in a few short sentences.
    data : tuple of DataLine
        The latest first.
    data_left_out : int
        Older ones that are not listed.
    jobs : tuple of JobLine
        Running, waiting and interrupted ones, then the latest others.
    path : Form
        Name a file on this machine.
    upload : Upload
    synthetic : Form
    """

    frame: Frame
    intro: str
    steps: tuple[str, ...]
    data: tuple[DataLine, ...]
    data_left_out: int
    jobs: tuple[JobLine, ...]
    path: Form
    upload: Upload
    synthetic: Form


@dataclass(frozen=True)
class DataPage:
    """One data set: what was recognised, what was found, what to do with it.

    Attributes
    ----------
    frame : Frame
    id, name : str
    kind_text : str
    ok : bool
        It was read; otherwise there are neither figures nor forms but `mapping`.
    reading : JobView or None
        The job that reads it, while it is waiting, running, failed, cancelled or interrupted.
    intro : str
        What was found, in a sentence or two.
    figures : tuple of Figure
        Shape, scale, sparsity, long tail.
    columns : Table or None
        Which column was taken for what.
    histogram : Chart or None
        How ratings spread.
    per_user : Table or None
        Ratings per user and per item.
    notes : tuple of str
        What was dropped, merged or decided while reading; nothing is done silently.
    next : tuple of Next
        What to do now; the main one first.
    mapping : Form or None
        Read it again with other columns or another scale; None: made-up data.
    attack, compare, release : Form or None
        None before it was read; the last two also where there are too few people.
    jobs : tuple of JobLine
        Of this data set, the latest first, reading left out.
    jobs_left_out : int
        Older ones that are not listed.
    delete : Form
        Removes the data set, what was uploaded, and its jobs and releases.
    """

    frame: Frame
    id: str
    name: str
    kind_text: str
    ok: bool
    reading: JobView | None
    intro: str
    figures: tuple[Figure, ...]
    columns: Table | None
    histogram: Chart | None
    per_user: Table | None
    notes: tuple[str, ...]
    next: tuple[Next, ...]
    mapping: Form | None
    attack: Form | None
    compare: Form | None
    release: Form | None
    jobs: tuple[JobLine, ...]
    jobs_left_out: int
    delete: Form


@dataclass(frozen=True)
class JobPage:
    """One job: progress while it runs, what it found when it is done.

    Attributes
    ----------
    frame : Frame
    data : Link
        The data set that it is about.
    job : JobView
    outcome : Outcome or None
        None until it is done.
    next : tuple of Next
    """

    frame: Frame
    data: Link
    job: JobView
    outcome: Outcome | None
    next: tuple[Next, ...]


@dataclass(frozen=True)
class ReleasePage:
    """A release that was made: its verdict, its files, and what to do with each.

    Attributes
    ----------
    frame : Frame
    data : Link
    job : Link
        The job that made it.
    verdict : Verdict
    claims : Table or None
        What was asked for, what was counted on the files, whether it holds.
    findings : tuple of str
        Why the verdict is as it is.
    warnings : tuple of str
        What to know.
    figures : tuple of Figure
        Risk before and after, what is disclosed, what was lost.
    attacks : Table or None
        The same attacks before and after.
    files : Table or None
        Names, sizes and hashes of what is in the release.
    download : Link or None
        The release as one zip file. None: it is not for publication, or it is gone.
    report, public_report : Link or None
        The two editions: for the house, and for publication.
    receipt : Link or None
        Who is which record.
    publish : tuple of str
        What may be published.
    keep : tuple of str
        What must stay in the house, and why.
    next : tuple of Next
    """

    frame: Frame
    data: Link
    job: Link
    verdict: Verdict
    claims: Table | None
    findings: tuple[str, ...]
    warnings: tuple[str, ...]
    figures: tuple[Figure, ...]
    attacks: Table | None
    files: Table | None
    download: Link | None
    report: Link | None
    public_report: Link | None
    receipt: Link | None
    publish: tuple[str, ...]
    keep: tuple[str, ...]
    next: tuple[Next, ...]


@dataclass(frozen=True)
class ErrorPage:
    """Something that is refused, not there, or broken.

    Attributes
    ----------
    frame : Frame
        Without a running job where the visitor is not known.
    status : int
        Of HTTP.
    message : str
        What happened.
    advice : str
        What to do.
    home : Link or None
        None where the visitor is not let in.
    """

    frame: Frame
    status: int
    message: str
    advice: str
    home: Link | None
