"""The folder that a studio works in: what lies where.

::

    WORK/                     0700
    ├── studio.id             whose folder it is; locked while a studio works here: `ownership`
    ├── studio.sqlite         data sets and jobs: `starshade.server.jobs.store`
    ├── uploads/DATA/         a file as it came
    ├── data/DATA/JOB/        the ratings, as that job read them
    ├── releases/JOB/         release/  receipt.json  report.html  report-public.html  release.zip
    ├── open.html             the way in, while a studio is open: `starshade.server.serve`
    └── scratch/              what the worker has in the making; emptied between jobs
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from starshade.ratings.places.place import output_error

__all__ = ["DATABASE", "FOLDERS", "MARK", "PART", "Places", "flush", "furnish"]

FOLDERS = ("uploads", "data", "releases", "scratch")
DATABASE = "studio.sqlite"
MARK = "studio.id"
PART = "part-"  # how the name of an upload begins while it comes


@dataclass(frozen=True)
class Places:
    """What lies where in a work folder."""

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


def furnish(work: Path) -> None:
    """Make the folder's parts where they are missing, for its owner alone."""
    try:
        work.chmod(0o700)
        for name in FOLDERS:
            (work / name).mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise output_error(error, work) from error


def flush(folder: Path) -> None:
    """Have a folder's entries on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
