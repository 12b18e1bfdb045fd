"""A release whose ratings lie in shards is attacked as beside one table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starshade import budget
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.attack.candidates.candidates import LabelAttack, Scoreboard, StructureAttack
from starshade.attack.candidates.homogeneity import HomogeneityAttack
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood import pools
from starshade.attack.likelihood.likelihood import Likelihood
from starshade.attack.link_existence import link_existence
from starshade.attack.link_existence.link_existence import LinkExistence
from starshade.attack.padding.padding import PaddingAttack
from starshade.attack.predicate.predicate import PredicateAttack
from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
from starshade.attack.sharded import ceiling
from starshade.attack.sharded.attack import attack_shards
from starshade.attack.sharded.truth import rows_of_targets
from starshade.engine.local import Local
from starshade.errors import ConfigError
from starshade.ratings.select import listed_items
from starshade.ratings.shards.shards import open_shards
from starshade.ratings.shards.write import write_shards
from starshade.ratings.synth.synth import synthesize
from starshade.release.match.match import LinkedShards

MEASURED = ("seconds", "postings_per_second")


@pytest.fixture(scope="module", autouse=True)
def _small_pools():
    """Pools of candidates for tables of a few people."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pools, "_FIRST", (2, 3, 5))
        yield


def told(result):
    said = {key: value for key, value in result.to_dict().items() if key not in MEASURED}
    each = vars(getattr(result, "per_target", None) or object).items()
    return said, {name: column.tolist() for name, column in each if hasattr(column, "tolist")}


@settings(max_examples=12, deadline=None)
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


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 9),
    st.sampled_from(["padded", "simple", "pooled"]),
    st.sampled_from([1, 2, 7]),
    st.sampled_from([None, 13]),
    st.builds(
        Knowledge,
        known=st.integers(1, 4),
        wrong=st.integers(0, 1),
        wrong_kind=st.sampled_from(["value", "item"]),
        rating_error=st.sampled_from([0.0, 1.0]),
        outside_top=st.integers(0, 2),
        about_count=st.booleans(),
    ),
    st.builds(
        Likelihood,
        adversary=st.sampled_from(["informed", "plain"]),
        absent=st.booleans(),
        min_posterior=st.sampled_from([0.0001, 0.5]),
    ),
)
def test_likelihood_is_weighed_over_any_cut(
    tmp_path_factory, seed, profile, shards, targets, knowledge, attack
):
    ratings = synthesize(n_users=40, n_items=15, n_ratings=260, rng=seed)
    release = PredictiveAnonymizer(k=3, profile=profile, factors=2).anonymize(ratings, rng=seed)
    path = tmp_path_factory.mktemp("shards") / "s"
    write_shards(ratings, path, shards)
    whole = attack.run(release, knowledge, original=ratings, targets=targets, rng=seed)
    linked = LinkedShards(open_shards(path), release)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ceiling, "_MASSES", 40)  # of so few rows a few targets at a time
        cut = attack_shards(attack, linked, knowledge, targets=targets, rng=seed)
    assert told(cut) == told(whole)


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 9),
    st.sampled_from(["padded", "simple", "pooled"]),
    st.sampled_from([1, 2, 7]),
    st.sampled_from([None, 6]),
    st.sampled_from(
        [LinkExistence(), LinkExistence(prior=0.1), PaddingAttack(), PaddingAttack(classes=3)]
    ),
    st.sampled_from([7, 2**21]),
)
def test_what_people_rated_is_counted_over_any_cut(
    tmp_path_factory, seed, profile, shards, top, attack, block
):
    ratings = synthesize(n_users=40, n_items=15, n_ratings=260, rng=seed)
    items = None if top is None else listed_items([ratings.items[i] for i in range(3, 3 + top)])
    least = 2 if profile == "simple" else 1  # some ratings are not shown
    method = PredictiveAnonymizer(k=3, profile=profile, factors=2, items=items, min_raters=least)
    release = method.anonymize(ratings, rng=seed)
    path = tmp_path_factory.mktemp("shards") / "s"
    write_shards(ratings, path, shards)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(link_existence, "_BLOCK", block)
        whole = attack.run(release, original=ratings, rng=seed)
        cut = attack_shards(attack, LinkedShards(open_shards(path), release), rng=seed)
    assert told(cut) == told(whole)


