"""The nearest free records of many nuclei, in records laid out in blocks.

The own block of a nucleus gives a first list. Then every block whose box is nearer than the last
of the list is gone through, nearest boxes first, for each record that is found makes the list
better and lets more blocks be passed over. Records count as nearer by (distance, position); a
block is passed over only when none of its records can be, so the list is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange, types
from numba.extending import overload

from starshade.kernels.arrays import Array, Bools, Ints, Words, copy_to, inner, ones
from starshade.kernels.likeness.blocks import BLOCK, TRAY, Blocks

_CHUNK = 4  # nuclei that one thread looks for in one go
_AROUND = 8  # blocks on both sides of the own one that are gone through unasked
_SHELVES = 32  # of blocks, by nearness
_WORTH_THREADS = 20_000_000  # words compared at most; below, waking threads costs more


def nearest(blocks: Blocks, alive: Ints, free: Bools, nuclei: Ints, wanted: int) -> Ints:
    """List for each nucleus the nearest free records, ties to the lower position; −1: no more."""
    near = np.full((len(nuclei), wanted), -1, np.int64)
    work = blocks.cells.size * len(nuclei)
    with np.errstate(over="ignore"):  # counting bits wraps around where run interpreted
        (_alone if work < _WORTH_THREADS else _together)(blocks, alive, free, nuclei, near)
    return near


@njit(cache=True, nogil=True, parallel=True)
def _together(blocks, alive, free, nuclei, near):  # type: ignore[no-untyped-def]
    for chunk in prange((len(nuclei) + _CHUNK - 1) // _CHUNK):
        first = chunk * _CHUNK
        last = min(first + _CHUNK, len(nuclei))
        _search(blocks, alive, free, nuclei[first:last], near[first:last])


@njit(cache=True, nogil=True)
def _alone(blocks, alive, free, nuclei, near):  # type: ignore[no-untyped-def]
    _search(blocks, alive, free, nuclei, near)


@inner
def _search(blocks, alive, free, nuclei, near):  # type: ignore[no-untyped-def]
    # one by one: a named tuple in an inner loop is counted in and out, array by array
    cells, position, first = blocks.cells, blocks.position, blocks.first
    bound = np.empty(len(first), blocks.low.dtype)
    tray_bound = np.empty(blocks.tray_low.shape[1], bound.dtype)
    found, shelf = np.empty(len(first), np.int32), np.empty(len(first), np.int32)
    least = np.empty(near.shape[1], bound.dtype)
    buffer = np.empty(BLOCK, blocks.kind.dtype)
    query = np.empty(len(cells), cells.dtype)
    for q in range(len(nuclei)):
        nucleus = nuclei[q]
        slot, at = np.int64(blocks.slot[nucleus]), blocks.along[:, nucleus]
        copy_to(query, cells[:, slot])
        full, done = _start(cells, position, slot, free, nucleus, query, buffer, near[q], least)
        if not full:
            continue
        _bound(blocks.tray_low, blocks.tray_high, at, 0, len(tray_bound), tray_bound)
        n = _reachable(
            blocks.low, blocks.high, first, blocks.tray_first, at, tray_bound, alive,
            slot // BLOCK, done, least[-1], near[q, -1], bound, found,
        )  # fmt: skip
        _shelve(bound, found[:n], least[-1], shelf)
        _finish(
            cells, position, first, free, nucleus, query, buffer, bound, shelf[:n], near[q], least
        )


@inner
def _start(cells, position, slot, free, nucleus, query, buffer, near, least):  # type: ignore[no-untyped-def]
    """Go through the own and neighbouring blocks until the list is full; return if, and how far."""
    own, found = slot // BLOCK, np.int64(0)  # a literal would be compiled by itself
    n_blocks = (len(position) + BLOCK - 1) // BLOCK
    for step in range(n_blocks):
        for side in range(-1 if step else 1, 2, 2):  # its own block has no two sides
            b = own + side * step
            if 0 <= b < n_blocks:
                low, high = b * BLOCK, min(b * BLOCK + BLOCK, len(position))
                fill(cells, low, high, query, buffer)
                found = _insert(buffer, position[low:high], free, nucleus, near, least, found)
        if found == len(least) and step >= _AROUND:
            break
    return found == len(least), step


@njit(cache=True, nogil=True, inline="always")
def _bound(lows, highs, at, first, last, bound):  # type: ignore[no-untyped-def]
    """Fill in how near a record of each box may be at the nearest."""
    bound[first:last] = 0
    for d in range(len(at)):
        x, low, high = at[d], lows[d], highs[d]
        for b in range(first, last):
            bound[b] = bound[b] + (max(x, high[b]) - high[b]) + (low[b] - min(x, low[b]))


@inner
def _reachable(  # type: ignore[no-untyped-def]
    low, high, first, tray_first, at, tray_bound, alive, own, done, worst, worst_position, bound,
    found,
):  # fmt: skip
    """List the blocks that may hold a nearer record, but those done already; return how many."""
    n = 0
    for t in range(len(tray_bound)):
        if not _before(tray_bound[t], tray_first[t], worst, worst_position):
            continue
        start, end = t * TRAY, min(t * TRAY + TRAY, len(bound))
        _bound(low, high, at, start, end, bound)
        for b in range(start, end):
            if (
                alive[b] > 0
                and abs(b - own) > done
                and _before(bound[b], first[b], worst, worst_position)
            ):
                found[n] = b
                n += 1
    return n


@inner
def _shelve(bound, found, worst, shelf):  # type: ignore[no-untyped-def]
    """Sort blocks by nearness, about."""
    place = np.zeros(_SHELVES + 1, np.int64)
    for b in found:
        place[_shelf_of(bound[b], worst) + 1] += 1
    for s in range(_SHELVES):
        place[s + 1] += place[s]
    for b in found:
        s = _shelf_of(bound[b], worst)
        shelf[place[s]] = b
        place[s] += 1


@njit(cache=True, nogil=True, inline="always")
def _shelf_of(bound, worst):  # type: ignore[no-untyped-def]
    # a share first: 31/worst is beyond all numbers where distances are the smallest there are
    return int(bound / worst * (_SHELVES - 1)) if worst > 0 else 0


@inner
def _finish(cells, position, first, free, nucleus, query, buffer, bound, shelf, near, least):  # type: ignore[no-untyped-def]
    """Go through the blocks on the shelf as long as they may hold a nearer record."""
    last = len(least) - 1
    for b in shelf:
        worst = least[last]
        if not _before(bound[b], first[b], worst, near[last]):
            continue
        low, high = b * BLOCK, min(b * BLOCK + BLOCK, len(position))
        if least_away(cells, low, high, query, buffer) <= worst:  # most blocks have nobody
            fill(cells, low, high, query, buffer)
            _insert(buffer, position[low:high], free, nucleus, near, least, len(least))


@njit(cache=True, nogil=True, inline="always")
def _before(bound, first, worst, worst_position):  # type: ignore[no-untyped-def]
    """Tell whether a record so near, at the first position of a box, comes before the worst."""
    return bound < worst or (bound == worst and first < worst_position)


@inner
def _insert(buffer, position, free, nucleus, near, least, found):  # type: ignore[no-untyped-def]
    """Put a block's nearer records on the list; return its new length."""
    last = len(least) - 1
    for r in range(len(position)):
        away, p = buffer[r], np.int64(position[r])
        if found > last and (away > least[last] or (away == least[last] and p > near[last])):
            continue
        if not free[p] or p == nucleus:
            continue
        found = min(found + 1, len(least))
        i = found - 1
        while i > 0 and (least[i - 1] > away or (least[i - 1] == away and near[i - 1] > p)):
            least[i] = least[i - 1]
            near[i] = near[i - 1]
            i -= 1
        least[i] = away
        near[i] = p
    return found


