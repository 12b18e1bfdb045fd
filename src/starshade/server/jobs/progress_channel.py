"""How the worker tells of its progress: the whole state, a few times a second, if it changed.

A step within another one is told while it goes on; when it is over, the outer one says it all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["ProgressChannel"]

_PAUSE = 0.2  # seconds between two signs
_STEPS = 40  # that are kept: the last ones
_NOTES = 200  # that are kept: the first ones; what follows is counted
_LONGEST = 2000  # characters of a note


@dataclass
class _Begun:
    label: str
    total: float | None
    began: float
    inner: bool
    done: float = 0.0
    ended: float | None = None

    def fields(self, now: float) -> dict[str, Any]:
        return {
            "label": self.label,
            "done": self.done,
            "total": self.total,
            "seconds": (now if self.ended is None else self.ended) - self.began,
            "over": self.ended is not None,
        }


class ProgressChannel:
    """A `progress.Reporter` that sends what it hears on, from a thread of its own.

    Kernels run for long without a word: a sign that had to wait for the next call might come
    much too late.

    `send`: gets ``{"progress": [fields of Step], "notes": [text]}``.
    """

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self._send = send
        self._steps: dict[int, _Begun] = {}
        self._notes: list[str] = []
        self._more = 0
        self._lock = threading.Lock()
        self._news = threading.Event()
        self._closed = threading.Event()
        self._next = 0
        self._thread = threading.Thread(target=self._tell, daemon=True)
        self._thread.start()

    def start(self, label: str, total: float | None) -> int:
        """Begin a step."""
        with self._lock:
            over = [handle for handle, step in self._steps.items() if step.ended is not None]
            inner = len(over) < len(self._steps)
            for handle in over[: max(0, len(over) - _STEPS)]:
                del self._steps[handle]
            self._next += 1
            whole = None if total is None else float(total)
            self._steps[self._next] = _Begun(label, whole, time.monotonic(), inner)
            handle = self._next
        self._news.set()
        return handle

    def advance(self, handle: int, amount: float) -> None:
        """Move a step on."""
        with self._lock:
            self._steps[handle].done += float(amount)
        self._news.set()

    def stop(self, handle: int) -> None:
        """End a step."""
        with self._lock:
            if self._steps[handle].inner:
                del self._steps[handle]
            else:
                self._steps[handle].ended = time.monotonic()
        self._news.set()

    def note(self, message: str) -> None:
        """Keep a note."""
        with self._lock:
            if len(self._notes) < _NOTES:
                self._notes.append(message[:_LONGEST])
            else:
                self._more += 1
        self._news.set()

    def close(self) -> None:
        """Send the last state; nothing is sent after this returns."""
        self._closed.set()
        self._news.set()
        self._thread.join()

    def _tell(self) -> None:
        while True:
            self._news.wait()
            closed = self._closed.is_set()
            self._news.clear()
            self._send(self._state())
            if closed:
                return
            self._closed.wait(_PAUSE)

    def _state(self) -> dict[str, Any]:
        with self._lock:
            now = time.monotonic()
            more = [f"… and {self._more:,} more notes"] if self._more else []
            return {
                "progress": [step.fields(now) for step in self._steps.values()],
                "notes": [*self._notes, *more],
            }
