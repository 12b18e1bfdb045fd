from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from starshade.anonymize.k_likeness import KLikeness
from starshade.errors import ConfigError
from starshade.privacy import classes
from starshade.privacy.k_anonymity import KAnonymity
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Cells, Symbols, cells_of
from starshade.release.manifest import Manifest, ScaleModel
from starshade.release.table import Release
from tests.naive.k_anonymity import k_anonymous
from tests.strategies import ratings_tables, table

STARS = Scale(1, 5, 1)


def release_of(cells: Cells, attributes: str = "none", people: pa.Table | None = None) -> Release:
    manifest = Manifest(
        method="by hand",
        scale=ScaleModel.of(cells.symbols.scale),
        records=cells.n_records,
        items=cells.n_items,
        classes=cells.n_groups,
        attributes=attributes,
        audience="query" if attributes == "exact" else "publish",
        attribute_columns=() if people is None else tuple(people.column_names),
        quasi_identifiers=tuple(people.column_names) if attributes == "generalized" else (),
    )
    return Release(manifest=manifest, classes=cells, attributes=people)


def one_column(symbols: Symbols, codes: list[int | None], sizes: list[int]) -> Cells:
    """Rows of one item; None: no entry."""
    told = [c is not None for c in codes]
    return Cells(
        items=Vocabulary(np.array([1])),
        sizes=np.array(sizes),
        indptr=np.concatenate([[0], np.cumsum(told)]),
        columns=np.zeros(sum(told), dtype=np.int32),
        codes=np.array([c for c in codes if c is not None], dtype=np.uint8),
        symbols=symbols,
    )


@given(ratings_tables(min_users=2), st.integers(2, 5))
def test_ratings_are_judged_as_the_twin_judges(ratings, k):
    assume(k <= ratings.n_users)
    verdict = KAnonymity(k).check(ratings)
    expected = k_anonymous(cells_of(ratings), k)
    assert (verdict.satisfied, verdict.failing_records, verdict.smallest_class) == expected
    assert verdict.records == ratings.n_users


@given(ratings_tables(min_users=4, with_days=False), st.integers(2, 4))
def test_releases_are_judged_as_the_twin_judges(ratings, k):
    assume(ratings.drop_empty_users().n_users >= 4)
    release = KLikeness(2, "dgh", rare_items="keep").anonymize(ratings, rng=0)
    verdict = KAnonymity(k).check(release)
    expected = k_anonymous(release.classes, k)
    assert (verdict.satisfied, verdict.failing_records, verdict.smallest_class) == expected


def test_blocks_of_rows_change_nothing(monkeypatch):
    ratings = table([{0: 1 + i % 3, 1: 1 + i % 2} for i in range(30)] + [{}], STARS)
    expected = KAnonymity(5).check(ratings).to_dict()
    monkeypatch.setattr(classes, "_BLOCK", 7)
    assert {**KAnonymity(5).check(ratings).to_dict(), "seconds": expected["seconds"]} == expected


def test_a_null_equals_a_null_and_nothing_else():
    assert KAnonymity(2).check(table([{}, {}, {0: 1}, {0: 1}], STARS)).satisfied
    verdict = KAnonymity(2).check(table([{0: 1, 1: 2}, {0: 1}, {}, {}], STARS))
    assert (verdict.satisfied, verdict.failing_records) == (False, 2)
    maybe = Symbols.sets(STARS, [np.array([4.0]), np.array([4.0])], np.array([False, True]))
    assert KAnonymity(2).check(release_of(one_column(maybe, [0, 1], [2, 1]))).failing_records == 1


def test_the_same_item_counts_not_only_the_same_rating():
    verdict = KAnonymity(2).check(table([{0: 3}, {1: 3}], STARS))
    assert (verdict.satisfied, verdict.smallest_class) == (False, 1)


def test_days_are_part_of_a_dated_cell():
    rows = [{0: 3}, {0: 3}]
    assert KAnonymity(2).check(table(rows, STARS, days=[{0: 4}, {0: 4}])).satisfied
    assert not KAnonymity(2).check(table(rows, STARS, days=[{0: 4}, {0: 5}])).satisfied


def test_how_a_table_writes_its_contents_does_not_matter():
    # the same set twice in the list, null alone written out, float dust
    twice = Symbols.sets(
        Scale(0, 1, 0.1),
        [np.array([0.3]), np.array([0.1 + 0.2]), np.array([])],
        np.array([False, False, True]),
    )
    verdict = KAnonymity(2).check(release_of(one_column(twice, [0, 1, 2, None], [1, 1, 1, 1])))
    assert (verdict.satisfied, verdict.smallest_class) == (True, 2)
    # rows of one content are one class even if the release left them apart
    assert KAnonymity(4).check(release_of(one_column(twice, [0, 1, 0], [2, 1, 1]))).satisfied


