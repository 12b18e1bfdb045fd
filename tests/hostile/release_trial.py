"""Read hostile releases, each in a copy of its own and within limits of time and memory."""

from __future__ import annotations

import resource
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.hostile.running import Fault, TooSlow, located, within

SECONDS = 20
BYTES = 2**30  # more than are in use before


@dataclass(frozen=True)
class Case:
    """A change of a release or a key file, and how it is read then.

    `change` gets a folder that holds a copy of the release (``release``) and of its key file
    (``key.json``). `read` returns what is wrong with the way in which the copy was read; nothing
    where all is as it must be.
    """

    what: str
    label: str
    change: Callable[[Path], Any]
    read: Callable[[Path], str]
    folder: Path
    key: Path


def run(cases: Iterable[Case]) -> tuple[Counter[str], list[Fault]]:
    """Run cases; return what was tried, how often, and every fault."""
    calls, faults = Counter[str](), list[Fault]()
    for case in cases:
        calls[case.what] += 1
        with tempfile.TemporaryDirectory(prefix="hostile-") as name:
            shutil.copytree(case.folder, Path(name) / "release")
            shutil.copy(case.key, Path(name) / "key.json")
            case.change(Path(name))
            if fault := _fault_of(case, Path(name)):
                faults.append(Fault(case.what, case.label, fault))
    return calls, faults


def _fault_of(case: Case, place: Path) -> str:
    try:
        with within(SECONDS), _bounded():
            return case.read(place)
    except TooSlow:
        return f"not ended after {SECONDS} s"
    except MemoryError:
        return f"more than {BYTES:,} bytes"
    except Exception as error:
        return located(error)


@contextmanager
def _bounded() -> Iterator[None]:
    """Bound the memory of what runs inside."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
