"""Inference by its definition: one person, one question, one row at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence

from starshade.ratings.table import Ratings
from tests.naive.membership import Fact, Shadow


def posterior(shadow: Shadow, facts: Sequence[Fact], by: str) -> list[float]:
    """How likely each row is theirs: all rows by size and chances, or the likeliest alone."""
    logs = [shadow.log(r, facts) + math.log(size) for r, size in enumerate(shadow.sizes)]
    odds = [math.exp(log - max(logs)) for log in logs]
    if by == "best":
        odds = [float(o >= 1 - 1e-9) for o in odds]
    return [o / sum(odds) for o in odds]


def _rated(shadow: Shadow, row: int, item: str) -> tuple[float, float]:
    """Chance that a cell is a rating, and the mean of these."""
    if item not in shadow.items:
        return 0.0, 0.0
    content = shadow.rows[row].get(item)
    if content is None:
        return 0.0, 0.0
    if shadow.spread is not None:
        return 1.0, content[1][0]
    law = {v: c for v, c in shadow.law(row, item).items() if v is not None}
    chance = sum(law.values())
    return chance, sum(v * c for v, c in law.items()) / chance if chance else 0.0


def shown(shadow: Shadow, weights: Sequence[float], item: str) -> float:
    """Chance that somebody, whose row this may be, is shown to have rated an item."""
    return sum(w * _rated(shadow, row, item)[0] for row, w in enumerate(weights))


def value(shadow: Shadow, weights: Sequence[float], item: str) -> float:
    """The rating that is shown; where none is, the item's mean, or that of all."""
    own = [(w * _rated(shadow, r, item)[0], _rated(shadow, r, item)[1])
           for r, w in enumerate(weights)]  # fmt: skip
    chance = sum(c for c, _ in own)
    return sum(c * v for c, v in own) / chance if chance > 0 else item_mean(shadow, item)


def item_mean(shadow: Shadow, item: str) -> float:
    """Mean of an item over the records; where none shows it, of all items together."""
    for items in ([item], sorted(shadow.items)):
        cells = [
            (size * _rated(shadow, row, each)[0], _rated(shadow, row, each)[1])
            for row, size in enumerate(shadow.sizes)
            for each in items
        ]
        weight = sum(w for w, _ in cells)
        if weight > 0:
            return sum(w * v for w, v in cells) / weight
    return math.nan


def won(shown_rated: float, shown_other: float) -> float:
    """Whether the rated one of two items is named; half where nothing tells them apart."""
    if math.isclose(shown_rated, shown_other, rel_tol=1e-9):
        return 0.5
    return float(shown_rated > shown_other)


def unrated_twin(truth: Ratings, user: int, item: int) -> int | None:
    """The item of nearest support that a user did not rate, the earlier of two as near."""
    rated = set(truth.columns[truth.indptr[user] : truth.indptr[user + 1]].tolist())
    others = [i for i in range(truth.n_items) if i not in rated]
    support = truth.item_support.tolist()
    return min(others, key=lambda i: (abs(support[i] - support[item]), i), default=None)
