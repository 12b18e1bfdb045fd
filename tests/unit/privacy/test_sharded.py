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
from starshade.privacy.item_diversity import Diversity
from starshade.privacy.k_anonymity import KAnonymity, ReviewGraph
from starshade.privacy.k_eps import KEpsAnonymity, KEpsLAnonymity
from starshade.privacy.k_m import KM
from starshade.privacy.sharded import order, proximity
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


@settings(max_examples=30, deadline=None)
@given(
    ratings_tables(max_users=24, max_items=3),
    st.builds(KAnonymity, k=st.integers(2, 4))
    | st.builds(ReviewGraph, k=st.integers(2, 4))
    | st.builds(KM, k=st.integers(2, 4), m=st.just(1))
    | st.builds(Diversity, b=st.just(1), l=st.integers(1, 4)),
    CUTS,
    MEMORY,
)
def test_classes_are_counted_whatever_the_cut(tmp_path_factory, ratings, model, n, memory):
    path = tmp_path_factory.mktemp("store") / "s"
    assert_same_verdict(model, ratings, path, n, memory)


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (LDiversity(2, "job"), "model LDiversity"),
        (KM(2, 2), "m 2"),
        (Diversity(2, 2), "b 2"),
        (KEpsAnonymity(2, 1, groups="clique"), "groups clique"),
    ],
)
def test_what_takes_one_table_says_so(tmp_path, model, why):
    write_shards(synthesize(n_users=9, n_items=4, n_ratings=20, rng=0), tmp_path / "s", 2)
    with pytest.raises(ConfigError, match=f"^{why}: is not checked shard by shard"):
        check_shards(model, open_shards(tmp_path / "s"))


MODELS = st.builds(
    KEpsAnonymity,
    k=st.integers(2, 5),
    eps=st.sampled_from([0.0, 0.5, 1.0, 5.0]),
    nulls=st.sampled_from(["strict", "ignore", "zero"]),
    sensitive=st.sampled_from([(), ("1",)]),
    search=st.sampled_from(["tree", "tree", "slicing", "pairwise"]),
    full=st.booleans(),
) | st.builds(
    KEpsLAnonymity,
    k=st.integers(2, 5),
    eps=st.sampled_from([0.0, 1.0, 5.0]),
    l=st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    nulls=st.sampled_from(["strict", "ignore", "zero"]),
    sensitive=st.sampled_from([("1",), ("2", "1")]),
    full=st.booleans(),
)
BYTES = st.sampled_from([1, 1500, 5000, 10**9])


@settings(max_examples=40, deadline=None)
@given(
    ratings_tables(max_users=24, max_items=4), MODELS, CUTS, BYTES, st.sampled_from([1, 5, 1 << 18])
)
def test_no_ball_is_cut(tmp_path_factory, ratings, model, n, most, at_once):
    path = tmp_path_factory.mktemp("store") / "s"
    if getattr(model, "l", 0) and ratings.scale.step is None:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proximity, "bytes_at_once", lambda _: most)
        patch.setattr(order, "_AT_ONCE", at_once)
        assert_same_verdict(model, ratings, path, n, 10**9)


@pytest.fixture(scope="module")
def survey():
    """Many who rated few items: balls, patterns and ties over many buckets."""
    return synthesize(n_users=400, n_items=6, n_ratings=1200, rng=2)


@pytest.mark.parametrize("n", [1, 7])
@pytest.mark.parametrize("most", [20_000, 10**9])
@pytest.mark.parametrize(
    "model",
    [
        KEpsAnonymity(k=8, eps=1, full=True),
        KEpsAnonymity(k=8, eps=1, nulls="zero", full=True),
        KEpsAnonymity(k=60, eps=1, nulls="ignore"),
        KEpsLAnonymity(k=4, eps=1, l=1.5, sensitive=["2"]),
        KEpsLAnonymity(k=4, eps=2, l=1.5, sensitive=["2"], nulls="zero"),
    ],
)
def test_many_records_in_many_buckets(tmp_path, survey, monkeypatch, model, most, n):
    monkeypatch.setattr(proximity, "bytes_at_once", lambda _: most)
    assert_same_verdict(model, survey, tmp_path / "s", n, 10**9)
