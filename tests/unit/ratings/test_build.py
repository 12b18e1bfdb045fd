from dataclasses import replace
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.errors import InputError
from starshade.ratings.build import build
from starshade.ratings.scale import Scale
from starshade.ratings.settings import OnDuplicate
from starshade.ratings.staging import NO_DAY, Batch
from starshade.ratings.table import UNKNOWN_DAY, ReadReport
from starshade.ratings.vocabulary import Vocabulary, is_canonical_integer
from tests.naive import build as naive

IDS = ("0", "1", "2", "10", "9", "007", "7", "B7", "ü", "-1", "7.0", "9223372036854775808")
HALF = Scale(0.5, 5, 0.5)


def batches_of(rows, cuts=(), force_text=False):
    """Rows as batches, cut at the given places; integer columns where every id is one."""
    edges = sorted({0, len(rows), *(c for c in cuts if c < len(rows))})
    for start, end in pairwise(edges):
        part = rows[start:end]
        days = [NO_DAY if row[3] is None else row[3] for row in part]
        yield Batch(
            _column([row[0] for row in part], force_text),
            _column([row[1] for row in part], force_text),
            np.array([row[2] for row in part], dtype=np.float64),
            None if all(day == NO_DAY for day in days) else np.array(days, dtype=np.int32),
            start,
        )


def _column(ids, force_text):
    if not force_text and all(is_canonical_integer(text) for text in ids):
        return np.array([int(text) for text in ids], dtype=np.int64)
    return np.array(ids, dtype=object)


def locate(row):
    return f"f.csv:{row + 1}"


def read(rows, *, scale=None, on_duplicate="error", cuts=(), force_text=False, **more):
    return build(
        batches_of(rows, cuts, force_text),
        scale=scale,
        on_duplicate=on_duplicate,
        locate=locate,
        report=ReadReport(source="f.csv"),
        **more,
    )


def content(table):
    """The table as the slow twin writes it, read off the rows."""
    out = {}
    for u, user in enumerate(table.users):
        for p in range(table.indptr[u], table.indptr[u + 1]):
            day = None
            if table.days is not None and table.days[p] != UNKNOWN_DAY:
                day = table.first_day + int(table.days[p])
            rating = float(table.levels[table.codes[p]])
            out.setdefault(user, {})[table.items[int(table.columns[p])]] = (rating, day)
    return out


def content_by_item(table):
    """The same, read off the columns."""
    out = {}
    cells = table.by_item
    for i, item in enumerate(table.items):
        users = cells.users[cells.indptr[i] : cells.indptr[i + 1]]
        assert (np.diff(users) > 0).all()
        for p in range(cells.indptr[i], cells.indptr[i + 1]):
            day = None
            if cells.days is not None and cells.days[p] != UNKNOWN_DAY:
                day = table.first_day + int(cells.days[p])
            rating = float(table.levels[cells.codes[p]])
            out.setdefault(table.users[int(cells.users[p])], {})[item] = (rating, day)
    return out


def assert_same_table(table, expected):
    scale, cells, merged = expected
    assert (table.scale, table.report.merged_duplicates) == (scale, merged)
    assert list(table.users) == list(cells)
    found = content(table)
    assert [list(row) for row in found.values()] == [list(row) for row in cells.values()]
    assert content_by_item(table) == found
    for user, row in cells.items():
        for item, (rating, day) in row.items():
            assert found[user][item][0] == pytest.approx(rating, abs=1e-9)
            assert found[user][item][1] == day
    assert set(table.items) == {item for row in cells.values() for item in row}
    assert list(table.items) == sorted(table.items, key=naive.key)
    if scale.step is None:  # levels are what was seen
        assert set(table.codes.tolist()) == set(range(len(table.levels)))


ROW = st.tuples(
    st.sampled_from(IDS),
    st.sampled_from(IDS),
    st.sampled_from([1.0, 2.0, 3.0, 3.5, 5.0, 0.1, 0.2, 0.30000000000000004, -0.0, 0.0, 2.2222]),
    st.sampled_from([None, 0, 1, 17_000, -400, 65_534]),
)
NASTY = st.one_of(
    ROW,
    st.tuples(
        st.sampled_from(IDS),
        st.sampled_from(IDS),
        st.sampled_from([float("nan"), float("inf"), -float("inf"), 99.0]),
        st.sampled_from([None, 65_535, -(2**30), 2**30]),
    ),
)
POLICIES = st.sampled_from(get_args(OnDuplicate))
DECLARED = st.sampled_from([None, Scale(0, 5, 0.1), Scale(-1, 5, 0.5), Scale(-10, 10), HALF])


