"""The folder that a studio works in: what lies where, and one studio at a time.

::

    WORK/                     0700
    ├── lock                  held while a studio works here
    ├── studio.sqlite         data sets and jobs: `starshade.server.store`
    ├── uploads/DATA/         a file as it came
    ├── data/DATA/JOB/        the ratings, as that job read them
    ├── releases/JOB/         release/  receipt.json  report.html  report-public.html  release.zip
    ├── open.html             the way in, while a studio is open: `starshade.server.serve`
    └── scratch/              what the worker has in the making; emptied between jobs
"""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from starshade.errors import OutputError
from starshade.ratings.atomic import output_error, refuse_in_release

__all__ = ["DATABASE", "Places", "flush", "open_work_folder"]

_FOLDERS = ("uploads", "data", "releases", "scratch")
DATABASE = "studio.sqlite"
_LOCK = "lock"


@dataclass(frozen=True)
class Places:
    """What lies where in a work folder.

    Parameters
    ----------
    work : Path
    """

    work: Path

    def upload(self, data_id: int) -> Path:
        """Return the folder of an uploaded file."""
        return self.work / "uploads" / str(data_id)

    def data(self, data_id: int) -> Path:
        """Return the folder of a data set, with one folder in it for each job that read it."""
        return self.work / "data" / str(data_id)

    def release(self, job_id: int) -> Path:
        """Return the folder of a release with its receipt, reports and zip file."""
        return self.work / "releases" / str(job_id)

    @property
    def scratch(self) -> Path:
        """The worker's folder for temporary files."""
        return self.work / "scratch"


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
        for name in _FOLDERS:
            (work / name).mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        os.close(lock)
        raise output_error(error, work) from error
    return lock


def flush(folder: Path) -> None:
    """Have a folder's entries on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _refuse_foreign(work: Path) -> None:
    """Refuse a folder with other things in it: what is not in the database is swept away here."""
    database = work / DATABASE
    if database.exists() and database.stat().st_size:
        return
    there = {entry.name: Path(entry.path) for entry in os.scandir(work)}
    ours = {_LOCK, *_FOLDERS, *(f"{DATABASE}{end}" for end in ("", "-wal", "-shm"))}
    if there.keys() <= ours and not any(
        any(there[name].iterdir()) for name in _FOLDERS if name in there
    ):
        return
    raise OutputError(
        f"{work}: holds files that are not this studio's",
        advice="Choose an empty folder, or one that does not exist yet."
        if there.keys() - ours
        else f"Its {DATABASE} is gone, which says what they are. Choose another folder with "
        "--work, and take from here what you need.",
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
