"""The likelihood attack by its definition: every draw that `Knowledge` could have made of a row.

A row is a dict ``item -> (rating, day or None)``. Nothing of the package is used but the tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product

from starshade.ratings.table import Ratings
from tests.naive.knowledge import day_of

SLACK = 1e-9
Row = dict[int, tuple[float, int | None]]
Class = dict[int, tuple[float | None, ...]]
Fact = tuple[int, float | None, int | None]


@dataclass(frozen=True)
class Law:
    """What is drawn of a row, and how."""

    table: Ratings
    known: int
    wrong: int = 0
    wrong_kind: str = "value"
    rating_error: float = 0.0
    day_error: int | None = None
    ratings: bool = True
    eligible: tuple[int, ...] | None = None  # items that may be known; None: all

    @cached_property
    def rows(self) -> list[Row]:
        table, values = self.table, self.table.values()
        return [
            {
                int(table.columns[p]): (float(values[p]), day_of(table, p))
                for p in range(table.indptr[user], table.indptr[user + 1])
            }
            for user in range(table.n_users)
        ]

    @cached_property
    def items(self) -> set[int]:
        own = self.eligible
        return set(range(self.table.n_items) if own is None else own)

    @cached_property
    def all_ratings(self) -> list[float]:
        return [rating for row in self.rows for rating, _ in row.values()]

    @cached_property
    def all_days(self) -> list[int]:
        return [day for row in self.rows for _, day in row.values() if day is not None]

    def allowed(self, row: Row) -> bool:
        """Tell whether so much can be known of a row."""
        rated = len(self.items & row.keys())
        unrated = len(self.items) - rated
        return rated >= self.known and (self.wrong_kind == "value" or unrated >= self.wrong)

    def right(self, cell: tuple[float, int | None], fact: Fact) -> float:
        """Chance, or density, of a fact from a cell that it is right about."""
        (truth, day), (_, rating, known_day) = cell, fact
        scale, error, out = self.table.scale, self.rating_error, 1.0
        if rating is not None and scale.step is not None:
            near = [v for v in scale.levels.tolist() if abs(v - truth) <= error + SLACK]
            out = sum(abs(v - rating) <= SLACK for v in near) / len(near)
        elif rating is not None and error:
            low, high = max(scale.minimum, truth - error), min(scale.maximum, truth + error)
            # whatever the data hold is drawn with no chance at all from so many numbers
            inside = low <= rating <= high and rating not in self.all_ratings
            out = inside / (high - low)
        elif rating is not None:
            out = float(rating == truth)
        if self.day_error is None:
            return out
        if day is None or known_day is None:
            return out * (day is None and known_day is None)
        drawn = range(day - self.day_error, day + self.day_error + 1)
        return out * sum(d == known_day for d in drawn) / len(drawn)

    def wrong_value(self, cell: tuple[float, int | None], fact: Fact) -> float:
        """Chance of a fact from a cell that it is wrong about."""
        (truth, day), (_, rating, known_day) = cell, fact
        out = 1.0
        if rating is not None:
            others = [r for r in self.all_ratings if abs(r - truth) > self.rating_error + SLACK]
            out = _share(others or [truth], rating)
        if self.day_error is None:
            return out
        if day is None or known_day is None:
            return out * (day is None and known_day is None)
        away = [d for d in self.all_days if abs(d - day) > self.day_error]
        return out * _share(away or [day], known_day)

    def any_cell(self, fact: Fact) -> float:
        """Chance of a fact about an item that was not rated."""
        _, rating, day = fact
        out = 1.0 if rating is None else _share(self.all_ratings, rating)
        if self.day_error is None:
            return out
        if day is None or not self.all_days:
            return out * (day is None and not self.all_days)
        return out * _share(self.all_days, day)

    def chance(self, row: Row, facts: Sequence[Fact], told: int | None = None) -> float:
        """Chance of these facts, a set, from a row: over all draws that could have been made."""
        found = 0.0
        draws = list(self._draws(row))
        for right, wrong in draws:
            if {*right, *wrong} != {fact[0] for fact in facts}:
                continue
            product = 1.0
            for fact in facts:
                item = fact[0]
                if item in right:
                    product *= self.right(row[item], fact)
                elif self.wrong_kind == "value":
                    product *= self.wrong_value(row[item], fact)
                else:
                    product *= self.any_cell(fact)
            found += product
        chance = found / max(1, len(draws))
        if told is None:
            return chance
        n = len(row)  # a number from n/2 to 3n/2, to the nearest
        return chance * max(0.0, min(told + 0.5, 1.5 * n) - max(told - 0.5, 0.5 * n)) / n

    def _draws(self, row: Row) -> Iterator[tuple[set[int], set[int]]]:
        """List all choices of items that facts are right, and wrong, about; all equally likely."""
        rated = sorted(self.items & row.keys())
        if self.wrong_kind == "value":
            for known in combinations(rated, self.known):
                for wrong in combinations(known, self.wrong):
                    yield set(known) - set(wrong), set(wrong)
        else:
            unrated = sorted(self.items - row.keys())
            for known in combinations(rated, self.known - self.wrong):
                for wrong in combinations(unrated, self.wrong):
                    yield set(known), set(wrong)

    def chance_of_class(self, cells: Class, facts: Sequence[Fact]) -> float:
        """Chance of these facts from a member of a class, every value of a cell equally likely.

        Facts about items that were not released say nothing; which of the mistakes were among
        them is not known. `self.items`: released ones.
        """
        here = [fact for fact in facts if fact[0] in self.items]
        left, found = len(facts) - len(here), 0.0
        rows = list(_members(cells))
        for wrong in range(min(self.wrong, len(here)) + 1):
            beside = math.comb(left, self.wrong - wrong) * math.comb(len(here), wrong)
            law = replace(self, known=len(here), wrong=wrong)
            each = (law.chance(row, here) for row in rows if law.allowed(row))
            found += beside / math.comb(len(facts), self.wrong) * math.fsum(each) / len(rows)
        return found

    def posterior(self, facts: Sequence[Fact], told: int | None = None) -> list[float]:
        """Chance of each row, all that so much can be known of being equally likely before."""
        chances = [
            self.chance(row, facts, told) if self.allowed(row) else 0.0 for row in self.rows
        ]
        return [chance / math.fsum(chances) for chance in chances]


def _members(cells: Class) -> Iterator[Row]:
    items = list(cells)
    for values in product(*cells.values()):
        yield {i: (v, None) for i, v in zip(items, values, strict=True) if v is not None}


def _share(values: Sequence[float], value: float) -> float:
    return sum(abs(each - value) <= SLACK for each in values) / len(values)


def top1(posterior: Sequence[float], target: int) -> float:
    """Chance that the target is named by who must name a row of the greatest posterior."""
    best = max(posterior)
    tied = [row for row, chance in enumerate(posterior) if chance >= best * (1 - 1e-9)]
    return (target in tied) / len(tied)


def bits(posterior: Sequence[float], rows: Sequence[Row], target: int) -> float:
    """Bits that are missing to the target's row, and to all that equal it."""
    return -math.log2(sum(p for p, row in zip(posterior, rows, strict=True) if row == rows[target]))


