"""The list of people at risk: a private file next to the internal report."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from starshade.audit.dossier.dossier import Dossier
from starshade.files.side import REPORT, read_side_text
from starshade.ratings.places.atomic import atomic_file
from starshade.ratings.places.place import Place, Where
from starshade.ratings.readers.text import Dialect
from starshade.ratings.write import write_table

#: key of a row of the dossier → column of the file
COLUMNS: Mapping[str, str] = {
    "user": "user",
    "known": "least_known",
    "share": "share_identified",
    "class_size": "class_size",
    "disclosed": "ratings_disclosed",
    "exists": "items_known_rated",
}


def save_people(dossier: Dossier, out: Where) -> Path:
    """Write the list of people at risk as CSV, the most exposed first: all of it or nothing.

    A row for each person whom at most that many known ratings identify in the original data
    (``least_known``), in this share of draws, with what the release discloses about them. Blank:
    not known, or the person is not in the release.

    Parameters
    ----------
    dossier : Dossier
    out : path
        Must not exist, nor be inside a release. Only its owner can read it.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    OutputError
        The file exists or cannot be written; nothing is left behind.
    """
    place = Place.of(out)
    people: Mapping[str, Any] = dossier.internal()["people"] or {"rows": []}
    columns = [[row[key] for row in people["rows"]] for key in COLUMNS]
    with atomic_file(place, 0o600) as file:
        write_table(file, Dialect(",", True), list(COLUMNS.values()), columns)
    return place.path


def lists_any(file: Path, users: Collection[str]) -> bool:
    """Return whether a list of people at risk has any of these users."""
    rows = csv.DictReader(io.StringIO(read_side_text(file, REPORT), newline=""))
    return any(row.get("user") in users for row in rows)
