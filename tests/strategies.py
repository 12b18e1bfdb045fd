"""Hypothesis strategies that several rooms' tests share: some ratings, nasty on purpose."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from starshade.ratings.scale import Scale
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from starshade.ratings.vocabulary import Vocabulary

SCALES = (Scale(1, 5, 1), Scale(0.5, 5, 0.5), Scale(-10, 10), Scale(3, 3, 1), Scale(0, 1, 1))


def table(
    rows: list[dict[int, float]],
    scale: Scale,
    *,
    n_items: int | None = None,
    days: list[dict[int, int]] | None = None,
) -> Ratings:
    """Build a small table by hand: a dict item index -> rating per user."""
    n_items = n_items or 1 + max((i for row in rows for i in row), default=0)
    cells = [(u, i) for u, row in enumerate(rows) for i in sorted(row)]
    values = np.array([rows[u][i] for u, i in cells], dtype=np.float64)
    levels = scale.levels if scale.step is not None else np.unique(values)
    codes = np.searchsorted(levels, values - 1e-9).astype(np.uint8)
    cell_days = None
    if days is not None:
        cell_days = np.array([days[u].get(i, UNKNOWN_DAY) for u, i in cells], dtype=np.uint16)
    return Ratings(
        scale=scale,
        users=Vocabulary(np.arange(1, len(rows) + 1)),
        items=Vocabulary(np.arange(1, n_items + 1)),
        indptr=np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64),
        columns=np.array([i for _, i in cells], dtype=np.int32),
        codes=codes,
        levels=levels,
        days=cell_days,
    )


def at_least(examples: int) -> settings:
    """Look at so many examples, or at as many as the profile asks for (``thorough``: 1,000)."""
    return settings(max_examples=max(examples, settings.default.max_examples))


@st.composite
def ratings_tables(
    draw: st.DrawFn,
    *,
    scales: tuple[Scale, ...] = SCALES,
    min_users: int = 1,
    max_users: int = 12,
    max_items: int = 6,
    with_days: bool | None = None,
) -> Ratings:
    """Some table: ties, empty users, one giant user, equal records, half stars, real scales."""
    scale = draw(st.sampled_from(scales))
    n_users = draw(st.integers(min_users, max_users))
    n_items = draw(st.integers(1, max_items))
    if scale.step is not None:
        rating = st.sampled_from(scale.levels.tolist())
    else:
        rating = st.floats(scale.minimum, scale.maximum, allow_nan=False).map(
            lambda v: round(v, 3) + 0.0
        )
    item = st.integers(0, n_items - 1)
    row = st.dictionaries(item, rating, max_size=n_items)
    giant = st.fixed_dictionaries(dict.fromkeys(range(n_items), rating))
    rows = draw(st.lists(st.one_of(row, row, giant), min_size=n_users, max_size=n_users))
    if n_users > 1 and draw(st.booleans()):  # equal records
        rows[-1] = dict(rows[0])
    dated = draw(st.booleans()) if with_days is None else with_days
    days = None
    if dated:
        day = st.sampled_from([0, 1, 3, 14, 30, 400, UNKNOWN_DAY])
        days = [{i: draw(day) for i in row} for row in rows]
    return table(rows, scale, n_items=n_items, days=days)
