"""Progress and notes on stderr, and in the log file."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO, cast

from starshade.progress.words import how_long

if TYPE_CHECKING:
    from rich.progress import Progress, Task, TaskID

__all__ = ["Log", "Terminal"]


class Log:
    """A file that notes and errors are appended to, one dated line each.

    Parameters
    ----------
    file : TextIO
    values : bool
        Messages may quote ids and titles: only that there was one is then kept.
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

    def _append(self, kind: str, message: str) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        flat = message.replace("\n", " | ")
        self._file.write(f"{now} {kind} {flat}\n")
        self._file.flush()


class Terminal:
    """A reporter: bars where stderr is a terminal, notes everywhere.

    Parameters
    ----------
    quiet : bool
        Show neither on stderr.
    log : Log, optional
        Gets the notes too.
    """

    def __init__(self, *, quiet: bool = False, log: Log | None = None) -> None:
        self._quiet = quiet
        self._log = log
        self._bars: Progress | None = None
        self._terminal = sys.stderr.isatty()

    def start(self, label: str, total: float | None) -> int:
        """Show a bar, if anybody can see one."""
        if self._quiet or not self._terminal:
            return 0
        if self._bars is None:
            self._bars = _bars()
            self._bars.start()
        return self._bars.add_task(label, total=total)

    def advance(self, handle: int, amount: float) -> None:
        """Move a bar on."""
        if self._bars is not None:
            self._bars.advance(cast("TaskID", handle), amount)

    def stop(self, handle: int) -> None:
        """Take a bar away, and the display with the last one."""
        if self._bars is None:
            return
        self._bars.remove_task(cast("TaskID", handle))
        if not self._bars.tasks:
            self.close()

    def note(self, message: str) -> None:
        """Show one line, and keep it in the log."""
        if self._log is not None:
            self._log.write("note", message)
        self.show(message)

    def show(self, message: str) -> None:
        """Print one line, above the bars if there are any."""
        if self._quiet:
            return
        if self._bars is not None:
            from rich.text import Text

            self._bars.console.print(Text(message, style="dim"))
        else:
            print(message, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._bars is not None:
            self._bars.stop()
            self._bars = None


def _bars() -> Progress:
    """Say what is done, how far it is, for how long already, and how long it still takes."""
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
            return Text(how_long(None if task.total is None else task.time_remaining))

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        Left(),
        console=Console(stderr=True),
        transient=True,
    )
