"""Progress of long work, without knowing who watches.

Work says ``with task("reading", total) as step: step(n)``. Nobody watching costs nothing; the
command line or a web page watches by setting a reporter. In a notebook nobody need ask: bars
appear under the cell while something takes long, and go away again (`starshade.progress.notebook`).
Elsewhere a library that nobody asked to speak is silent.

A job that can take longer than a second announces what it does, part by part, so that no stretch
is silent; what is announced as a whole keeps its parts to itself (`silence`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, Protocol, TypeVar

_In = ParamSpec("_In")
_Out = TypeVar("_Out")


class Reporter(Protocol):
    """Somebody who watches."""

    def start(self, label: str, total: float | None) -> int:
        """Begin a task; return its handle."""

    def advance(self, handle: int, amount: float) -> None:
        """Move a task on."""

    def stop(self, handle: int) -> None:
        """End a task."""

    def note(self, message: str) -> None:
        """Say one thing worth knowing (a mapping chosen, rows dropped)."""


# without a value: nobody was asked to watch; None: somebody asked for silence
_reporter: ContextVar[Reporter | None] = ContextVar("reporter")
_watcher: ContextVar[Reporter | None] = ContextVar("watcher")  # in silence too


@contextmanager
def watch(reporter: Reporter) -> Iterator[None]:
    """Let `reporter` see everything that runs inside."""
    token, whole = _reporter.set(reporter), _watcher.set(reporter)
    try:
        yield
    finally:
        _reporter.reset(token)
        _watcher.reset(whole)


@contextmanager
def silence() -> Iterator[None]:
    """Keep what runs inside from the watcher: a part of work that is announced as a whole.

    A task begun before can still be moved on. In a notebook it keeps bars away.
    """
    token = _reporter.set(None)
    try:
        yield
    finally:
        _reporter.reset(token)


@contextmanager
def without_notes() -> Iterator[None]:
    """Show the bars of what runs inside, and keep its notes from the watcher."""
    reporter = _watching(_reporter)
    token = _reporter.set(None if reporter is None else _Bars(reporter))
    try:
        yield
    finally:
        _reporter.reset(token)


class _Bars:
    """A reporter of tasks alone."""

    def __init__(self, reporter: Reporter) -> None:
        self.start, self.advance, self.stop = reporter.start, reporter.advance, reporter.stop

    def note(self, message: str) -> None:
        """Leave it out."""


@contextmanager
def task(label: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
    """Announce work of `total` units (None: unknown); yields the function that moves it on."""
    reporter = _watching(_reporter)
    if reporter is None:
        yield lambda amount: None
        return
    handle = reporter.start(label, total)
    try:
        yield lambda amount: reporter.advance(handle, amount)
    finally:
        reporter.stop(handle)


def announced(label: str) -> Callable[[Callable[_In, _Out]], Callable[_In, _Out]]:
    """Make a job that announces itself as a whole; what its parts announce stands under it.

    >>> @announced("counting")
    ... def count(n: int) -> int:
    ...     return n
    >>> count(3)
    3
    """

    def decorate(job: Callable[_In, _Out]) -> Callable[_In, _Out]:
        @wraps(job)
        def watched(*args: _In.args, **kwargs: _In.kwargs) -> _Out:
            with task(label):
                return job(*args, **kwargs)

        return watched

    return decorate


def note(message: str) -> None:
    """Tell the watcher, if there is one."""
    reporter = _watching(_reporter)
    if reporter is not None:
        reporter.note(message)


def insist(message: str) -> None:
    """Tell the watcher, within a silence too: why they wait longer than was announced.

    A watcher who shows no notes may have a method ``insist`` for it.
    """
    watcher = _watching(_watcher)
    if watcher is not None:
        getattr(watcher, "insist", watcher.note)(message)


def _watching(chosen: ContextVar[Reporter | None]) -> Reporter | None:
    """Return who watches: whoever was asked to, else the notebook that this runs in."""
    try:
        return chosen.get()
    except LookupError:
        if "ipykernel" not in sys.modules:
            return None
        from starshade.progress.notebook import reporter_here

        return reporter_here()
