from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from starshade.errors import ConfigError, InternalError
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.build import Provenance, generalized_release
from starshade.release.cells import Cells, Symbols
from tests.strategies import table

NAN = np.nan


def hand_made() -> tuple:
    """Five users in three groups of which two say the same under different symbol numbers."""
    original = table([{0: 1}, {0: 2}, {0: 5, 1: 3}, {0: 2}, {0: 1}], Scale(1, 5, 1))
    groups = np.array([2, 2, 1, 0, 0])
    symbols = Symbols.sets(
        Scale(1, 5, 1),
        [
            np.array([5.0]),
            np.array([1.0, 2.0]),
            np.array([]),
            np.array([1.0, 2.0]),
            np.array([3.0]),
        ],
        np.array([False, False, True, False, False]),
    )
    cells = Cells(
        items=original.items,
        sizes=np.array([2, 1, 2]),
        indptr=np.array([0, 2, 4, 5]),
        columns=np.array([0, 1, 0, 1, 0], dtype=np.int32),
        codes=np.array([1, 2, 0, 4, 3], dtype=np.uint8),
        symbols=symbols,
    )
    return original, groups, cells


def build(original, groups, cells, **more):
    return generalized_release(
        original,
        groups,
        cells,
        Provenance(method="m", seed=1),
        **more,
    )


def test_equal_groups_become_one_class_in_content_order():
    release = build(*hand_made())
    classes = release.classes
    assert (release.exact.groups, release.manifest.classes) == (3, 2)
    # {1, 2} alone comes before {5}, {3}: at item 0, 1 is below 5
    assert classes.sizes.tolist() == [4, 1]
    assert classes.indptr.tolist() == [0, 1, 3]
    assert [classes.symbols.members[classes.symbols.offsets[c]] for c in classes.codes] == [1, 5, 3]
    assert len(classes.symbols) == 3
    assert release.private.link.record[2] == 4
    assert sorted(release.private.link.record) == list(range(5))
    assert release.manifest.users_rating_disclosed == 1 / 5
    assert release.manifest.users_rating_exists == 1


def test_null_alone_comes_first():
    original = table([{0: 1}, {1: 1}], Scale(1, 5, 1))
    release = build(
        original,
        np.array([0, 1]),
        Cells(
            original.items,
            np.array([1, 1]),
            np.array([0, 1, 2]),
            np.array([0, 1], np.int32),
            np.array([0, 0], np.uint8),
            Symbols.exact(Scale(1, 5, 1), np.array([1.0])),
        ),
    )
    assert release.classes.columns.tolist() == [1, 0]


def test_records_of_a_class_are_sorted_by_released_attributes():
    original, groups, cells = hand_made()
    people = pa.table({"age": [30.0, NAN, 20.0, 29.0, -0.0], "job": ["b", None, "a", "b", "ä"]})
    people = people.replace_schema_metadata({"secret": "x"})
    release = build(replace(original, attributes=people), groups, cells, attributes="exact")
    assert release.manifest.audience == "query"
    assert release.manifest.attribute_columns == ("age", "job")
    assert release.attributes.column("age").to_pylist() == [None, 0.0, 29.0, 30.0, 20.0]
    assert str(release.attributes.column("age")[1].as_py()) == "0.0"
    assert release.private.link.record.tolist() == [3, 0, 4, 2, 1]
    assert release.attributes.schema.metadata is None


def test_a_point_range_is_a_set_and_a_range_below_the_scale_is_null_alone():
    scale = Scale(-10, 10)
    original = table([{0: 1.5}, {0: 1.5}], scale)
    symbols = Symbols.ranges(scale, np.array([1.5, -11.0, -11.0]), np.array([1.5, -11.0, 2.0]))
    cells = Cells(
        original.items,
        np.array([2]),
        np.array([0, 1]),
        np.array([0], np.int32),
        np.array([0], np.uint8),
        symbols,
    )
    classes = build(original, np.array([0, 0]), cells).classes
    assert classes.symbols.members.tolist() == [1.5]
    assert not classes.symbols.is_range.any()
    below = replace(cells, codes=np.array([1], np.uint8))
    assert build(original, np.array([0, 0]), below).classes.indptr.tolist() == [0, 0]


def test_groups_and_cells_must_belong_together():
    original, groups, cells = hand_made()
    with pytest.raises(InternalError, match="sizes"):
        build(original, np.array([2, 2, 2, 0, 0]), cells)
    with pytest.raises(InternalError, match="items"):
        build(original, groups, replace(cells, items=Vocabulary(np.arange(5, 7))))
    empty = replace(cells, sizes=np.array([2, 1, 2, 0]), indptr=np.array([0, 2, 4, 5, 5]))
    with pytest.raises(InternalError, match="without a user"):
        build(original, groups, empty)
    with pytest.raises(ConfigError, match="no personal attributes"):
        build(original, groups, cells, attributes="exact")


def test_the_lineage_of_stored_data_stays_with_their_releases():
    original, groups, cells = hand_made()
    assert build(original, groups, cells).manifest.lineage is None
    assert build(replace(original, lineage="abc"), groups, cells).manifest.lineage == "abc"


def test_minus_zero_is_zero():
    scale = Scale(-10, 10)
    original = table([{0: 0.0}, {0: 0.0}], scale)
    cells = Cells(
        original.items,
        np.array([1, 1]),
        np.array([0, 1, 2]),
        np.array([0, 0], np.int32),
        np.array([0, 1], np.uint8),
        Symbols.exact(scale, np.array([-0.0, 0.0])),
    )
    classes = build(original, np.array([0, 1]), cells).classes
    assert classes.sizes.tolist() == [2]
    assert not np.signbit(classes.symbols.members).any()


def test_a_cell_without_any_member_is_our_bug():
    original, groups, cells = hand_made()
    symbols = replace(cells.symbols, null=np.zeros(5, dtype=np.bool_))
    with pytest.raises(InternalError, match="without any member"):
        build(original, groups, replace(cells, symbols=symbols))


def test_attributes_must_not_be_called_as_the_columns_of_a_release():
    original, groups, cells = hand_made()
    people = pa.table({"group": ["a", "b", "c", "d", "e"]})
    with pytest.raises(ConfigError, match="record or group"):
        build(replace(original, attributes=people), groups, cells, attributes="exact")
