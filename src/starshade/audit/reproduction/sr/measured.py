"""What SR looks at, and how long checks take (Figs 3-6)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from statistics import median
from time import perf_counter
from typing import Literal

import numpy as np

from starshade.audit.reproduction.figures import Point, Skipped
from starshade.errors import ConfigError
from starshade.naming import called, speak
from starshade.privacy.k_eps import KEpsLAnonymity
from starshade.progress import silence, task
from starshade.ratings.holdout import sample_users
from starshade.ratings.proximity.sensitive import split_items
from starshade.ratings.proximity.settings import NullRule, Search
from starshade.ratings.scale import SLACK, Scale
from starshade.ratings.table import Ratings

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
    smallest_class: int

    @property
    def median(self) -> float:
        """Median of the runs."""
        return median(self.seconds)


@contextmanager
def plainly() -> Iterator[None]:
    """Tell refusals in no door's words: they are results here."""
    with speak(lambda setting, value: ""):
        yield


def run_jobs(
    jobs: Iterable[Job], *, repeats: int, seed: int
) -> tuple[dict[Job, Timed], tuple[tuple[Job, str], ...]]:
    """Run every check `repeats` times: all of them once, then all of them again.

    Equal jobs run once. The seed settles which records make up a share: a smaller share is part of
    a larger one. Returned with those that the model refuses on these data, and its words.
    """
    waiting = list(dict.fromkeys(jobs))
    tables = {
        (id(job.workload), job.share): some_of(job.workload.ratings, job.share, seed)
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
                        with plainly():
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
        verdict.smallest_class,
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


def some_of(ratings: Ratings, share: int, seed: int) -> Ratings:
    """Return so many % of the records; a smaller share is part of a larger one."""
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


Partition = Literal["whole", "cluster"]
PARTITIONS: tuple[Partition, ...] = ("whole", "cluster")
AS_STRICT = Skipped("7, 8", "nulls = zero", "the anonymizer makes the same release as under strict")

RULES: tuple[NullRule, ...] = ("strict", "ignore", "zero")
SEARCHES: tuple[Search, ...] = ("pairwise", "slicing", "tree")
SHARES = tuple(range(10, 101, 10))  # % of the records, Fig 3(a)
KS = (10, 20, 30, 40, 50, 60)  # Fig 4(a)
K = 20  # the paper's default
LOSS_K = 40  # Fig 7(a)
PREDICTED_KS = (5, 20)  # Fig 8; the paper names no k


@dataclass(frozen=True, eq=False)
class Workload:
    """Ratings that figures are made on."""

    name: str  # "top 20 items", "all 1,682 items"
    ratings: Ratings
    sensitive: tuple[str, ...]  # item ids
    rules: tuple[NullRule, ...]  # the null rules that are looked at


@dataclass(frozen=True)
class Grid:
    """ε and l on a scale: the paper's 0-5 and 0-2 are multiples of one star of 1-5."""

    star: float  # what one star comes to on this scale
    eps: tuple[float, ...]  # from 0 to R, at which everybody is proximate to everybody
    # from 0 to what two stars come to
    l: tuple[float, ...]  # noqa: E741  (the paper's name)


def grid_of(scale: Scale) -> Grid:
    """Return the ε and l that are tried on a scale.

    Examples
    --------
    >>> grid_of(Scale(1, 5, 1)).eps
    (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
    >>> grid_of(Scale(0.5, 5, 0.5)).star
    1.0
    """
    star = scale.width / 4 or 1.0
    if scale.step is not None:  # a whole number of steps, at least one
        star = scale.step * max(1, math.floor(star / scale.step + SLACK))
    last = max(2, math.ceil(scale.cost_of_null / star - SLACK))
    eps = tuple(round(star * i, 9) for i in range(last + 1))
    return Grid(star, eps, tuple(round(star * i / 2, 9) for i in range(5)))


def workloads_of(ratings: Ratings, top: int, sensitive: Sequence[str] = ()) -> tuple[Workload, ...]:
    """Return the most rated items under three null rules; all, if more, under the paper's own.

    Sensitive items (ids) are looked at whether most rated or not; empty: the last of the most
    rated.
    """
    if top < 2:
        raise ConfigError(f"{called('top')} {top}: at least 2, one of which is sensitive")
    ranking = ratings.most_rated(top)
    if len(sensitive):
        keys = tuple(str(key) for key in sensitive)
        _, chosen = split_items(ratings.items, keys)
    else:
        chosen, keys = ranking[-1:], (ratings.items[int(ranking[-1])],)
    looked_at = np.union1d(ranking, chosen)
    if len(looked_at) == ratings.n_items:
        table = ratings.drop_empty_users()
        return (Workload(f"all {ratings.n_items:,} items", table, keys, RULES),)
    name = f"top {top:,} items"
    if len(looked_at) > len(ranking):
        name += f" and {len(looked_at) - len(ranking):,} sensitive"
    return (
        Workload(name, ratings.keep_items(looked_at), keys, RULES),
        Workload(f"all {ratings.n_items:,} items", ratings.drop_empty_users(), keys, ("strict",)),
    )
