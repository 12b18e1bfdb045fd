"""The studio's SQLite file: its tables, connections and error messages."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starshade.errors import OutputError, StarshadeError
from starshade.ratings.places.place import output_error

_SCHEMA = """
CREATE TABLE studio (id TEXT NOT NULL);
CREATE TABLE data (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL, kind TEXT NOT NULL, source TEXT NOT NULL, options TEXT NOT NULL,
    created REAL NOT NULL, facts TEXT
);
CREATE TABLE job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL, data_id INTEGER NOT NULL REFERENCES data(id) ON DELETE CASCADE,
    settings TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'queued',
    created REAL NOT NULL, started REAL, finished REAL,
    progress TEXT NOT NULL DEFAULT '[]', notes TEXT NOT NULL DEFAULT '[]',
    result TEXT, error TEXT, advice TEXT
);
CREATE INDEX job_of_data ON job(data_id);
CREATE INDEX job_in_state ON job(state);
"""
_VERSION = 2
_OURS = int.from_bytes(b"star")  # PRAGMA application_id
_MAGIC = b"SQLite format 3\0"
_HEADER = 100  # bytes of it that SQLite describes
_PATIENCE = 10.0  # seconds that a write waits for another one
_FULL = (sqlite3.SQLITE_FULL,)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_FORBIDDEN = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_ELSEWHERE = (
    "Choose another folder with --work; the releases and reports in this one stay readable."
)


class Database:
    """A SQLite file in write-ahead mode.

    Any thread may use it. Each reader has its own connection, and so never waits for a write.
    Writes take turns, and are on disk when they return.

    The file is made if it does not exist or is empty; `studio`: the id of the one it belongs to.
    """

    def __init__(self, file: Path, studio: str) -> None:
        self._file = file
        self._writing = threading.RLock()
        self._idle: list[sqlite3.Connection] = []  # as many as were needed at once
        self._closed = False
        self._is: tuple[int, int] | None = None
        try:
            with self._in_words():
                if not file.exists() or not file.stat().st_size:
                    _create(file, studio)
                self._is = _which(file)
            self._ensure_of(studio)
            with self.write() as db:  # SQLite opens what may only be read without a word
                db.execute("UPDATE studio SET id = id")
            self.scrub()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close every connection."""
        with self._writing:
            self._closed = True
            while self._idle:
                self._idle.pop().close()

    def rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        """Return the rows of a query."""
        with self._in_words(), self._borrowed() as db:
            return db.execute(query, values).fetchall()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Write in one transaction; an OSError inside becomes an OutputError."""
        with self._writing, self._in_words(), self._borrowed() as db:
            self.ensure_there()  # SQLite writes to a file without a name as if nothing had been
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                raise

    def ensure_there(self) -> None:
        """Raise an error if the file is missing or replaced."""
        try:
            there = _which(self._file) == self._is
        except OSError:
            there = False
        if not there:
            raise OutputError(
                f"{self._file.parent}: the work folder was removed or replaced while the studio "
                "was running; further results are not saved",
                advice="Stop the studio (Ctrl-C in its terminal) and start it again.",
            )

    def scrub(self) -> None:
        """Remove deleted content from the disk, as far as possible now."""
        with suppress(StarshadeError):
            self.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def _ensure_of(self, studio: str) -> None:
        if [row[0] for row in self.rows("SELECT id FROM studio")] != [studio]:
            raise OutputError(
                f"{self._file}: belongs to another studio than the files in this folder",
                advice="Restore the database that was made with them, or choose another folder "
                "with --work and copy what you need from this one.",
            )

    @contextmanager
    def _borrowed(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection: threads come and go, and each would leave one open."""
        try:
            db = self._idle.pop()
        except IndexError:
            db = self._connect()
        try:
            yield db
        finally:
            if self._closed:
                db.close()
            else:
                self._idle.append(db)

    def _connect(self) -> sqlite3.Connection:
        made = sqlite3.connect(
            f"{self._file.as_uri()}?mode=rw",  # a missing file is not created
            uri=True,
            timeout=_PATIENCE,
            isolation_level=None,
            check_same_thread=False,  # one thread after the other
        )
        try:
            made.row_factory = sqlite3.Row
            made.execute("PRAGMA journal_mode = WAL")
            made.execute("PRAGMA synchronous = FULL")  # a finished job survives a power cut
            made.execute("PRAGMA foreign_keys = ON")
            made.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten
        except BaseException:
            made.close()
            raise
        return made

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except StarshadeError:
            raise
        except OSError as error:
            raise output_error(error, self._file.parent) from error
        except sqlite3.DatabaseError as error:
            if self._is is not None:
                self.ensure_there()
            raise _refusal(error, self._file) from error


