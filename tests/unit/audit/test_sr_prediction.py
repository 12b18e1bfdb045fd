"""Predicting an attribute before and after anonymization."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.audit.reproduction.sr.attribute import default_attribute, labels_of
from starshade.audit.reproduction.sr.prediction import (
    draw_trials,
    predict_attribute,
    released_values,
)
from starshade.errors import ConfigError
from starshade.ratings.read import read_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.select import top_items
from starshade.ratings.table import Ratings
from starshade.release.build import Provenance, record_release
from starshade.release.table import Release
from starshade.rng import Rng
from tests.strategies import table

STARS = Scale(1, 5, 1)


@dataclass(frozen=True)
class Plain:
    """Releases the ratings as they are, those of a user set to null where asked."""

    without: tuple[int, ...] = ()
    constant: bool = False

    def anonymize(self, ratings: Ratings, rng: Rng = None) -> Release:
        kept = np.setdiff1d(np.arange(ratings.n_users), self.without)
        own = ratings.keep_users(kept)
        moved = replace(own, codes=np.full_like(own.codes, 2)) if self.constant else own
        return record_release(
            own,
            moved,
            Provenance(method="plain", seed=0),
        )


def people(n: int = 120, seed: int = 0) -> Ratings:
    """Users of two kinds, who rate differently; a third of them of the second kind."""
    rng = np.random.default_rng(seed)
    second = rng.random(n) < 1 / 3
    rows = [
        {
            i: float(np.clip(np.rint(rng.normal(4.5 if second[u] else 1.5, 0.7)), 1, 5))
            for i in range(4)
            if rng.random() < 0.8 or i == 0
        }
        for u in range(n)
    ]
    kinds = np.where(second, "two", "one")
    ages = np.where(second, 50.0, 20.0) + rng.integers(0, 5, n)
    attributes = pa.table({"Age": ages, "Kind": pa.array(kinds.tolist())})
    return replace(table(rows, STARS), attributes=attributes)


def test_what_is_released_as_it_is_predicts_as_well() -> None:
    found = predict_attribute(people(), Plain(), "Kind", trials=6, rng=1)
    assert found.original.rate > 0.95
    assert found.anonymized == found.original
    assert found.difference.rate == 0
    assert found.majority.rate == pytest.approx(2 / 3, abs=0.1)
    assert (found.users, found.trials, found.released) == (60, 6, 1.0)
    assert found.classes == ("one", "two")


def test_ratings_that_are_all_the_same_predict_the_majority() -> None:
    found = predict_attribute(people(), Plain(constant=True), "Kind", trials=6, rng=1)
    assert found.anonymized == found.majority
    assert found.difference.rate == pytest.approx(found.majority.rate - found.original.rate)
    assert found.difference.low <= found.difference.rate <= found.difference.high < 0
    assert not found.within(3)
    assert "points" in str(found)


@pytest.mark.parametrize(
    ("low", "high", "within"),
    [(-0.01, 0.02, True), (-0.031, 0.0, False), (0.0, 0.031, False), (-0.03, 0.03, True)],
)
def test_within_asks_for_the_whole_interval(low: float, high: float, within: bool) -> None:
    found = predict_attribute(people(40), Plain(), "Kind", trials=2, rng=1)
    difference = replace(found.difference, low=low, high=high)
    assert replace(found, difference=difference).within(3) is within


def test_the_halves_are_disjoint_and_drawn_by_the_seed() -> None:
    trials = draw_trials(people(41), "Kind", trials=5, rng=3)
    for train, test in trials.halves:
        assert len(train) == len(test) == 20
        assert not set(train.tolist()) & set(test.tolist())
    assert len({tuple(train.tolist()) for train, _ in trials.halves}) == 5
    again = draw_trials(people(41), "Kind", trials=5, rng=3)
    np.testing.assert_array_equal(trials.halves[4][0], again.halves[4][0])
    other = draw_trials(people(41), "Kind", trials=5, rng=4)
    assert trials.halves[0][0].tolist() != other.halves[0][0].tolist()


class Watched:
    """Keeps what it was given to anonymize."""

    def __init__(self) -> None:
        self.seen: list[tuple[tuple[str, ...], Any]] = []

    def anonymize(self, ratings: Ratings, rng: Rng = None) -> Release:
        self.seen.append((tuple(ratings.users), rng))
        return Plain().anonymize(ratings)


def test_the_halves_are_anonymized_apart_with_seeds_of_their_own() -> None:
    watched, ratings = Watched(), people(30)
    trials = draw_trials(ratings, "Kind", trials=3, rng=3)
    trials.predict(watched)
    halves = [part for pair in trials.halves for part in pair]
    expected = [tuple(ratings.users[int(i)] for i in rows) for rows in halves]
    assert [users for users, _ in watched.seen] == expected
    assert len({seed for _, seed in watched.seen}) == 6


def test_users_who_are_not_released_are_left_aside() -> None:
    found = predict_attribute(people(), Plain(without=(0, 5, 7)), "Kind", trials=2, rng=1)
    assert found.released == pytest.approx(57 / 60)
    assert found.anonymized.rate > 0.9


def test_released_values_are_each_users_own() -> None:
    ratings = people(50)
    rows, values = released_values(Plain(without=(0, 9)).anonymize(ratings), ratings)
    assert rows.tolist() == [i for i in range(50) if i not in (0, 9)]
    np.testing.assert_array_equal(values, ratings.dense()[rows])


def test_released_values_of_cells_with_several_members() -> None:
    ratings = table([{0: 1, 1: 3}, {0: 2}, {0: 4, 2: 1}, {2: 5}], STARS)
    release = KLikeness(k=4, rare_items="keep").anonymize(ratings, rng=0)
    rows, values = released_values(release, ratings)
    assert rows.tolist() == [0, 1, 2, 3]
    # one class: {null, 1, 2, 4}, {null, 3}, {null, 1, 5}
    np.testing.assert_allclose(values, [[7 / 3, 3, 3]] * 4)
    rare = KLikeness(k=2).anonymize(ratings, rng=0)  # drops item 1, rated once
    assert np.isnan(released_values(rare, ratings)[1][:, 1]).all()


def test_bands_of_numbers() -> None:
    ratings = table([{0: 1}] * 6, STARS)
    ages = pa.table({"Age": pa.array([10.0, 20.0, 30.0, 40.0, None, 20.0])})
    aged = replace(ratings, attributes=ages)
    cut = labels_of(aged, "Age", edges=(20, 40))
    assert cut.names == ("below 20", "20 to below 40", "40 or more", "not given")
    assert cut.codes.tolist() == [0, 1, 1, 2, 3, 1]
    quartiles = labels_of(aged, "Age")
    assert quartiles.names == ("below 20", "20 to below 30", "30 or more", "not given")
    assert quartiles.codes.tolist() == [0, 1, 2, 2, 3, 1]


def test_texts_are_classes_and_null_is_one() -> None:
    ratings = table([{0: 1}] * 3, STARS)
    kinds = replace(ratings, attributes=pa.table({"Kind": pa.array(["b", None, "a"])}))
    assert labels_of(kinds, "Kind").names == ("a", "b", "not given")
    assert labels_of(kinds, "Kind").codes.tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    ("columns", "chosen"),
    [
        ({"Age": [1.0, 2.0], "Gender": ["f", "m"]}, "Gender"),
        ({"Zip": ["same", "same"], "Age": [1.0, 2.0]}, "Age"),
        ({"Zip": ["same", "same"]}, None),
        (None, None),
    ],
)
def test_the_attribute_that_is_taken_by_itself(columns: Any, chosen: str | None) -> None:
    attributes = None if columns is None else pa.table(columns)
    assert default_attribute(replace(table([{0: 1}] * 2, STARS), attributes=attributes)) == chosen


@pytest.mark.parametrize(
    ("attribute", "options", "message"),
    [
        ("Height", {}, "the data have Age, Kind"),
        ("Kind", {"edges": (1.0,)}, "edges are for numbers"),
        ("Age", {"edges": (30.0, 20.0)}, "ascend"),
        ("Age", {"edges": (22.0, 99.0)}, None),  # a band may be empty
        ("Age", {"edges": (99.0,)}, "1 different value;"),
        ("Kind", {"trials": 0}, "trials 0"),
        ("Kind", {"trials": 2.5}, "trials = 2.5: must be a whole number"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    attribute: str, options: dict[str, Any], message: str | None
) -> None:
    if message is None:
        predict_attribute(people(20), Plain(), attribute, **{"trials": 1, **options})
        return
    with pytest.raises(ConfigError, match=message):
        predict_attribute(people(20), Plain(), attribute, **options)


def test_too_many_classes_or_too_few_people() -> None:
    ratings = table([{0: 1}] * 30, STARS)
    names = replace(ratings, attributes=pa.table({"Name": [f"n{i}" for i in range(30)]}))
    with pytest.raises(ConfigError, match="30 different values; allowed are 2 to 25"):
        labels_of(names, "Name")
    with pytest.raises(ConfigError, match="no personal attributes"):
        labels_of(ratings, "Name")
    one = replace(table([{0: 1}], STARS), attributes=pa.table({"Age": [3.0]}))
    with pytest.raises(ConfigError):
        predict_attribute(one, Plain(), "Age", rng=0)


@pytest.mark.real
def test_gender_on_movielens_is_hardly_told_by_ratings(ml100k_dir: Path) -> None:
    ratings = top_items(20).apply(read_ratings(ml100k_dir))
    found = draw_trials(ratings, "Gender", trials=10, rng=0).predict(Plain())
    # 670 of 943 are men
    assert found.majority.rate == pytest.approx(0.71, abs=0.02)
    assert abs(found.original.rate - found.majority.rate) < 0.06
    assert found.difference.rate == 0
