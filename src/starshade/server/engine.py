"""One queue, one worker: what starts jobs, watches them, and says how they ended."""

from __future__ import annotations

from starshade.server.rows import JobRow
from starshade.server.store import Store

__all__ = ["Engine"]


class Engine:
    """Does the jobs of a store, one after the other, in a process of their own.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def start(self) -> None:
        """Say what was interrupted, clean up after it, and begin with what waits."""

    def wake(self) -> None:
        """Look for work: a job was added."""

    def cancel(self, job_id: int) -> JobRow:
        """End a job that waits or runs, whatever it does; return it as it ended.

        One that had ended before stays as it is.
        """
        return self._store.job(job_id)

    def remove_data(self, data_id: int) -> None:
        """Remove a data set with its jobs and everything that was made of it."""
        self._store.remove_data(data_id)

    def close(self) -> None:
        """End the worker; a job that runs is marked as interrupted."""