@given(
    st.lists(ROW, min_size=1, max_size=30),
    POLICIES,
    DECLARED,
    st.lists(st.integers(1, 29), max_size=3),
    st.booleans(),
)
def test_it_does_what_the_slow_twin_does(rows, on_duplicate, scale, cuts, force_text):
    arguments = {"scale": scale, "on_duplicate": on_duplicate}
    try:
        expected = naive.build(rows, **arguments)
    except naive.Refused as refused:
        with pytest.raises(InputError) as caught:
            read(rows, cuts=cuts, force_text=force_text, **arguments)
        assert_names(caught.value.message, refused)
        return
    assert_same_table(read(rows, cuts=cuts, force_text=force_text, **arguments), expected)


@given(st.lists(NASTY, max_size=12), DECLARED, st.lists(st.integers(1, 11), max_size=2))
def test_it_refuses_what_the_slow_twin_refuses(rows, scale, cuts):
    try:
        expected = naive.build(rows, scale=scale, on_duplicate="error")
    except naive.Refused as refused:
        with pytest.raises(InputError) as caught:
            read(rows, scale=scale, cuts=cuts)
        assert_names(caught.value.message, refused)
        return
    assert_same_table(read(rows, scale=scale, cuts=cuts), expected)


def assert_names(message, refused):
    """The message names the first five rows and how many there are."""
    if not refused.rows:
        return
    lines = [line for line in message.splitlines() if line.startswith("  f.csv:")]
    named = [int(line.split(":")[1]) - 1 for line in lines]
    expected = refused.rows[:5]
    assert named[: len(expected)] == expected
    if len(refused.rows) > 5:
        assert f"… {len(refused.rows):,} rows in all" in message


ROWS = [
    ("7", "1", 4.0, 10),
    ("7", "2", 5.0, None),
    ("3", "1", 3.5, 12),
]


def test_the_vocabulary_is_the_same_in_numbers_and_in_text():
    rows = [*ROWS, ("B7", "10", 1.0, None), ("007", "9", 1.0, 3)]
    table = read(rows, cuts=(1, 3))
    assert list(table.users) == ["3", "7", "007", "B7"]
    assert list(table.items) == ["1", "2", "9", "10"]
    assert table.users == read(rows, force_text=True).users == Vocabulary.of(r[0] for r in rows)


def test_days_count_from_the_first():
    table = read(ROWS)
    assert table.first_day == 10
    assert table.days.tolist() == [2, 0, UNKNOWN_DAY]


def test_no_days_at_all():
    table = read([(*row[:3], None) for row in ROWS])
    assert table.days is None
    assert table.by_item.days is None


def test_a_scale_that_was_found_is_reported():
    assert read(ROWS).report.scale_inferred
    assert read(ROWS).scale == Scale(3.5, 5, 0.5)
    assert not read(ROWS, scale=HALF).report.scale_inferred


@pytest.mark.parametrize(("levels", "kind"), [(256, np.uint8), (257, np.uint16)])
def test_codes_are_as_narrow_as_the_levels_allow(levels, kind):
    table = read(ROWS, scale=Scale(0, (levels - 1) / 2, 0.5))
    assert table.codes.dtype == kind
    assert content(table) == content(read(ROWS, scale=HALF))


def test_many_distinct_ratings_are_exact():
    ratings = np.arange(70_000) / 7.0
    batch = Batch(np.arange(70_000), np.zeros(70_000, np.int64), ratings, None, 0)
    table = build([batch], scale=None, locate=locate, report=ReadReport())
    assert table.codes.dtype == np.uint32
    assert table.scale == Scale(0, ratings.max())
    assert np.array_equal(table.values(), ratings)


@pytest.mark.parametrize("on_duplicate", ["error", "first", "last", "mean"])
def test_too_many_bits_for_one_word(monkeypatch, on_duplicate):
    rows = ROWS if on_duplicate == "error" else [*ROWS, ("7", "1", 3.0, 11)]
    expected = read(rows, on_duplicate=on_duplicate, cuts=(2,))
    monkeypatch.setattr("starshade.ratings.rows.laying._WORD", 4)
    table = read(rows, on_duplicate=on_duplicate, cuts=(2,))
    assert content(table) == content(expected) == content_by_item(table)


def test_rows_are_named_by_the_numbers_that_their_reader_gave():
    def numbered(rows, first_row):
        (batch,) = batches_of(rows)
        return replace(batch, first_row=first_row)

    with pytest.raises(InputError) as caught:
        build(
            [numbered(ROWS, 100), numbered(ROWS[1:2], 500)],
            scale=None,
            locate=locate,
            report=ReadReport(),
        )
    assert "f.csv:501: the user already rated this item, at f.csv:102" in str(caught.value)


def test_a_block_without_dates_between_others():
    rows = [("1", "1", 1.0, 5), ("1", "2", 1.0, None), ("1", "3", 1.0, 4)]
    assert read(rows, cuts=(1, 2)).days.tolist() == [1, UNKNOWN_DAY, 0]


