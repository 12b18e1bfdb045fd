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
from typing import Any, Literal

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

State = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]


# ---- small things that several pages have


@dataclass(frozen=True)
class Link:
    """Somewhere to go.

    Attributes
    ----------
    text, href : str
    """

    text: str
    href: str


@dataclass(frozen=True)
class Next:
    """What to do now, and why.

    Attributes
    ----------
    why : str
        One or two sentences.
    link : Link
        What to press.
    main : bool
        The one thing that is suggested; at most one of a page's steps is.
    """

    why: str
    link: Link
    main: bool = True


@dataclass(frozen=True)
class Figure:
    """One number that is said in words.

    Attributes
    ----------
    label : str
        Of what.
    value : str
        Written out, e.g. ``98.2 %``, with its interval where there is one.
    meaning : str
        What a high or a low value means; may be empty.
    share : float or None
        The same from 0 to 1, where a bar may be drawn of it.
    """

    label: str
    value: str
    meaning: str = ""
    share: float | None = None


@dataclass(frozen=True)
class Table:
    """A table; the first cell of each row is its head.

    Attributes
    ----------
    caption : str
    head : tuple of str
    rows : tuple of tuple of str
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Chart:
    """A picture and what it says to somebody who does not see it.

    Attributes
    ----------
    title : str
    spec : dict
        Vega-Lite, with its data in it. Of a frontier chart every datum has ``href``, the address
        of the form for that release (see `Point`).
    text : str
        The picture in a sentence or two.
    table : Table or None
        The picture's numbers.
    """

    title: str
    spec: dict[str, Any]
    text: str
    table: Table | None = None


@dataclass(frozen=True)
class Choice:
    """One of the values to choose from.

    Attributes
    ----------
    value, label : str
    help : str
        One line; may be empty.
    chosen : bool
    """

    value: str
    label: str
    help: str = ""
    chosen: bool = False


@dataclass(frozen=True)
class Field:
    """One setting of a form.

    Attributes
    ----------
    name : str
        As it is sent. The control's id is the form's id, a dash, and this.
    label : str
    help : str
        What it does, and what is usual.
    kind : {"integer", "number", "text", "choice", "choices", "yes-no"}
        ``choice``: one of `choices` (radio buttons or a list); ``choices``: any of them (boxes of
        one name); ``yes-no``: one box, sent as ``yes``.
    value : str
        What stands in it; of ``yes-no`` ``yes`` or empty.
    choices : tuple of Choice
    least, most, step : str
        For numbers, as HTML's min, max and step have them; empty: none.
    required : bool
    more : bool
        Rarely needed: may be folded away (open it if it has an error).
    only_for : tuple of str
        Means something only while the form's `chooser` has one of these values; empty: always.
    error : str
        What is wrong with what was sent, and what is allowed; empty: nothing.
    suggestions : tuple of str
        Values to offer beside free input (a datalist).
    """

    name: str
    label: str
    help: str
    kind: Literal["integer", "number", "text", "choice", "choices", "yes-no"]
    value: str = ""
    choices: tuple[Choice, ...] = ()
    least: str = ""
    most: str = ""
    step: str = ""
    required: bool = False
    more: bool = False
    only_for: tuple[str, ...] = ()
    error: str = ""
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Form:
    """A form; sent by POST as ``application/x-www-form-urlencoded``.

    Attributes
    ----------
    id : str
        Also the anchor of its section (``#attack``).
    action : str
        Where it is sent.
    title : str
    intro : str
        What will be done, in a sentence or two, and how to choose.
    submit : str
        Words on the button.
    fields : tuple of Field
    chooser : str
        Name of the field on whose value others depend (`Field.only_for`); empty: none.
    error : str
        What is wrong with the whole; empty: nothing.
    advice : str
        What to do about it.
    open : bool
        It is what to do next, was sent and refused, or was asked for: show it unfolded.
    """

    id: str
    action: str
    title: str
    intro: str
    submit: str
    fields: tuple[Field, ...]
    chooser: str = ""
    error: str = ""
    advice: str = ""
    open: bool = False


@dataclass(frozen=True)
class StepView:
    """One part of the work that a job does.

    Attributes
    ----------
    label : str
    percent : int or None
        0 to 100; None: nobody knows how much there is.
    text : str
        How far and how long still, e.g. ``40 %, about 20 seconds more``.
    done : bool
    """

    label: str
    percent: int | None
    text: str
    done: bool = False


@dataclass(frozen=True)
class JobLine:
    """A job in a list.

    Attributes
    ----------
    id : str
    href : str
    title : str
        What is done, e.g. ``Attack: scoreboard-rh, 8 known``.
    state : State
    state_text : str
        In words, e.g. ``running for 12 seconds``.
    summary : str
        What came of it, in a line; empty while there is nothing to say.
    when : str
        When it was asked for, in words.
    created : str
        The same in ISO 8601, UTC.
    """

    id: str
    href: str
    title: str
    state: State
    state_text: str
    summary: str
    when: str
    created: str


@dataclass(frozen=True)
class Frame:
    """What surrounds every page.

    Attributes
    ----------
    title : str
        Of the page; also its first heading.
    trail : tuple of Link
        From the first page to the one above this.
    version : str
        Of starshade.
    running : JobLine or None
        What is worked on now.
    waiting : int
        Jobs in the queue behind it.
    """

    title: str
    trail: tuple[Link, ...]
    version: str
    running: JobLine | None = None
    waiting: int = 0


# ---- the pages


@dataclass(frozen=True)
class DataLine:
    """A data set in a list.

    Attributes
    ----------
    id, href, name : str
    kind_text : str
        ``a file on this machine``, ``uploaded``, ``made up``.
    state_text : str
        Read or not, and what is wrong.
    shape : str
        ``943 people, 1,682 items, 100,000 ratings``; empty before it was read.
    ok : bool
        It was read.
    when, created : str
        When it was added: in words, and in ISO 8601.
    """

    id: str
    href: str
    name: str
    kind_text: str
    state_text: str
    shape: str
    ok: bool
    when: str
    created: str


@dataclass(frozen=True)
class Upload:
    """Sending a file from the browser: its bytes as the body of ``POST action?name=NAME``.

    The answer is JSON: ``{"location": "/data/ID"}``, or
    ``{"error": {"status", "message", "advice"}}``.

    Attributes
    ----------
    action : str
    most : int
        Bytes at most.
    most_text : str
        The same in words, e.g. ``2 GB``.
    help : str
        What is understood, and where the file goes.
    """

    action: str
    most: int
    most_text: str
    help: str


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
class JobView:
    """One job, as it is now.

    Attributes
    ----------
    id : str
    kind : {"read", "attack", "compare", "release"}
    title : str
    state : State
    state_text : str
        A sentence: what is happening, or how it ended and what that means.
    ended : bool
        Nothing will change any more; no events follow.
    steps : tuple of StepView
        Progress; the last one that is not done is what is worked on.
    notes : tuple of str
        What the work found worth telling.
    settings : tuple of Figure
        What was asked for.
    error, advice : str
        Why it failed, and what to do; empty otherwise.
    cancel, again : str
        Addresses to POST to; empty where it cannot be done.
    events, panel : str
        Addresses of the event stream and the fragment.
    """

    id: str
    kind: Literal["read", "attack", "compare", "release"]
    title: str
    state: State
    state_text: str
    ended: bool
    steps: tuple[StepView, ...]
    notes: tuple[str, ...]
    settings: tuple[Figure, ...]
    error: str
    advice: str
    cancel: str
    again: str
    events: str
    panel: str


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
        None before it was read.
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
class Point:
    """One release that was tried in a comparison; never kept.

    Attributes
    ----------
    name : str
        ``k-likeness (k = 5)``.
    method : str
    k : int
    loss, success : str
        Formatted; empty where refused.
    loss_kind : str
        What `loss` measures, in words; only losses of one kind can be compared.
    best : bool
        On the frontier: no other one of its kind is better in everything.
    limit : str
        1/k, beside which `success` is read.
    href : str
        The form that makes it; empty where refused.
    refused : str
        Why there is none; empty otherwise.
    """

    name: str
    method: str
    k: int
    loss: str
    success: str
    loss_kind: str
    best: bool
    limit: str
    href: str
    refused: str


@dataclass(frozen=True)
class Outcome:
    """What a job found.

    Attributes
    ----------
    headline : str
        The one thing to know.
    text : str
        The result's own paragraph; may be empty.
    figures : tuple of Figure
    chart : Chart or None
    points : tuple of Point
        Of a comparison: the frontier first.
    tables : tuple of Table
    reading_help : str
        How to read these figures; may be empty.
    """

    headline: str
    text: str
    figures: tuple[Figure, ...] = ()
    chart: Chart | None = None
    points: tuple[Point, ...] = ()
    tables: tuple[Table, ...] = ()
    reading_help: str = ""


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
class Verdict:
    """Whether a release may leave the house.

    Attributes
    ----------
    passed : bool
    word : str
        ``PASS`` or ``FAIL``.
    headline : str
    paragraph : str
    """

    passed: bool
    word: str
    headline: str
    paragraph: str


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
