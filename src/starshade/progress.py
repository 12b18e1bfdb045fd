"""Progress of long work, without knowing who watches.

Work says ``with task("reading", total) as step: step(n)``. Nobody watching costs nothing; the
command line (or a notebook, or a web page) watches by setting a reporter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

__all__ = ["Reporter", "insist", "note", "silence", "task", "watch"]


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


_reporter: ContextVar[Reporter | None] = ContextVar("reporter", default=None)
_watcher: ContextVar[Reporter | None] = ContextVar("watcher", default=None)  # in silence too


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

    A task begun before can still be moved on.
    """
    token = _reporter.set(None)
    try:
        yield
    finally:
        _reporter.reset(token)


@contextmanager
def task(label: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
    """Announce work of `total` units (None: unknown); yields the function that moves it on."""
    reporter = _reporter.get()
    if reporter is None:
        yield lambda amount: None
        return
    handle = reporter.start(label, total)
    try:
        yield lambda amount: reporter.advance(handle, amount)
    finally:
        reporter.stop(handle)


def note(message: str) -> None:
    """Tell the watcher, if there is one."""
    reporter = _reporter.get()
    if reporter is not None:
        reporter.note(message)


def insist(message: str) -> None:
    """Tell the watcher, within a silence too: why they wait longer than was announced."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher.note(message)
