"""Ratings that are derived from the synthetic ones: what those lack."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path

_HEAD = ["user", "item", "rating", "date"]


def _rows() -> list[list[str]]:
    with Path("ml/ratings.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def _write(name: str, rows: Iterable[list[str]]) -> None:
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([_HEAD, *rows])


def _half() -> None:
    """Half stars: every third rating above 1 is half a star lower; without attributes."""
    _write(
        "half/ratings.csv",
        (
            [user, item, f"{int(rating) - 0.5 * (n % 3 == 0 and rating != '1')}", date]
            for n, (user, item, rating, date) in enumerate(_rows())
        ),
    )


def _giant() -> None:
    """One user rated every item, and sixty more that few or no others know."""
    ratings = [["900", str(item), str(1 + item % 5), "1998-01-05"] for item in range(1, 86)]
    rare = [[str(user), "60", "3", "1998-01-06"] for user in range(1, 4)]
    _write("giant/ratings.csv", [*_rows(), *ratings, *rare])


def _later() -> None:
    """The same people a year on: some left, some rated more, some are new."""
    kept = [row for row in _rows() if row[0] not in ("5", "6")]
    rated = {(row[0], row[1]) for row in kept}
    users = [*range(10, 30), *range(500, 510)]
    new = [
        [str(user), str(item), str(1 + (user + item) % 5), "1999-05-01"]
        for user in users
        for item in range(1 + user % 3, 26, 4)
        if (str(user), str(item)) not in rated
    ]
    _write("later/ratings.csv", [*kept, *new])


def _twice() -> None:
    """Every tenth rating is there again, two days later and another one."""
    again = [
        [user, item, str(1 + int(rating) % 5), "1999-01-02"]
        for user, item, rating, _ in _rows()[::10]
    ]
    _write("twice/ratings.csv", [*_rows(), *again])


def _aux() -> None:
    """What a second site knows of twenty users under other names."""
    known = [
        [f"n{user}", item, rating, date]
        for user, item, rating, date in _rows()[::2]
        if int(user) <= 20
    ]
    _write("aux/ratings.csv", known)


def _few() -> None:
    Path("few/ids.txt").write_text("3\n17\n40\nnobody\n", encoding="utf-8")
    Path("few/none.txt").write_text("nobody\n", encoding="utf-8")


SOURCES: dict[str, Callable[[], None]] = {
    "half": _half,
    "giant": _giant,
    "later": _later,
    "twice": _twice,
    "aux": _aux,
    "few": _few,
}
