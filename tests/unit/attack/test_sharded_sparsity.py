"""How alone records are, and what a rating is worth, in shards: as on one table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade.attack.sparsity import nearest
from starshade.attack.sparsity.few_facts import few_facts
from starshade.attack.sparsity.information_gain import information_gain
from starshade.attack.sparsity.sparsity import Sparsity
from starshade.ratings.shards.shards import open_shards
from starshade.ratings.shards.write import write_shards
from tests.strategies import ratings_tables

CUTS = st.sampled_from([1, 2, 7, 100])


def assert_same(found: Any, whole: Any) -> None:
    assert found.to_dict() == whole.to_dict()
    assert str(found) == str(whole)


@settings(max_examples=15, deadline=None)
@given(
    ratings_tables(max_users=20),
    st.builds(
        Sparsity,
        targets=st.sampled_from([None, 1, 5]),
        rating_error=st.sampled_from([None, 0.0, 2.5]),
        day_error=st.sampled_from([0, 14]),
    ),
    CUTS,
    st.sampled_from([1, 3, 4096]),
    st.integers(0, 9),
)
def test_neighbours_in_other_shards_are_found(
    tmp_path_factory, ratings, sparsity, n, together, seed
):
    path = tmp_path_factory.mktemp("store") / "s"
    write_shards(ratings, path, n)
    whole = replace(sparsity.run(ratings, rng=seed), seconds=0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nearest, "_TOGETHER", together)
        found = replace(sparsity.run(open_shards(path), rng=seed), seconds=0.0)
    assert_same(found, whole)
    for one, other in zip(found.neighbours, whole.neighbours, strict=True):
        assert np.array_equal(one.similarity, other.similarity)
        assert np.array_equal(one.covered, other.covered)
    assert few_facts(open_shards(path), found) == few_facts(ratings, whole)


@settings(max_examples=12, deadline=None)
@given(ratings_tables(max_users=20), CUTS, st.sampled_from([None, 0.0, 2.5]), st.integers(0, 20))
def test_a_rating_is_worth_as_much(tmp_path_factory, ratings, n, error, days):
    path = tmp_path_factory.mktemp("store") / "s"
    write_shards(ratings, path, n)
    told = {"rating_error": error, "day_error": days}
    found = information_gain(open_shards(path), **told)
    whole = information_gain(ratings, **told)
    assert_same(found, whole)
    for name, curve in whole.curves().items():
        assert np.array_equal(found.curves()[name], curve, equal_nan=True)
