"""A check of a store of shards finds, to the bit, what it finds on one table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade import budget
from starshade.errors import ConfigError, StarshadeError
from starshade.privacy.attribute import LDiversity
from starshade.privacy.k_anonymity import KAnonymity, ReviewGraph
from starshade.privacy.sharded.check import check_shards
from starshade.ratings.shards.shards import open_shards
from starshade.ratings.shards.write import write_shards
from starshade.ratings.synth.synth import synthesize
from tests.strategies import ratings_tables

CUTS = st.sampled_from([1, 2, 7, 100])
MEMORY = st.sampled_from([200, 10**9])


def tried(work: Any) -> Any:
    """Do it; what is said where it is refused."""
    try:
        return replace(work(), seconds=0.0)
    except StarshadeError as error:
        return str(error)


def assert_same_verdict(model: Any, ratings: Any, path: Any, n: int, memory: int) -> None:
    write_shards(ratings, path, n)
    whole = tried(lambda: model.check(ratings))
    with budget.limits(memory=memory):
        found = tried(lambda: check_shards(model, open_shards(path)))
    assert found == whole
    if not isinstance(whole, str):
        assert found.to_dict() == whole.to_dict()
        assert (str(found), found.explain()) == (str(whole), whole.explain())


@settings(max_examples=40, deadline=None)  # each is flushed to the disk
@given(
    ratings_tables(max_users=24, max_items=3),
    st.builds(KAnonymity, k=st.integers(2, 4)) | st.builds(ReviewGraph, k=st.integers(2, 4)),
    CUTS,
    MEMORY,
)
def test_classes_are_counted_whatever_the_cut(tmp_path_factory, ratings, model, n, memory):
    path = tmp_path_factory.mktemp("store") / "s"
    assert_same_verdict(model, ratings, path, n, memory)


def test_what_takes_one_table_says_so(tmp_path):
    write_shards(synthesize(n_users=9, n_items=4, n_ratings=20, rng=0), tmp_path / "s", 2)
    with pytest.raises(ConfigError, match="model LDiversity: is not checked shard by shard"):
        check_shards(LDiversity(2, "job"), open_shards(tmp_path / "s"))
