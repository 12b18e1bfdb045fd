"""What is known of one target, drawn with lists instead of cumulative counts (NS §5).

The random numbers are the package's counter-based ones: the same stream must give the same
knowledge.
"""

from __future__ import annotations

import math

import numpy as np

from starshade.kernels.fingerprint import below, mix, number, uniform
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from starshade.rng import stream_key

Clues = list[tuple[int, float | None, int | None]]


def known_of(
    table: Ratings,
    user: int,
    seed: int,
    *,
    known: int,
    wrong: int = 0,
    wrong_kind: str = "value",
    rating_error: float = 0.0,
    day_error: int | None = None,
    outside_top: int = 0,
    except_items: tuple[str, ...] = (),
) -> tuple[Clues, int]:
    """Return (item, rating, day) per known cell, wrong ones first, and the number told."""
    key = np.uint64(mix(np.uint64(stream_key(seed, "knowledge")) ^ table.users.fingerprints[user]))
    # the X most rated, ties by item key
    by_support = sorted(range(table.n_items), key=lambda i: (-table.item_support[i], i))
    keys = list(table.items)
    allowed = sorted(i for i in by_support[outside_top:] if keys[i] not in except_items)
    row = {
        int(table.columns[p]): (float(table.values()[p]), day_of(table, p))
        for p in range(table.indptr[user], table.indptr[user + 1])
    }
    told = math.floor(len(row) * (0.5 + uniform(key, np.uint64(2**32))) + 0.5)

    cells = [i for i in row if i in allowed]
    for j in range(known):  # Fisher-Yates
        other = j + int(below(key, np.uint64(j), len(cells) - j))
        cells[j], cells[other] = cells[other], cells[j]

    unrated = [i for i in allowed if i not in row]
    picks: list[int] = []
    for j in range(wrong):  # Floyd
        last = len(unrated) - wrong + j
        pick = int(below(key, np.uint64(2**31 + j), last + 1)) if wrong_kind == "item" else 0
        picks.append(last if pick in picks else pick)

    ratings = sorted(table.values().tolist())
    days = [] if table.days is None else sorted(int(d) for d in table.days if d != UNKNOWN_DAY)
    clues: Clues = []
    for j in range(known):
        cell_key = np.uint64(number(key, np.uint64(2**32 + 1 + j)))
        u, v = (uniform(cell_key, np.uint64(n)) for n in (0, 1))
        if j < wrong and wrong_kind == "item":
            day = days[int(v * len(days))] if days and day_error is not None else None
            clues.append((unrated[picks[j]], ratings[int(u * len(ratings))], day))
            continue
        rating, day = row[cells[j]]
        if day_error is None:
            day = None
        if j < wrong:
            other_ratings = [r for r in ratings if abs(r - rating) > rating_error + 1e-9]
            if other_ratings:
                rating = other_ratings[int(u * len(other_ratings))]
            if day is not None:
                other_days = [d for d in days if abs(d - day) > day_error]
                if other_days:
                    day = other_days[int(v * len(other_days))]
        else:
            rating = near(table, rating, rating_error, cell_key, u)
            if day is not None:
                day += int(below(cell_key, np.uint64(1), 2 * day_error + 1)) - day_error
        clues.append((cells[j], rating, day))
    return clues, told


def near(table: Ratings, rating: float, error: float, key: np.uint64, u: float) -> float:
    """Uniform over the scale's values within the error."""
    scale = table.scale
    if scale.step is not None:
        levels = [v for v in scale.levels.tolist() if abs(v - rating) <= error + 1e-9]
        return levels[int(below(key, np.uint64(0), len(levels)))]
    low, high = max(scale.minimum, rating - error), min(scale.maximum, rating + error)
    return low + u * (high - low) if error else rating


def day_of(table: Ratings, p: int) -> int | None:
    if table.days is None or table.days[p] == UNKNOWN_DAY:
        return None
    return int(table.days[p])