def refuse_foreign(file: Path) -> None:
    """Refuse a database of another program or version, without changing it.

    The file is not empty.
    """
    with file.open("rb") as opened:
        header = opened.read(_HEADER)
    if len(header) < _HEADER or not header.startswith(_MAGIC):
        raise _damaged(file, "no SQLite header")
    version, application = (int.from_bytes(header[at : at + 4]) for at in (60, 68))
    if application != _OURS or version < _VERSION:
        raise OutputError(
            f"{file}: was made by another program, or by an earlier version of starshade",
            advice=f"Nothing was changed. {_ELSEWHERE}",
        )
    if version > _VERSION:
        raise OutputError(
            f"{file}: was made by a later version of starshade",
            advice="Use that version, or choose another folder with --work.",
        )


def _create(file: Path, studio: str) -> None:
    """Make the database; it appears only when complete."""
    part = file.with_name(f"{file.name}.part")
    part.unlink(missing_ok=True)
    # SQLite gives its additional files the same mode
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    made = sqlite3.connect(part, isolation_level=None)
    try:
        made.execute("PRAGMA journal_mode = MEMORY")
        made.executescript(
            f"BEGIN; {_SCHEMA} PRAGMA application_id = {_OURS}; PRAGMA user_version = {_VERSION};"
        )
        made.execute("INSERT INTO studio (id) VALUES (?)", (studio,))
        made.execute("COMMIT")
    finally:
        made.close()
    part.replace(file)
    flush(file.parent)


def _which(file: Path) -> tuple[int, int]:
    """Return the identity of a file."""
    stat = file.stat()
    return stat.st_dev, stat.st_ino


def _damaged(file: Path, how: str) -> OutputError:
    return OutputError(f"{file}: is damaged ({how})", advice=_ELSEWHERE)


def _refusal(error: sqlite3.DatabaseError, file: Path) -> OutputError:
    if not isinstance(error, sqlite3.OperationalError):
        return _damaged(file, str(error))
    code = error.sqlite_errorcode & 0xFF  # the rest is detail
    if code in _FULL:
        return output_error(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), file)
    if code in _FORBIDDEN:
        return output_error(PermissionError(errno.EACCES, os.strerror(errno.EACCES)), file)
    if code in _BUSY:
        return OutputError(
            f"{file}: is locked by another program", advice="Close that program and try again."
        )
    if code == sqlite3.SQLITE_ERROR:  # a table that is not there
        return _damaged(file, str(error))
    return OutputError(
        f"{file}: cannot be used: {error}", advice="Check the disk, then start the studio again."
    )


FOLDERS = ("uploads", "data", "releases", "scratch")
DATABASE = "studio.sqlite"
MARK = "studio.id"
PART = "part-"  # how the name of an upload begins while it comes


@dataclass(frozen=True)
class Places:
    """The paths in a work folder."""

    work: Path

    def upload(self, data_id: int) -> Path:
        """Return the folder of an uploaded file."""
        return self.work / "uploads" / str(data_id)

    def data(self, data_id: int) -> Path:
        """Return the folder of a data set, with one folder in it for each job that read it."""
        return self.work / "data" / str(data_id)

    def release(self, job_id: int) -> Path:
        """Return the folder of a release with its private key file, reports and zip file."""
        return self.work / "releases" / str(job_id)

    @property
    def scratch(self) -> Path:
        """The worker's folder for temporary files."""
        return self.work / "scratch"


def furnish(work: Path) -> None:
    """Create missing subfolders, accessible to their owner alone."""
    try:
        work.chmod(0o700)
        for name in FOLDERS:
            (work / name).mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise output_error(error, work) from error


def flush(folder: Path) -> None:
    """Flush the entries of a folder to disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
