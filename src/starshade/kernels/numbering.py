"""Number 64-bit keys in order of first appearance: the hash table under every reader.

An open-addressing table with linear probing. The low bits of a key choose its place within a
stretch and a hash of its high bits chooses the stretch, so that dense ids (which real data have)
lie side by side in the cache while ids in steps of a power of two still spread.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.fingerprint import mix

__all__ = ["KeyTable"]

_STRETCH = np.uint64(12)  # 4,096 neighbours share a stretch


class KeyTable:
    """The distinct keys met so far and their numbers.

    Attributes
    ----------
    count : int
        Numbers given out; 0 … count − 1. The caller may add to it to reserve numbers.
    """

    def __init__(self, capacity: int = 1 << 12) -> None:
        self.count = 0
        self._filled = 0
        self._keys = np.empty(capacity, dtype=np.int64)
        self._numbers = np.full(capacity, -1, dtype=np.int32)

    def number(self, keys: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return each key's number, giving the next free one to a key not met before."""
        out = np.empty(len(keys), dtype=np.int32)
        done = 0
        with np.errstate(over="ignore"):  # interpreted, the hash's wrap-around would warn
            while True:
                done, count = _number(
                    keys, self._keys, self._numbers, self.count, self._filled, out, done
                )
                self._filled += count - self.count
                self.count = count
                if done == len(keys):
                    return out
                self._grow()

    def distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the keys met and their numbers, in no particular order."""
        filled = np.flatnonzero(self._numbers >= 0)
        return self._keys[filled], self._numbers[filled]

    def _grow(self) -> None:
        keys, numbers = self.distinct()
        self._keys = np.empty(4 * len(self._keys), dtype=np.int64)
        self._numbers = np.full(len(self._keys), -1, dtype=np.int32)
        _insert(keys, numbers, self._keys, self._numbers)


@njit(cache=True, nogil=True)
def _place(key, mask):  # type: ignore[no-untyped-def]
    """Return the slot where the search for `key` begins."""
    bits = np.uint64(key)
    return np.int64((bits + mix(bits >> _STRETCH)) & mask)


@njit(cache=True, nogil=True)
def _number(keys, table, numbers, count, filled, out, start):  # type: ignore[no-untyped-def]
    """Work from `start` until done or the table is half full; return (where, count)."""
    mask = np.uint64(len(table) - 1)
    wrap = len(table) - 1
    room = len(table) // 2 - filled + count
    last_key = np.int64(0)
    last_number = np.int32(-1)
    for i in range(start, len(keys)):
        key = keys[i]
        if last_number < 0 or key != last_key:  # runs of one user are common
            h = _place(key, mask)
            while numbers[h] >= 0 and table[h] != key:
                h = (h + 1) & wrap
            if numbers[h] < 0:
                if count == room:
                    return i, count
                table[h] = key
                numbers[h] = count
                count += 1
            last_key = key
            last_number = numbers[h]
        out[i] = last_number
    return len(keys), count


@njit(cache=True, nogil=True)
def _insert(keys, values, table, numbers):  # type: ignore[no-untyped-def]
    """Put distinct keys into an empty table that has room."""
    mask = np.uint64(len(table) - 1)
    wrap = len(table) - 1
    for i in range(len(keys)):
        h = _place(keys[i], mask)
        while numbers[h] >= 0:
            h = (h + 1) & wrap
        table[h] = keys[i]
        numbers[h] = values[i]
