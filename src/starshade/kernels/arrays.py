"""What kernels of all rooms use: names of arrays, searches, lanes; memory or disk, one kernel."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext
from functools import cache
from itertools import pairwise
from threading import Lock
from typing import Any

import numba
import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.progress import task

Array = NDArray[Any]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Int32s = NDArray[np.int32]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

UNKNOWN_DAY = 65_535  # the day of a cell that says "no day"


def fixed(array: Array) -> Array:
    """Return a read-only view.

    Numba compiles a kernel once for arrays that may be written and once for those that may not,
    as memory-mapped ones; what only reads is handed read-only views throughout.
    """
    view = np.ascontiguousarray(array).view(np.ndarray)
    view.flags.writeable = False
    return view


@njit(cache=True, nogil=True)
def place_of(ascending, start, stop, value):  # type: ignore[no-untyped-def]
    """Return the first place in [start, stop) with an element >= value; `stop` if none."""
    while start < stop:
        middle = (start + stop) // 2
        if ascending[middle] < value:
            start = middle + 1
        else:
            stop = middle
    return start


@njit(cache=True, nogil=True)
def place_after(ascending, start, stop, value):  # type: ignore[no-untyped-def]
    """Return the first place in [start, stop) with an element > value; `stop` if none."""
    while start < stop:
        middle = (start + stop) // 2
        if ascending[middle] <= value:
            start = middle + 1
        else:
            stop = middle
    return start


def find_cells(indptr: Ints, columns: Int32s, rows: Ints, wanted: Ints) -> Ints:
    """Return the place of each (row, column) among a table's cells; -1 where there is none."""
    return _find(fixed(indptr), fixed(columns), fixed(rows), fixed(wanted))  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def _find(indptr, columns, rows, wanted):  # type: ignore[no-untyped-def]
    out = np.empty(len(rows), np.int64)
    for p in range(len(rows)):
        stop = indptr[rows[p] + 1]
        at = place_of(columns, indptr[rows[p]], stop, wanted[p])
        out[p] = at if at < stop and columns[at] == wanted[p] else -1
    return out


def places_in(
    indptr: Ints,
    columns: NDArray[np.integer],
    other_indptr: Ints,
    other_columns: NDArray[np.integer],
    n_items: int,
) -> Ints:
    """Return where each cell of another table of the same rows is in this one; -1: nowhere."""
    if np.array_equal(indptr, other_indptr) and np.array_equal(columns, other_columns):
        return np.arange(len(columns))
    own, other = (
        np.repeat(np.arange(len(ends) - 1), np.diff(ends)) * n_items + items
        for ends, items in ((indptr, columns), (other_indptr, other_columns))
    )
    place = np.searchsorted(own, other)
    return np.where(np.append(own, -1)[place] == other, place, -1)


_SMALL = 2**24  # products of two numbers; so many are done before threads have begun


def product(one: Floats, other: Floats) -> Floats:
    """Multiply two matrices: small ones on this thread alone, since others are woken for longer."""
    if one.size * other.shape[1] > _SMALL:
        return one @ other
    return np.einsum("ij,jk->ik", one, other)  # type: ignore[no-any-return]


_NO_WAY_IN: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def inner(function: Callable[..., Any]) -> Any:
    """Declare a kernel without a way in from Python, which is a quarter of all compiling.

    Otherwise as ``njit(cache=True, nogil=True)``. Called from Python it raises TypeError.
    """
    kernel: Any = njit(cache=True, nogil=True, **_NO_WAY_IN)(function)
    if kernel is function:  # interpreted
        return kernel

    def refuse(*_: object, **__: object) -> None:
        raise TypeError(f"{function.__qualname__} is called by kernels only: declare it with njit")

    # Numba would jump to where the way in is missing: it is not told of what was compiled
    kernel._insert = lambda *_, **__: None
    kernel._compile_for_args = refuse
    return kernel


@inner
def copy_to(target, source):  # type: ignore[no-untyped-def]
    """Copy a row number by number; into itself only from further back.

    ``target[:] = source`` would have Numba compile the words of an error about shapes as well,
    which takes seconds; the machine code of the copy is the same.
    """
    for i in range(len(source)):
        target[i] = source[i]


