"""How long a check takes (SR Figs 3-6): each setting a few times, in turns, medians."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import median
from time import perf_counter

import numpy as np

from starshade.audit.reproduction.figures import Point, Skipped
from starshade.audit.reproduction.sr.plan import Workload
from starshade.errors import ConfigError
from starshade.privacy.k_eps_l import KEpsLAnonymity
from starshade.progress import silence, task
from starshade.ratings.proximity.balls import Search
from starshade.ratings.proximity.rule import NullRule
from starshade.ratings.sample import sample_users
from starshade.ratings.table import Ratings

__all__ = ["Job", "Timed", "point_of", "run_jobs", "skipped_of"]

_TINY, _HARDLY = 64, 1e-6  # records and l of the runs that only compile


@dataclass(frozen=True)
class Job:
    """One check."""

    workload: Workload
    nulls: NullRule
    search: Search
    k: int
    eps: float
    l: float  # noqa: E741  (the paper's name)
    share: int = 100  # % of the records


@dataclass(frozen=True)
class Timed:
    """What a check took, and said."""

    seconds: tuple[float, ...]  # of each run, making ready included, reading not
    satisfied: bool
    records: int
    failing_records: int
    smallest_group: int

    @property
    def median(self) -> float:
        """Median of the runs."""
        return median(self.seconds)


def run_jobs(
    jobs: Iterable[Job], *, repeats: int, seed: int
) -> tuple[dict[Job, Timed], tuple[tuple[Job, str], ...]]:
    """Run every check `repeats` times: all of them once, then all of them again.

    Equal jobs run once. The seed settles which records make up a share: a smaller share is part of
    a larger one. Returned with those that the model refuses on these data, and its words.
    """
    waiting = list(dict.fromkeys(jobs))
    tables = {
        (id(job.workload), job.share): _part(job.workload.ratings, job.share, seed)
        for job in waiting
    }
    _compile(waiting, seed)
    times: dict[Job, list[float]] = {job: [] for job in waiting}
    timed: dict[Job, Timed] = {}
    refused: dict[Job, str] = {}
    with task("timing checks", repeats * len(waiting)) as step:
        for _ in range(repeats):
            for job in waiting:
                if job not in refused:
                    try:
                        timed[job] = _run(job, tables[id(job.workload), job.share], times[job])
                    except ConfigError as error:
                        refused[job] = error.message
                step(1)
    return timed, tuple(refused.items())


def point_of(x: float, timed: Timed) -> Point:
    """Return the median with the fastest and the slowest run."""
    return Point(x, timed.median, min(timed.seconds), max(timed.seconds))


def skipped_of(refused: Iterable[tuple[Job, str]]) -> tuple[Skipped, ...]:
    """Say what was refused, alike refusals once."""
    places = Counter((job.workload.name, reason) for job, reason in refused)
    return tuple(
        Skipped("3-6", f"{name}: {settings:,} settings", reason)
        for (name, reason), settings in places.items()
    )


def _run(job: Job, ratings: Ratings, times: list[float]) -> Timed:
    started = perf_counter()
    verdict = _model(job).check(ratings)
    times.append(perf_counter() - started)
    return Timed(
        tuple(times),
        verdict.satisfied,
        verdict.records,
        verdict.failing_records,
        verdict.smallest_group,
    )


def _model(job: Job) -> KEpsLAnonymity:
    return KEpsLAnonymity(
        k=job.k,
        eps=job.eps,
        l=job.l,
        sensitive=job.workload.sensitive,
        nulls=job.nulls,
        search=job.search,
    )


def _part(ratings: Ratings, share: int, seed: int) -> Ratings:
    if share == 100:
        return ratings
    some = max(1, ratings.n_users * share // 100)
    return ratings.keep_users(sample_users(ratings, np.arange(ratings.n_users), some, seed))


def _compile(jobs: list[Job], seed: int) -> None:
    """Run each way once on a few records, so that no time holds a compilation."""
    kinds = {(id(job.workload), job.nulls, job.search, job.l > 0): job for job in jobs}
    with silence():
        for job in kinds.values():
            table = job.workload.ratings
            users = min(_TINY, table.n_users)
            part = table.keep_users(sample_users(table, np.arange(table.n_users), users, seed))
            # an l that hardly any data exceed; a model that asks for none takes another way
            easy = replace(job, k=min(job.k, users), l=min(job.l, _HARDLY))
            try:
                _model(easy).check(part)
            except ConfigError:
                continue  # what is wrong is shown when it is run