def fill(cells: Any, low: int, high: int, query: Any, out: Any) -> None:
    """Fill in the distances of records low…high−1; bits or numbers is settled by compiling."""
    (_fill_ones if cells.dtype == np.uint64 else fill_sums)(cells, low, high, query, out)


@overload(fill, inline="always")  # a call costs as much as its work
def _fill(cells, low, high, query, out):  # type: ignore[no-untyped-def]
    if cells.dtype == types.uint64:
        return lambda cells, low, high, query, out: _fill_ones(cells, low, high, query, out)
    return lambda cells, low, high, query, out: fill_sums(cells, low, high, query, out)


def least_away(cells: Any, low: int, high: int, query: Any, buffer: Any) -> Any:
    """Return the least distance of records low…high−1; what `buffer` holds is spoilt."""
    least = _least_ones if cells.dtype == np.uint64 else _least_sums
    return least(cells, low, high, query, buffer)


@overload(least_away, inline="always")
def _least_away(cells, low, high, query, buffer):  # type: ignore[no-untyped-def]
    if cells.dtype == types.uint64:
        return lambda cells, low, high, query, buffer: _least_ones(cells, low, high, query, buffer)
    return lambda cells, low, high, query, buffer: _least_sums(cells, low, high, query, buffer)


@njit(cache=True, nogil=True, inline="always")
def _least_ones(words, low, high, query, buffer):  # type: ignore[no-untyped-def]
    least = np.int64(64) * len(words)
    if len(words) == 2:  # one and two words: nothing goes through memory
        a, b, p, q = words[0, low:high], words[1, low:high], query[0], query[1]
        for i in range(high - low):
            least = min(least, np.int64(ones(a[i] ^ p) + ones(b[i] ^ q)))
    elif len(words) == 1:
        a, p = words[0, low:high], query[0]
        for i in range(high - low):
            least = min(least, np.int64(ones(a[i] ^ p)))
    else:
        _fill_ones(words, low, high, query, buffer)
        for i in range(high - low):
            least = min(least, buffer[i])
    return least


