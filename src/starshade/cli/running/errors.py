"""What goes wrong leaves as one message on stderr and an exit code.

====  =======================================================================
2     the request is wrong: usage, input, a place that cannot be written, memory
1     a valid request that the data do not meet
3     a bug of ours
4     nothing fails, but something could not be verified (``starshade verify``)
130   Ctrl-C
143   SIGTERM
====  =======================================================================
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO

import click

from starshade.cli.options.spelling import as_option
from starshade.errors import InternalError, StarshadeError, UnmetError
from starshade.naming import speak
from starshade.plain import visible
from starshade.ratings.readers.addresses.address import hidden_in

if TYPE_CHECKING:
    from starshade.ratings.places.place import Place


DEBUG = "STARSHADE_DEBUG"  # environment variable: show tracebacks too

_BUG = 3


def exit_code_of(call: Callable[[], Any]) -> int:
    """Run a command and say how it went."""
    steady_streams()
    interrupt = Interrupt()
    try:
        with interruptible(interrupt), speak(as_option, between=" "):
            code = call()
    except BaseException as error:
        return _leave(error, interrupt)
    atexit.register(deafen)
    return code if isinstance(code, int) else 0


def _leave(error: BaseException, interrupt: Interrupt) -> int:
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    # a library may have turned the interruption into an error of its own
    if interrupt.number or isinstance(error, (KeyboardInterrupt, click.Abort)):
        _say(f"Interrupted; {written_so_far()}.")
        return 128 + (interrupt.number or signal.SIGINT)  # as shells count
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    if isinstance(error, click.ClickException):
        vars(error)["message"] = visible(hidden_in(error.message))
        error.show()
        return 2
    message, code = describe_error(error)
    _say(f"{message}\n({written_so_far()}.)" if _kept else message)
    return code


def describe_error(error: BaseException) -> tuple[str, int]:
    """Return the message for a person and the exit code."""
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        number = error.number if isinstance(error, _Delivered) else signal.SIGINT
        return "Interrupted", 128 + number  # as shells count
    if isinstance(error, click.ClickException):
        return f"Error: {error.format_message()}", 2
    if isinstance(error, InternalError):
        return f"Error: {error}", _BUG
    if isinstance(error, StarshadeError):
        return f"Error: {error}", 1 if isinstance(error, UnmetError) else 2
    if isinstance(error, MemoryError):
        return (
            "Error: out of memory\n"
            "Select fewer items (--items), lower --memory, or use a larger machine.",
            2,
        )
    if isinstance(error, OSError):
        return f"Error: {_os_error(error)}", 2
    # its own words may quote an id, and a bug report travels
    bug = InternalError(f"{type(error).__name__}{_place_in_ours(error)}")
    return f"Error: {bug}\n({DEBUG}=1 shows the traceback.)", _BUG


def _place_in_ours(error: BaseException) -> str:
    """Say which line of this package raised an error; a folder's name does not tell whose it is."""
    ours = [
        f" at {Path(frame.f_code.co_filename).name}:{line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).partition(".")[0] == "starshade"
    ]
    return ours[-1] if ours else ""


def _os_error(error: OSError) -> str:
    place = f"{error.filename}: " if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{place}no space left on the disk\nFree some space or choose another path."
    return f"{place}{os.strerror(error.errno)}" if error.errno else str(error)


def _say(message: str) -> None:
    """Print on stderr; a reader that has gone is no reason for another error."""
    try:
        print(visible(hidden_in(message)), file=sys.stderr, flush=True)
    except OSError:
        sys.stderr = None


PATIENCE = 5.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_written: list[Place] = []
_kept: list[Path] = []


def wrote(place: Place) -> None:
    """Remember what this command has finished writing, for the message on an interruption."""
    _written.append(place)


def has_written() -> bool:
    """Tell whether this command has finished writing anything."""
    return bool(_written)


def keeps(parts: Path | None) -> None:
    """Remember where this command keeps what it has finished, for the same message."""
    _kept[:] = [] if parts is None else [parts]


def written_so_far() -> str:
    """Say what an interrupted command leaves behind."""
    if _kept:
        return f"finished parts are kept in {_kept[0]}; --resume continues"
    if not _written:
        return "nothing was written"
    return f"complete before: {', '.join(map(str, _written))}"


@dataclass
class Interrupt:
    """Whether a signal came, and which."""

    number: int = 0  # the signal; 0 before one came
    # set once Python has delivered it to the work
    back: threading.Event = field(default_factory=threading.Event)


class _Delivered(KeyboardInterrupt):
    """Not `KeyboardInterrupt` itself: Python would die of SIGINT if that ever passes ``exec``."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def interruptible(interrupt: Interrupt) -> Iterator[None]:
    """Turn SIGINT and SIGTERM into KeyboardInterrupt, and make sure that they work."""
    _written.clear()
    _kept.clear()
    if threading.current_thread() is not threading.main_thread():
        yield  # signals belong to the main thread
        return

    def deliver(number: int, frame: FrameType | None) -> None:
        interrupt.number = number
        interrupt.back.set()
        raise _Delivered(number)

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
            _tell("Stopping after the current step (Ctrl-C again: immediately) …")
            line.settimeout(PATIENCE)
            with contextlib.suppress(TimeoutError):
                line.recv(1)  # a second signal, or the end of the work
            line.settimeout(None)
            if not interrupt.back.is_set():
                _tell(f"Interrupted; {written_so_far()}.")
                os._exit(128 + number)


def _tell(message: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        print(visible(message), file=sys.stderr, flush=True)


_closed: set[str] = set()


def steady_streams() -> None:
    """Put the null device where a stream is closed; let no character be an error.

    Called once, before anything is opened. What cannot be written is written as an escape.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            _closed.add(("stdin", "stdout", "stderr")[number])
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def closed_streams() -> frozenset[str]:
    """Return the names of the streams that were closed when the command began."""
    return frozenset(_closed)


def writes_unicode(stream: TextIO) -> bool:
    """Tell whether a stream can write every character as it is."""
    return (stream.encoding or "").lower().replace("-", "").startswith("utf")
