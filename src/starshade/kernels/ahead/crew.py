"""The processes that compile ahead: one deals out the work, the others do it.

A kernel is dealt out when all that it calls is in the cache, so that nothing is compiled twice,
and what keeps others waiting for longest comes first. Two entries of one kernel never run at the
same time: Numba would mix up their files. They say nothing on the terminal and end with the
process that they work for.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import multiprocessing
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
from numba import types
from numba.np.numpy_support import as_dtype, from_dtype

from starshade.kernels.ahead import READY, listed, load_numba, note_ready

_LOOK = 0.2  # seconds between two looks after the parent


@dataclass(frozen=True)
class _Job:
    kernel: Any
    types: tuple[Any, ...]
    seconds: float


def main(parent: str, place: str, key: str, use: str, processes: str) -> None:
    """Compile what is listed for a use and not in the cache; told by `compile_ahead`."""
    _end_with(int(parent))
    load_numba()  # once, not in each process
    with _alone(Path(place)):
        jobs = [job for job in map(_job, listed(use)) if not _in_cache(job)]
        print(len(jobs), sum(job.seconds for job in jobs), flush=True)
        gc.freeze()
        gc.disable()  # short-lived: a tenth of the time
        for job in _share(jobs, int(processes)):
            print(job.seconds, flush=True)
        if all(map(_in_cache, jobs)):
            note_ready(Path(place) / READY, use, key)


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Wait for others who compile into the same cache: they may be doing our work."""
    place.mkdir(parents=True, exist_ok=True)
    with (place / f"{READY}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _job(entry: dict[str, Any]) -> _Job:
    module, _, name = entry["kernel"].partition(":")
    kernel = getattr(importlib.import_module(module), name)
    return _Job(kernel, read_types(entry["types"]), entry["seconds"])


def _in_cache(job: _Job) -> bool:
    cache, codegen = job.kernel._cache, job.kernel.targetctx.codegen()
    return cache._index_key(job.types, codegen) in cache._cache_file._load_index()


def _share(jobs: Sequence[_Job], processes: int) -> Iterator[_Job]:
    """Let processes compile; yields each job when it is done."""
    callees = [_callees(jobs, j) for j in range(len(jobs))]
    urgent = _urgency(jobs, callees)
    waiting, done = sorted(range(len(jobs)), key=lambda j: -urgent[j]), set[int]()
    idle = [_worker(jobs) for _ in range(min(processes, len(jobs)))]
    busy: dict[Connection, int] = {}
    while waiting or busy:
        taken = {id(jobs[j].kernel) for j in busy.values()}
        for j in list(waiting):
            if idle and callees[j] <= done and id(jobs[j].kernel) not in taken:
                worker = idle.pop()
                worker.send(j)
                busy[worker] = j
                taken.add(id(jobs[j].kernel))
                waiting.remove(j)
        ready = wait(busy)
        for worker in [one for one in busy if one in ready]:
            worker.recv()
            idle.append(worker)
            done.add(j := busy.pop(worker))
            yield jobs[j]


def _callees(jobs: Sequence[_Job], j: int) -> set[int]:
    """Return the earlier jobs whose kernels this one names."""
    named = {id(value) for value in _named(jobs[j].kernel.py_func)}
    return {i for i in range(j) if id(jobs[i].kernel) in named}


def _named(function: FunctionType) -> Iterator[Any]:
    for name in function.__code__.co_names:
        yield (value := function.__globals__.get(name))
        if isinstance(value, FunctionType):  # an overload: it names the kernels that it may be
            yield from map(value.__globals__.get, value.__code__.co_names)


def _urgency(jobs: Sequence[_Job], callees: Sequence[set[int]]) -> list[float]:
    """Return the seconds from a job's beginning to the end of the longest chain over it."""
    longest = [job.seconds for job in jobs]
    for j in reversed(range(len(jobs))):  # callers come after callees
        for i in callees[j]:
            longest[i] = max(longest[i], jobs[i].seconds + longest[j])
    return longest


def _worker(jobs: Sequence[_Job]) -> Connection:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(
        target=_work, args=(jobs, theirs, os.getpid()), daemon=True
    )
    process.start()
    theirs.close()  # so that the end of a worker is the end of its line
    return ours


def _work(jobs: Sequence[_Job], line: Connection, parent: int) -> None:
    _end_with(parent)
    while True:
        job = jobs[line.recv()]
        with suppress(Exception):  # the list is out of date: it is compiled when it is called
            job.kernel.compile(job.types)
        line.send(None)


def _end_with(parent: int) -> None:

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK)
        os._exit(1)

    threading.Thread(target=look, daemon=True).start()


def write_types(arguments: tuple[types.Type, ...]) -> str:
    """Write down types, so that `read_types` finds the same.

    >>> from numba import int64, types
    >>> write_types((int64, types.Array(int64, 1, "C", readonly=True)))
    "int64, Array(int64, 1, 'C', True)"
    """
    return ", ".join(map(_write, arguments))


def read_types(text: str) -> tuple[types.Type, ...]:
    """Return the types of a text from our own list."""
    return tuple(eval(f"[{text}]", _NAMES))


def _write(one: Any) -> str:
    match one:
        case types.Literal():  # before the type that it is one of
            return f"literal({one.literal_value!r})"
        case types.Boolean():
            return "boolean"
        case types.Number() | types.NoneType():
            return str(one.name)
        case types.Array():
            fixed = "" if one.mutable else ", True"
            return f"Array({_write(one.dtype)}, {one.ndim}, {one.layout!r}{fixed})"
        case types.NamedTuple() | types.NamedUniTuple():
            name = f"{one.instance_class.__module__}:{one.instance_class.__name__}"
            return f"named({name!r}, {write_types(one.types)})"
        case types.UniTuple() | types.Tuple():
            return f"Tuple([{write_types(one.types)}])"
        case types.Record():
            dtype = as_dtype(one)
            return f"record({dtype.descr!r}, {dtype.isalignedstruct})"
    raise TypeError(f"{one}: no way to write it down")


def _type_named(name: str, *fields: types.Type) -> types.BaseTuple:
    module, _, attribute = name.partition(":")
    found: types.BaseTuple = types.BaseTuple.from_types(  # type: ignore[no-untyped-call]
        fields, getattr(importlib.import_module(module), attribute)
    )
    return found


def _record(fields: list[Any], align: bool) -> types.Type:
    found: types.Type = from_dtype(np.dtype(fields, align=align))
    return found


_NAMES = {**vars(types), "named": _type_named, "record": _record}
