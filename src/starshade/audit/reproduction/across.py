"""The papers' claims on several data sets, compared."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, get_args

from starshade.audit.reproduction.claims import Verdict
from starshade.audit.reproduction.estimates import Estimate
from starshade.audit.reproduction.everything import COLUMNS, PAPERS_OWN
from starshade.audit.reproduction.papers import PAPERS
from starshade.errors import ConfigError, InputError
from starshade.figure import Table
from starshade.files.side import REPRODUCTION, read_side_text
from starshade.ratings.places.place import Where

Row = dict[str, Any]
FILE = "claims.csv"


@dataclass(frozen=True)
class Across:
    """The verdict and value of each claim on each data set.

    Attributes
    ----------
    data : tuple of str
        Names of the data sets, a column each.
    rows : tuple of dict
        Of `claims.csv`, from all folders.
    """

    data: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def counts(self) -> Table:
        """Count the claims of each paper on each data set, by verdict."""
        verdicts = get_args(Verdict)
        count = Counter(
            (row["paper"], row["data"], row["verdict"])
            for row in self.rows
            if (row["whose"], row["decided_by"]) == (PAPERS_OWN, "data")
        )

        def cell(paper: str, data: str) -> str:
            found = [count[paper, data, verdict] for verdict in verdicts]
            return " / ".join(map(str, found)) if sum(found) else "–"

        papers = dict.fromkeys(row["paper"] for row in self.rows)
        return Table(
            f"Claims of each paper that data decide: {' / '.join(verdicts)}",
            ("paper", *self.data),
            tuple((_authors(p), *(cell(p, data) for data in self.data)) for p in papers),
        )

    def table(self, *, unlike: bool = False) -> Table:
        """Return each claim's verdict and value; `unlike`: only claims whose verdicts differ."""
        own: dict[str, dict[str, Row]] = {}
        for row in self.rows:
            own.setdefault(row["claim"], {})[row["data"]] = row
        chosen = {
            claim: found
            for claim, found in own.items()
            if not unlike or len({row["verdict"] for row in found.values()}) > 1
        }
        return Table(
            "Claims whose verdict depends on the data" if unlike else "Each claim on each data set",
            ("claim", "says", *self.data),
            tuple(
                (
                    claim,
                    next(iter(found.values()))["says"],
                    *(_found(found.get(data)) for data in self.data),
                )
                for claim, found in chosen.items()
            ),
        )

    @property
    def failures(self) -> Table:
        """Each claim of a paper that does not hold, on which data, and the cause."""
        papers = (row for row in self.rows if row["whose"] == PAPERS_OWN)
        failed = (row for row in papers if row["verdict"] == "does not hold")
        rows = sorted(failed, key=lambda row: row["claim"])
        return Table(
            "Claims that do not hold, and the cause",
            ("claim", "says", "data", "here", "cause"),
            tuple((r["claim"], r["says"], r["data"], _measured(r), r["cause"]) for r in rows),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the whole as plain JSON values."""
        return {"data": list(self.data), "claims": list(self.rows)}


def claims_across(folders: Sequence[Where]) -> Across:
    """Read the papers' claims from the folders of studies and sites.

    Parameters
    ----------
    folders : sequence of path
        Each written by `save_study` or `save_site`.

    Returns
    -------
    Across

    Raises
    ------
    InputError
        A folder without claims, with other columns, or with a claim twice.
    ConfigError
        A folder is given twice.

    Notes
    -----
    Folders whose data have one name are one data set where they share no claim, as studies of
    several papers share none; otherwise the columns carry the folders' names.
    """
    columns: list[tuple[str, Path, dict[str, Row]]] = []  # what the data are called, and where
    for place in map(Path, folders):
        for data, own in _by_data(_read(place / FILE), place).items():
            same = (
                at for called, _, at in columns if called == data and not at.keys() & own.keys()
            )
            found = next(same, None)
            if found is None:
                columns.append((data, place, own))
            else:
                found.update(own)
    times = Counter(data for data, _, _ in columns)
    names = [f"{data} ({place})" if times[data] > 1 else data for data, place, _ in columns]
    if len(set(names)) < len(names):
        raise ConfigError("a folder is given twice", advice="Give each folder once.")
    rows = (
        row | {"data": name}
        for name, (_, _, own) in zip(names, columns, strict=True)
        for row in own.values()
    )
    return Across(tuple(names), tuple(rows))


def _by_data(rows: Sequence[Row], place: Path) -> dict[str, dict[str, Row]]:
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        own = found.setdefault(row["data"], {})
        if row["claim"] in own:
            raise InputError(f"{place / FILE}: claim {row['claim']} occurs twice")
        own[row["claim"]] = row
    return found


def _read(path: Path) -> list[Row]:
    try:
        text = read_side_text(path, REPRODUCTION)
        found = [_typed(row) for row in csv.DictReader(StringIO(text))]
        if not found:
            raise ValueError("the file is empty")
    except (ValueError, csv.Error) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{path}: cannot read claims: {error}",
            advice="Give folders written by `starshade reproduce … --out`.",
        ) from error
    return found


def _typed(row: dict[str, str]) -> Row:
    if tuple(row) != COLUMNS or None in row.values():
        raise ValueError(f"the columns must be {', '.join(COLUMNS)}")
    if row["verdict"] not in get_args(Verdict):
        raise ValueError(f"{row['verdict']!r} is not a verdict")
    given = [row[name] for name in _NUMBERS]
    if any(given):
        value, low, high = map(float, given)
        if not -math.inf < low <= value <= high < math.inf:
            raise ValueError(f"value {value}, low {low}, high {high}: not an interval")
        return row | {"value": value, "low": low, "high": high}
    return row | dict.fromkeys(_NUMBERS)


_NUMBERS = ("value", "low", "high")


def _authors(paper: str) -> str:
    return PAPERS[paper].authors if paper in PAPERS else paper


def _found(row: Row | None) -> str:
    if row is None:
        return "–"
    if row["value"] is None:
        return f"{row['verdict']}: {row['reason']}"
    return f"{row['verdict']}: {_measured(row)}"


def _measured(row: Row) -> str:
    return Estimate(*(row[name] for name in _NUMBERS)).text
