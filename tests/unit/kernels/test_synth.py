from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.kernels import synth as kernels
from tests.naive import synth as naive

WEIGHTS = st.sampled_from([1.0, 1.0, 2.0, 1e-9, 1e9, 0.3])
KEYS = st.integers(0, 2**64 - 1)


@st.composite
def shops(draw):
    """Shelves of (item, weight), some empty, items on two of them; and cumulative shares."""
    n_items = draw(st.integers(1, 12))
    genre = draw(st.lists(st.integers(0, 3), min_size=n_items, max_size=n_items))
    shelves = [[(i, draw(WEIGHTS)) for i in range(n_items) if genre[i] == g] for g in range(4)]
    shelves.append([(i, draw(WEIGHTS)) for i in range(n_items)])
    shares = np.array([draw(st.sampled_from([0.0, 1e-12, 0.5, 1.0])) for _ in shelves])
    shares[[not shelf for shelf in shelves]] = 0.0
    shares[-1] += 0.01
    cumulative = np.cumsum(shares / shares.sum())
    cumulative[-1] = 1.0
    return n_items, shelves, cumulative


def packed(shelves):
    """Return shelves as the kernel takes them: start, items, weights."""
    start = np.concatenate([[0], np.cumsum([len(shelf) for shelf in shelves])])
    places = [place for shelf in shelves for place in shelf]
    items = np.array([item for item, _ in places], dtype=np.int32)
    return start, items, np.array([weight for _, weight in places])


@given(shops())
def test_alias_tables_give_each_place_its_share(shop):
    _, shelves, _ = shop
    start, _, weights = packed(shelves)
    keep, other = kernels.alias_tables(start, weights)
    assert ((keep >= 0) & (keep <= 1)).all()
    for low, high in pairwise(start):
        chance = np.zeros(len(weights))
        for q in range(low, high):
            chance[q] += keep[q] / (high - low)
            chance[other[q]] += (1 - keep[q]) / (high - low)
        assert chance[:low].sum() == chance[high:].sum() == 0
        if high > low:
            shares = weights[low:high] / weights[low:high].sum()
            np.testing.assert_allclose(chance[low:high], shares, atol=1e-12)


@given(shops(), st.lists(KEYS, min_size=1, max_size=4), st.data())
def test_items_are_those_of_the_twin(shop, keys, data):
    n_items, shelves, shares = shop
    counts = [data.draw(st.integers(0, n_items)) for _ in keys]
    start, items, weights = packed(shelves)
    keep, other = kernels.alias_tables(start, weights)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    columns = np.empty(indptr[-1], dtype=np.int32)
    every = np.tile(shares, (len(keys), 1))
    kernels.draw_items(
        np.array(keys, dtype=np.uint64),
        *(indptr, every, start, items, weights, keep, other, n_items, columns),
    )
    alias = [[(keep[q], other[q] - low) for q in range(low, high)] for low, high in pairwise(start)]
    expected = [
        naive.picks(key, count, shares, shelves, alias)
        for key, count in zip(keys, counts, strict=True)
    ]
    assert columns.tolist() == [item for row in expected for item in row]
    assert all(len(set(row)) == len(row) for row in expected)


# item 2 stands on both shelves
FOUR = [[(0, 5.0), (1, 2.0), (2, 1.0)], [(2, 1.0), (3, 3.0)]]
FOUR_SHARES = np.array([0.7, 1.0])


def law_of_two():
    """Return the chance of each pair of the four items, drawn one after the other."""
    p = [0.7 * 5 / 8, 0.7 * 2 / 8, 0.7 / 8 + 0.3 / 4, 0.3 * 3 / 4]
    pairs = {}
    for i, j in permutations(range(4), 2):
        pair = tuple(sorted((i, j)))
        pairs[pair] = pairs.get(pair, 0) + p[i] * p[j] / (1 - p[i])
    return pairs


