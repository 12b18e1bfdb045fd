"""64-bit FNV-1a of an id's text, finalized by SplitMix64's mixer, and hashes of rows of ratings.

Also the counter-based random numbers that every draw for a user or a record stands on: the n-th
number of a stream is a pure function of the stream's key and n, so any thread may compute it.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import (
    Array,
    Bools,
    Bytes,
    Int32s,
    Ints,
    Words,
    cut,
    fixed,
    inner,
    run,
)

_FNV_OFFSET = np.uint64(0xCBF29CE484222325)
_FNV_PRIME = np.uint64(0x100000001B3)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_A = np.uint64(0xBF58476D1CE4E5B9)
_B = np.uint64(0x94D049BB133111EB)


@njit(cache=True, nogil=True)
def mix(x: np.uint64) -> np.uint64:
    """SplitMix64's finalizer: a bijection of 64 bits that looks random."""
    x = np.uint64(x)
    x = (x ^ (x >> np.uint64(30))) * _A
    x = (x ^ (x >> np.uint64(27))) * _B
    return x ^ (x >> np.uint64(31))


@njit(cache=True, nogil=True)
def number(key: np.uint64, counter: np.uint64) -> np.uint64:
    """Return the `counter`-th 64-bit number of the stream `key`."""
    return mix(np.uint64(key) + (np.uint64(counter) + np.uint64(1)) * _GOLDEN)


