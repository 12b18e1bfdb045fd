"""Which ratings can be read from averaged profiles, against a slow twin that enumerates."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.attack.attribute import (
    Reader,
    Readings,
    by_residual,
    ends_right,
    forced_levels,
    read_part,
    rounding_limit,
)
from starshade.attack.low_rank import fit_low_rank
from starshade.attack.view import look, roles_of
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.profiles import Profiles, released_levels
from starshade.release.table import Release
from tests.naive import attribute as naive
from tests.strategies import at_least, table
from tests.unit.attack.profiles import FIVE, HALF, averaged, averaged_releases

THREE = Scale(1, 3, 1)


@at_least(30)
@given(
    st.sampled_from([(FIVE, "0.25"), (FIVE, "0.05"), (HALF, "0.5"), (THREE, "1"), (THREE, "2")]),
    st.lists(st.integers(1, 12), min_size=1, max_size=3),
    st.integers(1, 3),
)
def test_what_is_certain_is_what_enumeration_leaves(
    of: tuple[Scale, str], sizes: list[int], least: int
) -> None:
    scale, step = of
    marks, kind = forced_levels(scale, float(step), np.array(sizes), least)
    values = [Fraction(str(v)) for v in scale.levels]
    for size, row in zip(sizes, kind, strict=True):
        slow = naive.forced(values, Fraction(step), size, least)
        assert set(np.flatnonzero(marks[row])) == {at for at, v in slow.items() if v is not None}


def test_an_end_of_the_scale_is_certain_until_one_rating_can_hide_in_rounding() -> None:
    # 39 ratings of 5 and a 4 are 4.975, which is rounded up to 5; 39 of 1 and a 2 to 1.05
    marks, kind = forced_levels(FIVE, 0.05, np.array([39, 40, 41, 1000]), 1)
    top, bottom = len(released_levels(FIVE, 0.05)), 1
    assert marks[kind, top].tolist() == [True, False, False, False]
    assert marks[kind, bottom].tolist() == [True, True, False, False]
    assert marks[kind].sum(axis=1).tolist() == [2, 1, 0, 0]


def test_a_single_person_is_read_whole_and_nobody_where_more_must_have_rated() -> None:
    marks, kind = forced_levels(FIVE, 0.5, np.array([1, 2]), 1)
    assert np.flatnonzero(marks[kind[0]]).tolist() == [1, 3, 5, 7, 9]
    assert np.flatnonzero(marks[kind[1]]).tolist() == [1, 9]
    marks, kind = forced_levels(FIVE, 0.5, np.array([1, 2]), 2)
    assert marks[kind].sum(axis=1).tolist() == [0, 2]


def test_on_a_real_valued_scale_the_ends_are_marked() -> None:
    marks, kind = forced_levels(Scale(0, 4), 0.5, np.array([3, 90]), 1)
    assert np.flatnonzero(marks[kind[1]]).tolist() == [1, 9]


def counted(ratings: Ratings, release: Release) -> Readings:
    rows = roles_of(release, ratings, None).row_of_user
    return read_part(release, ratings, rows, Reader.of(release).tables())


@given(averaged_releases())
def test_people_and_cells_are_counted_as_by_the_twin(made: tuple[Ratings, Release]) -> None:
    ratings, release = made
    classes = release.classes
    assert isinstance(classes, Profiles)
    scale, rows = ratings.scale, roles_of(release, ratings, None).row_of_user
    cells = [[None if np.isnan(v) else v for v in row] for row in classes.values().tolist()]
    mine = [
        dict(zip(ratings.columns[part].tolist(), ratings.values()[part].tolist(), strict=True))
        for part in map(slice, ratings.indptr[:-1], ratings.indptr[1:])
    ]
    people = list(zip(rows.tolist(), mine, strict=True))
    ends = [{scale.minimum, scale.maximum}] * len(cells)
    _, right, every = naive.read(cells, people, ends)
    assert ends_right(look(release, ratings, None)) == (right, every)
    marked = ends
    if release.manifest.profile == "simple":
        step = Fraction(str(classes.step))
        values = [Fraction(str(v)) for v in scale.levels]
        marked = [
            {
                float(values[0] + (level - 1) * step)
                for level, value in naive.forced(values, step, size, 1).items()
                if value is not None
            }
            for size in classes.sizes.tolist()
        ]
    found = counted(ratings, release)
    assert (found.disclosed, found.right, found.marked) == naive.read(cells, people, marked)
    assert found.people == len(people)


def test_counts_of_parts_add_up() -> None:
    people, release = padded()
    rows = roles_of(release, people, None).row_of_user
    classes = release.classes
    assert isinstance(classes, Profiles)
    shown = classes.values()
    reader = Reader.of(release, fit_low_rank(shown), np.arange(len(shown)))
    whole = read_part(release, people, rows, reader.tables())
    first = read_part(release, people, np.where(np.arange(len(rows)) < 9, rows, -1), vars(reader))
    rest = read_part(release, people, np.where(np.arange(len(rows)) < 9, -1, rows), vars(reader))
    assert first.plus(rest) == whole
    assert (whole.people, whole.tried) == (people.n_users, people.n_ratings)


def padded() -> tuple[Ratings, Release]:
    """Twenty groups of three in which one person rated each item, others were predicted."""
    rng = np.random.default_rng(3)
    rated = rng.integers(1, 6, (20, 30))
    who = rng.integers(0, 3, (20, 30))
    rows: list[dict[int, float]] = [
        {i: float(rated[g, i]) for i in range(30) if who[g, i] == m and (i + g) % 9 == 0}
        for g in range(20)
        for m in range(3)
    ]
    people = table(rows, FIVE, n_items=30)
    return people, averaged(people, np.arange(60) // 3, "padded", step=0.05)


def test_a_residual_times_the_size_of_the_class_is_the_rating() -> None:
    rng = np.random.default_rng(0)
    predicted = 3 + rng.normal(0, 0.4, (200, 2)) @ rng.normal(0, 0.4, (2, 150))
    given_here = rng.random(predicted.shape) < 0.01  # few, so that the model stays
    rating = rng.integers(1, 6, predicted.shape)
    shown = np.where(given_here, predicted + (rating - predicted) / 4, predicted)
    sizes = np.full(200, 4)
    read = by_residual(shown, fit_low_rank(shown, 2).of(shown), sizes, FIVE)
    assert (read[given_here] + 1 == rating[given_here]).mean() > 0.9
    assert by_residual(np.full((1, 1), np.nan), np.ones((1, 1)), sizes[:1], FIVE).item() == 0


def test_rounding_alone_stays_within_the_limit() -> None:
    rng = np.random.default_rng(1)
    exact = 3 + rng.normal(0, 0.4, (80, 4)) @ rng.normal(0, 0.4, (4, 90))
    rounded = np.round(exact / 0.05) * 0.05
    assert 0.6 * rounding_limit(0.05) < fit_low_rank(rounded).rms < rounding_limit(0.05)
    assert rounding_limit(0.05) == pytest.approx(0.0217, abs=5e-5)


def test_at_an_end_of_a_real_valued_scale_a_rating_within_rounding_is_right() -> None:
    people = table([{0: 4.0}, {0: 3.9}, {0: 0.05}, {0: 2.0}], Scale(0, 4))
    release = averaged(people, np.array([0, 0, 1, 2]), "simple", step=0.5)
    found = counted(people, release)
    assert (found.right, found.marked, found.disclosed) == (3, 3, 3)
