"""Factors for small tables, made up."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from starshade.ratings.table import Ratings
from starshade.recommend.factors import Factors
from starshade.recommend.padded import Padded
from tests.strategies import ratings_tables


def some_factors(ratings: Ratings, f: int, seed: int, *, plain: bool = False) -> Factors:
    """Random ones, of which some predictions leave the scale; `plain`: the mean for everybody."""
    rng = np.random.default_rng(seed)
    spread = 0.0 if plain else 0.3 * (ratings.scale.width or 1.0)
    m, n = ratings.n_users, ratings.n_items
    return Factors(
        users=ratings.users,
        items=ratings.items,
        scale=ratings.scale,
        mean=(ratings.scale.minimum + ratings.scale.maximum) / 2,
        user_bias=spread * rng.standard_normal(m),
        item_bias=spread * rng.standard_normal(n),
        user_factors=spread * rng.standard_normal((m, f)),
        item_factors=(0.0 if plain else 1.0) * rng.standard_normal((n, f)),
    )


@st.composite
def padded_tables(draw: st.DrawFn, *, max_users: int = 12) -> Padded:
    """Some padded table: ties where factors are plain, weights of which some are 0."""
    ratings = draw(ratings_tables(max_users=max_users, with_days=False))
    seed = draw(st.integers(0, 99))
    factors = some_factors(
        ratings, draw(st.integers(0, 3)), seed, plain=draw(st.sampled_from([False, False, True]))
    )
    if not draw(st.booleans()):
        return Padded(ratings, factors)
    weights = np.random.default_rng(seed).choice([0.0, 0.5, 3.0], ratings.n_items)
    return Padded(ratings, factors, weights)
