"""Compile the suite's kernels before its workers start, once for a checkout.

Workers that start at the same time would compile the same kernels side by side. Which they are
is written down (``kernels.jsonl``, one kernel a line, callees before callers) from what the cache
of a checkout holds after a run of the suite: ``python -m tests.compiled``. Nothing hangs on it:
what is not listed is compiled when it is called, and what is no more is skipped.
"""

from __future__ import annotations

import gc
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_name("kernels.jsonl")
ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "src" / "starshade" / "kernels"
#: stands in the cache: for which sources and which list everything is there
READY = KERNELS / "__pycache__" / "starshade-suite.txt"


def compile_once(processes: int) -> None:
    """Let the listed kernels be compiled, unless they are."""
    if READY.is_file() and READY.read_text() == _key():
        return
    print("compiling the suite's kernels (once for this checkout)", flush=True)
    told = [sys.executable, "-m", "tests.compiled", str(processes)]
    if subprocess.run(told, cwd=ROOT, check=False).returncode == 0:
        READY.write_text(_key())


def _key() -> str:
    """Return what makes the cache another one."""
    numba = find_spec("numba")
    digest = hashlib.sha256(f"{sys.version} {numba and numba.origin}".encode())
    for file in (LIST, *sorted(KERNELS.rglob("*.py"))):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _compile(processes: int) -> None:
    from starshade.kernels.ahead import load_numba
    from starshade.kernels.ahead.crew import _in_cache, _share

    load_numba()
    jobs = [job for job in _jobs() if not _in_cache(job)]
    gc.freeze()
    gc.disable()  # as the crew of a command does
    for _ in _share(jobs, processes):
        pass


def _jobs() -> Iterator[Any]:
    from starshade.kernels.ahead.crew import _job

    for line in LIST.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        for types, weight in entry["types"].items():
            with suppress(ImportError, AttributeError):  # of an older list
                yield _job({"kernel": entry["kernel"], "types": types, "seconds": weight})


def _write() -> None:
    """List what the cache holds: types and the size of the code, which tells how long it takes."""
    from starshade.kernels.ahead.crew import _named, write_types
    from starshade.kernels.warm import all_kernels

    listed: dict[str, dict[str, int]] = {}

    def add(kernel: Any) -> None:
        name = f"{kernel.py_func.__module__}:{kernel.py_func.__qualname__}"
        if name in listed:
            return
        for callee in _named(kernel.py_func):
            if hasattr(callee, "signatures") and callee is not kernel:
                add(callee)
        files = kernel._cache._cache_file
        listed[name] = {
            write_types(key[0]): (Path(files._cache_path) / data).stat().st_size >> 10
            for key, data in sorted(files._load_index().items(), key=str)
        }

    for kernel in all_kernels():
        add(kernel)
    with LIST.open("w", encoding="utf-8") as file:
        for name, types in listed.items():
            if types:
                file.write(json.dumps({"kernel": name, "types": types}) + "\n")


if __name__ == "__main__":
    _compile(int(sys.argv[1])) if sys.argv[1:] else _write()
