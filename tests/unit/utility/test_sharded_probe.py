"""What held-out ratings say of shards is what they say of the same ratings as one table."""

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
from starshade.ratings.holdout import hold_out
from starshade.ratings.scale import Scale
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.vocabulary import Vocabulary
from starshade.recommend import regularized_svd
from starshade.release.match.match import LinkedShards
from starshade.utility.held_out import nearest
from starshade.utility.held_out.pairwise_dissimilarity import PairwiseDissimilarity
from starshade.utility.held_out.probe import Asked
from starshade.utility.held_out.sharded import Beside
from starshade.utility.held_out.sharded_pairs import pairs_over
from starshade.utility.held_out.top_n import TopN
from tests.contract.test_shards import LEARNED, Near
from tests.unit.utility.cases import probe_of, probed, profiled
from tests.unit.utility.test_sharded import in_shards

RATINGS = synthesize(n_users=120, n_items=25, n_ratings=900, rng=3)


def found(call):
    """What is measured, or why it is not."""
    try:
        return call()
    except ConfigError as error:
        return str(error)


def with_nobody(ratings, probe):
    """Add a user without a rating, who comes last."""
    users = Vocabulary(np.append(ratings.users.integers, 10**6), ratings.users.texts)

    def longer(table):
        return replace(table, users=users, indptr=np.append(table.indptr, table.indptr[-1]))

    return longer(ratings), longer(probe)


@settings(max_examples=12, deadline=None)
@given(probed(("profile",)), st.sampled_from([1, 1, 2, 5]), st.booleans())
def test_nasty_tables_in_any_cut(tmp_path_factory, case, n, nobody):
    release, ratings, probe = case
    if nobody:
        ratings, probe = with_nobody(ratings, probe)
    whole = found(lambda: measure_all(release, ratings, probe=probe))
    cut = in_shards(ratings, tmp_path_factory.mktemp("shards"), n)
    parts = found(lambda: measure_shards(release, cut, Local(), probe=probe))
    if len(cut) == 1 or isinstance(whole, str):
        assert parts == whole
        return
    # predictions that are equal may come in another order, and what is 0 may be next to it
    loose = {name for name in whole if name.startswith("top_n_agreement")}
    if min(whole["rmse_original"] or 0, parts["rmse_original"] or 0) < 1e-6:
        loose |= LEARNED
        for name in ("rmse_original", "mae_original"):
            assert parts[name] == pytest.approx(whole[name], abs=1e-9)
    assert Near({k: v for k, v in parts.items() if k not in loose}) == {
        k: v for k, v in whole.items() if k not in loose
    }


@pytest.mark.parametrize("k", [4, 25])
@pytest.mark.parametrize("profile", ["padded", "simple"])
def test_the_same_people_are_asked_in_any_cut(tmp_path, monkeypatch, k, profile):
    train, probe = hold_out(RATINGS, 0.15, rng=2)
    release = PredictiveAnonymizer(k=k, profile=profile, factors=2).anonymize(train, rng=1)
    monkeypatch.setattr(nearest, "_WORK", 14_000)
    whole = measure_all(release, train, probe=probe)
    assert 1 < whole["dissimilarity_users"] < 25
    assert whole["dissimilarity_pairs_within"] > 1
    if k == 4:
        assert 1 < whole["self_rank_users"] < 30
    for n in (1, 3, 8):
        cut = in_shards(train, tmp_path, n)
        parts = measure_shards(release, cut, Local(), probe=probe)
        assert (parts if n == 1 else Near(parts)) == whole


def test_few_are_recommended_to_in_any_cut(tmp_path):
    train, probe = hold_out(RATINGS, 0.15, rng=2)
    release = PredictiveAnonymizer(k=4, profile="pooled", factors=2).anonymize(train, rng=1)
    top = TopN(n=17, users=9)
    whole = top.measure(release, original=train, probe=probe)
    every = replace(top, users=5000).measure(release, original=train, probe=probe).figures
    assert 9 == whole.figures["top_n_users"] < every["top_n_users"] < 60
    for n in (1, 6):
        store = LinkedShards(in_shards(train, tmp_path, n), release)
        beside = Beside(store, Local(), Asked.of(probe, train.scale, train.items))
        sample = top.sample(release, beside.people, beside.of_people, beside.rated)
        assert beside.of_sample(top, sample).figures == whole.figures