@njit(cache=True, nogil=True)
def uniform(key: np.uint64, counter: np.uint64) -> float:
    """Return the `counter`-th number of the stream as a float in [0, 1)."""
    return float(number(key, counter) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(cache=True, nogil=True)
def below(key: np.uint64, counter: np.uint64, n: int) -> int:
    """Return the `counter`-th integer of the stream in [0, n), n < 2**31.

    The bias of the multiply-shift is below n / 2**32 per value: under 2**-20 for n < 4096 and
    harmless for sampling; it is the same on every machine, which matters more here.
    """
    return int(((number(key, counter) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def fingerprint_bytes(text: Bytes) -> np.uint64:
    """Hash the UTF-8 bytes of one id."""
    h = _FNV_OFFSET
    for i in range(len(text)):
        h = (h ^ np.uint64(text[i])) * _FNV_PRIME
    return mix(h)


@njit(cache=True, nogil=True)
def fingerprint_integers(integers: Ints) -> Words:
    """Hash the decimal text of each non-negative integer, as `fingerprint_bytes` would."""
    out = np.empty(len(integers), np.uint64)
    digits = np.empty(20, np.uint8)
    for i in range(len(integers)):
        value = integers[i]
        n = 0
        while True:
            digits[n] = 48 + value % 10
            value //= 10
            n += 1
            if value == 0:
                break
        h = _FNV_OFFSET
        for j in range(n - 1, -1, -1):
            h = (h ^ np.uint64(digits[j])) * _FNV_PRIME
        out[i] = mix(h)
    return out


def keyed_numbers(fingerprints: Words, key: np.uint64) -> Words:
    """Draw one 64-bit number per fingerprint; a pure function of the key and that fingerprint."""
    with np.errstate(over="ignore"):  # hashes wrap around, also where run interpreted
        return np.asarray(_keyed_numbers(fingerprints, key))


@njit(cache=True, nogil=True)
def _keyed_numbers(fingerprints, key):  # type: ignore[no-untyped-def]
    out = np.empty(len(fingerprints), np.uint64)
    for i in range(len(fingerprints)):
        out[i] = mix(mix(key) ^ fingerprints[i])
    return out


def row_fingerprints(
    indptr: Ints, columns: Int32s, codes: Array, levels: Words, key: np.uint64
) -> Words:
    """Hash each row: its columns and levels one after the other, beginning with a key."""
    out = np.empty(len(indptr) - 1, np.uint64)
    lanes = cut(np.diff(indptr))
    told = indptr, columns, codes, levels, key, out
    with np.errstate(over="ignore"):  # hashes wrap around, also where run interpreted
        run(lambda lane: _row_fingerprints(*lanes[lane], *told), len(lanes))
    return out


@njit(cache=True, nogil=True)
def _row_fingerprints(first, last, indptr, columns, codes, levels, key, out):  # type: ignore[no-untyped-def]
    for u in range(first, last):
        h = mix(key)
        for p in range(indptr[u], indptr[u + 1]):
            h = mix(h ^ np.uint64(columns[p]))
            h = mix(h ^ levels[codes[p]])
        out[u] = h


_NO_DAYS = np.empty(0, dtype=np.uint16)


def hash_rows(
    indptr: Ints, columns: Int32s, codes: Array, days: NDArray[np.uint16] | None
) -> Words:
    """Hash each row: its columns, codes and days one after the other."""
    days = fixed(_NO_DAYS if days is None else days)
    with np.errstate(over="ignore"):  # hashes wrap around, also where run interpreted
        return np.asarray(_hash_rows(fixed(indptr), fixed(columns), fixed(codes), days))


def first_equal_row(
    indptr: Ints, columns: Int32s, codes: Array, days: NDArray[np.uint16] | None
) -> Ints:
    """Return, for each row, the first row that equals it (itself, where it is the first)."""
    hashes = hash_rows(indptr, columns, codes, days)
    indptr, columns, codes = fixed(indptr), fixed(columns), fixed(codes)
    days = fixed(_NO_DAYS if days is None else days)
    order = np.argsort(hashes, kind="stable")  # rows ascending within a hash
    return np.asarray(_first_equal(order, hashes, indptr, columns, codes, days))


@njit(cache=True, nogil=True)
def _hash_rows(indptr, columns, codes, days):  # type: ignore[no-untyped-def]
    out = np.empty(len(indptr) - 1, np.uint64)
    for row in range(len(out)):
        h = np.uint64(indptr[row + 1] - indptr[row])
        for p in range(indptr[row], indptr[row + 1]):
            h = mix(h ^ ((np.uint64(columns[p]) << np.uint64(32)) | np.uint64(codes[p])))
            if len(days) > 0:
                h = mix(h + np.uint64(days[p]))
        out[row] = h
    return out


@njit(cache=True, nogil=True)
def _first_equal(order, hashes, indptr, columns, codes, days):  # type: ignore[no-untyped-def]
    first = np.arange(len(order))
    start = 0
    for i in range(1, len(order)):
        if hashes[order[i]] != hashes[order[start]]:
            start = i
            continue
        for j in range(start, i):  # one step, unless two different rows share a hash
            if first[order[j]] == order[j] and _equal(
                order[i], order[j], indptr, columns, codes, days
            ):
                first[order[i]] = order[j]
                break
    return first


@inner
def _equal(a, b, indptr, columns, codes, days):  # type: ignore[no-untyped-def]
    n = indptr[a + 1] - indptr[a]
    if indptr[b + 1] - indptr[b] != n:
        return False
    p, q = indptr[a], indptr[b]
    for _ in range(n):
        if columns[p] != columns[q] or codes[p] != codes[q]:
            return False
        if len(days) > 0 and days[p] != days[q]:
            return False
        p += 1
        q += 1
    return True


_BUCKETS = 1 << 16  # by the highest bits; the cells of one bucket are few enough to be sorted
_SHIFT = np.uint64(48)


def drawing_bytes(sizes: Ints) -> int:
    """Return the bytes that `draw_cells` counts in, of rows of these sizes."""
    return 8 * _BUCKETS * (len(cut(sizes, _BUCKETS)) + 2)


def draw_cells(
    indptr: Ints, columns: Int32s, users: Words, items: Words, key: np.uint64, count: int
) -> tuple[Bools, Ints]:
    """Mark the `count` cells with the lowest numbers; count them row by row, too."""
    keys = keyed_numbers(users, key)
    lanes = cut(np.diff(indptr), _BUCKETS)
    counts = np.zeros((len(lanes), _BUCKETS), dtype=np.int64)
    cells = indptr, columns, keys, items
    with np.errstate(over="ignore"):  # hashes wrap around, also where run interpreted
        run(lambda lane: _count(*lanes[lane], *cells, counts[lane]), len(lanes))
        below = np.cumsum(counts.sum(axis=0))
        bucket = int(np.searchsorted(below, count))
        found = np.empty(int(counts[:, bucket].sum()), dtype=np.uint64)
        _collect(*cells, np.uint64(bucket), found)
        found.sort()
        highest = found[count - 1 - (int(below[bucket - 1]) if bucket else 0)]
        drawn = np.empty(len(columns), dtype=np.bool_)
        per_row = np.zeros(len(indptr) - 1, dtype=np.int64)
        run(lambda lane: _mark(*lanes[lane], *cells, highest, drawn, per_row), len(lanes))
    return drawn, per_row


@njit(cache=True, nogil=True)
def _count(first, last, indptr, columns, keys, items, counts):  # type: ignore[no-untyped-def]
    for u in range(first, last):
        for p in range(indptr[u], indptr[u + 1]):
            counts[mix(keys[u] ^ items[columns[p]]) >> _SHIFT] += 1


@njit(cache=True, nogil=True)
def _collect(indptr, columns, keys, items, bucket, found):  # type: ignore[no-untyped-def]
    n = 0
    for u in range(len(indptr) - 1):
        for p in range(indptr[u], indptr[u + 1]):
            number = mix(keys[u] ^ items[columns[p]])
            if number >> _SHIFT == bucket:
                found[n] = number
                n += 1


@njit(cache=True, nogil=True)
def _mark(first, last, indptr, columns, keys, items, highest, drawn, per_row):  # type: ignore[no-untyped-def]
    for u in range(first, last):
        for p in range(indptr[u], indptr[u + 1]):
            drawn[p] = mix(keys[u] ^ items[columns[p]]) <= highest
            per_row[u] += drawn[p]
