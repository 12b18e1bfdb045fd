"""Say when a kernel is about to be compiled, and look after the place where it is kept.

Numba compiles a kernel on its first use, which takes seconds, and keeps the result on disk. A
person who waits should know why, once. The Python face of a kernel says
``announce("the attack", _scan, _merge)`` before its first call.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import pkgutil
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starshade.errors import ConfigError
from starshade.progress import insist
from starshade.scratch import keep_scratch

_said: set[str] = set()


def announce(label: str, *kernels: Any) -> None:
    """Note that `label` will be compiled first, if any of its kernels is not in the cache."""
    if label in _said or all(_is_ready(kernel) for kernel in kernels):
        return
    from numba.core.compiler_lock import global_compiler_lock

    with global_compiler_lock:  # for what is being compiled ahead
        if all(_is_ready(kernel) for kernel in kernels):
            return
    _said.add(label)
    insist(f"compiling {label} (first use of this installation; later runs start at once)")


def _is_ready(kernel: Any) -> bool:
    """Tell whether a kernel is compiled here or on disk; True for a plain function."""
    if not hasattr(kernel, "overloads") or kernel.overloads:  # signatures would be listed
        return True
    try:
        # the index is empty when the source has changed since
        return bool(kernel._cache._cache_file._load_index())
    except Exception:  # a private corner of Numba: at worst one note too many
        return False


@dataclass(frozen=True)
class KernelCache:
    """Where compiled kernels are kept (nowhere: interpreted), and how many are ready, of all."""

    place: str
    writable: bool
    ready: int
    kernels: int


def all_kernels() -> list[Any]:
    """Return every kernel of this package; imports Numba. None when they run interpreted."""
    found: dict[int, Any] = {}
    package = importlib.import_module("starshade.kernels")
    for module in pkgutil.walk_packages(package.__path__, "starshade.kernels."):
        for value in vars(importlib.import_module(module.name)).values():
            if hasattr(value, "signatures") and hasattr(value, "_cache"):
                found[id(value)] = value
    return list(found.values())


def kernel_cache() -> KernelCache:
    """Look at every kernel of this package; imports Numba."""
    kernels = all_kernels()
    place = next((str(getattr(k._cache, "cache_path", "") or "") for k in kernels), "")
    return KernelCache(
        place=place,
        writable=bool(place) and os.access(_nearest(Path(place)), os.W_OK),
        ready=sum(map(_is_ready, kernels)),
        kernels=len(kernels),
    )


def refuse_variables() -> None:
    """Refuse environment variables that Numba and NumPy cannot be loaded with.

    Raises
    ------
    ConfigError
        One is no whole number, or too small.
    """
    for name, least in (("NUMBA_NUM_THREADS", 1), ("SOURCE_DATE_EPOCH", 0)):
        value = os.environ.get(name, str(least))
        if not (value.isascii() and value.isdigit() and len(value) < 19 and int(value) >= least):
            raise ConfigError(
                f"{name}={value[:40]!r}: must be a whole number, {least} or more",
                advice="Correct that environment variable, or unset it.",
            )


def prepare_cache() -> None:
    """See to it that Numba has a cache, and that nothing in it is stale.

    To be called before a kernel is declared. Where both the package and the home are read-only
    (a hardened container) Numba would find no place and refuse to start: then it gets a private
    folder that lives as long as the process; a shared one could be poisoned.
    """
    sources = Path(__file__).parent
    if cache_place(sources) is None:
        os.environ["NUMBA_CACHE_DIR"] = str(keep_scratch("kernels"))
    forget_stale(sources, cache_place)


def cache_place(sources: Path) -> Path | None:
    """Return where Numba will keep what it compiles from a folder; None: nowhere."""
    own = f"{sources.name}_{hashlib.sha1(str(sources).encode()).hexdigest()}"
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(chosen) / own
    places = [sources / "__pycache__"]
    with suppress(RuntimeError):  # there is no home
        home = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
        places.append(home / "numba" / own)
    for place in places:
        if os.access(_nearest(place), os.W_OK):
            return place
    return None


def _nearest(path: Path) -> Path:
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


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
        if b"njit" in text or b"inner" in text or _is_package(name)
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
