"""A release whose ratings lie in shards is attacked as beside one table."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.candidates.candidates import LabelAttack, Scoreboard, StructureAttack
from starshade.attack.candidates.homogeneity import HomogeneityAttack
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.likelihood import Likelihood
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.sharded.attack import attack_shards
from starshade.errors import ConfigError
from starshade.ratings.shards.shards import open_shards
from starshade.ratings.shards.write import write_shards
from starshade.ratings.synth.synth import synthesize
from starshade.release.match.match import LinkedShards

MEASURED = ("seconds", "postings_per_second")


def told(result):
    said = {key: value for key, value in result.to_dict().items() if key not in MEASURED}
    return said, {name: column.tolist() for name, column in vars(result.per_target).items()
                  if column is not None}  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 9),
    st.sampled_from(["padded", "simple", "pooled"]),
    st.sampled_from([1, 2, 7]),
    st.sampled_from([None, 13]),
    st.integers(0, 2),
    st.sampled_from([ScoreboardRH, LabelAttack, StructureAttack, Scoreboard, HomogeneityAttack]),
    st.sampled_from([0.3, 1.0]),
    st.booleans(),
)
def test_any_cut_gives_the_same(
    tmp_path_factory, seed, profile, shards, targets, wrong, kind, theta, absent
):
    ratings = synthesize(n_users=40, n_items=15, n_ratings=260, rng=seed)
    release = PredictiveAnonymizer(k=3, profile=profile, factors=2).anonymize(ratings, rng=seed)
    path = tmp_path_factory.mktemp("shards") / "s"
    write_shards(ratings, path, shards)
    attack, knowledge = kind(theta=theta, absent=absent), Knowledge(known=3, wrong=wrong)
    whole = attack.run(release, knowledge, original=ratings, targets=targets, rng=seed)
    linked = LinkedShards(open_shards(path), release)
    cut = attack_shards(attack, linked, knowledge, targets=targets, rng=seed)
    assert told(cut) == told(whole)


def test_what_takes_one_table_says_so(tmp_path):
    ratings = synthesize(n_users=40, n_items=15, n_ratings=260, rng=0)
    release = PredictiveAnonymizer(k=3, factors=2).anonymize(ratings, rng=0)
    write_shards(ratings, tmp_path / "s", 2)
    linked = LinkedShards(open_shards(tmp_path / "s"), release)
    with pytest.raises(ConfigError, match="likelihood: does not work shard by shard"):
        attack_shards(Likelihood(), linked)
    with pytest.raises(ConfigError, match=r"sensitive \(1,\): does not work shard by shard"):
        attack_shards(HomogeneityAttack(sensitive=[1]), linked)
