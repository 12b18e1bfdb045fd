"""Work cut into lanes: the counting sorts' way to use threads and give one answer.

A counting sort counts, turns the counts into places, and writes each cell to the next place of
its column. Here each lane, a run of the input, has its own counters and its own places, which
follow those of the lanes before it; so lanes may run in any order and on any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import pairwise

import numba
import numpy as np
from numpy.typing import NDArray

from starshade.kernels.arrays import Ints
from starshade.progress import task

__all__ = ["cut", "places", "run"]

_LANES = 16
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
    """Do ``work(lane)`` on as many threads as Numba may use; a label is announced lane by lane."""
    threads = min(lanes, numba.get_num_threads())
    with task(label, lanes) if label else nullcontext(_nobody) as step:
        if threads <= 1:
            for lane in range(lanes):
                work(lane)
                step(1)
            return
        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(work, range(lanes)):  # raises what a lane raised
                step(1)


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
