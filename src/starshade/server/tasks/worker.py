"""The worker process: runs jobs and reports their progress and result; see `starshade.server`.

Started by `starshade.server.jobs.engine` as ``worker SOCKET PARENT WORK``.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import queue
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from starshade import budget
from starshade.errors import StarshadeError, UserError
from starshade.naming import speak
from starshade.plain import plain
from starshade.progress import watch
from starshade.ratings.places.place import output_error
from starshade.ratings.readers.addresses.address import hidden_in
from starshade.server.ask.labels import as_field
from starshade.server.jobs.store import DataRow
from starshade.server.tasks.tasks import Order, perform

_PR_SET_PDEATHSIG = 1
_FIRST_TO_GO = "800"  # of 1000: who is killed when memory runs out
_NICE = 5  # pages come first


def main(arguments: list[str]) -> None:
    """Run jobs until the parent is gone; arguments: socket handle, parent's id, work folder."""
    handle, parent, work = int(arguments[0]), int(arguments[1]), Path(arguments[2])
    _die_with(parent)
    _settle_in(work)
    connection = Connection(handle)
    orders: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, orders), daemon=True).start()
    _warm_up()
    while True:
        _do(orders.get(), work, connection)
        gc.collect()  # maps of files that may be removed now


def _die_with(parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent to answer
    with suppress(OSError, AttributeError):  # elsewhere than on Linux `_listen` notices
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # gone already
        os._exit(1)


def _settle_in(work: Path) -> None:
    """Let the server go first, and keep temporary files where they are swept away."""
    with suppress(OSError):
        os.nice(_NICE)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO)
    os.umask(0o077)
    tempfile.tempdir = os.environ["TMPDIR"] = str(work / "scratch")


def _listen(connection: Connection, orders: queue.SimpleQueue[dict[str, Any]]) -> None:
    """Receive orders; end the process when the connection is closed."""
    try:
        while True:
            orders.put(json.loads(connection.recv_bytes()))
    except (EOFError, OSError):
        os._exit(1)


def _warm_up() -> None:
    import starshade.attack.scoreboard_rh.scoreboard_rh
    import starshade.ratings.read  # noqa: F401


def _do(request: dict[str, Any], work: Path, connection: Connection) -> None:
    sending = threading.Lock()

    def send(message: dict[str, Any]) -> None:
        # the parent is gone where this fails, and `_listen` ends the process
        with sending, suppress(OSError):
            connection.send_bytes(json.dumps({"job": request["job"], **message}).encode())

    order = Order(
        request["job"], request["kind"], DataRow(**request["data"]), request["settings"], work
    )
    channel = ProgressChannel(send)
    try:
        with speak(as_field(order.kind)), watch(channel), budget.limits(**request["limits"]):
            done = perform(order)
        message = {"result": plain(done.result), "facts": plain(done.facts)}
    except StarshadeError as error:
        message = {"error": hidden_in(error.message), "advice": error.advice}
        if isinstance(error, UserError) and error.setting:
            message["setting"] = error.setting
    except MemoryError:
        message = {
            "error": "Not enough memory for this job.",
            "advice": "Close other programs, or work on fewer items.",
        }
    except OSError as error:
        refused = output_error(error, Path(error.filename or work))
        message = {"error": refused.message, "advice": refused.advice}
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        message = {
            "error": f"internal error: {type(error).__name__}",
            "advice": "This is a bug in starshade, not in your data. Please report it with the "
            "terminal output of the studio and the output of `starshade doctor`.",
        }
    channel.close()
    send(message)


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
    """A `progress.Reporter` that sends progress from a separate thread.

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
        """Advance a step."""
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
