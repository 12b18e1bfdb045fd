"""What a run leaves about its result right before that gets its name.

Between then and its last word a run may be killed. Whoever runs the same again finds a place that
is taken, and here that it is taken by what was asked for.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from starshade._version import __version__
from starshade.plain import plain
from starshade.ratings.places.atomic import Part, mark_of
from starshade.scratch import LAST, PART


def key_of(asked: Mapping[str, Any]) -> str:
    """Return what a run is known again by: what it was asked for, and the version."""
    said = json.dumps({"version": __version__, **asked}, sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


@dataclass(frozen=True)
class Done:
    """What one run says of its result, in a folder that goes when it ends; None: nowhere."""

    folder: Path | None
    key: str

    def leave(self, parts: Sequence[Part], told: Mapping[str, Any]) -> None:
        """Write down what is about to get its name, and what the run has to tell then."""
        if self.folder is None:
            return
        moves = [astuple(part.move())[1:] for part in parts]
        unfinished = self.folder / f"{self.key}{PART}"
        with suppress(OSError):  # the result does not need it
            with unfinished.open("w", encoding="utf-8") as file:
                json.dump({"places": moves, "told": plain(told)}, file)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(self._file(self.folder))

    def found(self) -> dict[str, Any] | None:
        """Return what the run had to tell, where all that it made is in its place as it was."""
        if self.folder is not None:
            with suppress(OSError, ValueError, KeyError, TypeError):
                said = json.loads(self._file(self.folder).read_text(encoding="utf-8"))
                if all(mark and mark_of(place) == mark for place, mark in said["places"]):
                    return dict(said["told"])
        return None

    def is_left_in(self, folder: Path) -> bool:
        """Tell whether a killed run had left this in a folder."""
        return self._file(folder).is_file()

    def _file(self, folder: Path) -> Path:
        return folder / f"{self.key}{LAST}"