def test_clusters_of_any_size_are_taken_as_of_one_table(tmp_path):
    train, probe = hold_out(RATINGS, 0.15, rng=2)
    people = np.flatnonzero(train.user_support)
    train, probe = train.keep_users(people), probe.keep_users(people)
    sizes = [1, 50, 2, 7, 1, 20, 3]
    groups = np.repeat(np.arange(8), [*sizes, train.n_users - sum(sizes)])
    groups = np.random.default_rng(1).permutation(groups)
    groups = np.unique(groups, return_inverse=True)[1].tolist()
    levels = 1 + np.arange(8)[:, None] % 9 + np.zeros((8, train.n_items), dtype=int)
    release = profiled(train, levels, groups, 0.5)
    cut, gathered = in_shards(train, tmp_path, 1), []

    class Watched(Local):
        def run(self, job, shards, tables):
            for answer in super().run(job, shards, tables):
                if job.name == "gathering clusters":
                    gathered.append(len(answer["users"]))
                yield answer

    for users in (2, 5, 12, 30, 60):
        pairs = PairwiseDissimilarity(users=users)
        whole = pairs.measure(release, original=train, probe=probe)
        store = LinkedShards(cut, release)
        beside = Beside(store, Watched(), Asked.of(probe, train.scale, train.items))
        assert pairs_over(pairs, store, beside.engine, beside.part).figures == whole.figures
        assert gathered.pop() <= users


@pytest.mark.parametrize("few", [False, True])
def test_ids_that_are_no_numbers(tmp_path, monkeypatch, few):
    if few:  # the number of sweeps is found on a sample
        monkeypatch.setattr(regularized_svd, "_SEARCHED", 300)
    names = sorted(f"ü{(7 * user) % 60:02}" for user in range(60))
    users = Vocabulary(np.arange(60) * 3, names)
    train, probe = hold_out(replace(RATINGS, users=users), 0.15, rng=2)
    release = PredictiveAnonymizer(k=4, profile="pooled", factors=2).anonymize(train, rng=1)
    whole = measure_all(release, train, probe=probe)
    for n in (1, 4):
        cut = in_shards(train, tmp_path, n)
        parts = measure_shards(release, cut, Local(), probe=probe)
        assert (parts if n == 1 else Near(parts)) == whole


@pytest.fixture(scope="module")
def split():
    train, probe = hold_out(RATINGS, 0.15, rng=2)
    return train, probe, PredictiveAnonymizer(k=4, factors=2).anonymize(train, rng=1)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            lambda train, probe: replace(probe, users=Vocabulary(probe.users.integers + 50)),
            "users of the probe are not in the ratings",
        ),
        (
            lambda train, probe: replace(probe, items=Vocabulary(probe.items.integers + 9)),
            "items of the probe are not in the ratings",
        ),
        (lambda train, probe: RATINGS, "ratings of the probe are in the ratings too"),
        (lambda train, probe: probe_of(train, {}), "the probe has no rating"),
        (
            lambda train, probe: replace(
                probe, scale=Scale(1, 10, 1), levels=probe.levels + 3.0 * (probe.levels > 3)
            ),
            "off the scale",
        ),
    ],
)
def test_what_is_wrong_with_a_probe_is_said_as_of_one_table(tmp_path, split, wrong, words):
    train, probe, release = split
    bad = wrong(train, probe)
    with pytest.raises(ConfigError, match=words) as whole:
        measure_all(release, train, probe=bad)
    for n in (1, 5):
        with pytest.raises(ConfigError) as cut:
            measure_shards(release, in_shards(train, tmp_path, n), Local(), probe=bad)
        assert (str(cut.value), cut.value.advice) == (str(whole.value), whole.value.advice)


def test_another_recommender_takes_one_table(tmp_path, split):
    train, probe, release = split
    config = {**release.manifest.config, "recommender": "surprise-svd"}
    manifest = release.manifest.model_copy(update={"config": config})
    with pytest.raises(ConfigError, match="the recommender surprise-svd takes one table"):
        measure_shards(
            replace(release, manifest=manifest), in_shards(train, tmp_path, 2), Local(), probe=probe
        )


def test_what_comes_out_of_a_job_is_no_more_than_was_asked_for(tmp_path, split, monkeypatch):
    _, _, release = split
    monkeypatch.setattr(nearest, "_WORK", 14_000)
    train, probe = split[0], split[1].keep_users(np.flatnonzero(split[1].user_support)[:3])
    cells = probe.n_ratings
    widest = {}

    class Watched(Local):
        def run(self, job, shards, tables):
            for answer in super().run(job, shards, tables):
                size = max(len(column) for column in answer.values())
                widest[job.name] = max(size, widest.get(job.name, 0))
                yield answer

    measure_shards(release, in_shards(train, tmp_path, 2), Watched(), probe=probe)
    assert widest["finding who is in the probe"] == 3
    assert widest["predicting held-out ratings"] <= cells
    most = nearest.most_within(25, 5000, 117 * 25 // 2)
    assert widest["drawing people"] <= most
    assert widest["gathering clusters"] <= most
