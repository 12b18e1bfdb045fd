"""Public ratings against data once more, record by record in plain Python (NS §5).

The scores are those of `tests.naive.scoreboard_rh`; here stands what is done with a file: whose
rows are whose, which items and days are meant, and what is answered for each name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tests.naive.scoreboard_rh import SLACK, Attack, Clue, Record, eccentricity, is_flat, score


@dataclass(frozen=True)
class Row:
    """One line of the file."""

    name: str
    item: str
    rating: float | None
    day: int | None  # since 1970-01-01


@dataclass(frozen=True)
class Best:
    """One row of the data that fits."""

    row: int
    score: float
    tied: int
    probability: float


@dataclass(frozen=True)
class Answer:
    """What is found for one name."""

    known: int
    in_data: int
    eccentricity: float
    profile_eccentricity: float
    tied: int
    answer: int | None  # row of the data
    profile: tuple[int, int] | None  # first row, records that equal it
    no_answer: str | None
    best: list[Best]


class ContradictionError(Exception):
    """Two rows of one person on one item say different things."""


def one_per_item(rows: list[tuple[object, Row]], rule: str) -> list[tuple[object, Row]]:
    """Make one row of each item of a person."""
    by_item: dict[object, list[Row]] = {}
    for item, row in rows:
        by_item.setdefault(item, []).append(row)
    out: list[tuple[object, Row]] = []
    for item, same in by_item.items():
        if rule == "error" and any(
            (r.rating, r.day) != (same[0].rating, same[0].day) for r in same
        ):
            raise ContradictionError
        # a row without a day gives way; a stable sort keeps the order of the file
        if rule in ("error", "first"):
            chosen = min(same, key=lambda r: math.inf if r.day is None else r.day)
        else:
            ranked = sorted(same, key=lambda r: -math.inf if r.day is None else r.day)
            if rule == "max":
                ranked.sort(key=lambda r: -math.inf if r.rating is None else r.rating)
            chosen = ranked[-1]
        if rule in ("mean", "sum"):
            known = [r.rating for r in same if r.rating is not None]
            total = sum(known) / (len(known) if rule == "mean" else 1) if known else None
            chosen = Row(chosen.name, chosen.item, total, chosen.day)
        out.append((item, chosen))
    return out


def clues_of(
    rows: list[Row],
    place: dict[str, int],
    *,
    rule: str,
    first_day: int,
    onto: tuple[float, float, float, float] | None,
) -> list[Clue]:
    """Say in the data's terms what one person's rows mean.

    `place` is where an item is in the data; `onto` the bounds of the file's scale and of the
    data's, if they differ.
    """
    named = [(place.get(row.item, row.item), row) for row in rows]
    clues = []
    for item, row in one_per_item(named, rule):
        rating = row.rating
        if rating is not None and onto is not None:
            low, high, data_low, data_high = onto
            rating = data_low + (rating - low) / (high - low) * (data_high - data_low)
        day = None if row.day is None else row.day - first_day
        clues.append(Clue(item if isinstance(item, int) else -1, rating, day))
    return clues


def answer(
    data: list[tuple[Record, int]], clues: list[Clue], attack: Attack, candidates: int
) -> Answer:
    """Answer for one person; `data` are records and how many of each there are."""
    records = [record for record, size in data for _ in range(size)]
    of_row = [score(record, clues, records, attack) for record, _ in data]
    scores = [s for s, (_, size) in zip(of_row, data, strict=True) for _ in range(size)]
    profiles: list[tuple[Record, float]] = []
    for (record, _), s in zip(data, of_row, strict=True):
        if all(record != other for other, _ in profiles):
            profiles.append((record, s))
    of_profile = [s for _, s in profiles]
    top = max(scores)
    ecc, profile_ecc = eccentricity(scores), eccentricity(of_profile)
    alone = scores.count(top) == 1 and not is_flat(scores) and ecc >= attack.phi - SLACK
    profile_alone = (
        of_profile.count(top) == 1 and not is_flat(of_profile) and profile_ecc >= attack.phi - SLACK
    )
    best_row = of_row.index(top)
    equal = sum(size for record, size in data if record == data[best_row][0])
    in_data = sum(clue.item >= 0 for clue in clues)
    sigma = 0.0 if is_flat(scores) else float(np.std(scores))
    mass = [math.exp((s - top) / sigma) if sigma else 1.0 for s in scores]
    order = sorted(range(len(data)), key=lambda row: (-of_row[row], row))
    unit = 2.0**attack.bits if attack.bits is not None else 1.0
    best = [
        Best(
            row,
            of_row[row] / unit,
            scores.count(of_row[row]),
            data[row][1] * (math.exp((of_row[row] - top) / sigma) if sigma else 1.0) / sum(mass),
        )
        for row in order[:candidates]
        if of_row[row] > 0
    ]
    reason = "tie" if scores.count(top) > 1 else "below-phi"
    return Answer(
        known=len(clues),
        in_data=in_data,
        eccentricity=ecc,
        profile_eccentricity=profile_ecc,
        tied=scores.count(top) if top > 0 else 0,
        answer=best_row if alone else None,
        profile=(best_row, equal) if profile_alone else None,
        no_answer=None if alone else "nothing-known" if in_data == 0 else reason,
        best=best,
    )
