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
    """One thing that a job does, or did."""

    label: str  # e.g. "attacking"
    done: float  # how much of it, from 0 to `total`
    total: float | None  # None where nobody knows how much there is
    seconds: float  # since it began; how long it took, once it is over
    over: bool = False

    @property
    def seconds_left(self) -> float | None:
        """How long still, if it goes on as before; None where that cannot be told."""
        if self.over or self.total is None or not 0 < self.done <= self.total:
            return None
        return self.seconds * (self.total - self.done) / self.done


@dataclass(frozen=True)
class DataRow:
    """A data set that somebody brought."""

    id: int  # never given twice
    name: str  # what the pages call it; a stranger may have written it
    kind: DataKind
    # the path of a file, the name of an upload in its folder, or the preset of made-up ratings
    source: str
    options: dict[str, Any]  # how it is read; see `starshade.server.tasks.read`
    created: float  # seconds since 1970
    # what was found when it was read: see `starshade.server.tasks.read`. None: not read yet.
    facts: dict[str, Any] | None = None


@dataclass(frozen=True)
class JobRow:
    """Something that the worker does with a data set, or did."""

    id: int  # never given twice
    kind: JobKind
    data_id: int
    settings: dict[str, Any]  # what is to be done; see the kind's task
    state: State  # "interrupted": the studio was ended while the job ran
    created: float  # seconds since 1970, as all times here
    started: float | None = None
    finished: float | None = None
    progress: tuple[Step, ...] = ()  # in the order in which they began
    notes: tuple[str, ...] = ()  # what was worth knowing on the way
    # what a job that is done found; see the kind's task. Of one that failed by one setting
    # ``{"setting": its name}``.
    result: dict[str, Any] | None = field(default=None, repr=False)
    # `error`, `advice`: why a job failed, and what to do about it
    error: str | None = None
    advice: str | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ENDED
