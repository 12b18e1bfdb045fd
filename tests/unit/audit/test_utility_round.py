"""The utility round of releases, by the method in their key files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.audit.original import utility_round as module
from starshade.audit.original.utility_round import utility_round
from starshade.ratings.holdout import hold_out
from starshade.ratings.select import listed_items, top_items
from starshade.ratings.shards.shards import open_shards
from starshade.ratings.shards.write import write_shards
from starshade.ratings.synth.synth import synthesize
from starshade.release.folder.read import read_release
from starshade.rng import stream_key
from starshade.utility.round import predict_held_out
from starshade.utility.what_remains import WhatRemains

METHOD = PredictiveAnonymizer(k=4, factors=2)


@pytest.fixture(scope="module")
def ratings():
    return synthesize(n_users=40, n_items=15, n_ratings=220, rng=0)


@pytest.fixture(scope="module")
def release(ratings):
    return METHOD.anonymize(ratings, rng=7)


@pytest.mark.parametrize(
    "method", [METHOD, KLikeness(k=3, hierarchy="dgh-c", items=top_items(5))], ids=["", "items"]
)
def test_the_rest_is_released_as_the_key_file_says(tmp_path, ratings, method):
    method.anonymize(ratings, rng=7).save(tmp_path / "release", private=tmp_path / "key")
    release = read_release(tmp_path / "release", private=tmp_path / "key")
    measured = utility_round(ratings, release, rng=3)
    rest, held = hold_out(ratings, 0.1, rng=3)
    again = method.anonymize(rest, rng=7)
    expected = predict_held_out(again, rest, held, 3)
    assert {key: getattr(measured, key) for key in expected} == expected
    remains = WhatRemains().measure(release, ratings).figures
    assert measured.recoverable_within_step == remains["recoverable_within_step"]
    assert measured.item_means_within_step == remains["item_means_within_step"]
    assert measured == utility_round(ratings, release, rng=3)
    assert measured.held_out_read != utility_round(ratings, release, rng=4).held_out_read


@pytest.mark.parametrize("partitions", [1, 3])
def test_a_partitioned_store_is_read_as_one_table(tmp_path, ratings, release, partitions):
    write_shards(ratings, tmp_path / "store", partitions)
    whole = utility_round(ratings, release, rng=3)
    assert utility_round(open_shards(tmp_path / "store"), release, rng=3) == whole
    assert whole.held_out_read is not None


def test_of_many_ratings_a_tenth_of_the_people_stands_for_all(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MANY_RATINGS", 5000)
    ratings = synthesize(n_users=900, n_items=15, n_ratings=6000, rng=0)
    release = METHOD.anonymize(ratings, rng=7)
    measured = utility_round(ratings, release, rng=3)
    assert measured.share_of_people == 0.1
    assert 40 < measured.held_out_ratings < 80  # a tenth of the ratings of a tenth of the people
    assert measured.lines[-1].strip() == "(held-out RMSE on a random 10% of the people)"
    remains = WhatRemains().measure(release, ratings).figures
    assert measured.recoverable_within_step == remains["recoverable_within_step"]
    write_shards(ratings, tmp_path / "store", 3)
    assert utility_round(open_shards(tmp_path / "store"), release, rng=3) == measured


def test_without_the_key_file_nothing_is_measured(ratings, release):
    measured = utility_round(ratings, replace(release, private=None), rng=0)
    assert "private" in measured.not_measured
    assert measured.recoverable_within_step is None
    assert measured.useful is None


def test_the_rest_of_a_release_that_continues_another_is_continued_too(ratings):
    method = KLikeness(k=3, items=top_items(5))
    first = method.anonymize(ratings, rng=7)
    second = method.anonymize(ratings, rng=7, after=first)
    measured = utility_round(ratings, second, rng=0)
    assert measured.held_out_read is not None
    rest, held = hold_out(ratings, 0.1, rng=0)
    items = listed_items(list(second.classes.items))
    seed = stream_key(7, "earlier release") >> 1
    again = replace(method, items=items).anonymize(rest, rng=seed)
    remade = method.anonymize(rest, rng=7, after=again)
    assert measured.held_out_read == predict_held_out(remade, rest, held, 0)["held_out_read"]


def test_ten_people_of_whom_one_has_no_other_rating_are_too_few_for_k_5():
    ratings = synthesize(n_users=10, n_items=6, n_ratings=30, rng=0)
    release = PredictiveAnonymizer(k=5, factors=2, rare_items="keep").anonymize(ratings, rng=0)
    measured = utility_round(ratings, release, rng=0)
    assert measured.held_out_ratings == 3
    assert measured.held_out_read is not None
    refused = utility_round(ratings, release, rng=2)
    assert "records = 9" in refused.not_measured
    assert refused.held_out_ratings == 0
    assert refused.recoverable_within_step == measured.recoverable_within_step


def test_one_item_has_no_held_out_rating_of_anyone_covered():
    ratings = synthesize(n_users=40, n_items=6, n_ratings=120, rng=0).keep_items(np.array([0]))
    method = PredictiveAnonymizer(k=4, factors=1)
    release = method.anonymize(ratings, rng=0)
    measured = utility_round(ratings, release, rng=0)
    assert measured.not_measured.startswith("none of ")
    assert measured.lines[1].startswith("         held-out RMSE not measured: none of ")
