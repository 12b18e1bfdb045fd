"""Records as thermometers: a value v is v ones, so an L1 distance is a count of differing bits.

Thermometers of the items of a record stand side by side in words of 64 bits; what all records
have in common is left out, so an item takes as many bits as it has steps between its least and
its greatest value. Twenty items on 1-5 with nulls are two words instead of twenty bytes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from starshade.kernels.arrays import Array, Ints, Words

__all__ = ["thermometers"]

_WORD = 64
_BYTES_PER_WORD = 8  # of the plain table; a word takes as long as this many of them


def thermometers(table: Array) -> Words | None:
    """Return the records as words; None where the plain table is as good."""
    if table.dtype.kind != "u" or not table.size:
        return None
    least = table.min(axis=1).astype(np.int64)
    steps = table.max(axis=1) - least
    if steps.max() >= _WORD:
        return None
    word, shift = _lay_out(steps)
    n_words = int(word[-1]) + 1
    if n_words * _BYTES_PER_WORD > table.shape[0] * table.dtype.itemsize:
        return None
    words = np.zeros((n_words, table.shape[1]), np.uint64)
    _pack(table, least, word, shift, words)
    return words


def _lay_out(steps: Ints) -> tuple[Ints, Ints]:
    """Give each item its word and its first bit there; none is cut in two."""
    word, shift = np.zeros(len(steps), np.int64), np.zeros(len(steps), np.int64)
    w = used = 0
    for j, bits in enumerate(steps.tolist()):
        if used + bits > _WORD:
            w, used = w + 1, 0
        # an item without steps has no bits, and must not be shifted out of the word
        word[j], shift[j] = w, used % _WORD
        used += bits
    return word, shift


@njit(cache=True, nogil=True)
def _pack(table, least, word, shift, words):  # type: ignore[no-untyped-def]
    one = np.uint64(1)
    for j in range(len(table)):
        row, out, s = table[j], words[word[j]], np.uint64(shift[j])
        for i in range(len(row)):
            height = np.uint64(np.int64(row[i]) - least[j])
            out[i] |= ((one << height) - one) << s