@pytest.mark.parametrize("on_duplicate", ["error", "last"])
def test_nothing_is_left_to_compute(monkeypatch, on_duplicate):
    table = read(ROWS + ROWS[:1] * (on_duplicate == "last"), on_duplicate=on_duplicate)
    monkeypatch.setattr("starshade.ratings.table.transpose", None)
    assert content_by_item(table) == content(table)


def test_ratings_next_to_a_level_are_that_level():
    table = read([("1", "1", 3.0 + 9e-10, None), ("1", "2", 3.0, None)], scale=Scale(1, 5, 1))
    assert table.values().tolist() == [3.0, 3.0]
    table = read([("1", "1", 3.0 + 9e-10, None), ("1", "2", 3.0, None)], scale=Scale(1, 5))
    assert table.values().tolist() == [3.0, 3.0]


def test_a_mean_makes_an_inferred_scale_real_valued_and_says_so():
    rows = [("1", "1", 3.0, 1), ("1", "1", 4.0, 2), ("1", "2", 1.0, 3), ("2", "1", 5.0, 4)]
    table = read(rows, on_duplicate="mean")
    assert table.scale == Scale(1, 5)
    assert content(table)["1"]["1"] == (3.5, 2)
    assert table.levels.tolist() == [1.0, 3.5, 5.0]
    assert "real-valued" in table.report.notes[0]


def test_a_mean_off_a_declared_scale_is_refused():
    rows = [("1", "1", 3.0, 1), ("1", "1", 4.0, 2), ("1", "2", 3.0, 1), ("1", "2", 5.0, 2)]
    with pytest.raises(InputError) as caught:
        read(rows, on_duplicate="mean", scale=Scale(1, 5, 1))
    assert "f.csv:2: the mean 3.5" in str(caught.value)
    assert "f.csv:4" not in str(caught.value)
    assert '(scale="1:5")' in caught.value.advice


def test_messages_say_where_what_and_what_is_allowed():
    rows = [*ROWS, ("3", "1", 9.0, 12), ("7", "1", float("nan"), 1), ("7", "1", float("inf"), 1)]
    with pytest.raises(InputError) as caught:
        read(rows, scale=HALF)
    text = str(caught.value)
    assert "f.csv:4: rating 9\n" in text
    assert "allowed: 0.5, 1, 1.5" in text
    assert "f.csv:5: no rating\n  f.csv:6: rating inf is not finite" in text


def test_duplicates_are_named_by_line_and_by_id_only_on_request():
    rows = [("alice", "x", 1.0, None), ("bob", "x", 1.0, None), ("alice", "x", 2.0, None)]
    with pytest.raises(InputError) as caught:
        read(rows)
    assert "f.csv:3: the user already rated this item, at f.csv:1" in str(caught.value)
    assert "alice" not in str(caught.value)
    with pytest.raises(InputError, match=r"\(user alice, item x\)"):
        read(rows, show_values=True)


def test_dates_too_far_apart_are_named():
    with pytest.raises(InputError) as caught:
        read([("1", "1", 1.0, 0), ("1", "2", 1.0, 65_535), ("1", "3", 1.0, 70)])
    assert "f.csv:1: date 1970-01-01\n  f.csv:2: date 2149-06-06" in str(caught.value)


def test_an_empty_input_is_refused():
    with pytest.raises(InputError, match="no ratings"):
        read([])


def test_ids_that_are_no_text_are_refused():
    with pytest.raises(InputError, match="Unicode"):
        read([("\ud800", "1", 1.0, None)])


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_nothing(threads):
    import numba

    rng = np.random.default_rng(0)
    n, cut = 20_000, 7_000
    users, items = rng.integers(0, 900, n), rng.integers(0, 300, n)
    ratings, days = rng.integers(1, 6, n) * 1.0, rng.integers(0, 900, n).astype(np.int32)
    batches = [
        Batch(users[a:b], items[a:b], ratings[a:b], days[a:b], a)
        for a, b in ((0, cut), (cut, cut + 1), (cut + 1, n))
    ]
    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, before))
    try:
        table = build(batches, scale=None, on_duplicate="last", locate=locate, report=ReadReport())
    finally:
        numba.set_num_threads(before)
    by_day = np.argsort(days, kind="stable")
    rows = (array[by_day] for array in (users, items, ratings, days))
    last = {(u, i): (r, d) for u, i, r, d in zip(*rows, strict=True)}
    assert table.n_ratings == len(last)
    assert table.report.merged_duplicates == n - len(last)
    rows = np.repeat(np.arange(table.n_users), table.user_support)
    found = zip(rows, table.columns, table.values(), table.days + table.first_day, strict=True)
    integers = table.users.integers, table.items.integers
    assert all(last[integers[0][u], integers[1][i]] == (r, d) for u, i, r, d in found)
