"""Progress and notes on stderr, and in the log file."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO, cast

from starshade.errors import OutputError
from starshade.plain import visible
from starshade.progress.notebook import how_long, seconds_left, worth_showing
from starshade.ratings.readers.addresses.address import hidden_in

if TYPE_CHECKING:
    from rich.progress import Progress, Task, TaskID

_PATIENCE = 0.8  # seconds without an announcement


class Log:
    """A file that notes and errors are appended to, one dated line each.

    `values`: messages may quote ids and titles: only that there was one is then kept.
    """

    def __init__(self, file: TextIO, *, values: bool = False) -> None:
        self._file = file
        self._values = values

    def start(self, command: str) -> None:
        """Say which command begins."""
        self._append("start", command)

    def write(self, kind: str, message: str) -> None:
        """Append a message."""
        self._append(kind, "(shown on stderr; --show-values)" if self._values else message)

    def end(self, verdict: str, code: int, seconds: float) -> None:
        """Say how the command ended."""
        parts = [*[verdict] * bool(verdict), f"exit code {code}", f"{seconds:.1f} s"]
        self._append("end", "; ".join(parts))

    def _append(self, kind: str, message: str) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        flat = visible(hidden_in(message)).replace("\n", " | ")
        if self._file.closed:
            return
        try:
            self._file.write(f"{now} {kind} {flat}\n")
            self._file.flush()
        except OSError as error:
            with suppress(OSError):  # what is left in its buffer would fail again
                self._file.close()
            raise OutputError(
                f"--log-file {self._file.name}: {os.strerror(error.errno or 0)}",
                advice="Free some space, choose another file, or omit --log-file.",
            ) from error


class Terminal:
    """A reporter: bars where stderr is a terminal, notes everywhere.

    Where nothing is announced for a while a bar says that there is work all the same: loading
    the code of a command can take a second, too.

    `quiet`: show neither on stderr, but one line when kernels are compiled first; `log`: gets the
    notes too.
    """

    def __init__(self, *, quiet: bool = False, log: Log | None = None) -> None:
        self._quiet = quiet
        self._log = log
        self._has_insisted = False
        self.verdict = ""  # of the command; the log ends with it
        self._bars: Progress | None = None
        self._seen = not quiet and sys.stderr.isatty()
        self._lock = threading.RLock()
        self._idle: TaskID | None = None
        self._timer: threading.Timer | None = None
        self._wait("starting")

    def start(self, label: str, total: float | None) -> int:
        """Show a bar, if anybody can see one."""
        if not self._seen:
            return 0
        with self._lock:
            self._stop_waiting()
            handle = self._open().add_task(visible(label), total=total)
            self._choose()
            return handle

    def advance(self, handle: int, amount: float) -> None:
        """Move a bar on."""
        if self._bars is not None:
            self._bars.advance(cast("TaskID", handle), amount)

    def stop(self, handle: int) -> None:
        """Take a bar away, and the display with the last one."""
        with self._lock:
            if self._bars is None:
                return
            self._bars.remove_task(cast("TaskID", handle))
            if not self._bars.tasks:
                self.close()
                self._wait("working")
            else:
                self._choose()

    def note(self, message: str) -> None:
        """Show one line, and keep it in the log."""
        if self._log is not None:
            self._log.write("note", message)
        self.show(message)

    def insist(self, message: str) -> None:
        """Show why a command takes longer than usual: once, where nothing else is shown."""
        if self._log is not None:
            self._log.write("note", message)
        with self._lock:
            if self._quiet and self._has_insisted:
                return
            self._has_insisted = True
        self._print(message)

    def show(self, message: str) -> None:
        """Print one line, above the bars if there are any."""
        if not self._quiet:
            self._print(message)

    def _print(self, message: str) -> None:
        message = visible(hidden_in(message))
        with self._lock:
            if self._bars is not None:
                from rich.text import Text

                self._bars.console.print(Text(message, style="dim"))
            else:
                print(message, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leave the terminal as it was, until the next task."""
        with self._lock:
            self._stop_waiting()
            if self._bars is not None:
                self._bars.stop()
                self._bars = None

    def _open(self) -> Progress:
        if self._bars is None:
            self._bars = _bars()
            self._bars.start()
        return self._bars

    def _choose(self) -> None:
        if self._bars is not None:
            tasks = self._bars.tasks
            shown = worth_showing(tasks, lambda task: task.total)
            for task in tasks:
                self._bars.update(task.id, visible=task in shown)

    def _wait(self, label: str) -> None:
        if self._seen:
            self._timer = threading.Timer(_PATIENCE, self._say, (label,))
            self._timer.daemon = True
            self._timer.start()

    def _say(self, label: str) -> None:
        with self._lock:
            if self._timer is threading.current_thread():  # nobody was faster
                self._idle = self._open().add_task(label, total=None)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._idle is not None and self._bars is not None:
            self._bars.remove_task(self._idle)
        self._idle = None


def _bars() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.text import Text

    class Left(ProgressColumn):
        """How long still, where anybody can say."""

        def render(self, task: Task) -> Text:
            left = seconds_left(task.completed, task.total, task.elapsed or 0.0)
            return Text(how_long(left))

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        Left(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,  # what is printed there is the result
    )
