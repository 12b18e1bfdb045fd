"""Jobs over shards on a Spark cluster.

Spark is told which shards there are and runs a task for each (`mapInArrow` over a frame of
numbers); shards, what goes into a job and its answers are files in a place that the driver and all
executors see. So nothing large passes through Spark, a task that is lost is done again by whoever
is free, and the driver holds one answer at a time. It takes a session as it is, classic or Connect:
nothing here needs an RDD.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from starshade import budget, errors
from starshade._version import __version__
from starshade.engine.executor import HANDED_OVER, hand_over
from starshade.engine.job import Job, Sharded, Tables
from starshade.engine.journal import Journal, part_of, place_of
from starshade.engine.session import PATIENCE, note_that_nobody_began
from starshade.naming import spoken
from starshade.progress import task
from starshade.scratch import PART

_POLL = 0.1  # seconds between two looks for answers
_THE_SAME = (
    "Give executors the same wheel or packed environment, and its Python (spark.pyspark.python, "
    "or PYSPARK_PYTHON)."
)
_LATE = 30  # looks for an answer that is said to be there: a shared folder may show it late


@dataclass(frozen=True)
class Spark:
    """Has jobs done by a Spark cluster.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
        Classic or Connect.
    journal : Journal
        In a folder that the driver and all executors see under the same name, and in which the
        executors' user may write.

    Raises
    ------
    ConfigError
        There is no such folder.
    EngineError
        At work: an executor cannot work there, has not this version of starshade, or has not enough
        memory.
    """

    session: Any
    journal: Journal

    def __post_init__(self) -> None:
        if self.journal.folder is None:
            raise errors.ConfigError(
                "the store cannot be written to, and executors put their results there",
                advice="Put the store where you and the executors can write.",
            )

    @property
    def folder(self) -> Path | None:
        """The journal's: what jobs leave each other lasts as long as their answers."""
        return self.journal.folder

    def run(self, job: Job, shards: Sharded, tables: Tables) -> Iterator[Tables]:
        """Do the job with every shard; yields what came of it in the order of the shards."""
        keys = [job.key(key, tables) for key in shards.keys]
        left = [number for number, key in enumerate(keys) if self.journal.find(key) is None]
        tag = f"starshade-{secrets.token_hex(4)}"
        with ThreadPoolExecutor(1) as pool, task(job.name, len(keys)) as step:
            asked = pool.submit(self._ask, tag, job, shards, tables, left)
            try:
                for key in keys:
                    answer = self._await(key, asked, _begun(tag))
                    step(1)
                    yield answer
                asked.result()
            finally:
                if not asked.done():
                    with suppress(Exception):  # it may be the session that is gone
                        self.session.interruptTag(tag)

    @contextmanager
    def within(self, name: str, /) -> Iterator[Spark]:
        """Do a part of a run; see `starshade.engine.job.Engine.within`."""
        with part_of(self.journal, name) as journal:
            yield Spark(self.session, journal)

    def _await(self, key: str, asked: Future[None], begun: str) -> Tables:
        assert self.folder is not None
        looks, late = 0, monotonic() + PATIENCE
        while (found := self.journal.find(key)) is None:
            wait([asked], timeout=_POLL)
            if monotonic() > late and not (self.folder / begun).exists():
                late = inf
                note_that_nobody_began()
            if asked.done():
                asked.result()
                looks += 1
                if looks > _LATE:
                    raise self._unseen("find their own files in")
                sleep(_POLL)
        return found

    def _ask(self, tag: str, job: Job, shards: Sharded, tables: Tables, left: list[int]) -> None:
        """Have Spark do the shards that are left."""
        if not left:
            return
        given = zip(HANDED_OVER, (shards, job, dict(tables), spoken()), strict=True)
        asked = {
            "folder": str(self.folder),
            "key": self.journal.key,
            "begun": _begun(tag),
            "version": __version__,
            "memory": budget.given()["memory"],
            **{name: hand_over(self.journal, part) for name, part in given},
        }
        self.session.addTag(tag)
        try:
            numbers = self.session.range(0, len(left), 1, len(left))
            rows = numbers.mapInArrow(_work(left, asked), "told string").collect()
        except Exception as error:
            raise _in_words(error) from error
        finally:
            self.session.removeTag(tag)
        for row in rows:
            if told := json.loads(row.told):
                raise self._refused(told)

    def _refused(self, told: Mapping[str, Any]) -> errors.StarshadeError:
        """Say what was in an executor's way."""
        if "error" in told:
            said = {key: value for key, value in told.items() if key != "error"}
            error: errors.StarshadeError = getattr(errors, told["error"])(**said)
            return error
        if "version" in told:
            has = f"starshade {told['version']}" if told["version"] else "no starshade"
            return errors.EngineError(
                f"executors have {has}; this machine has {__version__}",
                advice=_THE_SAME,
            )
        if "broken" in told:
            return errors.EngineError(
                f"executors cannot load starshade: {told['broken']}",
                advice="Check that their environment is complete and that they have the memory "
                "to load it (spark.executor.memoryOverhead, "
                "spark.executor.pyspark.memory).",
            )
        if "full" in told:
            return errors.OutputError(
                f"{self._place}: no space left for the results of executors ({told['full']})",
                advice="Free some space there, or raise the limit on file size.",
            )
        return _short() if "short" in told else self._unseen(told["cannot"])

    @property
    def _place(self) -> Path:
        assert self.folder is not None
        return place_of(self.folder)

    def _unseen(self, what: str) -> errors.EngineError:
        return errors.EngineError(
            f"{self._place}: executors cannot {what} this folder",
            advice="Put the store where the driver and all executors see it at the same path, "
            "as the same user.",
        )


def _begun(tag: str) -> str:
    return f"{tag}{PART}"


def _work(left: list[int], asked: Mapping[str, Any]) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return what Spark sends to executors; where starshade is not, it still says so."""

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        import json

        import pyarrow
        from pyspark import TaskContext

        context = TaskContext.get()
        threads = 1 if context is None else context.cpus()
        for batch in batches:
            for place in batch.column(0).to_pylist():
                try:
                    from starshade.engine.executor import work_on
                except Exception as error:
                    name = getattr(error, "name", None) or ""
                    absent = name.partition(".")[0] == "starshade"
                    told = {"version": ""} if absent else {"broken": f"{error!r:.200}"}
                else:
                    told = work_on(left[place], {**asked, "threads": threads})
                yield pyarrow.RecordBatch.from_pydict({"told": [json.dumps(told)]})

    return work


def _in_words(error: Exception) -> Exception:
    """Say what became of a job that Spark gave up."""
    said = str(error)
    if any(sign in said for sign in ("exited unexpectedly", "ExecutorLost", "OutOfMemory")):
        return _short()
    if "PYTHON_VERSION_MISMATCH" in said:
        return errors.EngineError(
            "executors have another Python version than this machine",
            advice="Set PYSPARK_PYTHON, or give them a packed environment, of the same version.",
        )
    if absent := re.search(r"ModuleNotFoundError: No module named '(\w+)", said):
        return errors.EngineError(f"executors lack the module {absent[1]}", advice=_THE_SAME)
    return errors.InternalError(f"Spark gave up: {said.partition('JVM stacktrace')[0].strip()}")


def _short() -> errors.EngineError:
    return errors.EngineError(
        "an executor was lost, or had too little memory for a partition, in every attempt",
        advice="Give executors more memory (spark.executor.memoryOverhead is what Python has), "
        "let fewer tasks share one (spark.task.cpus), or write the store with more "
        "partitions.",
    )