@pytest.mark.parametrize("by", ["redrawing", "race"])
def test_items_follow_the_law_of_drawing_without_putting_back(by):
    n = 20_000
    start, items, weights = packed(FOUR)
    keys = kernels.user_keys(np.uint64(7), np.arange(n, dtype=np.uint64))
    columns = np.empty(2 * n, dtype=np.int32)
    if by == "redrawing":
        keep, other = kernels.alias_tables(start, weights)
        indptr = 2 * np.arange(n + 1)
        shares = np.tile(FOUR_SHARES, (n, 1))
        kernels.draw_items(*(keys, indptr, shares, start, items, weights, keep, other, 4, columns))
    else:
        for u in range(n):
            taken = np.zeros(4, dtype=np.bool_)
            out = columns[2 * u : 2 * u + 2]
            kernels._race(keys[u], 0, FOUR_SHARES, start, items, weights, taken, out)
    found = np.sort(columns.reshape(n, 2), axis=1)
    for pair, chance in law_of_two().items():
        share = (found == pair).all(axis=1).mean()
        assert share == pytest.approx(chance, abs=4 * np.sqrt(chance * (1 - chance) / n))


@given(KEYS, st.integers(0, 8), st.lists(st.floats(-3, 3), max_size=4))
def test_opinions_and_ratings_are_those_of_the_twin(key, n, cuts):
    cuts = sorted(cuts)
    quality = np.linspace(-1, 1, 8)
    genre = np.arange(8) % 3
    leniency, liking = np.array([0.25]), np.array([[0.5, -0.25, 0.0]], dtype=np.float32)
    keys, indptr = np.array([key], dtype=np.uint64), np.array([0, n])
    columns = np.arange(n, dtype=np.int32)
    table = (indptr, columns, leniency, liking, quality, genre, 0.7)
    opinions = kernels.sample_opinions(keys, 1, *table)
    codes = np.empty(n, dtype=np.uint8)
    kernels.draw_ratings(keys, *table, np.array(cuts, dtype=np.float64), codes)
    expected = [
        naive.opinion(key, i, quality[i], 0.25, float(liking[0, i % 3]), 0.7) for i in range(n)
    ]
    assert opinions.tolist() == pytest.approx(expected, abs=1e-9)
    assert codes.tolist() == [naive.stars(opinion, cuts) for opinion in opinions]


def test_a_sample_is_every_other_opinion():
    keys = np.arange(4, dtype=np.uint64)
    indptr, columns = np.array([0, 2, 2, 3, 5]), np.array([0, 1, 1, 0, 1], dtype=np.int32)
    people = (np.zeros(4), np.zeros((4, 1), dtype=np.float32))
    items = (np.array([0.0, 10.0]), np.zeros(2, dtype=np.int64), 0.5)
    every, second = (
        kernels.sample_opinions(keys, stride, indptr, columns, *people, *items) for stride in (1, 2)
    )
    assert second.tolist() == every[::2].tolist()
    assert every.tolist() == pytest.approx(
        [
            naive.opinion(k, i, q, 0, 0, 0.5)
            for k, i, q in [(0, 0, 0), (0, 1, 10), (2, 0, 10), (3, 0, 0), (3, 1, 10)]
        ]
    )


@given(KEYS, st.integers(0, 12), st.integers(0, 40), st.integers(1, 6), st.integers(40, 60))
def test_days_are_those_of_the_twin(key, n, arrival, bouts, last_day):
    days = np.empty(n, dtype=np.uint16)
    shape = (last_day, 3.0, 1.2, 2.0, 0.8)
    user = (np.array([arrival]), np.array([bouts]))
    kernels.draw_days(np.array([key], dtype=np.uint64), np.array([0, n]), *user, *shape, days)
    assert days.tolist() == naive.dates(key, n, arrival, bouts, *shape)
    assert ((days >= arrival) & (days <= last_day)).all()
    assert len(set(days.tolist())) <= bouts


@given(st.integers(1, 8), KEYS, st.data())
def test_unrated_items_are_placed_as_the_twin_places_them(n_items, key, data):
    subsets = st.lists(st.integers(0, n_items - 1), min_size=1, max_size=n_items, unique=True)
    rows = [sorted(row) for row in data.draw(st.lists(subsets, min_size=1, max_size=6))]
    while sum(map(len, rows)) < n_items:
        rows.append([data.draw(st.integers(0, n_items - 1))])
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    columns = np.array([item for row in rows for item in row], dtype=np.int32)
    kernels.place_unrated(np.uint64(key), indptr, columns, n_items)
    found = [columns[a:b].tolist() for a, b in pairwise(indptr)]
    assert found == naive.place_unrated(key, rows, n_items)
    assert set(columns.tolist()) == set(range(n_items))
    assert all(row == sorted(set(row)) for row in found)
