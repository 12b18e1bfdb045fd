"""The first rows of a file: shown at once, never kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starshade.errors import StarshadeError
from starshade.figure import Table
from starshade.server.jobs.store import DataRow, Store
from starshade.server.page.job import source_of

if TYPE_CHECKING:
    from starshade.ratings.readers.preview import Preview

_ROWS = 6
_WIDE = 12  # columns; a survey's are many
_ROLES = {"user": "people", "item": "items", "rating": "ratings", "day": "dates"}
#: settings of reading that change what the columns are
_SHAPING = ("format", "delimiter", "header", "wide")


def facts_with_rows(store: Store, data: DataRow, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a data set, with its first rows as ``preview``."""
    return {**(data.facts or {}), "preview": first_rows(store, data, options)}


def first_rows(store: Store, data: DataRow, options: Mapping[str, Any]) -> Preview | None:
    """Return the first rows of a file; None if it cannot be opened (reading reports why)."""
    if data.kind == "synthetic":
        return None
    source = source_of(store, data)
    shaping = {name: options[name] for name in _SHAPING if name in options}
    try:
        at = source.stat()
        return _looked(source, at.st_mtime_ns, at.st_size, json.dumps(shaping, sort_keys=True))
    except (StarshadeError, OSError, ValueError):
        return None


@lru_cache(maxsize=8)
def _looked(source: Path, changed: int, size: int, shaping: str) -> Preview | None:
    from starshade.ratings.readers.preview import preview

    return preview(source, **json.loads(shaping))


def rows_table(looked: Preview | None) -> Table | None:
    """Return the first rows as a table; its head names the role of each column."""
    if looked is None or not looked.rows:
        return None
    roles = {column: _ROLES[role] for role, column in looked.roles.items()}
    names = looked.columns[:_WIDE]
    called = [name if looked.named else f"column {name}" for name in names]
    head = [f"{at}: {roles[name]}" if name in roles else at
            for name, at in zip(names, called, strict=True)]  # fmt: skip
    more = len(looked.columns) - len(names)
    title = "The first rows of the file" + (
        f"; {more:,} more columns are not shown" if more else ""
    )
    return Table(title, tuple(head), tuple(row[:_WIDE] for row in looked.rows[:_ROWS]))
