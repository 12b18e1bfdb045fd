"""A worked example of a paper, computed here cell by cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from starshade.progress import silence
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings

Cells = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Worked:
    """The paper's cells and ours; needs no data."""

    number: str  # "Table 4", "§6.1, example"
    title: str
    head: tuple[str, ...]
    # rows of cells as texts, in the same order; an empty cell of the paper is one that it lacks
    paper: tuple[tuple[str, ...], ...]
    ours: tuple[tuple[str, ...], ...]
    note: str = ""  # why cells differ: an erratum, a tie that falls otherwise

    def __post_init__(self) -> None:
        shapes = [[len(row) for row in cells] for cells in (self.paper, self.ours)]
        assert shapes[0] == shapes[1] == [len(self.head)] * len(self.paper), self.number

    @property
    def cells(self) -> int:
        """The number of the paper's cells."""
        return sum(bool(cell) for row in self.paper for cell in row)

    @property
    def equal(self) -> int:
        """The number of cells that equal the paper's."""
        pairs = zip(self.paper, self.ours, strict=True)
        return sum(bool(a) and a == b for row, own in pairs for a, b in zip(row, own, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain JSON values."""
        return {
            "number": self.number,
            "title": self.title,
            "head": list(self.head),
            "paper": [list(row) for row in self.paper],
            "ours": [list(row) for row in self.ours],
            "cells": self.cells,
            "equal": self.equal,
            "note": self.note,
        }


def small_table(cells: Iterable[tuple[str | int, str | int, float]], scale: str | Scale) -> Ratings:
    """Return users, items and ratings as a small table, without notes on reading."""
    users, items, values = map(list, zip(*cells, strict=True))
    with silence():
        return Ratings.from_arrays(users, items, values, scale=scale)
