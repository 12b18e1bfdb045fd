"""64-bit FNV-1a of an id's text, finalized by SplitMix64's mixer, and hashes of rows of ratings.

Also the counter-based random numbers that every draw for a user or a record stands on: the n-th
number of a stream is a pure function of the stream's key and n, so any thread may compute it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.arrays import Array, Bytes, Int32s, Ints, Words
from starshade.kernels.lanes import cut, run

__all__ = [
    "below",
    "fingerprint_bytes",
    "fingerprint_integers",
    "keyed_numbers",
    "mix",
    "number",
    "row_fingerprints",
    "uniform",
]

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
