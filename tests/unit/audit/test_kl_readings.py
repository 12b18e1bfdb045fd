"""Readings of k-Likeness and k-Member, and the work that is counted, against slow twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from starshade.anonymize.baselines import KMember, mondrian_groups
from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.order import seeded_order
from starshade.anonymize.points import dense_levels, positions
from starshade.audit.reproduction.kl.bench import figures_of
from starshade.audit.reproduction.kl.changed import change
from starshade.audit.reproduction.kl.naive import REST, likeness, member
from starshade.audit.reproduction.kl.readings import Reading
from starshade.audit.reproduction.kl.work import likeness_distances, member_rows, mondrian_cells
from starshade.ratings.synth.synth import synthesize
from starshade.ratings.table import Ratings
from starshade.utility.losses import GeneralizationLoss
from tests.naive import kl_readings as naive


def rows_of(seed: int, n: int, m: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 6, (n, m))


def classes(groups: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(groups == g).tolist()) for g in set(groups.tolist())}


def sets(groups: list[list[int]]) -> set[frozenset[int]]:
    return {frozenset(group) for group in groups}


@pytest.mark.parametrize("rest", REST)
@pytest.mark.parametrize(
    ("more", "furthest", "apart"), [(0, False, -1.0), (1, False, 5.0), (0, True, 0.0)]
)
def test_k_likeness_is_its_twin(rest: str, more: int, furthest: bool, apart: float) -> None:
    for seed in range(6):
        n, k = 11 + 7 * seed, 2 + seed % 4
        rows, order = rows_of(seed, n), np.random.default_rng(seed).permutation(n)
        found = likeness(
            rows.astype(float), k, k - 1 + more, order, furthest, REST.index(rest), 0.0, apart
        )
        groups, _ = naive.k_likeness(
            rows.tolist(), k, order.tolist(), joins=k - 1 + more, furthest=furthest, rest=rest,
            apart=apart,
        )  # fmt: skip
        assert classes(found) == sets(groups)
        assert min(map(len, groups)) >= k


@pytest.mark.parametrize("furthest", [True, False])
@pytest.mark.parametrize("anew", [True, False])
def test_k_member_is_its_twin(furthest: bool, anew: bool) -> None:
    for seed in range(6):
        n, k = 9 + 6 * seed, 2 + seed % 4
        rows, order = rows_of(seed, n), np.random.default_rng(seed).permutation(n)
        groups, _ = naive.k_member(rows.tolist(), k, order.tolist(), furthest=furthest)
        assert classes(member(rows, k, order, furthest, anew)) == sets(groups)


def test_to_the_letter_a_class_has_one_record_more() -> None:
    found = likeness(rows_of(1, 60).astype(float), 4, 4, np.arange(60), False, 0, 0.0, -1.0)
    assert np.bincount(found).tolist() == [5] * 12


@pytest.mark.parametrize("n", [8, 12, 29, 40])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_the_work_is_what_the_twins_count(n: int, k: int) -> None:
    rows, order = rows_of(n + k, n).tolist(), list(range(n))
    for joins in (k - 1, k):
        _, seen = naive.k_likeness(rows, k, order, joins=joins)
        counted = tuple(seen[what] for what in ("forming", "joining", "left", "rounds"))
        assert likeness_distances(n, k, joins) == counted
    _, seen = naive.k_member(rows, k, order, furthest=True)
    assert (member_rows(n, k, anew=False), member_rows(n, k, anew=True)) == (
        seen["kept"], seen["anew"],
    )  # fmt: skip
    places = positions(np.array(rows, np.uint8))[0]
    cells, cuts = mondrian_cells(places, k)
    assert (cells, cuts) == naive.mondrian_cells(places.tolist(), list(range(n)), k)
    assert cuts == mondrian_groups(np.array(rows, np.uint8), k).max()


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return synthesize(n_users=70, n_items=6, n_ratings=250, rng=3).drop_empty_users()


@pytest.mark.parametrize(
    ("reading", "method"),
    [
        (Reading("k-likeness"), KLikeness(3, rare_items="keep")),
        (Reading("k-member", nucleus="furthest", hierarchy="range"), KMember(3, rare_items="keep")),
    ],
)
def test_the_first_reading_is_the_public_method(ratings: Ratings, reading, method) -> None:
    release, seconds = reading.release(ratings, 3, 9)
    own = figures_of(release, ratings)
    public = figures_of(method.anonymize(ratings, rng=9), ratings)
    assert classes(own["class"]) == classes(public["class"])
    assert own["loss"].tolist() == public["loss"].tolist()
    assert seconds > 0


def test_figures_of_records_are_those_of_the_release(ratings: Ratings) -> None:
    release = KLikeness(3, "dgh-b", rare_items="keep").anonymize(ratings, rng=2)
    found = figures_of(release, ratings)
    whole = GeneralizationLoss().measure(release, ratings).figures["gen_iloss"]
    assert found["loss"].mean() == pytest.approx(whole)
    # every user is in the class that the link says, and its cells hold their ratings
    dense = np.nan_to_num(ratings.dense())
    for number in set(found["class"].tolist()):
        who = found["class"] == number
        assert who.sum() == release.classes.sizes[number]
        widths = np.ptp(dense[who], axis=0)
        assert (found["members"][who] >= 1 + (widths > 0).mean()).all()


def test_a_nucleus_may_be_as_the_table_has_it(ratings: Ratings) -> None:
    reading = Reading("k-likeness", order="table")
    assert reading.groups(ratings, 3, 1).tolist() == reading.groups(ratings, 3, 2).tolist()
    drawn = replace(reading, order="drawn")
    assert drawn.groups(ratings, 3, 1).tolist() != drawn.groups(ratings, 3, 2).tolist()
    order = seeded_order(ratings.n_users, 1, "k-likeness")
    assert reading.grouped(ratings, 3, order).shape == (ratings.n_users,)


def test_a_null_may_be_in_the_middle(ratings: Ratings) -> None:
    middle, plain = Reading("k-likeness", null="middle"), Reading("k-likeness")
    order = np.arange(ratings.n_users)
    rows, given = (each.arguments(ratings, 3, order)[0] for each in (middle, plain))
    assert isinstance(rows, np.ndarray)
    assert isinstance(given, np.ndarray)
    assert (rows[given > 0] == given[given > 0]).all()
    assert rows[given == 0] == pytest.approx(ratings.values().mean())


def test_of_ties_the_first_in_the_order_is_taken() -> None:
    places = np.array([[0], [1], [1], [0]])
    for order, group in (([0, 1, 2, 3], [0, 1, 1, 0]), ([3, 2, 1, 0], [0, 1, 1, 0])):
        assert member(places, 2, np.array(order), True, False).tolist() == group
    places = np.array([[0], [1], [1], [3]])
    assert member(places, 2, np.arange(4), True, False).tolist() == [0, 0, 1, 1]
    assert member(places, 2, np.array([0, 2, 1, 3]), True, False).tolist() == [0, 1, 0, 1]


def test_one_property_is_changed_alone(ratings: Ratings) -> None:
    filled = change(ratings, "filled", 1)
    assert filled is not None
    assert filled.n_ratings == ratings.n_users * ratings.n_items
    before, after = dense_levels(ratings), dense_levels(filled)
    assert (after[before > 0] == before[before > 0]).all()
    for item in range(ratings.n_items):
        assert set(after[:, item].tolist()) <= set(before[:, item].tolist()) - {0}
    thinned, few = change(ratings, "thinned", 1), change(ratings, "few", 1)
    assert thinned is not None
    assert few is not None
    assert thinned.n_ratings == ratings.n_ratings // 2
    assert few.n_users == ratings.n_users // 4
    assert change(ratings, "anew", 1) is None
