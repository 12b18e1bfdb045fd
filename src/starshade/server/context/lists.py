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
    """One part of the work that a job does."""

    label: str
    percent: int | None  # 0 to 100; None: nobody knows how much there is
    text: str  # how far and how long still, e.g. ``40 %, about 20 seconds more``
    done: bool = False
    within: str = ""  # what of it is worked on; empty: it says so itself


@dataclass(frozen=True)
class JobLine:
    """A job in a list."""

    id: str
    href: str
    title: str  # what is done, e.g. ``Attack: scoreboard-rh, 8 known``
    state: State
    state_text: str  # in words, e.g. ``running for 12 seconds``
    summary: str  # what came of it, in a line; empty while there is nothing to say
    when: str  # when it ended, or else when it was requested, in words
    moment: str  # the same in ISO 8601, UTC


@dataclass(frozen=True)
class JobView:
    """One job, as it is now."""

    id: str
    kind: JobKind
    title: str
    state: State
    state_text: str  # a sentence: what is happening, or how it ended and what that means
    ended: bool  # nothing will change any more; no events follow
    steps: tuple[StepView, ...]  # progress; the last one that is not done is what is worked on
    notes: tuple[str, ...]  # what the work found worth telling
    settings: tuple[Figure, ...]  # as requested
    # `error`, `advice`: why it failed, and what to do; empty otherwise
    error: str
    advice: str
    # `cancel`, `again`: addresses to POST to; empty where it cannot be done
    cancel: str
    again: str
    # `events`, `panel`: addresses of the event stream and the fragment
    events: str
    panel: str


@dataclass(frozen=True)
class DataLine:
    """A data set in a list."""

    id: str
    href: str
    name: str
    kind_text: str  # ``a file on this machine``, ``uploaded``, ``made up``
    state_text: str  # read or not, and what is wrong
    shape: str  # ``943 people, 1,682 items, 100,000 ratings``; empty before it was read
    ok: bool  # it was read
    # `when`, `created`: when it was added: in words, and in ISO 8601
    when: str
    created: str


@dataclass(frozen=True)
class Frame:
    """What surrounds every page."""

    title: str  # of the page; also its first heading
    trail: tuple[Link, ...]  # from the first page to the one above this
    version: str  # of starshade
    running: JobLine | None = None  # what is worked on now
    waiting: int = 0  # jobs in the queue behind it
