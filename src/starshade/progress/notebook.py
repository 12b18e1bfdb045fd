"""Bars under the cell of a notebook, by IPython's display alone.

Whoever works in a notebook should see what is done, how far it is and how long it still takes,
without asking for it, and should find nothing of it in the notebook afterwards. So a bar appears
only for what takes longer than `PATIENCE`, all bars of a cell share one output, and that output is
emptied with the last of them. Work that does not move its bar on is watched too: a thread of its
own looks after the display, in the context of the cell.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from html import escape
from itertools import count
from time import monotonic
from typing import Any, TypeVar
from uuid import uuid4

#: seconds that work may take before it is shown
PATIENCE = 0.5
_EVERY = 0.5  # seconds between two looks


@dataclass
class _Task:
    label: str
    total: float | None
    done: float = 0.0
    started: float = field(default_factory=monotonic)

    @property
    def text(self) -> str:
        """How far, and how long still."""
        elapsed = monotonic() - self.started
        if not self.total:
            return f"{elapsed:.0f} s so far"
        left = how_long(seconds_left(self.done, self.total, elapsed))
        far = f"{min(self.done / self.total, 1):.0%}"
        return f"{far}, {left}" if left else far


class Notebook:
    """A reporter: bars while work lasts, then nothing.

    `publish` shows ``{mime type: content}`` in the output of a display id, the first time
    (``update=False``) or in its place; `cell` says which cell runs.
    """

    def __init__(self, publish: Callable[..., None], cell: Callable[[], object]) -> None:
        self._publish = publish
        self._cell = cell
        self._tasks: dict[int, _Task] = {}
        self._handles = count()
        self._note = ""
        self._lock = threading.RLock()
        self._shown: tuple[object, str] | None = None  # the cell, and the id of its output
        self._visible = False
        self._done: threading.Event | None = None
        self._ticker: threading.Thread | None = None

    def start(self, label: str, total: float | None) -> int:
        """Begin to look at a task."""
        with self._lock:
            handle = next(self._handles)
            self._tasks[handle] = _Task(label, total)
            if self._ticker is None:
                self._done = threading.Event()
                self._ticker = threading.Thread(
                    target=copy_context().run, args=(self._tick, self._done), daemon=True
                )
                self._ticker.start()
        return handle

    def advance(self, handle: int, amount: float) -> None:
        """Move a task on."""
        self._tasks[handle].done += amount

    def stop(self, handle: int) -> None:
        """End a task; with the last one everything is taken away."""
        with self._lock:
            self._tasks.pop(handle, None)
            if self._tasks or self._done is None or self._ticker is None:
                return
            self._done.set()
            ticker, self._ticker = self._ticker, None
        ticker.join()
        with self._lock:
            self._note = ""
            if self._visible:
                self._show("", "")
                self._visible = False

    def note(self, message: str) -> None:
        """Say one thing under the bars, for as long as there are any."""
        if self._tasks:
            self._note = message

    def _tick(self, done: threading.Event) -> None:
        if done.wait(PATIENCE):
            return
        while True:
            with self._lock:
                tasks = worth_showing(list(self._tasks.values()), lambda task: task.total)
                self._show(*_drawn(tasks, self._note))
                self._visible = True
            if done.wait(_EVERY):
                return

    def _show(self, html: str, text: str) -> None:
        cell = self._cell()
        update = self._shown is not None and self._shown[0] == cell
        if not update:
            self._shown = cell, f"starshade-{uuid4().hex}"
        assert self._shown is not None
        self._publish(
            {"text/html": html, "text/plain": text}, display_id=self._shown[1], update=update
        )


def reporter_here() -> Notebook | None:
    """Return the reporter of the notebook that this runs in; None: it is none.

    Bars are for the thread that runs cells: another one has no cell to show them under.
    """
    ipython = sys.modules.get("IPython")
    shell: Any = None if ipython is None else ipython.get_ipython()
    if getattr(shell, "kernel", None) is None:
        return None
    if threading.current_thread() is not threading.main_thread():
        return None
    global _here
    if _here is None or _here[0] is not shell:
        _here = shell, Notebook(partial(_publish, shell), lambda: shell.execution_count)
    return _here[1]


_here: tuple[Any, Notebook] | None = None


def _publish(shell: Any, bundle: dict[str, str], *, display_id: str, update: bool) -> None:
    shell.display_pub.publish(bundle, transient={"display_id": display_id}, update=update)


def _drawn(tasks: Sequence[_Task], note: str) -> tuple[str, str]:
    html = "".join(_bar(task) for task in tasks) + (f"<div>{escape(note)}</div>" if note else "")
    text = [f"{task.label}: {task.text}" for task in tasks]
    return f"<div>{html}</div>", "\n".join([*text, *([note] if note else [])])


def _bar(task: _Task) -> str:
    value = "" if not task.total else f' value="{min(task.done / task.total, 1):.3f}"'
    return (
        f'<div><label>{escape(task.label)} <progress max="1"{value}></progress></label> '
        f"{escape(task.text)}</div>"
    )


_Lasting = TypeVar("_Lasting")
_SHARE = 0.1  # of the work that is done before anybody can tell how long the rest takes


def worth_showing(
    tasks: Sequence[_Lasting], total: Callable[[_Lasting], float | None]
) -> tuple[_Lasting, ...]:
    """Return the outermost task that has steps and the innermost one; the others say no more.

    Each of the tasks was begun within the one before; `total` returns a task's units of work.

    >>> tasks = {"auditing": None, "comparing": 9, "attacking": 6, "ranking": 900}
    >>> worth_showing(list(tasks), tasks.get)
    ('comparing', 'ranking')
    """
    outer = [task for task in tasks[:-1] if (total(task) or 0) > 1]
    return (*outer[:1], *tasks[-1:])


def seconds_left(done: float, total: float | None, elapsed: float) -> float | None:
    """Estimate what is left at the speed so far; None where nobody can say.

    The first of many steps is no measure of the others: nobody can say before two units and a
    tenth of all are done.
    """
    if not total or done < max(_SHARE * total, min(2, total)):
        return None
    return elapsed * max(total - done, 0) / done


def how_long(seconds: float | None) -> str:
    """Say how long it still takes, as exactly as an estimate deserves; None: nothing.

    >>> [how_long(s) for s in (0.4, 7.2, 43, 200, 8000)]
    ['almost done', 'about 7 s left', 'about 45 s left', 'about 3 min left', 'about 2.2 h left']
    """
    if seconds is None:
        return ""
    if seconds < 0.5:
        return "almost done"
    if seconds < 10:
        return f"about {seconds:.0f} s left"
    if seconds < 90:
        return f"about {5 * round(seconds / 5)} s left"
    if seconds < 90 * 60:
        return f"about {seconds / 60:.0f} min left"
    return f"about {seconds / 3600:.1f} h left"
