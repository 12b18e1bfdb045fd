from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade.anonymize.generalize import generalize
from starshade.anonymize.hierarchy.file import parse_hierarchy
from starshade.anonymize.hierarchy.hierarchy import resolve
from starshade.ratings.scale import Scale
from starshade.release.build import Provenance, generalized_release
from tests.naive.generalize import dgh, generalized, ndgh, span
from tests.naive.k_anonymity import class_sizes, contents
from tests.strategies import SCALES, ratings_tables, table

NOTHING = frozenset([None])


def partition(labels: list[int]) -> tuple[np.ndarray, list[list[int]]]:
    _, groups = np.unique(labels, return_inverse=True)
    return groups, [np.flatnonzero(groups == g).tolist() for g in range(groups.max() + 1)]


@st.composite
def grouped(draw: st.DrawFn, scales: tuple[Scale, ...] = SCALES):
    ratings = draw(ratings_tables(scales=scales, with_days=False))
    assume(ratings.n_ratings > 0)
    n = ratings.n_users
    return ratings, *partition(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))


def said(row_of_twin):
    """Bring the twin's words for a row to those of `contents`."""
    return tuple(NOTHING if cell is None else cell for cell in row_of_twin)


@given(grouped())
def test_ndgh_is_the_set_of_the_values_present(case):
    ratings, groups, members = case
    cells = generalize("ndgh", ratings, groups)
    expected = generalized(ratings, members, ndgh)
    assert contents(cells) == [said(row) for row in expected]
    assert cells.sizes.tolist() == [len(group) for group in members]


@given(grouped())
def test_dgh_is_the_lowest_interval_that_holds_all(case):
    ratings, groups, members = case
    scale = ratings.scale
    hierarchy = resolve("dgh", scale, null_occurs=True)
    cells = generalize(hierarchy, ratings, groups)
    levels = [[(i.low, i.high, i.without_low) for i in level] for level in hierarchy.levels]

    def say(values):
        low, high = dgh(values, levels, scale.null_level)
        if scale.step is None:
            return low, high
        inside = [v for v in scale.levels.tolist() if low <= v <= high]
        return frozenset(inside + ([None] if low <= scale.null_level else []))

    assert contents(cells) == [said(row) for row in generalized(ratings, members, say)]


@given(grouped())
def test_range_is_all_from_the_least_to_the_greatest(case):
    ratings, groups, members = case
    scale = ratings.scale
    levels = None if scale.step is None else scale.levels.tolist()
    cells = generalize(resolve("range", scale, null_occurs=True), ratings, groups)

    def say(values):
        return span(values, levels, scale.null_level)

    assert contents(cells) == [said(row) for row in generalized(ratings, members, say)]


@given(grouped(scales=(Scale(1, 5, 1), Scale(0.5, 5, 0.5))))
def test_every_original_cell_lies_within_its_generalized_cell(case):
    ratings, groups, _ = case
    for name in ("ndgh", "range", "dgh"):
        cells = generalize(resolve(name, ratings.scale, null_occurs=True), ratings, groups)
        rows = contents(cells)
        for user, row in enumerate(generalized(ratings, [[u] for u in range(len(groups))], ndgh)):
            for item, own in enumerate(row):
                assert (own or NOTHING) <= rows[groups[user]][item]


def test_three_levels_on_a_long_scale():
    scale = Scale(1, 10, 1)
    hierarchy = resolve(
        parse_hierarchy("[0,2] [3,4] [5,6] [7,8] [9,10]\n[0,4] [5,10]\n[0,10]"),
        scale,
        null_occurs=True,
    )
    ratings = table([{0: 5, 1: 7, 2: 4}, {0: 5, 1: 8, 2: 5}, {0: 5, 1: 9}], scale)
    cells = generalize(hierarchy, ratings, np.array([0, 0, 1]))
    everything = frozenset([None, *range(1, 11)])
    assert contents(cells) == [
        (frozenset([5]), frozenset([7, 8]), everything),
        (frozenset([5]), frozenset([9]), NOTHING),
    ]
    joined = generalize(hierarchy, ratings, np.array([0, 0, 0]))
    assert contents(joined)[0][1] == frozenset(range(5, 11))


def test_an_interval_beyond_a_real_scale_is_cut_to_it():
    scale = Scale(0, 10)
    ratings = table([{0: 1.0, 1: 7.0}, {0: 2.0, 1: 9.5}], scale)
    wide = resolve(parse_hierarchy("[-3,5] (5,50]\n[-3,50]"), scale, null_occurs=True)
    cells = generalize(wide, ratings, np.array([0, 0]))
    assert contents(cells) == [((-0.5, 5.0), (5.0, 10.0))]
    assert cells.symbols.null.tolist() == [True, False]
    narrow = resolve(parse_hierarchy("[-0.2,5] (5,10]\n[-0.2,10]"), scale, null_occurs=False)
    assert contents(generalize(narrow, ratings, np.array([0, 0])))[0][0] == (0.0, 5.0)


def test_values_within_the_slack_are_one_value_to_a_dgh():
    ratings = table([{0: 2.0}, {0: 3.0}], Scale(0, 10))
    ratings = replace(ratings, levels=np.array([2.0, 2.0 + 2e-10]))
    halves = resolve("dgh", ratings.scale, null_occurs=True)
    assert contents(generalize(halves, ratings, np.array([0, 0]))) == [((2.0, 2.0),)]


@pytest.mark.parametrize("levels", [300, 2001])
def test_scales_of_many_levels(levels):
    scale = Scale(0, levels - 1, 1)
    rng = np.random.default_rng(levels)
    rows = [dict(enumerate(rng.integers(0, levels, 4).tolist())) for _ in range(30)]
    big = table(rows, scale)
    values = np.array([row[i] for row in rows for i in range(4)])
    big = replace(big, codes=values.astype(np.uint16))  # the helper knows 255 levels at most
    groups, members = partition((np.arange(30) % 7).tolist())
    cells = generalize("ndgh", big, groups)
    assert contents(cells) == [said(row) for row in generalized(big, members, ndgh)]


@given(grouped())
def test_coarser_hierarchies_never_make_more_classes(case):
    ratings, groups, _ = case

    def classes(name: str) -> int:
        cells = generalize(resolve(name, ratings.scale, null_occurs=True), ratings, groups)
        release = generalized_release(
            ratings,
            groups,
            cells,
            Provenance(method="m", seed=0),
        )
        assert sorted(release.classes.sizes.tolist()) == class_sizes(cells)
        return release.manifest.classes

    assert classes("ndgh") >= classes("range") >= classes("dgh")
