"""The folder that a studio works in: made, or found to be one, and held by one studio at a time."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from starshade.errors import OutputError
from starshade.ratings.atomic import output_error, refuse_in_release

__all__ = ["FOLDERS", "open_work_folder"]

FOLDERS = ("uploads", "data", "releases", "scratch")
_DATABASE = "studio.sqlite"
_LOCK = "lock"


def open_work_folder(work: Path) -> int:
    """Make the folder and its parts where they are missing, and take its lock.

    Parameters
    ----------
    work : Path

    Returns
    -------
    int
        The lock's file handle; it is held until that is closed, also when the process is killed.

    Raises
    ------
    OutputError
        Another studio works there, the folder holds something else, or it cannot be written to.
    """
    refuse_in_release(work / _LOCK, str(work))
    try:
        work.mkdir(mode=0o700, parents=True, exist_ok=True)
        _refuse_foreign(work)
        lock = _lock(work)
    except OutputError:
        raise
    except OSError as error:
        raise output_error(error, work) from error
    try:
        work.chmod(0o700)
        for name in FOLDERS:
            (work / name).mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        os.close(lock)
        raise output_error(error, work) from error
    return lock


def _refuse_foreign(work: Path) -> None:
    """Refuse a folder with other things in it: what is not in the database is swept away here."""
    there = {entry.name for entry in os.scandir(work)}
    if _DATABASE not in there and there - {_LOCK, *FOLDERS}:
        raise OutputError(
            f"{work}: holds other files, and is not a studio's work folder",
            advice="Choose an empty folder, or one that does not exist yet.",
        )


def _lock(work: Path) -> int:
    handle = os.open(work / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise OutputError(
            f"{work}: another studio is at work in this folder",
            advice="Use the page that it opened, end it first (Ctrl-C where it was started), or "
            "choose another folder with --work.",
        ) from error
    except OSError:
        os.close(handle)
        raise
    return handle
