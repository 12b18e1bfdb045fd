"""Ownership of the work folder: one studio at a time.

Files without a row in the database are removed from a work folder. So a folder is accepted only if
it is empty or was made by a studio; this is checked before any change. ``studio.id`` in it and the
database must have the same id: another database would not list the files.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from starshade.errors import OutputError
from starshade.ratings.places.place import output_error, refuse_in_release
from starshade.server.jobs.database import DATABASE, FOLDERS, MARK, Places, refuse_foreign

_ELSEWHERE = "Choose another folder with --work, and copy what you need from this one."


@contextmanager
def claim(work: Path) -> Iterator[str]:
    """Lock a folder for this studio, and yield the studio's id; a refused folder stays unchanged.

    `work`: made if it does not exist. The lock ends with the process.
    """
    refuse_in_release(Path(os.path.realpath(work)), work)
    with ExitStack() as held:
        try:
            new = not _is_studio(work)
            if new:
                work.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(work / MARK, os.O_RDWR | (os.O_CREAT if new else 0), 0o600)
            held.callback(os.close, handle)
            _lock(work, handle)
            # another one may have made it its own meanwhile
            studio = _read(work, handle) if _is_studio(work) else _mark(handle)
        except OutputError:
            raise
        except OSError as error:
            raise output_error(error, work) from error
        yield studio


def refuse_newer(places: Places, *, data: int, job: int) -> None:
    """Refuse a folder with files that are newer than its database.

    `data` and `job`: the last numbers that were given.
    """
    for name, last in (("data", data), ("releases", job)):
        folder = places.work / name
        for entry in os.listdir(folder) if folder.is_dir() else ():
            if entry.isascii() and entry.isdigit() and int(entry) > last:
                raise OutputError(
                    f"{places.work / DATABASE}: is older than {name}/{entry} and does not list it",
                    advice=f"Restore the newest copy of it. {_ELSEWHERE}",
                )


def _is_studio(work: Path) -> bool:
    """Return whether the folder is a studio's; if not, it is missing or empty."""
    if not work.exists():
        return False
    if not work.is_dir():
        raise OutputError(f"{work}: is a file", advice="Choose a folder with --work.")
    there = {entry.name: Path(entry.path) for entry in os.scandir(work)}
    database = there.get(DATABASE)
    if database is not None and not database.is_file():
        raise OutputError(f"{database}: is not a file", advice=_ELSEWHERE)
    if database is not None and database.stat().st_size:
        refuse_foreign(database)
        if MARK not in there:
            raise OutputError(
                f"{work / MARK}: is missing; it identifies the studio of these files",
                advice=f"Restore it. {_ELSEWHERE}",
            )
        return True
    _refuse_others(work, there)
    return False


def _refuse_others(work: Path, there: dict[str, Path]) -> None:
    """Refuse a folder without a database and with more in it than a studio's first moments."""
    ours = {MARK, DATABASE, f"{DATABASE}.part", *FOLDERS}
    if there.keys() - ours:
        raise OutputError(
            f"{work}: contains files that are not this studio's",
            advice="Choose an empty folder, or one that does not exist yet.",
        )
    parts = [there[name] for name in FOLDERS if name in there]
    if any(not place.is_dir() or any(place.iterdir()) for place in parts):
        raise OutputError(
            f"{work}: contains files that are not this studio's",
            advice=f"Its {DATABASE}, which lists them, is missing. {_ELSEWHERE}",
        )


def _lock(work: Path, handle: int) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise OutputError(
            f"{work}: another studio uses this folder",
            advice="Use that studio, stop it (Ctrl-C in its terminal), or choose another folder "
            "with --work.",
        ) from error


def _read(work: Path, handle: int) -> str:
    content = os.pread(handle, 100, 0).decode(errors="replace").strip()
    if not content:
        raise OutputError(
            f"{work / MARK}: is empty; it identifies the studio of these files",
            advice=f"Restore it. {_ELSEWHERE}",
        )
    return content


def _mark(handle: int) -> str:
    studio = secrets.token_hex(16)
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"{studio}\n".encode(), 0)
    os.fsync(handle)
    return studio
