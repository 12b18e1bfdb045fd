"""Ctrl-C and SIGTERM, also while compiled code runs.

Python delivers a signal between two of its own instructions, and a kernel may run for minutes
without one. A thread of ours hears the signal at once; if the work has not come back within
`PATIENCE` seconds, or on a second Ctrl-C, it ends the process itself. What is being written then
is a temporary sibling that no reader looks at and the next writer sweeps away.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starshade.ratings.places.place import Place

__all__ = ["Interrupt", "deafen", "has_written", "interruptible", "written_so_far", "wrote"]

PATIENCE = 5.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_written: list[Place] = []


def wrote(place: Place) -> None:
    """Remember what this command has finished writing, for the message on an interruption."""
    _written.append(place)


def has_written() -> bool:
    """Tell whether this command has finished writing anything."""
    return bool(_written)


def written_so_far() -> str:
    """Say what an interrupted command leaves behind."""
    if not _written:
        return "nothing was written"
    return f"{', '.join(map(str, _written))} had been written in whole before"


@dataclass
class Interrupt:
    """Whether a signal came, and which."""

    number: int = 0  # the signal; 0 before one came
    # set once Python has delivered it to the work
    back: threading.Event = field(default_factory=threading.Event)


class _Delivered(KeyboardInterrupt):
    """Not `KeyboardInterrupt` itself: Python would die of SIGINT if that ever passes ``exec``."""


@contextmanager
def interruptible(interrupt: Interrupt) -> Iterator[None]:
    """Turn SIGINT and SIGTERM into KeyboardInterrupt, and make sure that they work."""
    _written.clear()
    if threading.current_thread() is not threading.main_thread():
        yield  # signals belong to the main thread
        return

    def deliver(number: int, frame: FrameType | None) -> None:
        interrupt.number = number
        interrupt.back.set()
        raise _Delivered

    tell, work = sys.unraisablehook, threading.main_thread().ident or 0

    def again(dropped: sys.UnraisableHookArgs) -> None:
        # a compiler's callback drops what is raised in it: the signal is delivered once more
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            threading.Timer(0.05, signal.pthread_kill, (work, interrupt.number)).start()
        else:
            tell(dropped)

    # a process started in the background may have been told to ignore Ctrl-C
    wanted = [n for n in _SIGNALS if signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, deliver) for number in wanted}
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    sys.unraisablehook = again
    wakeup = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_guard, args=(ours, interrupt), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup)
        sys.unraisablehook = tell
        for number, handler in before.items():
            signal.signal(number, handler)
        theirs.close()  # the guard reads the end of the line and goes


def deafen() -> None:
    """Hear no signal any more: the work is done, and its exit code is what remains."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _guard(line: socket.socket, interrupt: Interrupt) -> None:
    """End the process when the work does not come back after a signal."""
    with line, contextlib.suppress(OSError):
        while heard := line.recv(1):
            number = heard[0]
            if number not in _SIGNALS:
                continue
            if interrupt.back.wait(1.0):
                continue
            _tell("Stopping after the current step (Ctrl-C again: at once) …")
            line.settimeout(PATIENCE)
            with contextlib.suppress(TimeoutError):
                line.recv(1)  # a second signal, or the end of the work
            line.settimeout(None)
            if not interrupt.back.is_set():
                _tell(f"Interrupted; {written_so_far()}.")
                os._exit(128 + number)


def _tell(message: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        print(message, file=sys.stderr, flush=True)
