"""Fake edges of a release whose ratings lie in shards are told as beside one table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.fake_edges import fake_edges as of_one_table
from starshade.attack.fake_edges.fake_edges import FakeEdgesAttack
from starshade.attack.sharded import fake_edges
from starshade.attack.sharded.attack import attack_shards
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.ratings.shards.shards import open_shards
from starshade.ratings.shards.write import write_shards
from starshade.ratings.synth.synth import synthesize
from starshade.release.match.match import LinkedShards
from starshade.release.table import Release
from tests.strategies import ratings_tables
from tests.unit.attack.profiles import FIVE, HALF
from tests.unit.attack.test_fake_edges import with_invented
from tests.unit.attack.test_sharded_release import told

SCALES = (FIVE, HALF, Scale(0, 1), Scale(2, 4, 1))


@st.composite
def beside_more(draw: st.DrawFn) -> tuple[Any, Release]:
    """A table, and simple profiles of some of its items, and of whoever rated them."""
    ratings = draw(ratings_tables(scales=SCALES, min_users=2, max_users=9, with_days=False))
    items = draw(st.sets(st.integers(0, ratings.n_items - 1), min_size=1))
    part = ratings.keep_items(np.array(sorted(items)))
    assume(part.n_ratings)
    return ratings, with_invented(draw, part, draw(st.integers(1, 4)))[0]


@settings(max_examples=12, deadline=None)
@given(
    beside_more(),
    st.integers(1, 5),
    st.sampled_from([1, 5, 2**22]),
    st.sampled_from([20, 10**9]),
)
def test_they_are_told_over_any_cut(tmp_path_factory, case, shards, at_once, counted):
    ratings, release = case
    path = tmp_path_factory.mktemp("shards") / "s"
    write_shards(ratings, path, shards)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_one_table, "_SETS", counted)
        patch.setattr(fake_edges, "_AT_ONCE", at_once)
        whole = FakeEdgesAttack().run(release, original=ratings, rng=1)
        cut = attack_shards(FakeEdgesAttack(), LinkedShards(open_shards(path), release), rng=1)
    assert told(cut) == told(whole)


@pytest.mark.parametrize("at_once", [50, 2**22])
@pytest.mark.parametrize("b", [2, 3])
def test_a_set_that_several_shards_have_is_one(tmp_path, monkeypatch, b, at_once):
    ratings = synthesize(n_users=60, n_items=40, n_ratings=500, rng=2)
    asked = {"b": b, "l": 3, "min_raters": 2}
    method = PredictiveAnonymizer(k=3, profile="simple", factors=2, **asked)
    release = method.anonymize(ratings, rng=2)
    write_shards(ratings, tmp_path / "s", 5)
    monkeypatch.setattr(fake_edges, "_AT_ONCE", at_once)
    whole = FakeEdgesAttack().run(release, original=ratings, rng=2)
    linked = LinkedShards(open_shards(tmp_path / "s"), release)
    assert told(attack_shards(FakeEdgesAttack(), linked, rng=2)) == told(whole)
    assert whole.fakes
    assert whole.left_all.sets > whole.left_all.short > 0


def test_what_does_not_fit_is_refused_as_beside_one_table(tmp_path):
    ratings = synthesize(n_users=40, n_items=15, n_ratings=260, rng=0)
    write_shards(ratings, tmp_path / "s", 2)
    shards = open_shards(tmp_path / "s")

    def refused(match: str, profile: Any, **asked: Any) -> None:
        release = PredictiveAnonymizer(k=3, profile=profile, factors=2).anonymize(ratings, rng=0)
        with pytest.raises(ConfigError, match=match):
            attack_shards(FakeEdgesAttack(), LinkedShards(shards, release), **asked)

    refused("targets 5", "simple", targets=5)
    refused("the release is 'pooled'", "pooled")
