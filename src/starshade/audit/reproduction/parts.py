"""What was measured, part by part: each once, and on disk where a killed run is to go on.

A part is a few named arrays. Whatever a study says is computed from parts, so that a run that
goes on from the parts of a killed one writes what the other would have written.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.ratings.places.atomic import atomic_file

Part: TypeAlias = Mapping[str, NDArray[Any]]
_REQUEST = "request.json"


class Parts:
    """Parts by name; `folder`: where they are kept, None: in memory alone.

    `request`: what all of them rest on (digest of the data, seed, options, version); a folder that
    was begun for another is refused.
    """

    def __init__(
        self, folder: Path | None = None, request: Mapping[str, Any] | None = None
    ) -> None:
        self._folder = folder
        self._prefix = ""
        self._held: dict[str, Part] = {}
        if folder is not None:
            _begin(folder, dict(request or {}))

    def within(self, name: str) -> Parts:
        """Return the parts of one of several studies that share a folder."""
        own = Parts()
        own._folder, own._prefix = self._folder, f"{self._prefix}{name}: "
        return own

    def remove(self) -> None:
        """Take what is kept away; what is no part stays, and the folder with it."""
        if self._folder is not None:
            for place in (*self._folder.glob("*.npz"), self._folder / _REQUEST):
                place.unlink(missing_ok=True)
            with suppress(OSError):
                self._folder.rmdir()

    def of(self, name: str, make: Callable[[], Part]) -> Part:
        """Return a part; `make` it where it is not there yet."""
        if name not in self._held:
            self._held[name] = self._kept(name, make)
        return self._held[name]

    def _kept(self, name: str, make: Callable[[], Part]) -> Part:
        if self._folder is None:
            return make()
        digest = sha256(f"{self._prefix}{name}".encode()).hexdigest()
        place = self._folder / f"{digest[:32]}.npz"
        if not place.is_file():
            made: dict[str, Any] = {key: np.asarray(value) for key, value in make().items()}
            with atomic_file(place, 0o600) as path, path.open("wb") as file:
                np.savez(file, **made)
        try:
            with place.open("rb") as data, np.load(data, allow_pickle=False) as stored:
                return {key: stored[key] for key in stored.files}
        except (ValueError, EOFError, BadZipFile, zlib.error) as damage:
            raise ConfigError(
                f"{place}: a finished part is damaged", advice="Remove that file, and go on."
            ) from damage


def request_of(folder: Path) -> dict[str, Any] | None:
    """Return what the parts in a folder rest on; None: there are none."""
    try:
        kept = json.loads((folder / _REQUEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError:
        kept = None
    if not isinstance(kept, dict):
        raise ConfigError(f"{folder}: {_REQUEST} is damaged", advice="Remove the folder.")
    return kept


def _begin(folder: Path, request: dict[str, Any]) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    place, text = folder / _REQUEST, json.dumps(request, sort_keys=True, indent=1)
    if not place.is_file():
        with atomic_file(place, 0o600) as path:
            path.write_text(text, encoding="utf-8")
    elif place.read_text(encoding="utf-8") != text:
        raise ConfigError(
            f"{folder}: parts of another run: other data, seed, options or version",
            advice="Give the same request again, or remove the folder to begin anew.",
        )
