"""Ask COUNT of every conjunction of conditions, depth first (KL §1.1; definitions, "tracker").

A row of data stands for one or more equal records; on an item it has a *content*, and a content
may satisfy several predicates (a generalized cell of 3 and 4 both ``= 3`` and ``= 4``). The rows
that may satisfy a condition are held as a list; with one more item, that list is sorted by
predicate into the lists of all conditions that are one predicate longer, in one pass over it.
Where a condition rests on no record or on one, adding to it tells nothing new, and nothing is
added.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from starshade.kernels.arrays import Bytes, Int32s, Ints, inner
from starshade.kernels.warm import announce

#: places in the counts that `ask` adds to
QUERIES, EMPTY, REFUSED, FEWEST, STOPPED = range(5)


class Board(NamedTuple):
    """What can be asked of the data.

    codes : content of each row on each item, int32, shape (items, rows)
    indptr, predicates : the predicates that content s may satisfy are
        ``predicates[indptr[s]:indptr[s + 1]]``, each once
    sizes : records that each row stands for, int64, shape (rows,)
    n_predicates : predicates that there are on each item
    width : the longest list that one item gives: each row once for every predicate that it may
        satisfy
    """

    codes: Int32s
    indptr: Ints
    predicates: Int32s
    sizes: Ints
    n_predicates: int
    width: int


class Singled(NamedTuple):
    """Rows of one record that a condition rests on alone.

    times : how many conditions do so, 2 standing for 2 or more; uint8, shape (rows,)
    length : predicates in the shortest of them; 0 without; uint8, shape (rows,)
    items, predicates : that condition; int32, shape (rows, longest condition)
    """

    times: Bytes
    length: Bytes
    items: Int32s
    predicates: Int32s


def nobody(n_rows: int, longest: int) -> Singled:
    """Return the state before anything was asked."""
    return Singled(
        np.zeros(n_rows, np.uint8),
        np.zeros(n_rows, np.uint8),
        np.full((n_rows, longest), -1, np.int32),
        np.full((n_rows, longest), -1, np.int32),
    )


def ask(
    last: int, board: Board, longest: int, floor: int, most: int, singled: Singled, counts: Ints
) -> None:
    """Ask every condition whose last item is `last`, in one go.

    `last`: items 0…last take part; items before it were `last` in earlier calls. `longest`:
    predicates in a condition, at most. `floor`: an answer that rests on fewer records than this,
    but not on none, is refused. `most`: queries in all; what would go beyond is not asked, and
    ``counts[STOPPED]`` is set. `singled`, `counts`: added to. ``counts[FEWEST]`` is the least
    number of records, above 0, that an answer rested on.
    """
    announce("the tracker attack", _ask)
    lists = np.empty((max(longest - 1, 1), board.width if longest > 1 else 0), np.int32)
    _ask(last, board, longest, floor, most, singled, counts, lists)


@njit(cache=True, nogil=True)
def _ask(last, board, longest, floor, most, singled, counts, lists):  # type: ignore[no-untyped-def]
    n_predicates = board.n_predicates
    number = np.zeros((longest, n_predicates), np.int64)  # rows, of each predicate at each depth
    records = np.zeros((longest, n_predicates), np.int64)
    start = np.zeros((longest, n_predicates), np.int64)  # of its list; one row of it, if no lists
    seen = np.empty((longest, n_predicates), np.int32)  # the predicates that some row may satisfy
    n_seen = np.zeros(longest, np.int64)
    cursor = np.zeros(longest, np.int64)
    item = np.zeros(longest, np.int64)
    chosen = np.zeros(longest, np.int64)
    rows = np.arange(len(board.sizes)).astype(np.int32)
    depth, fresh = np.int64(0), True
    item[0] = last
    while True:
        if fresh:  # the rows are those that may satisfy the condition so far
            if counts[QUERIES] + n_predicates > most:
                counts[STOPPED] = 1
                return
            n_seen[depth] = _sort(
                board,
                item[depth],
                rows,
                depth + 1 < longest,
                number[depth],
                records[depth],
                start[depth],
                seen[depth],
                n_seen[depth],
                lists[min(depth, len(lists) - 1)],
            )
            counts[QUERIES] += n_predicates
            counts[EMPTY] += n_predicates - n_seen[depth]
            cursor[depth] = 0
            fresh = False
        if cursor[depth] == n_seen[depth]:
            if depth == 0:
                return
            if item[depth] == 0:  # back
                depth -= 1
                continue
            item[depth] -= 1  # the same condition with another item
            before = chosen[depth - 1]
            at = start[depth - 1, before]
            rows = lists[depth - 1, at : at + number[depth - 1, before]]
            fresh = True
            continue
        p = seen[depth, cursor[depth]]
        cursor[depth] += 1
        chosen[depth] = p
        found = records[depth, p]
        if found < floor:
            counts[REFUSED] += 1
            continue
        if counts[FEWEST] == 0 or found < counts[FEWEST]:
            counts[FEWEST] = found
        if found == 1:
            row = start[depth, p]
            if depth + 1 < longest:
                row = lists[depth, row]
            _single_out(singled, row, item, chosen, depth, longest)
        elif depth + 1 < longest and item[depth] > 0:
            at = start[depth, p]
            rows = lists[depth, at : at + number[depth, p]]
            depth += 1
            item[depth] = item[depth - 1] - 1
            fresh = True


@inner
def _sort(board, item, rows, listed, number, records, start, seen, n_before, out):  # type: ignore[no-untyped-def]
    """Sort rows by the predicates they may satisfy on an item; return how many these are."""
    for i in range(n_before):
        number[seen[i]] = 0
        records[seen[i]] = 0
    n = 0
    codes = board.codes[item]
    for row in rows:
        content = codes[row]
        for q in range(board.indptr[content], board.indptr[content + 1]):
            p = board.predicates[q]
            if number[p] == 0:
                seen[n] = p
                n += 1
            number[p] += 1
            records[p] += board.sizes[row]
            start[p] = row
    if not listed:
        return n
    at = 0
    for i in range(n):
        start[seen[i]] = at
        at += number[seen[i]]
    for row in rows:
        content = codes[row]
        for q in range(board.indptr[content], board.indptr[content + 1]):
            p = board.predicates[q]
            out[start[p]] = row
            start[p] += 1
    for i in range(n):
        start[seen[i]] -= number[seen[i]]
    return n


@inner
def _single_out(singled, row, item, chosen, depth, longest):  # type: ignore[no-untyped-def]
    # what is longer by a further item rests on the same record, where the row satisfies it
    alone = depth + 1 == longest or item[depth] == 0
    singled.times[row] = min(singled.times[row] + (1 if alone else 2), 2)
    if singled.length[row] == 0 or depth + 1 < singled.length[row]:
        singled.length[row] = depth + 1
        for d in range(depth + 1):
            singled.items[row, d] = item[d]
            singled.predicates[row, d] = chosen[d]
