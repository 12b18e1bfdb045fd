"""The studio's store: data sets and jobs, in SQLite (WAL).

A row never refers to incomplete files: they are moved into place first, and then the row
is committed and flushed to the disk. So a folder without its row is waste. (Only when data are
removed, the files go first.)
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from starshade.errors import ConfigError, StarshadeError
from starshade.ratings.places.place import resolve_folder
from starshade.server.jobs.database import DATABASE, Database, Places, furnish
from starshade.server.jobs.ownership import claim, refuse_newer


class Store:
    """The work folder of one studio.

    Any thread may use it: each reader has its own connection, and so never waits for a write;
    writes take turns.

    `work`: made if it does not exist.
    """

    def __init__(self, work: Path) -> None:
        self.work = resolve_folder(work)
        self.places = Places(self.work)
        self._live: dict[int, _Live] = {}
        with ExitStack() as opened:
            studio = opened.enter_context(claim(self.work))
            self._database = Database(self.work / DATABASE, studio)
            opened.callback(self._database.close)
            given = dict(map(tuple, self._database.rows("SELECT name, seq FROM sqlite_sequence")))
            refuse_newer(self.places, data=given.get("data", 0), job=given.get("job", 0))
            furnish(self.work)
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Close the database and let go of the folder."""
        self._opened.close()

    def ensure_there(self) -> None:
        """Raise an error if the work folder is missing."""
        self._database.ensure_there()

    # data sets

    def add_data(
        self, kind: DataKind, name: str, source: str, options: Mapping[str, Any] | None = None
    ) -> DataRow:
        """Add a data set; nothing is read yet (`add_job` with kind "read")."""
        with self._database.write() as db:
            data_id = self._insert_data(db, kind, name, source, dict(options or {}))
        return self.data(data_id)

    def data(self, data_id: int) -> DataRow:
        """Return one data set."""
        rows = self._database.rows("SELECT * FROM data WHERE id = ?", data_id)
        if not rows:
            raise ConfigError("this data set does not exist", advice="It may have been removed.")
        return _data_row(rows[0])

    def all_data(self) -> tuple[DataRow, ...]:
        """Return all data sets, the newest first."""
        return tuple(map(_data_row, self._database.rows("SELECT * FROM data ORDER BY id DESC")))

    def remove_data(self, data_id: int) -> None:
        """Remove a data set, its jobs, and all their files."""
        self.data(data_id)
        with self._database.write() as db:
            busy = db.execute(
                "SELECT 1 FROM job WHERE data_id = ? AND state IN ('queued', 'running')", (data_id,)
            ).fetchone()
            if busy:
                raise ConfigError(
                    "this data set has unfinished jobs",
                    advice="Cancel its jobs first, or wait until they are done.",
                )
            made = [self.places.release(job.id) for job in self.jobs(data_id)]
            # first: on a full disk they make the room that the rest needs
            for folder in (*made, self.places.data(data_id), self.places.upload(data_id)):
                shutil.rmtree(folder, ignore_errors=True)  # what stays is swept away later
            db.execute("DELETE FROM data WHERE id = ?", (data_id,))
        self._database.scrub()

    def add_upload(self, name: str, file: str, part: Path) -> DataRow:
        """Add a complete upload, and move it into place.

        `name`: what the pages call it; `file`: what it is called on the disk; `part`: where it
        lies, flushed to the disk: in the folder of uploads, under a name that is not a number
        (what is still there at the next start is swept away).
        """
        place: Path | None = None
        try:
            with self._database.write() as db:
                data_id = self._insert_data(db, "upload", name, file, {})
                place = self.places.upload(data_id)
                place.mkdir(mode=0o700)
                part.rename(place / file)
        except StarshadeError:
            if place is not None:
                with suppress(OSError):
                    (place / file).rename(part)
                shutil.rmtree(place, ignore_errors=True)
            raise
        return self.data(data_id)

    def add_beside(self, data_id: int, role: str, file: str, part: Path) -> Path:
        """Store an additional file of an upload, and return its path; see `add_upload`.

        `role`: ``users`` or ``item_names``; another one that had it goes.
        """
        place = self.places.upload(data_id) / role
        with self._database.write():
            self.data(data_id)
            shutil.rmtree(place, ignore_errors=True)
            place.parent.mkdir(mode=0o700, exist_ok=True)  # `parents` would leave it open
            place.mkdir(mode=0o700)
            part.rename(place / file)
        return place / file

    def beside(self, data_id: int) -> dict[str, str]:
        """Return the additional files of an upload, by role."""
        places = self.places.upload(data_id)
        return {role: str(file) for role in BESIDE for file in (places / role).glob("*")}

    # jobs

    def add_job(
        self, kind: JobKind, data_id: int, settings: Mapping[str, Any] | None = None
    ) -> JobRow:
        """Put a job at the end of the queue (and wake the engine)."""
        self.data(data_id)
        with self._database.write() as db:
            cursor = db.execute(
                "INSERT INTO job (kind, data_id, settings, created) VALUES (?, ?, ?, ?)",
                (kind, data_id, _text(dict(settings or {})), time.time()),
            )
        return self.job(int(cursor.lastrowid or 0))

    def job(self, job_id: int) -> JobRow:
        """Return one job, with its current progress."""
        rows = self._database.rows("SELECT * FROM job WHERE id = ?", job_id)
        if not rows:
            raise ConfigError("this job does not exist", advice="It may have been removed.")
        return self._job_row(rows[0])

    def jobs(
        self,
        data_id: int | None = None,
        *,
        kinds: Sequence[JobKind] = (),
        states: Sequence[State] = (),
        limit: int | None = None,
    ) -> tuple[JobRow, ...]:
        """Return all jobs, or those of one data set, the newest first.

        Empty `kinds` or `states`: all; `limit`, as results can be long.
        """
        wanted = {"kind": kinds, "state": states, "data_id": () if data_id is None else (data_id,)}
        where = [f"{name} IN ({', '.join('?' * len(of))})" for name, of in wanted.items() if of]
        rows = self._database.rows(
            f"SELECT * FROM job {'WHERE' if where else ''} {' AND '.join(where)} "
            "ORDER BY id DESC LIMIT ?",
            *(value for of in wanted.values() for value in of),
            -1 if limit is None else limit,
        )
        return tuple(map(self._job_row, rows))

    def job_count(self, data_id: int, *, kinds: Sequence[JobKind]) -> int:
        """Return how many jobs of these kinds a data set has."""
        places = ", ".join("?" * len(kinds))
        query = f"SELECT COUNT(*) FROM job WHERE data_id = ? AND kind IN ({places})"
        return int(self._database.rows(query, data_id, *kinds)[0][0])

    def next_job(self) -> JobRow | None:
        """Return the job that waits longest."""
        rows = self._database.rows("SELECT * FROM job WHERE state = 'queued' ORDER BY id LIMIT 1")
        return self._job_row(rows[0]) if rows else None

    def begin(self, job_id: int) -> bool:
        """Mark a waiting job as running; return False if it no longer waits."""
        with self._database.write() as db:
            changed = db.execute(
                "UPDATE job SET state = 'running', started = ? WHERE id = ? AND state = 'queued'",
                (time.time(), job_id),
            )
        return changed.rowcount == 1

    def report(self, job_id: int, progress: Sequence[Step], notes: Sequence[str]) -> None:
        """Record the progress of a running job, in memory until it ends."""
        self._live[job_id] = _Live(tuple(progress), tuple(notes))

    def finish(
        self,
        job_id: int,
        state: State,
        *,
        result: Mapping[str, Any] | None = None,
        error: str | None = None,
        advice: str | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> bool:
        """End a waiting or running job in one transaction, on disk when this returns.

        `facts`: the facts of its data set, which from now on is read by the job's settings (if it
        has any). False if the job had ended before; then nothing is changed.
        """
        live = self._live.get(job_id, _Live())
        values = (
            state,
            time.time(),
            _text([asdict(replace(step, over=True)) for step in live.now()]),
            _text(list(live.notes)),
            None if result is None else _text(dict(result)),
            error,
            advice,
            job_id,
        )
        with self._database.write() as db:
            changed = db.execute(
                "UPDATE job SET state = ?, finished = ?, progress = ?, notes = ?, result = ?, "
                "error = ?, advice = ? WHERE id = ? AND state IN ('queued', 'running')",
                values,
            ).rowcount
            if changed and facts is not None:
                db.execute(
                    "UPDATE data SET facts = ?, options = "
                    "CASE job.settings WHEN '{}' THEN options ELSE job.settings END "
                    "FROM job WHERE job.id = ? AND data.id = job.data_id",
                    (_text(dict(facts)), job_id),
                )
        self._live.pop(job_id, None)
        return changed == 1

    # rows

    @staticmethod
    def _insert_data(
        db: sqlite3.Connection, kind: str, name: str, source: str, options: dict[str, Any]
    ) -> int:
        cursor = db.execute(
            "INSERT INTO data (name, kind, source, options, created) VALUES (?, ?, ?, ?, ?)",
            (name, kind, source, _text(options), time.time()),
        )
        return int(cursor.lastrowid or 0)

    def _job_row(self, row: sqlite3.Row) -> JobRow:
        fields = _loaded(row, "settings", "progress", "notes", "result")
        fields["progress"] = tuple(Step(**step) for step in fields["progress"])
        job = JobRow(**{**fields, "notes": tuple(fields["notes"])})
        live = self._live.get(job.id)
        if live is None or job.state in ENDED:
            return job
        return replace(job, progress=live.now(), notes=live.notes)


@dataclass(frozen=True)
class _Live:
    """The latest progress of a running job."""

    steps: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()
    heard: float = field(default_factory=time.monotonic)

    def now(self) -> tuple[Step, ...]:
        """Return the steps, the clocks of those that go on set to now."""
        silent = time.monotonic() - self.heard
        return tuple(
            step if step.over else replace(step, seconds=step.seconds + silent)
            for step in self.steps
        )


def _data_row(row: sqlite3.Row) -> DataRow:
    return DataRow(**_loaded(row, "options", "facts"))


def _loaded(row: sqlite3.Row, *texts: str) -> dict[str, Any]:
    return dict(row) | {name: json.loads(row[name] or "null") for name in texts}


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


DataKind = Literal["file", "upload", "synthetic"]
#: roles of additional files
BESIDE = ("users", "item_names")
JobKind = Literal["read", "attack", "compare", "release"]
State = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]

