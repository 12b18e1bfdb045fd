from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.anonymize.k_likeness import likeness_groups
from starshade.kernels import small
from starshade.kernels.likeness import likeness
from starshade.kernels.likeness import search as likeness_search
from starshade.kernels.likeness.search import thermometers
from tests.naive.k_likeness import distances, k_likeness


@pytest.fixture(params=[0, 1 << 62], ids=["kernels", "NumPy"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute everything by kernels, and by what stands in for them on small tables."""
    monkeypatch.setattr(small, "_FEW", request.param)


def as_lists(groups: np.ndarray) -> list[list[int]]:
    return [sorted(np.flatnonzero(groups == g).tolist()) for g in range(groups.max() + 1)]


def twin(matrix: np.ndarray, k: int, order: np.ndarray) -> list[list[int]]:
    return [sorted(group) for group in k_likeness(matrix, k, order)]


@st.composite
def matrices(draw: st.DrawFn) -> np.ndarray:
    """Few distinct levels: ties everywhere, equal rows, constant columns."""
    n, m = draw(st.integers(2, 40)), draw(st.integers(1, 9))
    kind = draw(st.sampled_from([np.uint8, np.uint16, np.float64]))
    top = draw(st.integers(1, 5))
    seed = draw(st.integers(0, 2**32 - 1))
    matrix = np.random.default_rng(seed).integers(0, top + 1, (n, m))
    if draw(st.booleans()):
        matrix[n // 2 :] = matrix[: n - n // 2]
    if kind is np.float64:  # sums that depend on their order
        return matrix * 0.1 + draw(st.sampled_from([0.0, 1e-3, 1 / 3]))
    return matrix.astype(kind)


@given(matrices(), st.data())
def test_groups_are_those_of_the_twin_for_any_permutation(matrix, data):
    n = len(matrix)
    k = data.draw(st.integers(2, n))
    order = np.array(data.draw(st.permutations(range(n))))
    assert as_lists(likeness_groups(matrix, k, order)) == twin(matrix, k, order)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float64])
@pytest.mark.parametrize(("k", "levels"), [(2, 6), (7, 3), (40, 6)])
def test_groups_are_those_of_the_twin_across_blocks_and_batches(monkeypatch, kind, k, levels):
    monkeypatch.setattr(likeness_search, "_WORTH_THREADS", 0)
    rng = np.random.default_rng(k)
    # more rows than a block, copies that batches quarrel over, a number of items that four
    # does not divide
    matrix = rng.integers(0, levels, (700, 7))[rng.integers(0, 700, 2500)].astype(kind)
    order = rng.permutation(2500)
    assert as_lists(likeness_groups(matrix, k, order)) == twin(matrix, k, order)


@pytest.mark.parametrize("threads_from", [0, 10**9])
@pytest.mark.parametrize(("batch", "spare"), [(1, 0), (2, 0), (64, 0), (64, 3)])
def test_neither_batch_nor_threads_change_a_group(monkeypatch, batch, spare, threads_from):
    monkeypatch.setattr(likeness_search, "_WORTH_THREADS", threads_from)
    rng = np.random.default_rng(1)
    matrix = rng.integers(0, 3, (400, 3)).astype(np.uint8)
    order = rng.permutation(400)
    expected = twin(matrix, 5, order)
    monkeypatch.setattr(likeness, "_BATCH", batch)
    monkeypatch.setattr(likeness, "_SPARE", spare)
    assert as_lists(likeness_groups(matrix, 5, order)) == expected


def test_a_distance_may_fill_the_type():
    table = np.array([[0, 85], [0, 85], [85, 0]], dtype=np.uint8)
    assert likeness.distances(table, np.array([0, 0, 85], dtype=np.uint8)).tolist() == [0, 255]
    assert likeness.distances(table, np.array([85, 85, 85], dtype=np.uint8)).tolist() == [170, 85]


@given(matrices())
def test_distances_are_those_of_the_twin_to_the_last_bit(matrix):
    table = np.ascontiguousarray(matrix.T)
    expected = distances(matrix.astype(np.float64), matrix[0].astype(np.float64))
    assert likeness.distances(table, matrix[0]).tolist() == expected.tolist()


def test_fewer_than_two_groups_of_records_are_one_group():
    matrix = np.arange(9, dtype=np.uint8)[:, None]
    assert likeness_groups(matrix, 5, np.arange(9)).tolist() == [0] * 9
    assert likeness_groups(matrix[:8], 4, np.arange(8)).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize(("items", "words"), [(12, 1), (21, 2), (33, 3)])
def test_as_bits_in_one_word_or_more(items, words):
    rng = np.random.default_rng(items)
    matrix = rng.integers(0, 6, (1200, items))[rng.integers(0, 1200, 4000)].astype(np.uint8)
    matrix[:, 0] = 3  # a constant item takes no bits
    assert thermometers(np.ascontiguousarray(matrix.T)).shape == (words, 4000)
    order = rng.permutation(4000)
    assert as_lists(likeness_groups(matrix, 8, order)) == twin(matrix, 8, order)


def test_words_are_left_alone_where_they_are_no_gain():
    table = np.zeros((9, 4), dtype=np.uint8)
    for steps, gain in ((7, True), (8, False), (64, False)):  # one word, two, none
        table[:, 0] = steps
        assert (thermometers(table) is not None) is gain
    assert thermometers(table.astype(np.float64)) is None


@pytest.mark.parametrize("size", [5e-324, 1e-308, 1e-160, 1e-9, 1e160, 1e306])
@pytest.mark.parametrize("beside", [0.0, 1.0, 1e306])
def test_no_magnitude_is_too_small_or_too_large(size, beside):
    """Distances below the least number whose reciprocal is one, and sums of items beyond all."""
    rng = np.random.default_rng(1)
    matrix = rng.integers(-9, 10, (1500, 5)) * size
    matrix[:, 0] = beside * np.sign(matrix[:, 0]) if beside == 1.0 else beside
    matrix[:700, 1:3] = 0.0
    order = rng.permutation(1500)
    assert as_lists(likeness_groups(matrix, 5, order)) == twin(matrix, 5, order)


def test_one_record_many_times_of_real_numbers():
    matrix = np.full((1500, 3), 1e306)
    assert as_lists(likeness_groups(matrix, 4, np.arange(1500))) == twin(matrix, 4, np.arange(1500))


@pytest.mark.parametrize("distinct", [1, 3])
def test_equal_records_are_not_listed_in_vain(monkeypatch, distinct):
    """The first nucleus takes the others of its batch: few lists more than groups are made."""
    listed = 0

    def counted(blocks, alive, free, nuclei, wanted):
        nonlocal listed
        listed += len(nuclei)
        return likeness_search.nearest(blocks, alive, free, nuclei, wanted)

    monkeypatch.setattr(likeness, "nearest", counted)
    matrix = (np.arange(12_000) % distinct).astype(np.uint8)[:, None].repeat(4, axis=1)
    order = np.random.default_rng(0).permutation(len(matrix))
    assert likeness_groups(matrix, 10, order).max() == 1199
    assert listed < 3 * 1200
