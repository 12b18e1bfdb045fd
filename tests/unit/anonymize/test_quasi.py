"""Quasi-identifiers as columns, as ranges and sets, and merging for l and t, beside twins."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.personal.diversity import SensitiveValues, merge_until
from starshade.anonymize.personal.quasi import generalized_attributes, quasi_columns
from starshade.anonymize.points import Points, positions
from starshade.errors import ConfigError
from starshade.kernels.interval.interval import cheapest_partner
from starshade.ratings.scale import Scale
from tests.naive.class_values import distance, distinct_l
from tests.naive.k_member import shares
from tests.naive.quasi import merged, said, steps
from tests.strategies import SCALES, table

NUMBERS = st.one_of(st.none(), st.sampled_from([0.0, -0.0, 1.0, 2.5, 40.0, -3.0, 1e-3, 1e9]))
TEXTS = st.one_of(st.none(), st.sampled_from(["", "a", "B", "b", "é", "10", "9", "a b"]))


def people(columns: dict[str, list], scale: Scale = SCALES[0]):
    """A table of ratings in which nothing but the attributes matters."""
    n = len(next(iter(columns.values())))
    return table([{0: scale.maximum}] * n, scale).annotate(attributes=pa.table(columns))


@st.composite
def columns(draw: st.DrawFn):
    n = draw(st.integers(2, 12))
    numbers = draw(st.lists(NUMBERS, min_size=n, max_size=n))
    texts = draw(st.lists(TEXTS, min_size=n, max_size=n))
    groups = np.unique(
        draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), return_inverse=True
    )[1]
    return numbers, texts, groups


@given(columns(), st.sampled_from(SCALES))
def test_places_beside_the_items_are_those_of_the_twin(case, scale):
    numbers, texts, _ = case
    attributes = {"n": pa.array(numbers, pa.float64()), "t": pa.array(texts, pa.string())}
    found = quasi_columns(people(attributes, scale), ["t", "n"])
    expected = zip(steps(texts, scale, False), steps(numbers, scale, True), strict=True)
    for row, own in zip(found.tolist(), expected, strict=True):
        assert row == pytest.approx([float(v) for v in own], abs=0.5 / 1024 + 1e-12)
        assert [v * 1024 for v in row] == [round(v * 1024) for v in row]


@given(columns(), st.integers(1, 4))
def test_what_groups_say_is_what_the_twin_says(case, k):
    numbers, texts, groups = case
    attributes = {
        "n": pa.array(numbers, pa.float64()),
        "s": pa.array(texts, pa.string()),
        "t": pa.array(texts, pa.string()),
    }
    told = generalized_attributes(people(attributes), groups, ["n", "t"], ["s"], k)
    assert told.column_names == ["n", "t", "s"]
    assert told.column("s").to_pylist() == texts
    for user, group in enumerate(groups.tolist()):
        members = np.flatnonzero(groups == group).tolist()
        assert told.column("n")[user].as_py() == said(
            [numbers[i] for i in members], True, numbers, k
        )
        assert told.column("t")[user].as_py() == said([texts[i] for i in members], False, texts, k)


def test_places_by_hand():
    """1-5: the whole range is 5 steps, a null one step below the least."""
    ratings = people({"age": [20.0, None, 60.0, 30.0], "sex": ["m", "f", "f", None]})
    assert quasi_columns(ratings, ["age"])[:, 0].tolist() == [1, 0, 5, 2]
    assert quasi_columns(ratings, ["sex"])[:, 0].tolist() == [5, 1, 1, 0]
    assert quasi_columns(ratings, ["age"]).dtype == np.int64
    assert quasi_columns(ratings, []).shape == (4, 0)


def test_points_put_them_beside_the_items_in_a_type_that_holds_all_distances():
    ratings = table([dict.fromkeys(range(50), 5.0), {0: 1.0}], Scale(1, 5, 1))
    assert Points(ratings, np.array([[0], [5]])).dense().dtype == np.uint8  # 250 + 5
    wide = Points(ratings, np.array([[0], [6]])).dense()
    assert (wide.dtype, wide.shape) == (np.uint16, (2, 51))
    assert wide[:, [0, 1, 50]].tolist() == [[5, 5, 0], [1, 0, 6]]
    part = Points(ratings, np.array([[0.5], [5]])).dense()
    assert (part.dtype, part[0, 50], part[1, 0]) == (np.float64, 0.5, 1.0)


def test_a_number_that_is_not_finite_is_refused():
    with pytest.raises(ConfigError, match="'age': a number is not finite"):
        quasi_columns(people({"age": [1.0, float("inf")]}), ["age"])


def test_numbers_far_apart_have_places():
    found = quasi_columns(people({"x": [-1.7e308, 0.0, 1.7e308]}), ["x"])
    assert found[:, 0].tolist() == [0, 2.5, 5]


@st.composite
def fallen_short(draw: st.DrawFn):
    n = draw(st.integers(4, 16))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    matrix = random.integers(0, 4, (n, draw(st.integers(1, 3)))).astype(np.uint8)
    groups = np.unique(random.integers(0, max(2, n // 2), n), return_inverse=True)[1]
    kind = st.sampled_from([st.sampled_from("ab"), st.sampled_from([1.0, 2.0, 2.5, 9.0])])
    sensitive = [
        draw(st.lists(st.one_of(draw(kind), st.none()), min_size=n, max_size=n))
        for _ in range(draw(st.integers(1, 2)))
    ]
    return matrix, groups, sensitive


@given(
    fallen_short(), st.integers(0, 3), st.sampled_from([None, 0.0, 0.1, 0.25, 0.5]), st.booleans()
)
def test_groups_are_merged_as_the_twin_merges_them(case, l, t, known):  # noqa: E741
    matrix, groups, sensitive = case
    l = min(l, *(distinct_l(values, known=known) for values in sensitive))  # noqa: E741

    def short(members):
        return any(
            distinct_l([values[i] for i in members], known=known) < l
            or (t is not None and distance([values[i] for i in members], values) > Fraction(t))
            for values in sensitive
        )

    members = [np.flatnonzero(groups == g) for g in range(groups.max() + 1)]
    asked = []
    for values in sensitive:
        told = sorted(set(values), key=lambda v: (v is not None, v or 0))
        numeric = any(isinstance(v, float) for v in values)
        codes = np.array([told.index(v) for v in values])
        asked.append(SensitiveValues(codes, numeric, l, t, known and None in values))
    failing = [short(group.tolist()) for group in members]
    assert failing == [any(not a.meets(group) for a in asked) for group in members]
    found = merge_until(positions(matrix)[0], members, failing, asked)
    expected = merged(shares(matrix), [group.tolist() for group in members], short)
    assert [sorted(group.tolist()) for group in found] == [sorted(group) for group in expected]
    assert not any(map(short, expected))


def test_of_equally_cheap_partners_the_first_is_taken():
    low = np.array([[0], [4], [5], [6], [5]])
    sizes = np.array([1, 2, 1, 2, 0])  # the last has been merged away
    assert cheapest_partner(low, low, sizes, 2) == 1
    assert cheapest_partner(low[::-1].copy(), low[::-1].copy(), sizes[::-1].copy(), 2) == 1
