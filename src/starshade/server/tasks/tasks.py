"""The tasks of the worker: one function for each kind of job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from starshade.server.jobs.database import Places
from starshade.server.jobs.store import DataRow, JobKind


@dataclass(frozen=True)
class Order:
    """A job as the worker gets it."""

    job: int
    kind: JobKind
    data: DataRow
    settings: dict[str, Any]  # see `starshade.server.ask.asking`; not validated yet
    work: Path  # the work folder

    @property
    def places(self) -> Places:
        """The paths in the work folder."""
        return Places(self.work)


@dataclass(frozen=True)
class Done:
    """The outcome of a job; all its files are in place."""

    result: dict[str, Any]  # for `JobRow.result`
    facts: dict[str, Any] | None = None  # for `DataRow.facts`


def perform(order: Order) -> Done:
    """Run a job."""
    # only what is needed is loaded
    task: Callable[[Order], Done] = import_module(f"starshade.server.tasks.{order.kind}").perform
    return task(order)
