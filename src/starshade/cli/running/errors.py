"""What goes wrong leaves as one message on stderr and an exit code.

====  =======================================================================
2     the request is wrong: usage, input, a place that cannot be written, memory
1     a valid request that the data do not meet
3     a bug of ours
130   Ctrl-C
143   SIGTERM
====  =======================================================================
"""

from __future__ import annotations

import atexit
import errno
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from starshade.cli.options.spelling import as_option
from starshade.cli.running.interrupt import Interrupt, deafen, interruptible, written_so_far
from starshade.cli.running.streams import steady_streams
from starshade.errors import InternalError, StarshadeError, UnmetError
from starshade.naming import speak

__all__ = ["DEBUG", "describe_error", "exit_code_of"]

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
        error.show()
        return 2
    message, code = describe_error(error)
    _say(message)
    return code


def describe_error(error: BaseException) -> tuple[str, int]:
    """Return the message for a person and the exit code."""
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return "Interrupted", 130
    if isinstance(error, InternalError):
        return f"Error: {error}", _BUG
    if isinstance(error, StarshadeError):
        return f"Error: {error}", 1 if isinstance(error, UnmetError) else 2
    if isinstance(error, MemoryError):
        return (
            "Error: the machine has no memory left for this\n"
            "Choose fewer items (--items), set --memory lower, or use a larger machine.",
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
        return f"{place}no space left on the disk\nFree some space or choose another place."
    return f"{place}{os.strerror(error.errno)}" if error.errno else str(error)


def _say(message: str) -> None:
    """Print on stderr; a reader that has gone is no reason for another error."""
    try:
        print(message, file=sys.stderr, flush=True)
    except OSError:
        sys.stderr = None
