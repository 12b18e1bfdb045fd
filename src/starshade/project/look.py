"""A look at ratings before they are read: which column is what, and the people's table beside."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from starshade.errors import StarshadeError
from starshade.ratings.readers.addresses.address import is_address
from starshade.ratings.readers.preview import Preview, preview
from starshade.ratings.settings import ReadingSettings
from starshade.setting import settings_of

_PEOPLE = ("people", "users", "persons", "customers", "members")
_ENDINGS = (".csv", ".tsv", ".parquet")
_NOT_SEEN = {"users", "item_names", "show_values", "query", "scale", "on_duplicate"}


@dataclass(frozen=True)
class Looked:
    """What was recognised.

    `columns`: for each role that is known its column, and why this one. `people`: a table of
    personal attributes beside the ratings, by its name and by their column of people; empty: none.
    """

    columns: tuple[tuple[str, str, str], ...] = ()
    people: str = ""


def look(source: str, reading: ReadingSettings) -> Looked:
    """Look at the first rows of a file; nothing is recognised where it is no plain table."""
    given = {
        setting.name: value
        for setting in settings_of(ReadingSettings)
        if setting.name not in _NOT_SEEN
        and (value := getattr(reading, setting.name)) != setting.default
    }
    seen = None if is_address(source) else _seen(source, **given)
    if seen is None:
        return Looked()
    columns = tuple((role, seen.called(name), seen.why[role]) for role, name in seen.roles.items())
    return Looked(columns, _people_beside(Path(source), seen.roles.get("user", "")))


def _seen(source: str | Path, **how: object) -> Preview | None:
    try:
        return preview(source, **how)
    except (StarshadeError, OSError, ValueError):  # reading says it
        return None


def _people_beside(source: Path, column: str) -> str:
    if not source.is_file() or not column:
        return ""
    for name in (f"{stem}{ending}" for stem in _PEOPLE for ending in _ENDINGS):
        beside = source.with_name(name)
        if beside.is_file() and not os.path.samefile(beside, source):
            seen = _seen(beside)
            if seen is not None and seen.named and column in seen.columns:
                return str(beside)
    return ""