@pytest.mark.parametrize("attack", [LinkExistence(), PaddingAttack()])
def test_targets_are_refused_of_what_counts_everybody(tmp_path, attack):
    ratings = synthesize(n_users=40, n_items=15, n_ratings=260, rng=0)
    release = PredictiveAnonymizer(k=3, factors=2).anonymize(ratings, rng=0)
    write_shards(ratings, tmp_path / "s", 2)
    linked = LinkedShards(open_shards(tmp_path / "s"), release)
    with pytest.raises(ConfigError, match="targets 5"):
        attack_shards(attack, linked, targets=5)


@pytest.mark.parametrize("attack", [ScoreboardRH(), Likelihood(), LabelAttack()])
def test_ratings_are_known_of_released_items_over_any_cut(tmp_path, attack):
    ratings = synthesize(n_users=40, n_items=15, n_ratings=120, rng=0)
    items = listed_items([ratings.items[i] for i in range(2, 8)])
    method = PredictiveAnonymizer(k=3, profile="pooled", factors=2, items=items)
    release = method.anonymize(ratings, rng=0)
    write_shards(ratings, tmp_path / "s", 3)
    knowledge, linked = Knowledge(known=2), LinkedShards(open_shards(tmp_path / "s"), release)
    whole = attack.run(release, knowledge, original=ratings, rng=1)
    assert whole.people == release.n_records < ratings.n_users
    assert 0 < whole.ineligible < whole.people
    cut = attack_shards(attack, linked, knowledge, rng=1)
    assert told(cut)[0] == told(whole)[0]


def test_what_takes_one_table_says_so(tmp_path):
    ratings = synthesize(n_users=40, n_items=15, n_ratings=260, rng=0)
    release = PredictiveAnonymizer(k=3, factors=2).anonymize(ratings, rng=0)
    write_shards(ratings, tmp_path / "s", 2)
    linked = LinkedShards(open_shards(tmp_path / "s"), release)
    with pytest.raises(ConfigError, match="predicate: does not support partitioned stores"):
        attack_shards(PredicateAttack(), linked)


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 9),
    st.sampled_from(["padded", "simple", "pooled"]),
    st.sampled_from([1, 2, 7]),
    st.sampled_from(["label", "structure"]),
    st.lists(st.integers(0, 15), min_size=1, max_size=3, unique=True),
)
def test_sensitive_items_are_looked_up_of_everybody(
    tmp_path_factory, seed, profile, shards, by, sensitive
):
    ratings = synthesize(n_users=40, n_items=15, n_ratings=500, rng=seed)
    release = PredictiveAnonymizer(k=2, profile=profile, factors=2).anonymize(ratings, rng=seed)
    path = tmp_path_factory.mktemp("shards") / "s"
    write_shards(ratings, path, shards)
    attack, knowledge = HomogeneityAttack(by=by, sensitive=sensitive), Knowledge(known=3)

    def tried(work):
        try:
            return told(work())
        except ConfigError as error:
            return str(error)

    whole = tried(lambda: attack.run(release, knowledge, original=ratings, targets=9, rng=seed))
    linked = LinkedShards(open_shards(path), release)
    cut = tried(lambda: attack_shards(attack, linked, knowledge, targets=9, rng=seed))
    assert cut == whole
    assert isinstance(whole, str) == (15 in sensitive)


def test_more_targets_than_memory_holds_are_refused(tmp_path):
    ratings = synthesize(n_users=40, n_items=15, n_ratings=260, rng=0)
    write_shards(ratings, tmp_path / "s", 3)
    shards, some = open_shards(tmp_path / "s"), np.arange(40)
    assert rows_of_targets(shards, Local(), some).n_ratings == 260
    with (
        budget.limits(memory=2_000),
        pytest.raises(ConfigError, match="ratings of 40 targets take more than the 2 kB") as told,
    ):
        rows_of_targets(shards, Local(), some)
    assert "Attack fewer" in told.value.advice
    with budget.limits(memory=2_000):
        assert rows_of_targets(shards, Local(), some[:3]).n_users == 3
