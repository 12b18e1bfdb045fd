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
from contextlib import suppress
from pathlib import Path

__all__ = ["forget_stale"]

_STAMP = "starshade-kernels.json"
_IMPORTS = re.compile(rb"^from starshade\.kernels\.(\w+) import", re.MULTILINE)


def forget_stale(sources: Path, cache: Path) -> None:
    """Remove from a cache what no longer stems from the sources.

    Parameters
    ----------
    sources : Path
        The folder of the kernels' files.
    cache : Path
        Where Numba keeps what it compiled from them. If it cannot be written to, nothing can
        have been kept there either.
    """
    now = _digests(sources)
    stamp = cache / _STAMP
    before = None
    with suppress(OSError, ValueError):
        before = json.loads(stamp.read_text(encoding="utf-8"))
    if before == now:
        return
    known: dict[str, str] = before if isinstance(before, dict) else {}
    with suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
        for name, digest in now.items():
            if known.get(name) != digest:
                for index in cache.glob(f"{name}.*.nbi"):
                    index.unlink(missing_ok=True)
        written = stamp.with_name(f"{_STAMP}.{os.getpid()}")
        written.write_text(json.dumps(now), encoding="utf-8")
        written.replace(stamp)


def _digests(sources: Path) -> dict[str, str]:
    """Return a digest per file, over it and everything that it imports from its folder."""
    texts = {path.stem: path.read_bytes() for path in sources.glob("*.py")}
    kernels = {name: text for name, text in texts.items() if b"njit" in text}
    needs = {
        name: {found.decode() for found in _IMPORTS.findall(text)} & kernels.keys()
        for name, text in kernels.items()
    }
    return {name: _digest(_reach(name, needs), kernels) for name in sorted(kernels)}


def _reach(name: str, needs: dict[str, set[str]]) -> set[str]:
    """Return a file and all files that it imports, directly or not."""
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
