"""How much of the machine may be used: memory and threads.

A room that plans a large allocation asks `memory`; one that starts threads of its own asks
`threads`. The command line (or a program) sets both with `limits`. Nobody having set anything,
the memory is half of what is free now and the threads are the processor's.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starshade.errors import ConfigError
from starshade.naming import called
from starshade.progress import note

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS |= {"KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
_CGROUP = Path("/sys/fs/cgroup")
_UNKNOWN = 2 * 10**9  # a machine that does not say what is free

_memory: int | None = None
_threads: int | None = None


def memory() -> int:
    """Return the bytes that work may allocate: as set, else half of what is free now."""
    return _memory if _memory is not None else free_memory() // 2


def left(held: int) -> int:
    """Return the bytes that work may still allocate beside the `held` ones of its data.

    A limit that was set covers both; what is free now is so beside them. May be negative.
    """
    return _memory - held if _memory is not None else free_memory() // 2


def threads() -> int:
    """Return the threads that work may use: as set, else as many as we are given.

    That is the processors, or fewer where the environment says so (``NUMBA_NUM_THREADS``).
    """
    return _threads if _threads is not None else _most_threads()[0]


def given() -> dict[str, int | None]:
    """Return what was set, to be set by `limits` in another process as well; None: nothing."""
    return {"memory": _memory, "threads": _threads}


@contextmanager
def limits(*, memory: int | None = None, threads: int | None = None) -> Iterator[None]:
    """Hold everything inside to this much memory (bytes) and this many threads.

    Numba keeps its number of threads for each thread by itself: a thread that a program starts
    inside, and that calls parallel kernels, enters `limits` of its own.

    `memory`: above 0; planned allocations stay below it, but it is no hard wall. `threads`: 1 or
    more; what is more than the processors, or than ``NUMBA_NUM_THREADS`` in the environment, is cut
    to it, with a note.

    >>> import starshade.budget as budget
    >>> with budget.limits(memory=budget.parse_bytes("8G"), threads=1):
    ...     budget.memory(), budget.threads()
    (8000000000, 1)
    """
    global _memory, _threads
    if memory is not None and memory < 1:
        raise ConfigError(f"{called('memory')} {memory}: must be above 0", advice="For example 8G.")
    if threads is not None:
        threads = _possible(threads)
    before = _memory, _threads
    _memory = before[0] if memory is None else memory
    _threads = before[1] if threads is None else threads
    try:
        with _numba_threads(threads):
            yield
    finally:
        _memory, _threads = before


def _possible(threads: int) -> int:
    if threads < 1:
        raise ConfigError(f"{called('threads')} {threads}: must be 1 or more")
    most, why = _most_threads()
    if threads > most:
        note(f"threads: {threads:,} requested, {why}: {most} {('is' if most == 1 else 'are')} used")
    return min(threads, most)


def parse_bytes(text: str) -> int:
    """Read an amount of memory above 0: ``8G``, ``500MB``, ``1.5GiB``, ``2000000``.

    >>> parse_bytes("8G"), parse_bytes("1.5 GiB")
    (8000000000, 1610612736)
    """
    bare = text.strip().upper().removesuffix("B")
    number = bare.rstrip("KMGTI")
    factor = _UNITS.get(bare[len(number) :])
    try:
        amount = float(number) * (factor or math.nan)
    except ValueError:
        amount = math.nan
    if not 1 <= amount < 2**63:
        raise ConfigError(
            f"{called('memory')} {text!r}: not an amount of memory",
            advice="Examples: 8G, 500M, 1.5GiB.",
        )
    return int(amount)


def amount(n_bytes: float) -> str:
    """Return an amount of memory in words, in the unit that fits.

    >>> amount(512), amount(1_000), amount(2_500_000), amount(1.24e9)
    ('512 bytes', '1 kB', '2.5 MB', '1.2 GB')
    """
    if n_bytes < 999.5:
        return f"{n_bytes:.0f} byte{'s' * (round(n_bytes) != 1)}"
    shown, unit = n_bytes / 1e3, "kB"
    for larger in ("MB", "GB", "TB"):
        if shown < 999.5:
            break
        shown, unit = shown / 1e3, larger
    text = f"{shown:.1f}" if shown < 9.95 else f"{shown:,.0f}"
    return f"{text.removesuffix('.0')} {unit}"


def free_memory() -> int:
    """Return the bytes free on this machine, within the container's limit if there is one."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if "MemAvailable" in line)
    except (OSError, StopIteration, ValueError):
        return _UNKNOWN
    try:
        limit = int((_CGROUP / "memory.max").read_text())
        used = int((_CGROUP / "memory.current").read_text())
        stat = (_CGROUP / "memory.stat").read_text().splitlines()
        # file pages count as used, but are given back on demand
        cache = sum(int(s.split()[1]) for s in stat if s.startswith("inactive_file "))
        return max(0, min(free, limit - used + cache))
    except (OSError, ValueError):  # no container, or "max"
        return free


@contextmanager
def _numba_threads(n: int | None) -> Iterator[None]:
    """Let Numba use fewer of the threads that it has; never change how many it has.

    Numba is loaded here if it is not yet: a change of NUMBA_NUM_THREADS around its loading would
    make every later compilation fail.
    """
    if n is None:
        yield
        return
    import starshade.kernels  # noqa: F401 - before Numba: it says where Numba finds its cache
    import numba  # isort: skip

    active = numba.get_num_threads()
    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set on reload
    numba.set_num_threads(min(n, most))
    try:
        yield
    finally:
        numba.set_num_threads(active)


def available_processors() -> int:
    """Return the processors given to us; where a system does not tell, all that there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _most_threads() -> tuple[int, str]:
    """Return the processors given to us, or fewer as the environment says; and which, in words."""
    processors = available_processors()
    variable = os.environ.get("NUMBA_NUM_THREADS", "")
    if variable.isdecimal() and 1 <= int(variable) < processors:
        return int(variable), f"NUMBA_NUM_THREADS is {variable}"
    return processors, f"{processors} processor{'s' * (processors != 1)}"
