"""What nobody speaks of any more is removed: folders of jobs that did not end well.

Only names that the studio gives; see `starshade.server.jobs.ownership` for whose folder it is.
"""

from __future__ import annotations

import shutil
from collections.abc import Container
from contextlib import suppress
from pathlib import Path

from starshade.server.jobs.rows import JobRow
from starshade.server.jobs.store import Store
from starshade.server.jobs.work_folder import PART

__all__ = ["empty", "sweep", "sweep_job"]

_HALF = (PART, ".tmp-")  # an upload; what `starshade.ratings.places.atomic` writes


def sweep(store: Store) -> None:
    """Remove every file that no row speaks of.

    For the start, when nothing is in the making: no worker runs and no upload.
    """
    empty(store.places.scratch)
    data = {row.id: row for row in store.all_data()}
    _keep(store.work / "uploads", [row.id for row in data.values() if row.kind == "upload"])
    _keep(store.work / "data", data)
    for row in data.values():
        _keep(store.places.data(row.id), [(row.facts or {}).get("job")])
    made = store.jobs(kinds=("release",), states=("done",))
    _keep(store.work / "releases", [job.id for job in made])


def sweep_job(store: Store, job: JobRow) -> None:
    """Remove what a job left behind, as far as it does not count, and what it replaced."""
    empty(store.places.scratch)
    if job.kind == "read":
        row = store.data(job.data_id)
        _keep(store.places.data(row.id), [(row.facts or {}).get("job")])
    if job.kind == "release" and store.job(job.id).state != "done":
        _remove(store.places.release(job.id))


def empty(folder: Path) -> None:
    """Remove everything in a folder, as far as that can be done."""
    with suppress(OSError):
        for entry in list(folder.iterdir()):
            _remove(entry)


def _keep(folder: Path, ids: Container[int | None]) -> None:
    """Remove the folders with other numbers than these, and what is half."""
    with suppress(OSError):
        for entry in list(folder.iterdir()):
            if entry.name.isascii() and entry.name.isdigit():
                half = int(entry.name) not in ids
            else:
                half = entry.name.startswith(_HALF)
            if half:
                _remove(entry)


def _remove(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry, ignore_errors=True)
    else:
        with suppress(OSError):
            entry.unlink()
