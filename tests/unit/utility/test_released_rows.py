from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.errors import ConfigError
from starshade.kernels.arrays import find_cells
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Symbols
from starshade.utility.held_out.probe import (
    ReleasedRows,
    expected_ratings,
    linked_probe,
    linked_users,
    with_null,
)
from starshade.utility.rating_histogram import RatingHistogram
from tests.naive.released_rows import expected, histogram, reading, row_of_users, rows_of
from tests.strategies import ratings_tables, table
from tests.unit.release.changes import released
from tests.unit.utility.cases import probe_of, probed, profiled, releases

STARS = Scale(1, 5, 1)
NONE = float("nan")


@given(releases())
def test_cells_are_what_the_twin_reads(case):
    release, _ = case
    rows, scale = ReleasedRows(release), release.scale
    slow = rows_of(release)
    n = release.classes.n_items
    every = np.arange(len(slow))
    told = [[expected(row.get(i), scale.minimum) for i in range(n)] for row in slow]
    dense = np.array([[NONE if v is None else v for v in row] for row in told]).reshape(-1, n)
    np.testing.assert_allclose(rows.values(every), dense, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(rows.values(every[::-1]), dense[::-1], rtol=1e-12, atol=1e-12)
    seen = [
        [reading(row.get(i), scale.minimum, scale.null_level) for i in range(n)] for row in slow
    ]
    at = np.repeat(every, n), np.tile(np.arange(n), len(slow))
    np.testing.assert_allclose(rows.read(*at), np.ravel(seen), rtol=1e-12, atol=1e-12)


@given(releases())
def test_rows_that_say_the_same_are_one_profile(case):
    release, _ = case
    rows = ReleasedRows(release)
    slow = [repr(sorted(row.items())) for row in rows_of(release)]
    assert len(rows.distinct) == len(set(slow)) == len(rows.sizes)
    assert rows.sizes.sum() == release.n_records
    assert [slow[rows.distinct[p]] for p in rows.profile_of_row] == slow


def test_ranges_that_reach_below_the_scale_hold_null():
    scale = Scale(-10, 10)
    symbols = Symbols.ranges(scale, np.array([-11.0, -4.0, 2.0]), np.array([-9.0, 0.0, 2.0]))
    assert expected_ratings(symbols).tolist() == [-9.5, -2.0, 2.0]
    # half of the first is null, whose level is -11
    assert with_null(symbols).tolist() == [-10.25, -2.0, 2.0]


@given(ratings_tables(), st.data())
def test_single_cells_are_found(ratings, data):
    cell = st.tuples(st.integers(0, ratings.n_users - 1), st.integers(0, ratings.n_items - 1))
    asked = data.draw(st.lists(cell, max_size=20))
    rows, columns = (np.array([c[i] for c in asked], dtype=np.int64) for i in (0, 1))
    place = find_cells(ratings.indptr, ratings.columns, rows, columns)
    dense = np.full((ratings.n_users, ratings.n_items), -1)
    owner = np.repeat(np.arange(ratings.n_users), ratings.user_support)
    dense[owner, ratings.columns] = np.arange(ratings.n_ratings)
    assert place.tolist() == dense[rows, columns].tolist()


@given(probed())
def test_the_probe_is_placed_where_its_people_went(case):
    release, original, probe = case
    asked = linked_probe(release, original, probe)
    of_user = dict(zip(release.private.link.users, row_of_users(release), strict=True))
    place = {key: i for i, key in enumerate(release.classes.items)}
    slow, lost = [], 0
    for u in range(probe.n_users):
        for p in range(probe.indptr[u], probe.indptr[u + 1]):
            i = int(probe.columns[p])
            row = of_user.get(original.users[u])
            column = place.get(original.items[i])
            if row is None or column is None:
                lost += 1
            else:
                slow.append((u, i, row, column, probe.levels[probe.codes[p]]))
    found = [asked.users, asked.items, asked.rows, asked.columns, asked.values]
    assert [*zip(*(f.tolist() for f in found), strict=True)] == slow
    assert asked.left_out == lost


ROWS = [{0: 5, 1: 3}, {0: 4, 1: 3}, {1: 2, 2: 1}, {1: 2}]


def test_what_cannot_be_a_probe_is_refused():
    original = table(ROWS, STARS)
    release = released(original)
    good = probe_of(original, {(0, 2): 4})
    asked = linked_probe(release, original, good)
    assert (asked.users.tolist(), asked.columns.tolist(), asked.values.tolist()) == ([0], [2], [4])
    stranger = replace(good, users=Vocabulary(np.array([9, 10, 11, 12])))
    with pytest.raises(ConfigError, match=r"1 of the 1 users of the probe are not in the ratings"):
        linked_probe(release, original, stranger)
    unknown = replace(good, items=Vocabulary(np.array([1, 2, 9])))
    with pytest.raises(ConfigError, match=r"1 of the 1 items of the probe are not in the ratings"):
        linked_probe(release, original, unknown)
    with pytest.raises(ConfigError, match="1 of the 2 ratings of the probe are in the ratings too"):
        linked_probe(release, original, probe_of(original, {(0, 2): 4, (0, 1): 3}))
    with pytest.raises(ConfigError, match="the probe has no rating"):
        linked_probe(release, original, probe_of(original, {}))
    ten = replace(good, scale=Scale(1, 10, 1), levels=Scale(1, 10, 1).levels + 5)
    with pytest.raises(ConfigError, match="off the scale 1:5:1"):
        linked_probe(release, original, ten)
    # users and items that rated nothing in the probe may be anybody
    wide = table([{}, *ROWS], STARS, n_items=9)
    small = wide.keep_users(np.arange(1, 5)).keep_items(np.arange(3))
    asked = linked_probe(released(small), small, probe_of(wide, {(1, 2): 4}))
    assert (asked.users.tolist(), asked.columns.tolist()) == ([0], [2])


def test_a_release_of_other_people_or_items_is_refused():
    original = table(ROWS, STARS)
    with pytest.raises(ConfigError, match="1 of the 4 people in the release are not in the"):
        linked_users(released(original), original.keep_users(np.arange(3)))
    with pytest.raises(ConfigError, match="1 of the 3 items in the release are not in the"):
        linked_users(released(original), original.keep_items(np.arange(2)))
    assert linked_users(replace(released(original), private=None), original) is None
    assert linked_probe(released(original), original, None) is None


@given(releases())
def test_histograms_are_the_twins(case):
    release, original = case
    scale = original.scale
    result = RatingHistogram().measure(release, original=original)
    if scale.step is None:
        assert set(result.to_dict().values()) == {None}
        assert result.before == result.after == ()
        return
    levels, n = scale.levels.tolist(), release.classes.n_items
    keys = {original.items.index(key): i for i, key in enumerate(release.classes.items)}
    dense = original.dense()
    part = [{keys[i]: v for i, v in enumerate(row) if i in keys and v == v} for row in dense]
    rows = [{i: ("set", [v], False) for i, v in row.items()} for row in part if row]
    before = histogram(rows, [1] * len(rows), n, levels)
    after = histogram(rows_of(release), release.classes.sizes.tolist(), n, levels)
    np.testing.assert_allclose(result.before, before, atol=1e-12)
    np.testing.assert_allclose(result.after, after, atol=1e-12)
    assert result.figures["histogram_distance"] == pytest.approx(np.abs(before - after).sum() / 2)
    assert result.figures["null_share_after"] == pytest.approx(after[0])


def test_a_padded_release_by_hand():
    # 4 users x 3 items: 12 cells, 7 ratings (5 4 | 3 3 2 2 | 1), so 5 nulls
    original = table(ROWS, STARS)
    step = 0.25
    # 4.5 rounds up to 5, 2.25 down to 2, 3.5 up to 4; both groups have two people
    levels = [[15, 6, 11], [15, 6, 6]]
    result = RatingHistogram().measure(
        profiled(original, levels, [0, 0, 1, 1], step), original=original
    )
    assert result.before == pytest.approx((5 / 12, 1 / 12, 2 / 12, 2 / 12, 1 / 12, 1 / 12))
    assert result.after == pytest.approx((0, 0, 6 / 12, 0, 2 / 12, 4 / 12))
    # differences: 5, 1, 4, 2, 1, 3 twelfths
    assert result.figures["histogram_distance"] == pytest.approx(16 / 24)
