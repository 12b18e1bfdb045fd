"""One content, one symbol, one order: equal releases are equal bytes (definitions, "order").

Groups are released in an order that anybody could rebuild from the released cells alone, so the
order tells nothing about the input. The order of two cells: null alone (no row) first, then sets
of members before ranges; sets compare as their ascending lists of members, null below every
rating, a list before its continuations; ranges compare by low end, then high end. The order of
two rows: that of their first differing cell, cell by cell in item order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InternalError
from starshade.release.cells import Cells, Symbols

_SET, _RANGE, _NULL = b"\x00", b"\x01", bytes(8)


def canonical(cells: Cells) -> Cells:
    """Return the same cells with distinct, used symbols in content order.

    A cell whose symbol has no rating is null alone and loses its row; a range of one point is
    written as a set of one member.
    """
    symbols = _normal(cells.symbols)
    cells = _drop_null_alone(cells, symbols)
    used = np.flatnonzero(np.bincount(cells.codes, minlength=len(symbols)))
    kept, number = _sorted(symbols, used)
    rank = np.zeros(len(symbols), dtype=code_type(len(kept)))
    rank[used] = number
    return replace(cells, codes=rank[cells.codes], symbols=_take(symbols, kept))


def class_numbers(cells: Cells) -> NDArray[np.int64]:
    """Give the rows of canonical cells the numbers of their contents, in content order.

    `cells`: as `canonical` returns them. Returns (n_groups,): rows with equal numbers are equal in
    every cell; 0…C-1, none left out.
    """
    if not cells.n_groups:
        return np.empty(0, dtype=np.int64)
    order = np.arange(cells.n_groups)
    first = np.zeros(cells.n_groups, dtype=np.int64)  # where each place's class starts
    for word in _words(cells):
        end = np.append(first[1:], -1)
        open_ = np.flatnonzero((first == end) | (first != np.arange(len(first))))
        if not len(open_):
            break
        rows = order[open_]
        by = np.lexsort((word[rows], first[open_]))
        order[open_], words = rows[by], word[rows[by]]
        new = np.ones(len(open_), dtype=np.bool_)
        new[1:] = (np.diff(first[open_]) != 0) | (words[1:] != words[:-1])
        first[open_] = np.maximum.accumulate(np.where(new, open_, 0))
    number = np.empty(cells.n_groups, dtype=np.int64)
    number[order] = np.cumsum(first == np.arange(len(first))) - 1
    return number


def _words(cells: Cells) -> Iterator[NDArray[np.uint64]]:
    """Yield the rows as whole numbers that compare as they do, as many items at once as fit."""
    bits = max(1, len(cells.symbols).bit_length())
    by_item = cells.by_item
    for start in range(0, cells.n_items, 64 // bits):
        word = np.zeros(cells.n_groups, dtype=np.uint64)
        for item in range(start, start + 64 // bits):
            word <<= np.uint64(bits)
            if item < cells.n_items:
                here = slice(int(by_item.indptr[item]), int(by_item.indptr[item + 1]))
                word[by_item.users[here]] |= by_item.codes[here].astype(np.uint64) + np.uint64(1)
        yield word


def code_type(n: int) -> type[np.unsignedinteger]:
    """Return the narrowest type of the codes 0…n−1."""
    if n <= 2**8:
        return np.uint8
    return np.uint16 if n <= 2**16 else np.uint32


def _normal(symbols: Symbols) -> Symbols:
    """Take the float dust off members and turn ranges of one point into sets."""
    scale = symbols.scale
    if scale.step is not None:
        if symbols.is_range.any():
            raise InternalError("a range on a stepped scale")
        level = np.round((symbols.members - scale.minimum) / scale.step).astype(np.int64)
        return replace(symbols, members=scale.levels[level])
    # adding 0.0 turns -0.0, which is equal but written otherwise, into 0.0
    low, high, members = symbols.low + 0.0, symbols.high + 0.0, symbols.members + 0.0
    point = (low == high) & ~symbols.null
    if point.any():
        members = np.insert(members, symbols.offsets[:-1][point], high[point])
        low[point] = high[point] = np.nan
    lengths = symbols.n_members + point
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Symbols(scale, offsets, members, symbols.null, low, high)


def _drop_null_alone(cells: Cells, symbols: Symbols) -> Cells:
    """Remove the cells that say nothing but null."""
    if bool((~symbols.has_rating & ~symbols.null).any()):
        raise InternalError("a cell without any member")
    kept = symbols.has_rating[cells.codes]
    if kept.all():
        return replace(cells, symbols=symbols)
    before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
    return replace(
        cells,
        indptr=before[cells.indptr],
        columns=cells.columns[kept],
        codes=cells.codes[kept],
        symbols=symbols,
    )


def _sorted(
    symbols: Symbols, used: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct contents in order, and which of them each used symbol has."""
    if bool((symbols.n_members[used] == 1).all()) and not symbols.null[used].any():
        single = symbols.members[symbols.offsets[used]]  # a table of ratings; there may be many
        _, first, number = np.unique(single, return_index=True, return_inverse=True)
        return used[first], number
    keys = _symbol_keys(symbols, used)
    where = {key: int(s) for key, s in zip(reversed(keys), used[::-1], strict=True)}
    order = sorted(where)
    rank = {key: r for r, key in enumerate(order)}
    kept = np.array([where[key] for key in order], dtype=np.int64)
    return kept, np.array([rank[key] for key in keys], dtype=np.int64)


def _symbol_keys(symbols: Symbols, which: NDArray[np.int64]) -> list[bytes]:
    """Return one bytes per symbol, which compare as the contents do."""
    members = _ordered(symbols.members)
    ends = _ordered(np.column_stack([symbols.low, symbols.high]).ravel())
    offsets, is_range, null = symbols.offsets.tolist(), symbols.is_range, symbols.null
    return [
        _RANGE + ends[16 * s : 16 * s + 16]
        if is_range[s]
        else _SET + (_NULL if null[s] else b"") + members[8 * offsets[s] : 8 * offsets[s + 1]]
        for s in which.tolist()
    ]


def _ordered(values: NDArray[np.float64]) -> bytes:
    """Return eight bytes per float, which compare as the floats do (all above eight zeros)."""
    bits = values.view(np.uint64)
    sign = np.uint64(1) << np.uint64(63)
    return np.where(bits & sign, ~bits, bits | sign).astype(">u8").tobytes()


def _take(symbols: Symbols, which: NDArray[np.int64]) -> Symbols:
    """Return the symbols listed, in that order."""
    lengths = symbols.n_members[which]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    place = np.repeat(symbols.offsets[which] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return Symbols(
        symbols.scale,
        offsets,
        symbols.members[place],
        symbols.null[which],
        symbols.low[which],
        symbols.high[which],
    )
