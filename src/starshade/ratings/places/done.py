"""What a run leaves about its result right before that gets its name.

Between then and its last word a run may be killed. Whoever runs the same again finds a place that
is taken, and here that it is taken by what was asked for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from starshade._version import __version__
from starshade.engine.journal import Journal
from starshade.engine.seal import is_sealed
from starshade.errors import OutputError
from starshade.plain import plain
from starshade.ratings.places.atomic import Part, mark_of
from starshade.scratch import LAST


def key_of(asked: Mapping[str, Any]) -> str:
    """Return what a run is known again by: what it was asked for, and the version."""
    said = json.dumps({"version": __version__, **asked}, sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


@dataclass(frozen=True)
class Done:
    """What one run says of its result, in a journal that goes when it ends."""

    journal: Journal
    key: str

    def leave(self, parts: Sequence[Part], told: Mapping[str, Any]) -> None:
        """Write down what is about to get its name, and what the run has to tell then."""
        if self.journal.folder is None:
            return
        moves = [astuple(part.move())[1:] for part in parts]
        said = json.dumps({"places": moves, "told": plain(told)})
        with suppress(OutputError):  # the result does not need it
            self.journal.put(self._name, said.encode())

    def found(self) -> dict[str, Any] | None:
        """Return what the run had to tell, where all that it made is in its place as it was."""
        content = self.journal.get(self._name)
        if content is not None:
            said = json.loads(content)
            if all(mark and mark_of(place) == mark for place, mark in said["places"]):
                return dict(said["told"])
        return None

    def is_left_in(self, folder: Path) -> bool:
        """Tell whether a killed run had left this in a folder."""
        return is_sealed(folder / self._name, self.journal.key)

    @property
    def _name(self) -> str:
        return f"{self.key}{LAST}"
