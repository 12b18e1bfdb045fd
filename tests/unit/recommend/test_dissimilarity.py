from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from starshade.ratings.scale import Scale
from starshade.recommend.padded import DISSIMILARITIES, dissimilarities
from tests.naive.padded import dissimilarity
from tests.strategies import SCALES

NAMES = st.sampled_from(DISSIMILARITIES)


def some_rows(scale: Scale, a: int, n: int, seed: int) -> np.ndarray:
    """Rows with nulls; one has nothing else, two are equal, many cells are halves apart."""
    rng = np.random.default_rng(seed)
    rows = scale.minimum + scale.width * rng.integers(0, 9, (a, n)) / 8
    rows[rng.random((a, n)) < 0.3] = np.nan
    rows[0] = np.nan
    rows[-1] = rows[a // 2]
    return rows


@given(NAMES, st.sampled_from(SCALES), st.integers(1, 200), st.integers(1, 8), st.integers(0, 9))
def test_the_twin_agrees(name, scale, b, n, seed):
    rows, others = some_rows(scale, 5, n, seed), some_rows(scale, b, n, seed + 1)
    expected = [[dissimilarity(x, y, name, scale.width) for y in others] for x in rows]
    found = dissimilarities(rows, others, name, scale)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@given(NAMES, st.integers(0, 9))
def test_a_whole_weight_is_an_item_repeated(name, seed):
    scale, rows = Scale(1, 5, 1), some_rows(Scale(1, 5, 1), 6, 4, seed)
    weights = np.array([2, 1, 0, 3])
    repeated = np.repeat(rows, weights, axis=1)
    found = dissimilarities(rows, rows, name, scale, weights=weights.astype(float))
    np.testing.assert_allclose(found, dissimilarities(repeated, repeated, name, scale), atol=1e-12)
