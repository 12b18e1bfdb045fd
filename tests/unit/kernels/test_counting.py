import itertools
import os

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.kernels import arrays, counting, small
from starshade.kernels.attack.knowledge import tally
from starshade.kernels.counting import gather_rows, pack, repeats, turn, unpack
from starshade.kernels.csr import transpose
from starshade.kernels.text import numbering
from starshade.kernels.text.numbering import KeyTable
from tests.naive import counting as naive

SHIFT = 20


@pytest.fixture(params=[0, 1 << 62], ids=["kernels", "NumPy"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute everything by kernels, and by what stands in for them on small tables."""
    monkeypatch.setattr(small, "FEW_CELLS", request.param)


@pytest.fixture(params=[1, 1 << 16], ids=["many lanes", "one lane"])
def lane_sizes(request, monkeypatch):
    monkeypatch.setattr(arrays, "_WORTH_IT", request.param)


@pytest.fixture(params=[1, 2, 4, 1024])
def buckets(request, monkeypatch):
    monkeypatch.setattr(counting, "_BUCKETS", request.param)


def split(indptr, packed):
    """Packed cells as lists of (index, payload), row by row."""
    cells = [(int(p) >> SHIFT, int(p) & ((1 << SHIFT) - 1)) for p in packed]
    return [cells[a:b] for a, b in itertools.pairwise(indptr)]


ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 6), st.integers(0, (1 << SHIFT) - 1)), max_size=40
)


@pytest.mark.usefixtures("lane_sizes", "buckets")
@given(ROWS, st.lists(st.integers(1, 39), max_size=6), st.permutations(range(6)))
def test_rows_are_gathered_and_turned(rows, cuts, user_rank):
    edges = [0, *sorted({c for c in cuts if c < len(rows)}), len(rows)]
    blocks = [
        np.array(rows[a:b], dtype=np.int64).reshape(-1, 3) for a, b in itertools.pairwise(edges)
    ]
    ranks = (np.array(user_rank, np.int32), np.arange(6, -1, -1, dtype=np.int32))
    indptr, packed = gather_rows(
        [b[:, 0].astype(np.int32) for b in blocks],
        [b[:, 1].astype(np.int32) for b in blocks],
        lambda i: blocks[i][:, 2].astype(np.uint64),
        ranks,
        SHIFT,
    )
    ranked = [(user_rank[u], 6 - i, payload) for u, i, payload in rows]
    by_user = naive.gathered(ranked, 6)
    assert split(indptr, packed) == by_user
    indptr, packed = turn(indptr, packed, 7, SHIFT)
    by_item = naive.turned(by_user, 7)
    assert split(indptr, packed) == by_item
    same = repeats(indptr, packed, SHIFT)
    columns, codes, days = unpack(packed, SHIFT, 4, np.uint8, with_days=True)
    flat = [cell for row in by_item for cell in row]
    assert columns.tolist() == [c for c, _ in flat]
    assert codes.tolist() == [payload & 15 for _, payload in flat]
    assert days.tolist() == [payload >> 4 for _, payload in flat]
    expected = [k > 0 and row[k][0] == row[k - 1][0] for row in by_item for k in range(len(row))]
    assert (same is None) == (not any(expected))
    assert same is None or same.tolist() == expected


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 65_534) | st.none()), max_size=9),
    st.sampled_from([np.uint8, np.uint16, np.int32]),
    st.integers(-(10**6), 10**6),
)
def test_what_is_packed_is_unpacked(rows, kind, first):
    none = -(2**31)
    codes = np.array([c for c, _ in rows], dtype=kind)
    days = np.array([none if d is None else first + d for _, d in rows], dtype=np.int32)
    code_of = np.array([2, 0, 3, 1], dtype=np.uint64)
    payload = pack(codes, code_of, days, first, none, 2)
    columns, found, offsets = unpack(payload | np.uint64(5 << 18), 18, 2, np.uint8, with_days=True)
    assert columns.tolist() == [5] * len(rows)
    assert found.tolist() == [int(code_of[c]) for c, _ in rows]
    assert offsets.tolist() == [65_535 if d is None else d for _, d in rows]
    assert pack(codes, code_of, days[:0], first, none, 2).tolist() == found.tolist()


@pytest.mark.usefixtures("lane_sizes")
@given(
    st.lists(st.dictionaries(st.integers(0, 6), st.integers(0, 200)), max_size=9),
    st.sampled_from([np.uint8, np.uint16, np.uint32]),
    st.booleans(),
)
def test_a_table_is_transposed(rows, kind, dated):
    table = [sorted(row.items()) for row in rows]
    flat = [cell for row in table for cell in row]
    indptr = np.cumsum([0, *map(len, table)])
    columns = np.array([c for c, _ in flat], np.int32)
    codes = np.array([v for _, v in flat], kind)
    days = codes.astype(np.uint16) * 3 if dated else None
    out_ptr, users, out_codes, out_days = transpose(indptr, columns, codes, days, 7)
    expected = naive.turned(table, 7)
    assert np.diff(out_ptr).tolist() == [len(column) for column in expected]
    assert users.tolist() == [u for column in expected for u, _ in column]
    assert out_codes.tolist() == [v for column in expected for _, v in column]
    assert out_codes.dtype == kind
    assert (out_days is None) == (not dated)
    assert out_days is None or out_days.tolist() == [3 * v for v in out_codes.tolist()]


@given(st.lists(st.integers(0, 8), max_size=40), st.sampled_from([np.uint8, np.uint16]))
def test_values_are_tallied(values, kind):
    found = tally(np.array(values, kind), 9)
    assert found.tolist() == [values.count(v) for v in range(9)]
    assert found.dtype == np.int64


KEYS = st.one_of(
    st.integers(0, 5000),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 3000).map(lambda n: n << 24),
    st.sampled_from([0, 255, 256, (1 << 24) - 1, 1 << 24, -1, 2**63 - 1, -(2**63)]),
)


@given(st.lists(st.lists(KEYS, max_size=300), max_size=4))
def test_keys_are_numbered_as_they_appear(blocks):
    table = KeyTable()
    numbers = [table.number(np.array(block, dtype=np.int64)).tolist() for block in blocks]
    keys = [key for block in blocks for key in block]
    assert [n for block in numbers for n in block] == naive.number(keys)
    assert table.count == len(set(keys))
    found, their_numbers = table.distinct()
    assert dict(zip(found.tolist(), their_numbers.tolist(), strict=True)) == dict(
        zip(keys, naive.number(keys), strict=True)
    )


def test_many_keys(monkeypatch):
    monkeypatch.setattr(numbering, "_SMALL", 1 << 24)
    keys = np.random.default_rng(0).permutation(50_000) * 1_000_003 - 20_000_000_000
    table = KeyTable()
    assert table.number(keys).tolist() == list(range(50_000))
    assert table.number(keys[::-1].copy()).tolist() == list(range(50_000))[::-1]


def test_numbers_may_be_reserved():
    table = KeyTable()
    table.number(np.array([5, 1 << 40]))
    table.count += 1
    assert table.number(np.array([1 << 40, 6, 1 << 41])).tolist() == [1, 3, 4]


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(0, 3))
def test_lanes_cover_everything_in_order(sizes, power):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "_WORTH_IT", 10**power)
        found = arrays.cut(np.array(sizes, dtype=np.int64))
    assert len(found) <= 16
    assert found[0][0] == 0
    assert found[-1][1] == len(sizes)
    assert all(a[1] == b[0] for a, b in itertools.pairwise(found))


def test_large_work_is_cut_and_many_counters_make_fewer_lanes(monkeypatch):
    monkeypatch.setattr(arrays, "_LANES", 4)
    sizes = np.full(100, 1000)
    assert arrays.cut(sizes) == [(0, 25), (25, 50), (50, 75), (75, 100)]
    assert arrays.cut(sizes, 1 << 22) == [(0, 50), (50, 100)]
    assert arrays.cut(sizes, 1 << 30) == [(0, 100)]


def test_what_a_lane_raises_is_raised():
    def work(lane):
        raise ZeroDivisionError(lane)

    with pytest.raises(ZeroDivisionError):
        arrays.run(work, 4)


def test_threads_that_are_interrupted_are_told_of_the_end(monkeypatch):
    """The interruption may come while a thread is started: the pool does not know of it then."""
    monkeypatch.setattr(numba, "get_num_threads", lambda: 3)
    pool = arrays._threads(os.getpid(), 3)
    done = []

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(pool, "submit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            arrays.run(done.append, 4)
    with pytest.raises(RuntimeError, match="after shutdown"):
        pool.submit(done.append, 0)
    arrays.run(done.append, 4)
    assert sorted(done) == [0, 1, 2, 3]
