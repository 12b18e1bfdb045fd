"""Finished parts of a study, measured once and stored on disk to resume a killed run.

A part is a few named arrays. All results of a study are computed from parts, so a resumed run
writes what the killed one would have written.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starshade.engine.seal import key_for, read_sealed, seal
from starshade.errors import ConfigError, OutputError, TakenError
from starshade.files.checksum import parse
from starshade.files.side import REPRODUCTION, read_side
from starshade.progress import note
from starshade.ratings.places.atomic import atomic_file, atomic_folder
from starshade.scratch import orphan

Part: TypeAlias = Mapping[str, NDArray[Any]]
_REQUEST, _PART, _PAGE = "request.json", ".part", ".html"
_SECONDS = "seconds to make it"
_ATTEMPTS = 5


class Parts:
    """Parts by name; `folder`: where they are stored, None: in memory only.

    `request`: what all of them rest on (digest of the data, seed, options, version), by name; a
    folder that was begun for another is refused, and tells none of it but the seed.
    """

    def __init__(
        self, folder: Path | None = None, request: Mapping[str, Any] | None = None
    ) -> None:
        self._folder = folder
        self._prefix = ""
        self._held: dict[str, Part] = {}
        self._seconds: dict[str, float] = {}
        if folder is not None:
            _begin(folder, request or {})

    def within(self, name: str) -> Parts:
        """Return the parts of one of several studies that share a folder."""
        own = Parts()
        own._folder, own._prefix = self._folder, f"{self._prefix}{name}: "
        return own

    @property
    def folder(self) -> Path | None:
        """The folder of the parts."""
        return self._folder

    @property
    def finished(self) -> bool:
        """Whether any part is stored."""
        return self._folder is not None and any(self._folder.glob(f"*{_PART}"))

    def remove(self) -> None:
        """Remove parts and pages, and the folder unless it holds anything else."""
        if self._folder is not None:
            kept = (place for end in (_PART, _PAGE) for place in self._folder.glob(f"*{end}"))
            for place in (*kept, self._folder / _REQUEST):
                place.unlink(missing_ok=True)
            with suppress(OSError):
                self._folder.rmdir()

    def of(self, name: str, make: Callable[[], Part]) -> Part:
        """Return a part; `make` it if it is missing."""
        if name not in self._held:
            part = dict(self._kept(name, lambda: _timed(make)))
            self._seconds[name] = part.pop(_SECONDS).item()
            self._held[name] = part
        return self._held[name]

    def times(self, what: Callable[[str], str]) -> dict[str, float]:
        """Sum the seconds it took to make the requested parts, by `what` each is.

        What is "" is left out.
        """
        found: dict[str, float] = defaultdict(float)
        for name, each in self._seconds.items():
            found[what(name)] += each
        found.pop("", None)
        return dict(found)

    def _kept(self, name: str, make: Callable[[], Part]) -> Part:
        if self._folder is None:
            return make()
        own = f"{self._prefix}{name}".encode()
        place = self._folder / f"{sha256(own).hexdigest()[:32]}{_PART}"
        key, kept = key_for(self._folder), None
        if os.path.lexists(place) and (kept := read_sealed(place, key)) is None:
            note(f"{place}: damaged, or not written by you here; it is computed again")
            place.unlink()
        if kept is None:
            made: dict[str, Any] = {key: np.asarray(value) for key, value in make().items()}
            content = BytesIO()
            np.savez(content, **made)
            with atomic_file(place, 0o600) as path, path.open("wb") as file:
                file.write(seal(content.getbuffer(), place.name, key))
                file.write(content.getbuffer())
            kept = content.getvalue()
        with np.load(BytesIO(kept), allow_pickle=False) as stored:
            return {key: stored[key] for key in stored.files}


def _timed(make: Callable[[], Part]) -> Part:
    started = perf_counter()
    made = make()
    return {**made, _SECONDS: np.array(perf_counter() - started)}


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Lock a folder of parts for one run; OutputError if another run is using it."""
    with ExitStack() as held:
        for attempt in range(_ATTEMPTS):  # another may only look whether one is at work
            try:
                held.enter_context(orphan(folder))
                break
            except (BlockingIOError, FileNotFoundError):  # or it has just ended
                if attempt == _ATTEMPTS - 1:
                    raise OutputError(
                        f"{folder}: another run is using it",
                        advice="Wait until it ends, or choose another folder.",
                    ) from None
                sleep(0.05)
            except OSError as error:
                raise OutputError(
                    f"{folder}: cannot be used for finished parts "
                    f"({os.strerror(error.errno or 0)})",
                    advice="Choose another folder.",
                ) from None
        yield


def request_of(folder: Path) -> dict[str, Any] | None:
    """Return the request behind the parts in a folder; None: there are none."""
    if not os.path.lexists(folder / _REQUEST):
        return None
    raw = read_side(folder / _REQUEST, REPRODUCTION)
    try:
        kept = parse(raw)
    except ValueError:
        kept = None
    if not isinstance(kept, dict):
        raise ConfigError(f"{folder}: {_REQUEST} is damaged", advice="Remove the folder.")
    return kept


def _begin(folder: Path, request: Mapping[str, Any]) -> None:
    asked, kept = _unnamed(request), request_of(folder)
    if kept is None:
        try:
            with atomic_folder(folder) as made:  # never without its request
                path = made / _REQUEST
                path.touch(mode=0o600)
                path.write_text(json.dumps(asked, sort_keys=True, indent=1), encoding="utf-8")
            return
        except TakenError:
            if (kept := request_of(folder)) is None:
                raise
    if kept != asked:
        unlike = sorted(name for name in {*kept, *asked} if kept.get(name) != asked.get(name))
        raise ConfigError(
            f"{folder}: parts of another run, unlike this one in "
            + ("data" if "data" in unlike else ", ".join(unlike)),
            advice="Give the same request again, or remove the folder to start again.",
        )


def _unnamed(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return digests, as sensitive items may be named; with the data, or ids could be guessed."""
    return {
        name: value
        if name == "seed"
        else sha256(
            json.dumps([request.get("data"), name, value], sort_keys=True).encode()
        ).hexdigest()
        for name, value in request.items()
    }
