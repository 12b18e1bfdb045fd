"""The engine: one queue and one worker, which runs jobs one after the other."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Container
from contextlib import suppress
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from starshade import budget
from starshade.errors import InternalError, OutputError, StarshadeError
from starshade.server.jobs.database import PART
from starshade.server.jobs.store import JobRow, State, Step, Store

_RETRY = 5.0  # seconds, where the disk refuses
_PATIENCE = 30.0  # seconds for a killed process to be gone

_INTERRUPTED = (
    "The studio was stopped during this job.",
    "Its results were discarded. Run it again; earlier results are kept.",
)
_OUT_OF_MEMORY = (
    "The system stopped this job, most likely because memory ran out.",
    "Close other programs, or use fewer items (top:100), methods or targets. Then run it again.",
)


@dataclass(frozen=True)
class _End:
    state: State
    result: dict[str, Any] | None = None
    error: str | None = None
    advice: str | None = None
    facts: dict[str, Any] | None = None


class Engine:
    """Runs the jobs of a store, one after the other, in a worker process.

    Examples
    --------
    >>> engine = Engine(store)  # doctest: +SKIP
    >>> engine.start()  # doctest: +SKIP
    >>> job = store.add_job("read", data.id); engine.wake()  # doctest: +SKIP
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._changed = threading.Condition()
        self._current: int | None = None
        self._doomed: int | None = None
        self._closing = False
        self._worker: Worker | None = None
        self._unwritten: list[tuple[JobRow, _End]] = []
        self._poked, self._poke = os.pipe()
        self._thread = threading.Thread(target=self._run, name="studio engine", daemon=True)

    def start(self) -> None:
        """Mark interrupted jobs, remove their files, and start the queue."""
        error, advice = _INTERRUPTED
        for job in self._store.jobs(states=("running",)):
            self._store.finish(job.id, "interrupted", error=error, advice=advice)
        sweep(self._store)
        self._thread.start()

    def wake(self) -> None:
        """Notify the engine of a new job."""
        with self._changed:
            self._changed.notify_all()

    def cancel(self, job_id: int) -> JobRow:
        """Cancel a waiting or running job, and return it.

        One that had ended before stays as it is.
        """
        with self._changed:
            if self._current == job_id:
                self._doomed = job_id
                os.write(self._poke, b"!")
                self._changed.wait_for(lambda: self._current != job_id, _PATIENCE)
            else:
                self._store.finish(job_id, "cancelled")
        return self._store.job(job_id)

    def close(self) -> None:
        """Stop the worker; a running job is marked as interrupted, waiting jobs stay queued."""
        with self._changed:
            self._closing = True
            os.write(self._poke, b"!")
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()
        for handle in (self._poked, self._poke):
            with suppress(OSError):
                os.close(handle)

    @property
    def worker_pid(self) -> int | None:
        """Number of the worker process, if there is one now."""
        worker = self._worker
        return None if worker is None else worker.pid

    # the thread

    def _run(self) -> None:
        try:
            while not self._closing:
                try:
                    while self._unwritten:
                        self._finish(*self._unwritten[0])
                        del self._unwritten[0]
                    job = self._take()
                    if job is not None:
                        self._do(job)
                except Exception as error:  # a full disk is no reason to give up
                    self._complain(_in_words(error))
                    with self._changed:
                        self._changed.wait_for(lambda: self._closing, _RETRY)
        finally:
            self._dismiss()

    def _complain(self, trouble: StarshadeError) -> None:
        with suppress(StarshadeError):
            waiting = [job for job, _ in self._unwritten] + [self._store.next_job()]
            for job in filter(None, waiting):
                self._store.report(job.id, (), (trouble.message, trouble.advice))

    def _take(self) -> JobRow | None:
        """Wait for a job, and mark it as running; None when the engine closes."""
        self._employ()  # before a job waits for it
        with self._changed:
            while not self._closing:
                job = self._store.next_job()
                if job is not None and self._store.begin(job.id):
                    self._current = job.id
                    return self._store.job(job.id)
                if job is None:
                    self._changed.wait()
        return None

    def _do(self, job: JobRow) -> None:
        try:
            end = self._have_done(job)
        except Exception as error:
            failure = _in_words(error)
            end = _End("failed", error=failure.message, advice=failure.advice)
        try:
            self._settle(job, end)
        finally:
            with self._changed:
                self._current = self._doomed = None
                self._changed.notify_all()

    def _have_done(self, job: JobRow) -> _End:
        worker = self._employ()
        data = self._store.data(job.data_id)
        empty(self._store.places.scratch)
        worker.send(
            {
                "job": job.id,
                "kind": job.kind,
                "data": asdict(data),
                "settings": job.settings,
                "limits": budget.given(),
            }
        )
        while True:
            ready = wait([worker.connection, self._poked])
            if worker.connection in ready:
                message = worker.receive()
                if message is None:
                    self._worker = None
                    return _died(worker.bury())
                end = self._heard(job, message)
                if end is not None:
                    return end
            elif self._poked in ready:
                os.read(self._poked, 1)
                if self._doomed == job.id:
                    self._dismiss()
                    return _End("cancelled")
                if self._closing:
                    self._dismiss()
                    return _End("interrupted", None, *_INTERRUPTED)

    def _heard(self, job: JobRow, message: dict[str, Any]) -> _End | None:
        if "progress" in message:
            steps = [Step(**step) for step in message["progress"]]
            self._store.report(job.id, steps, message["notes"])
            return None
        if "error" in message:
            at = {"setting": message["setting"]} if "setting" in message else None
            return _End("failed", at, message["error"], message["advice"] or None)
        return _End("done", message["result"], facts=message["facts"])

    def _settle(self, job: JobRow, end: _End) -> None:
        """Commit the end of a job; if that fails, discard the job's files and mark it as failed."""
        if end.state != "done":  # files go before the state is visible
            sweep_job(self._store, job)
        try:
            self._finish(job, end)
        except StarshadeError as error:
            if end.state == "done":
                end = _End("failed", error=error.message, advice=error.advice)
            self._unwritten.append((job, end))  # again when there is room: the sweep makes some
            raise
        finally:
            sweep_job(self._store, job)

    def _finish(self, job: JobRow, end: _End) -> None:
        self._store.finish(job.id, **vars(end))

    def _employ(self) -> Worker:
        if self._worker is None:
            self._worker = Worker(self._store.work)
        return self._worker

    def _dismiss(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()


def _in_words(error: Exception) -> StarshadeError:
    """Return the error to show; details of an internal error go to stderr."""
    if isinstance(error, StarshadeError):
        return error
    traceback.print_exception(error)
    return InternalError(type(error).__name__)


def _died(code: int) -> _End:
    if code == -signal.SIGKILL:
        return _End("failed", None, *_OUT_OF_MEMORY)
    what = f"signal {-code}" if code < 0 else f"exit code {code}"
    return _End(
        "failed",
        error=f"The worker process crashed ({what}).",
        advice="This is a bug in starshade, not in your data. Please report it with the terminal "
        "output of the studio and the output of `starshade doctor`.",
    )


# not `-m`: nothing is imported from the folder that the studio was started in
_START = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from starshade.server.tasks.worker import main; main(sys.argv[2:])"
)
_STDERR = 2
_LAST_BREATH = 5.0  # seconds from closing its socket to being gone; more if it dumps its memory


