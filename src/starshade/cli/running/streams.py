"""The standard streams as a command needs them: there, and able to write any text.

A command may be started with a stream closed (``2>&-``): Python then has None in its place, and
the next file that is opened gets its number, so that what a library prints ends up in that file.
A stream may be unable to write a name or a sign (ASCII, a file name that is not UTF-8): that is
no reason to fail after the work is done.
"""

from __future__ import annotations

import os
import sys
from typing import TextIO

__all__ = ["closed_streams", "steady_streams", "writes_unicode"]

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
