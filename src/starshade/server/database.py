"""The studio's SQLite file: its tables, connections to it, and refusals in words."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from starshade.errors import OutputError, StarshadeError
from starshade.ratings.atomic import output_error

__all__ = ["Database"]

_SCHEMA = """
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
PRAGMA user_version = 1;
"""
_VERSION = 1
_PATIENCE = 10.0  # seconds that a write waits for another one
_FULL = (sqlite3.SQLITE_FULL,)
_FORBIDDEN = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)


class Database:
    """A SQLite file in write-ahead mode.

    Any thread may use it: whoever reads has a connection to themselves meanwhile, and so never
    waits for a write; writes take turns, and are on the disk when they return.

    Parameters
    ----------
    file : Path
        Made if it does not exist.

    Raises
    ------
    OutputError
        It cannot be written to, is damaged, or of a later version.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._writing = threading.RLock()
        self._idle: list[sqlite3.Connection] = []  # as many as were needed at once
        self._closed = False
        try:
            self._prepare()
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
        """Read.

        Raises
        ------
        OutputError
            The file is damaged, or the disk refuses.
        """
        with self._in_words(), self._borrowed() as db:
            return db.execute(query, values).fetchall()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Write all that is done inside, or nothing.

        Raises
        ------
        OutputError
            The disk is full or refuses (any OSError from the body too); nothing was written.
        """
        with self._writing, self._in_words(), self._borrowed() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                raise

    def _prepare(self) -> None:
        version = self.rows("PRAGMA user_version")[0][0]
        if version > _VERSION:
            raise OutputError(
                f"{self._file}: was made by a later version of starshade",
                advice="Use that version, or choose another folder with --work.",
            )
        if version == 0:
            with self._in_words(), self._borrowed() as db:
                db.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
            with suppress(OSError):
                self._file.chmod(0o600)

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
            self._file,
            timeout=_PATIENCE,
            isolation_level=None,
            check_same_thread=False,  # one thread after the other
        )
        try:
            made.row_factory = sqlite3.Row
            made.execute("PRAGMA journal_mode = WAL")
            made.execute("PRAGMA synchronous = FULL")  # a finished job survives a power cut
            made.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            made.close()
            raise
        return made

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Turn refusals into words."""
        try:
            yield
        except StarshadeError:
            raise
        except OSError as error:
            raise output_error(error, self._file.parent) from error
        except sqlite3.OperationalError as error:
            raise _refusal(error, self._file) from error
        except sqlite3.DatabaseError as error:
            raise OutputError(
                f"{self._file}: is damaged ({error})",
                advice="Choose another folder with --work: the releases and reports in this one "
                "stay readable.",
            ) from error


def _refusal(error: sqlite3.OperationalError, file: Path) -> OutputError:
    """Say in words why the database was not read or written."""
    code = error.sqlite_errorcode & 0xFF  # the rest is detail
    if code in _FULL:
        return output_error(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), file)
    if code in _FORBIDDEN:
        return output_error(PermissionError(errno.EACCES, os.strerror(errno.EACCES)), file)
    return OutputError(
        f"{file}: cannot be used: {error}",
        advice="Look at the disk and its free space, then start again.",
    )