def test_ranges_are_compared_by_their_ends():
    low, high = np.array([0.0, 0.0, 0.0, 2.0]), np.array([5.0, 5.0, 5.5, 2.0])
    ranges = Symbols.ranges(Scale(0, 10), low, high)
    cells = one_column(ranges, [0, 1, 2, 3], [1, 1, 2, 2])
    assert KAnonymity(2).check(release_of(cells)).satisfied
    assert KAnonymity(3).check(release_of(cells)).failing_records == 6


def test_a_range_of_one_point_says_what_a_set_of_one_says():
    both = Symbols(
        scale=Scale(0, 10),
        offsets=np.array([0, 0, 1]),
        members=np.array([2.0]),
        null=np.array([False, False]),
        low=np.array([2.0, np.nan]),
        high=np.array([2.0, np.nan]),
    )
    assert KAnonymity(2).check(release_of(one_column(both, [0, 1], [1, 1]))).satisfied


def test_released_quasi_identifiers_are_part_of_what_must_be_shared():
    symbols = Symbols.exact(STARS, STARS.levels)
    cells = one_column(symbols, [1, 2], [4, 2])  # records 0 to 3, then 4 and 5
    people = pa.table({"age": [20.0, 20.0, 30.0, None, 20.0, 20.0]})
    verdict = KAnonymity(2).check(release_of(cells, "generalized", people))
    assert (verdict.satisfied, verdict.failing_records, verdict.records) == (False, 2, 6)
    assert KAnonymity(2).check(release_of(cells, "exact", people)).satisfied
    two = pa.table({"age": [20.0, 20.0, None, None, 20.0, 20.0]})
    assert KAnonymity(2).check(release_of(cells, "generalized", two)).satisfied
    apart = pa.table({"age": [20.0, 20.0, 20.0, 20.0, 30.0, 40.0]})
    assert KAnonymity(2).check(release_of(cells, "generalized", apart)).failing_records == 2


def test_the_worst_classes_are_named_by_row_and_size_smallest_first():
    symbols = Symbols.exact(STARS, STARS.levels)
    cells = one_column(symbols, [0, 1, 2, 3, 4, None], [4, 2, 9, 1, 1, 3])
    verdict = KAnonymity(5).check(release_of(cells))
    assert verdict.worst == (
        {"row": 3, "size": 1},
        {"row": 4, "size": 1},
        {"row": 1, "size": 2},
        {"row": 5, "size": 3},
        {"row": 0, "size": 4},
    )
    assert verdict.failing_records == 11
    assert KAnonymity(2).check(release_of(cells)).worst == verdict.worst[:2]


def test_a_claim_is_not_believed():
    ratings = table([{0: 1}, {0: 1}, {0: 5}, {0: 5}], STARS)
    release = KLikeness(2).anonymize(ratings, rng=0)
    sizes = release.classes.sizes.copy()
    broken = replace(release, classes=replace(release.classes, sizes=sizes - [0, 1]))
    assert KAnonymity(2).check(release).satisfied
    assert not KAnonymity(2).check(broken).satisfied


def test_a_wrong_k_is_refused():
    ratings = table([{0: 1}, {0: 1}], STARS)
    with pytest.raises(ConfigError, match="k = 3, records = 2"):
        KAnonymity(3).check(ratings)
    for k in (1, 0):
        with pytest.raises(ConfigError, match="2 or more"):
            KAnonymity(k)
    with pytest.raises(ConfigError, match="whole number"):
        KAnonymity(2.5)


def test_a_verdict_is_plain_data_and_a_paragraph():
    good = KAnonymity(2).check(table([{0: 1}] * 3, STARS))
    told = good.to_dict()
    assert told["model"] == "k-anonymity"
    assert told["parameters"] == {"k": 2}
    assert {"satisfied", "records", "failing_records", "smallest_class", "worst"} <= set(told)
    assert told["seconds"] >= 0
    assert "k-anonymity (k = 2) holds: each of the 3 records" in str(good)
    bad = KAnonymity(2).check(table([{0: 1}, {0: 1}, {0: 2}], STARS))
    assert "does not hold: 1 of 3 records (33.3%)" in str(bad)
    assert bad.worst == ({"row": 2, "size": 1},)
    assert bad.explain() == ("a row that equals no other",)
    worse = KAnonymity(3).check(table([{0: 1}, {0: 1}, {0: 2}, {0: 3}], STARS))
    assert worse.explain() == ("a row that equals no other (2 shown)", "a set of 2 equal rows")
    html = bad._repr_html_()
    assert "<p><strong>k-anonymity does not hold</strong></p>" in html
    assert "a row that equals no other" in html
