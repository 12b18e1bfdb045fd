"""Run a command on hostile input, and say what went wrong."""

from __future__ import annotations

import resource
import signal
import time
import traceback
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from click.testing import CliRunner

from starshade.cli import main

MEMORY = 2**30  # bytes that a refusal may take


@dataclass(frozen=True)
class Fault:
    """What a command did that it must not."""

    what: str
    command: str
    fault: str


class TooSlow(BaseException):
    """A command that did not end in time."""


def fault_of(
    args: Iterable[object],
    *,
    seconds: float,
    codes: Collection[int] = (0, 1, 2),
    env: Mapping[str, str] | None = None,
    names: Collection[str] = ("",),
) -> str:
    """Run a command in this process; return what is wrong with how it ended, or nothing.

    `codes`: with which it may end; `names`: of which its message must name one.
    """
    before, started = _peak(), time.perf_counter()
    try:
        with within(2 * seconds):
            result = CliRunner().invoke(main, [str(arg) for arg in args], env=dict(env or {}))
    except TooSlow:
        return f"not ended after {seconds} s"
    taken, grown = time.perf_counter() - started, _peak() - before
    said = result.stdout + result.stderr
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return located(result.exception)
    if "Traceback" in said or "internal error" in said:
        return f"an internal error: {said[-300:]}"
    if result.exit_code not in codes:
        return f"exit code {result.exit_code}: {said[-300:]}"
    if not said.strip() or (result.exit_code and not any(n in said for n in names)):
        return f"no message that names {names}: {said[-300:]}"
    if taken > seconds:
        return f"{taken:.1f} s"
    return f"{grown / 2**20:,.0f} MiB" if grown > MEMORY else ""


def table(calls: Counter[str], faults: list[Fault]) -> str:
    """Write what was tried, the calls and the faults."""
    wrong = Counter(fault.what for fault in faults)
    rows = [("what", "calls", "faults"), *((n, str(c), str(wrong[n])) for n, c in calls.items())]
    rows.append(("total", str(calls.total()), str(len(faults))))
    lines = [f"{what:<42} {n:>6} {bad:>6}" for what, n, bad in rows]
    return "\n".join([*lines, *(f"{f.what}: {f.command}: {f.fault}" for f in faults)])


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def located(error: BaseException) -> str:
    """Say what an error is, and where it was raised."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {last.filename}:{last.lineno}: {error}"


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise `TooSlow` in what takes longer."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
