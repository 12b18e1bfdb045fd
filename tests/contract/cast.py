"""The standing cast: small tables that every attack, model, method and measure must survive."""

from __future__ import annotations

import numpy as np

from starshade.ratings.scale import Scale
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from tests.strategies import table

_STARS, _HALF, _REAL = Scale(1, 5, 1), Scale(0.5, 5, 0.5), Scale(-10, 10)


def _some(scale: Scale, users: int, items: int, seed: int) -> list[dict[int, float]]:
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(users):
        rated = np.flatnonzero(rng.random(items) < 0.5)
        if scale.step is None:
            values = np.round(rng.uniform(scale.minimum, scale.maximum, len(rated)), 3)
        else:
            values = rng.choice(scale.levels, len(rated))
        rows.append(dict(zip(rated.tolist(), values.tolist(), strict=True)))
    return rows


def _dated(rows: list[dict[int, float]]) -> list[dict[int, int]]:
    return [
        {i: UNKNOWN_DAY if (u + i) % 7 == 0 else (31 * u + i) % 400 for i in row}
        for u, row in enumerate(rows)
    ]


def _cast() -> dict[str, Ratings]:
    ordinary = _some(_STARS, 24, 6, 0)
    giant: dict[int, float] = {i: float(1 + i % 5) for i in range(40)}
    return {
        "ordinary": table(ordinary, _STARS, n_items=6),
        "dated": table(ordinary, _STARS, n_items=6, days=_dated(ordinary)),
        "half stars": table(_some(_HALF, 20, 5, 1), _HALF, n_items=5),
        "real scale": table(_some(_REAL, 20, 5, 2), _REAL, n_items=5),
        "empty users": table([{}, *ordinary, {}, {}], _STARS, n_items=6),
        "unrated items": table(ordinary, _STARS, n_items=12),
        "constant ratings": table([dict.fromkeys(row, 3.0) for row in ordinary], _STARS, n_items=6),
        "one rating each": table([{u % 3: 4.0} for u in range(12)], _STARS, n_items=3),
        "all alike": table([{0: 5.0, 2: 1.0}] * 9, _STARS, n_items=3),
        "duplicate records": table([*ordinary, *ordinary[:10]], _STARS, n_items=6),
        "one giant user": table([giant, *({0: 4.0, 1: 2.0} for _ in range(8))], _STARS, n_items=40),
        "full rows": table([{0: float(1 + u % 5), 1: 3.0} for u in range(11)], _STARS, n_items=2),
        "one level": table([{0: 3.0, 1: 3.0}] * 4, Scale(3, 3, 1), n_items=2),
        "two users": table([{0: 1.0, 1: 5.0}, {0: 2.0, 1: 5.0}], _STARS, n_items=2),
        "one user": table([{0: 1.0, 1: 5.0}], _STARS, n_items=2),
        "nobody": table([{}, {}, {}], _STARS, n_items=2),
    }


CAST = _cast()