class Worker:
    """A worker process; it ends with the thread that made it."""

    def __init__(self, work: Path) -> None:
        ours, theirs = socket.socketpair()
        arguments = [str(Path(__file__).parents[3]), str(theirs.fileno())]
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, *arguments, str(os.getpid()), str(work)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=_STDERR,  # stdout is the command's, for its result
                process_group=0,  # Ctrl-C is for the server to answer
            )
        except OSError as error:
            ours.close()
            raise OutputError(
                f"the worker process cannot be started: {error.strerror or error}",
                advice="Close other programs and try again.",
            ) from error
        finally:
            theirs.close()
        self.connection: Connection[Any, Any] = Connection(ours.detach())

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def send(self, order: dict[str, Any]) -> None:
        """Send a job; `receive` reports a worker that has ended."""
        with suppress(OSError):
            self.connection.send_bytes(json.dumps(order).encode())

    def receive(self) -> dict[str, Any] | None:
        """Return the next message; None when the process has ended."""
        try:
            message: dict[str, Any] = json.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            return None
        return message

    def bury(self) -> int:
        """Return how a process ended that `receive` says has (below 0: by this signal)."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_BREATH)
        return self.kill()

    def kill(self) -> int:
        """End the process, whatever it does; return how it ended."""
        if self._process.poll() is None:  # else its number may be another's by now
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self.connection.close()
        return self._process.wait()


_HALF = (PART, ".tmp-")  # an upload; what `starshade.ratings.places.atomic` writes


def sweep(store: Store) -> None:
    """Remove every file without a row in the database.

    For the start, when nothing is in the making: no worker runs and no upload.
    """
    empty(store.places.scratch)
    data = {row.id: row for row in store.all_data()}
    _keep(store.work / "uploads", [row.id for row in data.values()])
    _keep(store.work / "data", data)
    for row in data.values():
        _keep(store.places.data(row.id), [(row.facts or {}).get("job")])
    made = store.jobs(kinds=("release",), states=("done",))
    _keep(store.work / "releases", [job.id for job in made])


def sweep_job(store: Store, job: JobRow) -> None:
    """Remove the files of an unfinished job, and those that a job replaced."""
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
