"""Jobs and data sets as a template sees them, and the frame of every page."""

from __future__ import annotations

from dataclasses import dataclass

from starshade.server.context.parts import Figure, Link
from starshade.server.jobs.rows import JobKind, State

__all__ = [
    "DataLine",
    "Frame",
    "JobLine",
    "JobView",
    "StepView",
]


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
    within : str
        What of it is worked on; empty: it says so itself.
    """

    label: str
    percent: int | None
    text: str
    done: bool = False
    within: str = ""


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
        When it ended, or was asked for while it has not, in words.
    moment : str
        The same in ISO 8601, UTC.
    """

    id: str
    href: str
    title: str
    state: State
    state_text: str
    summary: str
    when: str
    moment: str


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
    kind: JobKind
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
