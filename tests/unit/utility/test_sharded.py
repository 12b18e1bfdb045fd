"""What is measured of shards is what is measured of the same ratings as one table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.audit.measure import measure_all, measure_shards
from starshade.engine.local import Local
from starshade.errors import ConfigError
from starshade.ratings.scale import Scale
from starshade.ratings.shards.shards import open_shards
from starshade.ratings.shards.write import write_shards
from starshade.ratings.synth.synth import synthesize
from starshade.release.folder.read import read_release


def in_shards(ratings, folder, n):
    write_shards(ratings, folder / f"in-{n}", n)
    return open_shards(folder / f"in-{n}")


@settings(max_examples=8, deadline=None)
@given(
    st.integers(0, 9),
    st.sampled_from(["padded", "simple", "model", "pooled"]),
    st.booleans(),
    st.sampled_from([1, 2, 7]),
)
def test_any_cut_measures_the_same(tmp_path_factory, seed, profile, halves, shards):
    ratings = synthesize(n_users=40, n_items=15, n_ratings=220, rng=seed)
    if halves:
        ratings = replace(ratings, scale=Scale(0.5, 2.5, 0.5), levels=ratings.levels / 2)
    method = PredictiveAnonymizer(k=4, profile=profile, factors=2)
    release = method.anonymize(ratings, rng=seed)
    cut = in_shards(ratings, tmp_path_factory.mktemp("shards"), shards)
    assert measure_shards(release, cut, Local()) == measure_all(release, ratings)


def test_a_release_of_other_people_is_refused(tmp_path):
    ratings = synthesize(n_users=40, n_items=15, n_ratings=220, rng=0)
    release = PredictiveAnonymizer(k=4, factors=2).anonymize(ratings, rng=0)
    few = in_shards(ratings.keep_users(np.arange(30)), tmp_path, 3)
    with pytest.raises(ConfigError, match="10 of the 40 people"):
        measure_shards(release, few, Local())


@pytest.mark.parametrize("shards", [1, 3])
def test_other_ratings_of_the_same_people_are_refused(tmp_path, shards):
    ratings = synthesize(n_users=40, n_items=15, n_ratings=220, rng=0)
    made = PredictiveAnonymizer(k=4, factors=2).anonymize(ratings, rng=0)
    made.save(tmp_path / "release", private=tmp_path / "receipt")
    release = read_release(tmp_path / "release", private=tmp_path / "receipt")
    found = measure_shards(release, in_shards(ratings, tmp_path, shards), Local())
    assert found == measure_all(release, ratings)
    other = replace(ratings, codes=ratings.codes[::-1].copy())
    with pytest.raises(ConfigError, match="the ratings are not"):
        measure_shards(release, in_shards(other, tmp_path, 2), Local())
