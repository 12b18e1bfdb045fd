"""Compile the kernels of a command before it needs them, on all processors at once.

Numba compiles a kernel when it is first called, one after the other. On a fresh installation a
command would wait longer for that than for its answer. So which kernels the commands compile is
written down (``list.jsonl``, one a line, callees before callers), and small processes compile
them into the cache while the command loads its code. Whatever goes wrong here does no harm: what
is not in the cache is compiled when it is called, as ever.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from starshade.kernels.warm import STAMP, cache_place
from starshade.progress import insist, task

#: what is compiled for what
LIST = Path(__file__).with_name("list.jsonl")
#: stands beside the cache: for what everything is there
READY = "starshade-ahead.json"
_KERNELS = Path(__file__).parents[1]
# not `-m`: nothing is imported from the folder that the command was started in
_START = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from starshade.kernels.ahead.crew import main; main(*sys.argv[2:])"
)
_MOST = 4  # processes: more would only wait for callees


@contextmanager
def compiled_ahead(use: str, processes: int) -> Iterator[None]:
    """Let what is needed inside be compiled; whoever calls a kernel first waits until it is.

    `use`: as the list names it, such as "data describe". What it does not name compiles nothing.
    """
    crew = _start(use, processes)
    if crew is None or crew.stdout is None:
        yield
        return
    lines = crew.stdout
    load_numba()  # needed soon, and now the crew is loading it too
    from numba.core import event

    # kernels are also called in threads that know of no watcher; one of them waits for all
    here, turn = copy_context(), threading.Lock()

    class Wait(event.Listener):
        def on_start(self, event: Any) -> None:
            with turn:
                here.run(_watch, lines)

        def on_end(self, event: Any) -> None: ...

    try:
        # Numba takes this lock before it looks for a kernel in its cache
        with event.install_listener("numba:compiler_lock", Wait()):
            yield
    finally:
        crew.kill()  # its own processes look after it
        crew.communicate()


def _start(use: str, processes: int) -> subprocess.Popen[str] | None:
    """Start the crew; None: there is nothing to do, or no way."""
    place = cache_place(_KERNELS)
    if place is None or os.environ.get("NUMBA_DISABLE_JIT", "") not in ("", "0"):
        return None
    key = _key(place)
    if _ready(place / READY).get(use) == key or not listed(use):
        return None
    told = (_KERNELS.parents[1], os.getpid(), place, key, use, min(processes, _MOST))
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-c", _START, *map(str, told)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    except OSError:
        return None


def load_numba() -> None:
    """Import Numba and what it loads before it compiles; half a second of the processor."""
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


def listed(use: str) -> list[dict[str, Any]]:
    """Return what is compiled for a use: ``kernel``, ``types``, ``seconds``; callees first."""
    lines = map(json.loads, LIST.read_text(encoding="utf-8").splitlines())
    return [entry for entry in lines if use in entry["for"]]


def _watch(lines: IO[str]) -> None:
    """Wait for the crew: a line says how many kernels and seconds, then comes one for each."""
    n, _, seconds = lines.readline().partition(" ")
    if int(n or 0) == 0:
        return
    insist(f"compiling {n} kernels (first use of this installation; later runs start at once)")
    with task("compiling", float(seconds)) as step:
        for line in lines:
            step(float(line))


def _key(place: Path) -> str:
    numba = find_spec("numba")
    installed = os.stat(numba.origin).st_mtime_ns if numba and numba.origin else 0
    digest = hashlib.sha256(f"{installed} {sys.version}".encode())
    for file in (LIST, place / STAMP):
        with suppress(OSError):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _ready(file: Path) -> dict[str, str]:
    with suppress(OSError, ValueError):
        found = json.loads(file.read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else {}
    return {}


def note_ready(file: Path, use: str, key: str) -> None:
    """Note that everything is there for a use; what was ready by another key is not any more."""
    ready = {name: known for name, known in _ready(file).items() if known == key}
    written = file.with_name(f"{file.name}.{os.getpid()}")
    written.write_text(json.dumps({**ready, use: key}), encoding="utf-8")
    written.replace(file)