@inner
def ones(word):  # type: ignore[no-untyped-def]
    """Count the ones of a uint64; the compiler knows the pattern and takes the processor's own.

    The last product wraps around: run interpreted, it wants ``np.errstate(over="ignore")``.
    """
    x = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


_LANES = 16
_CHUNK = 32
_WORTH_IT = 1 << 16  # cells; fewer are done before a thread has started
_COUNTERS = 1 << 23  # over all lanes: 64 MB


def cut(sizes: NDArray[np.integer], n_counters: int = 0) -> list[tuple[int, int]]:
    """Cut a row of blocks into at most 16 runs of about equal size, fewer for many counters."""
    ends = np.cumsum(sizes)
    lanes = max(1, min(_LANES, _COUNTERS // max(1, n_counters)))
    if not len(ends) or ends[-1] < _WORTH_IT:
        return [(0, len(ends))]
    inner = np.searchsorted(ends, ends[-1] * np.arange(1, lanes) / lanes) + 1
    edges = np.unique(np.concatenate([[0], inner, [len(ends)]])).tolist()
    return list(pairwise(edges))


def run(work: Callable[[int], object], lanes: int, label: str = "") -> None:
    """Do ``work(lane)`` on as many threads as Numba may use; a label is announced lane by lane.

    The caller's thread is one of them, so that work which is soon done waits for no other.
    """
    most = numba.get_num_threads()
    left, taking, done = iter(range(lanes)), Lock(), 0

    def take() -> int | None:
        with taking:
            return next(left, None)

    def some(step: Callable[[float], object] = _nobody) -> None:
        nonlocal left, done
        try:
            while (lane := take()) is not None:
                work(lane)
                with taking:
                    done += 1
                step(done)
        except BaseException:
            left = iter(())  # no other is begun
            raise

    with task(label, lanes) if label else nullcontext(_nobody) as step:
        told = 0

        def tell(so_far: float) -> None:
            nonlocal told
            step(so_far - told)
            told = int(so_far)

        pool, others = _threads(os.getpid(), most), []
        try:
            for _ in range(min(lanes, most) - 1):
                others.append(pool.submit(some))  # noqa: PERF401 - Ctrl-C may come between two
            some(tell)
        except BaseException as error:
            if not isinstance(error, Exception):
                # a thread that Ctrl-C met while it was started is told of the end by this alone
                pool.shutdown(wait=False)
                _threads.cache_clear()
            raise
        finally:
            wait([each for each in others if not each.cancel()])
        for each in others:
            if not each.cancelled():
                each.result()  # raises what a lane raised
        tell(done)


@cache
def _threads(_: int, threads: int) -> ThreadPoolExecutor:
    """Return the threads of a process, which stay: to begin one takes longer than most work."""
    return ThreadPoolExecutor(max(1, threads - 1))


def in_chunks(chunk: Callable[..., object], n: int, *shared: object) -> None:
    """Do ``chunk(start, stop, *shared)`` for all of n, which share scratch space some at a time."""
    pool = ThreadPoolExecutor(numba.get_num_threads())
    try:
        starts = range(0, n, _CHUNK)
        jobs = [pool.submit(chunk, s, min(s + _CHUNK, n), *shared) for s in starts]
        for job in jobs:
            job.result()
    finally:
        pool.shutdown(cancel_futures=True)  # Ctrl-C waits for the chunks at work, no longer


def _nobody(amount: float) -> None:
    """Tell nobody how far it is."""


def places(counts: Ints) -> tuple[Ints, Ints]:
    """Turn counts into offsets and first places.

    `counts` (lanes, n): changed in place. Returns `indptr` (n + 1,): column j of the output begins
    at ``indptr[j]``. `place` (lanes, n): where each lane begins within each column; the same memory
    as `counts`.
    """
    indptr = np.zeros(counts.shape[1] + 1, dtype=np.int64)
    np.cumsum(counts.sum(axis=0), out=indptr[1:])
    before = indptr[:-1].copy()
    for lane in counts:
        before += lane
        lane[:] = before - lane
    return indptr, counts