#: states that a job does not leave
ENDED: frozenset[State] = frozenset({"done", "failed", "cancelled", "interrupted"})


@dataclass(frozen=True)
class Step:
    """A step of a job."""

    label: str  # e.g. "attacking"
    done: float  # how much of it, from 0 to `total`
    total: float | None  # None: unknown
    seconds: float  # since it began; how long it took, once it is over
    over: bool = False

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds left; None if unknown."""
        if self.over or self.total is None or not 0 < self.done <= self.total:
            return None
        return self.seconds * (self.total - self.done) / self.done


@dataclass(frozen=True)
class DataRow:
    """A data set."""

    id: int  # never given twice
    name: str  # shown on the pages; untrusted text
    kind: DataKind
    # the path of a file, the name of an upload in its folder, or the preset of made-up ratings
    source: str
    options: dict[str, Any]  # how it is read; see `starshade.server.tasks.read`
    created: float  # seconds since 1970
    # what was found when it was read: see `starshade.server.tasks.read`. None: not read yet.
    facts: dict[str, Any] | None = None


@dataclass(frozen=True)
class JobRow:
    """A job on a data set."""

    id: int  # never given twice
    kind: JobKind
    data_id: int
    settings: dict[str, Any]  # what is to be done; see the kind's task
    state: State  # "interrupted": the studio was ended while the job ran
    created: float  # seconds since 1970, as all times here
    started: float | None = None
    finished: float | None = None
    progress: tuple[Step, ...] = ()  # in the order in which they began
    notes: tuple[str, ...] = ()  # what was worth knowing on the way
    # what a job that is done found; see the kind's task. Of one that failed by one setting
    # ``{"setting": its name}``.
    result: dict[str, Any] | None = field(default=None, repr=False)
    # `error`, `advice`: why a job failed, and what to do about it
    error: str | None = None
    advice: str | None = None

    @property
    def ended(self) -> bool:
        """Whether the job has ended."""
        return self.state in ENDED
