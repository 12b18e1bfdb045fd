"""How much of the machine may be used: memory and threads.

A room that plans a large allocation asks `memory`; one that starts threads of its own asks
`threads`. The command line (or a program) sets both with `limits`. Nobody having set anything,
the memory is half of what is free now (DESIGN §6) and the threads are the processor's.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starshade.errors import ConfigError

__all__ = [
    "MOST_THREADS",
    "amount",
    "free_memory",
    "given",
    "left",
    "limits",
    "memory",
    "parse_bytes",
    "threads",
]

MOST_THREADS = 1024  # more than any machine's; Numba does not survive 65,536

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
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
    """Return the threads that work may use: as set, else the processors given to us."""
    return _threads if _threads is not None else len(os.sched_getaffinity(0))


def given() -> dict[str, int | None]:
    """Return what was set, to be set by `limits` in another process as well; None: nothing."""
    return {"memory": _memory, "threads": _threads}


@contextmanager
def limits(*, memory: int | None = None, threads: int | None = None) -> Iterator[None]:
    """Hold everything inside to this much memory (bytes) and this many threads.

    Parameters
    ----------
    memory : int, optional
        Above 0. Planned allocations stay below it; it is no hard wall.
    threads : int, optional
        From 1 to 1,024.

    Raises
    ------
    ConfigError
        A limit out of its range.

    Examples
    --------
    >>> import starshade.budget as budget
    >>> with budget.limits(memory=budget.parse_bytes("8G"), threads=1):
    ...     budget.memory(), budget.threads()
    (8000000000, 1)
    """
    global _memory, _threads
    if memory is not None and memory < 1:
        raise ConfigError(f"memory {memory}: must be above 0", advice="For example 8G.")
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise ConfigError(f"threads {threads}: from 1 to {MOST_THREADS:,}")
    before = _memory, _threads
    _memory = before[0] if memory is None else memory
    _threads = before[1] if threads is None else threads
    try:
        with _numba_threads(threads):
            yield
    finally:
        _memory, _threads = before


def parse_bytes(text: str) -> int:
    """Read an amount of memory: ``8G``, ``500MB``, ``1.5GiB``, ``2000000``.

    Raises
    ------
    ConfigError
        The text is no amount above 0.

    Examples
    --------
    >>> parse_bytes("8G"), parse_bytes("1.5 GiB")
    (8000000000, 1610612736)
    """
    bare = text.strip().upper().removesuffix("B")
    number = bare.rstrip("KMGTI")
    factor = {**_UNITS, **_BINARY}.get(bare[len(number) :])
    try:
        amount = float(number) * (factor or math.nan)
    except ValueError:
        amount = math.nan
    if not 1 <= amount < 2**63:
        raise ConfigError(
            f"memory {text!r}: no amount of memory", advice="Examples: 8G, 500M, 1.5GiB."
        )
    return int(amount)


def amount(n_bytes: float) -> str:
    """Return an amount of memory in words, in the unit that fits.

    Examples
    --------
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
    """Hand the number to Numba: through the environment before it is loaded, else directly."""
    if n is None:
        yield
        return
    if "numba" not in sys.modules:
        before = os.environ.get("NUMBA_NUM_THREADS")
        os.environ["NUMBA_NUM_THREADS"] = str(n)
        try:
            yield
        finally:
            if before is None:
                os.environ.pop("NUMBA_NUM_THREADS", None)
            else:
                os.environ["NUMBA_NUM_THREADS"] = before
        return
    import numba

    active = numba.get_num_threads()
    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]  # set on reload
    numba.set_num_threads(min(n, most))
    try:
        yield
    finally:
        numba.set_num_threads(active)