@njit(cache=True, nogil=True)
def _least_sums(table, low, high, query, buffer):  # type: ignore[no-untyped-def]
    fill_sums(table, low, high, query, buffer)
    least = buffer[0]
    for i in range(high - low):
        least = min(least, buffer[i])
    return least


@njit(cache=True, nogil=True)
def _fill_ones(words, low, high, query, out):  # type: ignore[no-untyped-def]
    n = high - low
    out[:n] = 0
    m = len(words)
    for j in range(0, m - 1, 2):  # two words a pass: half of the loads and stores of `out`
        a, b, p, q = words[j, low:high], words[j + 1, low:high], query[j], query[j + 1]
        for i in range(n):
            out[i] += np.int64(ones(a[i] ^ p) + ones(b[i] ^ q))
    if m % 2:
        a, p = words[m - 1, low:high], query[m - 1]
        for i in range(n):
            out[i] += np.int64(ones(a[i] ^ p))


@njit(cache=True, nogil=True)
def fill_sums(table, low, high, query, out):  # type: ignore[no-untyped-def]
    """Fill in the L1 distances of records low…high−1 of a table of numbers, items in order.

    `table` (uint8, uint16 or float64 (n_items, n)): its dtype holds every distance that can occur.
    `out` (≥ high − low,): both of the same dtype.
    """
    n = high - low
    out[:n] = 0
    m = len(table)
    for j in range(0, m - 3, 4):  # four items a pass
        _add_four(table[j : j + 4, low:high], query[j : j + 4], out)
    for j in range(m - m % 4, m):
        _add_one(table[j, low:high], query[j], out)


@inner
def _add_four(four, query, out):  # type: ignore[no-untyped-def]
    a, b, c, d = four[0], four[1], four[2], four[3]
    p, q, r, s = query[0], query[1], query[2], query[3]
    for i in range(len(a)):
        # greater minus lesser: never below zero, so it needs no wider type
        total = out[i] + (max(a[i], p) - min(a[i], p))
        total = total + (max(b[i], q) - min(b[i], q))
        total = total + (max(c[i], r) - min(c[i], r))
        out[i] = total + (max(d[i], s) - min(d[i], s))


@inner
def _add_one(a, p, out):  # type: ignore[no-untyped-def]
    for i in range(len(a)):
        out[i] = out[i] + (max(a[i], p) - min(a[i], p))


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
