"""Jobs over shards on this machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from starshade import budget
from starshade.engine.job import Job, Sharded, Tables
from starshade.engine.journal import Journal, part_of
from starshade.progress import task


@dataclass(frozen=True)
class Local:
    """Does jobs in this process, on its threads.

    Kernels let go of Python's lock, and shards are mapped from disk: threads share what is
    compiled and what is cached, where processes would each pay for both. A job that uses all
    threads itself gets one shard after the other; of others as many go on side by side as
    threads and memory allow (`starshade.budget`).

    Parameters
    ----------
    journal : Journal
        Where finished parts are kept, and those of a run before are found.
    """

    journal: Journal = field(default_factory=lambda: Journal(None))

    @property
    def folder(self) -> Path | None:
        """The journal's: what jobs leave each other lasts as long as their answers."""
        return self.journal.folder

    def run(self, job: Job, shards: Sharded, tables: Tables) -> Iterator[Tables]:
        """Do the job with every shard; yields what came of it in the order of the shards."""
        parts = partial(self._part, job, shards, tables)
        with task(job.name, len(shards)) as step:
            for answer in (
                map(parts, range(len(shards))) if job.threaded else _beside(parts, shards)
            ):
                step(1)
                yield answer

    @contextmanager
    def within(self, name: str, /) -> Iterator[Local]:
        """Do a part of a run; see `starshade.engine.job.Engine.within`."""
        with part_of(self.journal, name) as journal:
            yield Local(journal)

    def _part(self, job: Job, shards: Sharded, tables: Tables, number: int) -> Tables:
        key = job.key(shards.keys[number], tables)
        found = self.journal.find(key)
        if found is None:
            first = shards.first_users[number]
            found = job.work(shards.shard(number), first, job.settings, tables)
            self.journal.keep(key, found)
        return found


def _beside(part: Callable[[int], Tables], shards: Sharded) -> Iterator[Tables]:
    """Do some shards side by side, each on a thread of its own."""
    largest = max(shards.bytes_of(number) for number in range(len(shards)))
    at_once = max(1, min(budget.threads(), budget.memory() // max(1, largest)))
    pool = ThreadPoolExecutor(at_once, initializer=_alone)
    waiting: deque[Future[Tables]] = deque()
    try:
        for number in range(len(shards)):
            waiting.append(pool.submit(part, number))
            if len(waiting) > at_once:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _alone() -> None:
    """Let kernels use no thread but this."""
    import starshade.kernels  # noqa: F401 - before Numba: it says where Numba finds its cache
    import numba  # isort: skip

    numba.set_num_threads(1)
