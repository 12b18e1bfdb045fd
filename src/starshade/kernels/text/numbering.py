"""Number 64-bit keys in order of first appearance: what stands under every reader.

Small keys, which the ids of most data sets are, look their number up in an array; all others in
an open-addressing hash table with linear probing.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels import small
from starshade.kernels.arrays import Int32s, Ints, inner
from starshade.kernels.fingerprint import mix

_ALL_BITS = (1 << 64) - 1
_SMALL = 1 << 24  # keys below are looked up directly: at most 64 MB


class KeyTable:
    """The distinct keys met so far and their numbers.

    `count`: numbers given out, 0 … count − 1. The caller may add to it to reserve some.
    """

    def __init__(self) -> None:
        self.count = 0
        self._direct = np.full(1 << 8, -1, dtype=np.int32)  # number by key
        self._keys = np.empty(1 << 8, dtype=np.int64)
        self._numbers = np.full(1 << 8, -1, dtype=np.int32)  # by slot, −1: free
        self._taken = 0  # slots
        self._met = 0  # keys, in all calls

    def number(self, keys: Ints) -> Int32s:
        """Return each key's number, giving the next free one to a key not met before."""
        self._met += len(keys)
        if self._met <= small.FEW_CELLS:
            distinct, first, which = np.unique(keys, return_index=True, return_inverse=True)
            large = int(((distinct < 0) | (distinct >= _SMALL)).sum())
            if self._taken + large <= len(self._keys) // 2:
                numbers = np.empty(len(distinct), dtype=np.int32)
                with np.errstate(over="ignore"):  # the hash wraps around
                    for i in np.argsort(first).tolist():
                        numbers[i] = self._number_one(int(distinct[i]))
                return numbers[which]
        out = np.empty(len(keys), dtype=np.int32)
        done = 0
        with np.errstate(over="ignore"):  # interpreted, the hash's wrap-around would warn
            while True:
                done, self.count, self._taken = _number(
                    keys, self._direct, self._keys, self._numbers,
                    self.count, self._taken, out, done,
                )  # fmt: skip
                if done == len(keys):
                    return out
                self._grow(int(keys[done]))

    def _number_one(self, key: int) -> int:
        """Return the number of one key, without a kernel; a large key has room."""
        if 0 <= key < _SMALL:
            if key >= len(self._direct):
                self._grow(key)
            place, numbers = key, self._direct
        else:
            place, numbers = int(mix(np.uint64(key & _ALL_BITS))), self._numbers
            place &= len(numbers) - 1
            while numbers[place] >= 0 and self._keys[place] != key:
                place = (place + 1) & (len(numbers) - 1)
        if numbers[place] < 0:
            if numbers is self._numbers:
                self._keys[place] = key
                self._taken += 1
            numbers[place] = self.count
            self.count += 1
        return int(numbers[place])

    def distinct(self) -> tuple[Ints, Int32s]:
        """Return the keys met and their numbers, in no particular order."""
        small = np.flatnonzero(self._direct >= 0)
        large = np.flatnonzero(self._numbers >= 0)
        return (
            np.concatenate([small, self._keys[large]]),
            np.concatenate([self._direct[small], self._numbers[large]]),
        )

    def _grow(self, key: int) -> None:
        if 0 <= key < _SMALL:
            larger = np.full(1 << max(12, key.bit_length()), -1, dtype=np.int32)
            larger[: len(self._direct)] = self._direct
            self._direct = larger
            return
        filled = np.flatnonzero(self._numbers >= 0)
        keys, numbers = self._keys[filled], self._numbers[filled]
        self._keys = np.empty(4 * len(self._keys), dtype=np.int64)
        self._numbers = np.full(len(self._keys), -1, dtype=np.int32)
        _insert(keys, numbers, self._keys, self._numbers)


@njit(cache=True, nogil=True)
def _number(keys, direct, table, numbers, count, taken, out, start):  # type: ignore[no-untyped-def]
    """Work from `start` to the end or a key without room; return where, `count`, `taken`."""
    room = len(table) // 2
    size = np.uint64(len(direct))
    for i in range(start, len(keys)):
        key = keys[i]
        if np.uint64(key) < size:
            if direct[key] < 0:
                direct[key] = count
                count += 1
            out[i] = direct[key]
            continue
        if 0 <= key < _SMALL:
            return i, count, taken
        h = _slot(key, table, numbers)
        if numbers[h] < 0:
            if taken == room:
                return i, count, taken
            table[h] = key
            numbers[h] = count
            count += 1
            taken += 1
        out[i] = numbers[h]
    return len(keys), count, taken


@inner
def _slot(key, table, numbers):  # type: ignore[no-untyped-def]
    """Return the slot of `key`, or the free one where it belongs."""
    wrap = len(table) - 1
    h = np.int64(mix(np.uint64(key)) & np.uint64(wrap))
    while numbers[h] >= 0 and table[h] != key:
        h = (h + 1) & wrap
    return h


@njit(cache=True, nogil=True)
def _insert(keys, values, table, numbers):  # type: ignore[no-untyped-def]
    """Put distinct keys into an empty table that has room."""
    for i in range(len(keys)):
        h = _slot(keys[i], table, numbers)
        table[h] = keys[i]
        numbers[h] = values[i]
