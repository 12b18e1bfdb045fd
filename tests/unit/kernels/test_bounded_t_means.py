from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from starshade.kernels.predictive.bounded_t_means import assign
from tests.naive import padded as naive


@given(
    st.integers(1, 40), st.integers(1, 9), st.floats(0, 1), st.integers(1, 30), st.integers(0, 99)
)
def test_as_all_pairs_sorted(b, t, share, distinct, seed):
    t = min(b, t)
    lower = int(share * (b // t))
    # few distinct distances: ties everywhere
    distances = np.random.default_rng(seed).integers(0, distinct, (b, t)).astype(np.float32) / 7
    found = assign(distances, lower)
    np.testing.assert_array_equal(found, naive.assign(distances, lower))
    assert np.bincount(found, minlength=t).min() >= lower


def test_large_distances_keep_their_order():
    distances = np.array([[3e38, 1e-40], [2e38, -0.0], [0, 5]], np.float32)
    assert assign(distances, 1).tolist() == [1, 1, 0]
