"""A list of names matched to records at once, by definition: every row, every list."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from starshade.ratings.table import UNKNOWN_DAY, Ratings

Fact = tuple[int, float, int | None]  # item, rating (NaN: not known), day
FIXED = (0.70, 0.12, 0.03, 0.02, 0.01, 0.12)


def fifths(ratings: Ratings, one: float, other: float) -> int:
    scale = ratings.scale
    fifth = (scale.width + (scale.step or 0.0)) / 5 or 1.0
    return min(4, math.floor(abs(one - other) / fifth + 0.5 + 1e-9))


def level_count(ratings: Ratings, truth: float, d: int) -> int:
    """How many values of the scale lie so far from a rating."""
    scale = ratings.scale
    if scale.step is None:
        values = [scale.minimum + (i + 0.5) * scale.width / 20 for i in range(20)]
    else:
        values = [float(v) for v in scale.levels]
    return max(1, sum(fifths(ratings, v, truth) == d for v in values))


def pattern(ratings: Ratings, row: int, fact: Fact) -> tuple[list[float], int]:
    """Chances of a fact from a row over those from a stranger by how it agrees; whether near."""
    item, rating, day = fact
    cells = slice(int(ratings.indptr[row]), int(ratings.indptr[row + 1]))
    have = dict(zip(ratings.columns[cells].tolist(), range(cells.start, cells.stop), strict=True))
    every = ratings.values()
    n_rated, items = len(have), ratings.n_items
    if math.isnan(rating):
        often = 1.0
    else:
        alike = [
            1 / level_count(ratings, float(v), 0) for v in every if fifths(ratings, rating, v) == 0
        ]
        often = max(0.5, sum(alike)) / max(1, len(every))
    support = [int((ratings.columns == i).sum()) + 0.5 for i in range(items)]
    stranger = often * support[item] / sum(support)
    out, near = [0.0] * 6, -1
    dated = [] if ratings.days is None else [d for d in ratings.days.tolist() if d != UNKNOWN_DAY]
    if item not in have:
        out[5] = often / (items - n_rated) / stranger
        return out, near
    truth, lift = float(every[have[item]]), 1.0
    if day is not None and dated and ratings.days is not None:
        there = int(ratings.days[have[item]])
        near = int(there != UNKNOWN_DAY and abs(there - day) <= 30)
        share = sum(abs(d - day) <= 30 for d in dated) / len(dated)
        share = min(max(share, 0.5 / len(dated)), 1 - 0.5 / len(dated))
        lift = 1 / (share if near else 1 - share)
    for d in range(5):
        if math.isnan(rating):
            out[d] = lift / n_rated / stranger
        elif fifths(ratings, rating, truth) == d:
            out[d] = lift / level_count(ratings, truth, d) / n_rated / stranger
    return out, near


def log_of(
    ratings: Ratings, row: int, facts: Sequence[Fact], found: Sequence[float], near: float
) -> float:
    """Logarithm of the facts' chance from a row, over that from a stranger."""
    total = 0.0
    for fact in facts:
        parts, day = pattern(ratings, row, fact)
        by_day = 1.0 if day < 0 else (near if day else 1 - near)
        chance = by_day * sum(p * f for p, f in zip(parts[:5], found[:5], strict=True))
        chance += parts[5] * found[5]
        total += math.log(chance) if chance > 0 else -math.inf
    return total


def step(
    ratings: Ratings, names: Sequence[Sequence[Fact]], found: Sequence[float], near: float, p: float
) -> tuple[list[float], float, float, float]:
    """One step of the fit: new chances of agreement, of nearness, of having a record; and the
    penalized likelihood's logarithm before it."""
    sums, days, there = list(FIXED), [0.1, 0.9], 0.5
    log = sum(a * math.log(b) for a, b in zip(FIXED, found, strict=True))
    log += 0.9 * math.log(near) + 0.1 * math.log(1 - near) + (math.log(p) + math.log(1 - p)) / 2
    n = ratings.n_users
    for facts in names:
        each = [p / n * math.exp(log_of(ratings, row, facts, found, near)) for row in range(n)]
        whole = sum(each) + 1 - p
        log += math.log(whole)
        for row in range(n):
            for fact in facts if each[row] > 0 else ():
                parts, day = pattern(ratings, row, fact)
                by_day = 1.0 if day < 0 else (near if day else 1 - near)
                shares = [x * f * by_day for x, f in zip(parts[:5], found[:5], strict=True)]
                shares.append(parts[5] * found[5])
                for kind, share in enumerate(shares):
                    sums[kind] += each[row] / whole * share / sum(shares)
                if day >= 0:
                    days[day] += each[row] / whole * sum(shares[:5]) / sum(shares)
        there += sum(each) / whole
    return [s / sum(sums) for s in sums], days[1] / sum(days), there / (len(names) + 1), log


def lists(gains: Sequence[dict[int, float]], left: dict[int, int]) -> Iterator[list[int]]:
    """Every list: a row for each name, -1 for none, no row more often than it has records."""
    if not gains:
        yield []
        return
    for row in (-1, *gains[0]):
        if row < 0 or left[row] > 0:
            rest = left if row < 0 else left | {row: left[row] - 1}
            for more in lists(gains[1:], rest):
                yield [row, *more]


def worth(gains: Sequence[dict[int, float]], placed: Sequence[int]) -> float:
    return sum(g[row] for g, row in zip(gains, placed, strict=True) if row >= 0)


def best(gains: Sequence[dict[int, float]], sizes: dict[int, int]) -> tuple[float, np.ndarray]:
    """The best list's worth, and the best ones' by where each name is: (names, rows and none)."""
    of = {row: i for i, row in enumerate(sizes)} | {-1: len(sizes)}
    by_place = np.full((len(gains), len(of)), -np.inf)
    for placed in lists(gains, sizes):
        total = worth(gains, placed)
        for name, row in enumerate(placed):
            by_place[name, of[row]] = max(by_place[name, of[row]], total)
    return float(by_place.max()), by_place
