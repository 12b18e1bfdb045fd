"""The rows of the studio's memory, as the pages and the worker see them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["ENDED", "DataKind", "DataRow", "JobKind", "JobRow", "State", "Step"]

DataKind = Literal["file", "upload", "synthetic"]
JobKind = Literal["read", "attack", "compare", "release"]
State = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]

#: states that a job does not leave
ENDED: frozenset[State] = frozenset({"done", "failed", "cancelled", "interrupted"})


@dataclass(frozen=True)
class Step:
    """One thing that a job does, or did.

    Attributes
    ----------
    label : str
        E.g. "attacking".
    done : float
        How much of it, from 0 to `total`.
    total : float or None
        None where nobody knows how much there is.
    seconds : float
        Since it began; how long it took, once it is over.
    over : bool
    """

    label: str
    done: float
    total: float | None
    seconds: float
    over: bool = False

    @property
    def seconds_left(self) -> float | None:
        """How long still, if it goes on as before; None where that cannot be told."""
        if self.over or self.total is None or not 0 < self.done <= self.total:
            return None
        return self.seconds * (self.total - self.done) / self.done


@dataclass(frozen=True)
class DataRow:
    """A data set that somebody brought.

    Attributes
    ----------
    id : int
        Never given twice.
    name : str
        What the pages call it; a stranger may have written it.
    kind : {"file", "upload", "synthetic"}
    source : str
        The path of a file, the name of an upload in its folder, or the preset of made-up ratings.
    options : dict
        How it is read; see `starshade.server.tasks.read`.
    created : float
        Seconds since 1970.
    facts : dict or None
        What was found when it was read: see `starshade.server.tasks.read`. None: not read yet.
    """

    id: int
    name: str
    kind: DataKind
    source: str
    options: dict[str, Any]
    created: float
    facts: dict[str, Any] | None = None


@dataclass(frozen=True)
class JobRow:
    """Something that the worker does with a data set, or did.

    Attributes
    ----------
    id : int
        Never given twice.
    kind : {"read", "attack", "compare", "release"}
    data_id : int
    settings : dict
        What was asked for; see the kind's task.
    state : {"queued", "running", "done", "failed", "cancelled", "interrupted"}
        "interrupted": the studio was ended while the job ran.
    created : float
        Seconds since 1970, as all times here.
    started, finished : float or None
    progress : tuple of Step
        In the order in which they began.
    notes : tuple of str
        What was worth knowing on the way.
    result : dict or None
        What a job that is done found; see the kind's task. Of one that failed by one setting
        ``{"setting": its name}``.
    error, advice : str or None
        Why a job failed, and what to do about it.
    """

    id: int
    kind: JobKind
    data_id: int
    settings: dict[str, Any]
    state: State
    created: float
    started: float | None = None
    finished: float | None = None
    progress: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()
    result: dict[str, Any] | None = field(default=None, repr=False)
    error: str | None = None
    advice: str | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ENDED
