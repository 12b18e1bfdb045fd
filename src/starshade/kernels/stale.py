"""Throw away machine code that was compiled from sources that have changed since.

Numba compiles again when a kernel's own file has changed. It does not look at the files of the
kernels that this one calls, whose machine code it holds too: after an update of one file the
others would go on running the old code, and give wrong numbers without a word. So the digests of
all kernel files stand beside the cache; a file counts as changed when any file it imports has.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

__all__ = ["STAMP", "forget_stale"]

#: where the digests stand, in the cache of the first folder
STAMP = "starshade-kernels.json"
_IMPORTS = re.compile(
    rb"^(?:from|import) starshade\.kernels((?:\.\w+)*)(?: import (\([^)]*\)|.*))?", re.MULTILINE
)


def forget_stale(sources: Path, place: Callable[[Path], Path | None]) -> None:
    """Remove from a cache what no longer stems from the sources.

    `place`: says where Numba keeps what it compiled from a folder. If that cannot be written to,
    nothing can have been kept there either.
    """
    first = place(sources)
    if first is None:
        return
    now = _digests(sources)
    before = None
    with suppress(OSError, ValueError):
        before = json.loads((first / STAMP).read_text(encoding="utf-8"))
    if before == now:
        return
    known: dict[str, str] = before if isinstance(before, dict) else {}
    with suppress(OSError):
        first.mkdir(parents=True, exist_ok=True)
        for name, digest in now.items():
            folder, _, stem = name.rpartition(".")
            cache = place(sources.joinpath(*folder.split(".")))
            if known.get(name) != digest and cache is not None:
                for index in cache.glob(f"{stem}.*.nbi"):
                    index.unlink(missing_ok=True)
        written = first / f"{STAMP}.{os.getpid()}"
        written.write_text(json.dumps(now), encoding="utf-8")
        written.replace(first / STAMP)


def _digests(sources: Path) -> dict[str, str]:
    """Return a digest per file, over it and everything that it imports from the folder."""
    texts = {_name(path, sources): path.read_bytes() for path in sources.rglob("*.py")}
    # what a package hands on is no kernel, but on the way to one
    kernels = {
        name: text
        for name, text in texts.items()
        if b"njit" in text or b"kernels.inner" in text or _is_package(name)
    }
    needs = {name: _imported(text) & kernels.keys() for name, text in kernels.items()}
    return {name: _digest(_reach(name, needs), kernels) for name in sorted(kernels)}


def _name(path: Path, sources: Path) -> str:
    return ".".join(path.relative_to(sources).with_suffix("").parts)


def _is_package(name: str) -> bool:
    return name.endswith(".__init__")


def _imported(text: bytes) -> set[str]:
    """Return the files that a file may import; ``from a import b`` may mean a, or b within a."""
    found = set()
    for path, names in _IMPORTS.findall(text):
        module = path.decode().lstrip(".")
        found |= {module, f"{module}.__init__"}
        found |= {f"{module}.{name}".lstrip(".") for name in re.findall(r"\w+", names.decode())}
    return found


def _reach(name: str, needs: dict[str, set[str]]) -> set[str]:
    reached, waiting = set(), [name]
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting += needs[one]
    return reached


def _digest(names: set[str], texts: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name in sorted(names):
        digest.update(name.encode() + b"\0" + hashlib.sha256(texts[name]).digest())
    return digest.hexdigest()
