"""Helpers of the reader tests: files by hand, tables as dicts."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np

from starshade import progress
from starshade.ratings.table import UNKNOWN_DAY, Ratings

Cells = dict[tuple[str, str], tuple[float, datetime.date | None]]


def cells(ratings: Ratings) -> Cells:
    """Return {(user id, item id): (rating, date)}."""
    rows = np.repeat(np.arange(ratings.n_users), ratings.user_support)
    values = ratings.values()
    out: Cells = {}
    for p in range(ratings.n_ratings):
        day = None
        if ratings.days is not None and ratings.days[p] != UNKNOWN_DAY:
            number = int(ratings.days[p]) + ratings.first_day
            day = datetime.date(1970, 1, 1) + datetime.timedelta(days=number)
        key = (ratings.users[int(rows[p])], ratings.items[int(ratings.columns[p])])
        out[key] = (float(values[p]), day)
    return out


def values(ratings: Ratings) -> dict[tuple[str, str], float]:
    """Return {(user id, item id): rating}."""
    return {key: value for key, (value, _) in cells(ratings).items()}


def write(path: Path, content: str | bytes, encoding: str = "utf-8") -> Path:
    """Write a file as it stands, line ends and all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


class Listener:
    """A watcher that keeps the notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def start(self, label: str, total: float | None) -> int:
        return 0

    def advance(self, handle: int, amount: float) -> None:
        pass

    def stop(self, handle: int) -> None:
        pass

    def note(self, message: str) -> None:
        self.notes.append(message)


def listening() -> tuple[Listener, object]:
    listener = Listener()
    return listener, progress.watch(listener)
