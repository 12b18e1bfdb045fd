"""From groups to cells: one statement per group and item that is true of every member."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from starshade.anonymize.hierarchy.hierarchy import Dgh, Hierarchy, tenths
from starshade.errors import InternalError
from starshade.kernels.arrays import Bools, Floats, Ints
from starshade.ratings.scale import SLACK, Scale
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells, Symbols
from starshade.release.content import code_type


def generalize(hierarchy: Hierarchy, ratings: Ratings, groups: Ints) -> Cells:
    """Generalize the ratings of each group (KL's Gen).

    With ``"ndgh"`` a cell is the set of the values present, with ``"range"`` all from the least
    to the greatest, with ``"fixed-intervals"`` the tenths of the scale that they lie in and those
    between, with a `Dgh` the interval of the lowest level that holds them all. A cell that is
    null in the whole group has no entry.

    `groups` (int64 (n_users,)): group of each user, 0…G-1, none empty.
    """
    present = _present(ratings, groups)
    if hierarchy == "ndgh":
        codes, symbols = _as_sets(present, ratings)
    elif hierarchy == "range":
        codes, symbols = _as_ranges(present, ratings)
    elif hierarchy == "fixed-intervals":
        codes, symbols = _as_fixed(present, ratings)
    else:
        codes, symbols = _as_intervals(present, ratings, hierarchy)
    per_group = np.bincount(present.group, minlength=len(present.sizes))
    return Cells(
        items=ratings.items,
        sizes=present.sizes,
        indptr=np.concatenate([[0], np.cumsum(per_group)]).astype(np.int64),
        columns=present.item.astype(np.int32),
        codes=codes.astype(code_type(len(symbols))),
        symbols=symbols,
    )


@dataclass(frozen=True, eq=False)
class _Present:
    """Which values occur in each cell of each group that somebody rated.

    `sizes` (n_groups,): users of each group. `group`, `item` (n_cells,): ascending by group, then
    item. `null` (n_cells,): whether some user of the group has a null there. `offsets`, `codes`:
    cell c has the codes ``codes[offsets[c]:offsets[c + 1]]``, ascending, each once.
    """

    sizes: Ints
    group: Ints
    item: Ints
    null: Bools
    offsets: Ints
    codes: Ints


def _present(ratings: Ratings, groups: Ints) -> _Present:
    n_items, n_codes = ratings.n_items, max(len(ratings.levels), 1)
    sizes = np.bincount(groups).astype(np.int64)
    row = np.repeat(groups, ratings.user_support)
    cell = np.sort((row * n_items + ratings.columns) * n_codes + ratings.codes)
    first = _starts(cell)
    distinct = cell[first]  # one entry per cell and value
    offsets = _starts(distinct // n_codes)
    where = distinct[offsets] // n_codes
    raters = np.add.reduceat(np.diff(np.append(first, len(cell))), offsets)
    group = where // n_items
    return _Present(
        sizes=sizes,
        group=group,
        item=where % n_items,
        null=raters < sizes[group],
        offsets=np.append(offsets, len(distinct)),
        codes=distinct % n_codes,
    )


def _starts(ascending: Ints) -> Ints:
    """Return where each run of equal entries begins."""
    return np.flatnonzero(np.concatenate([[True], ascending[1:] != ascending[:-1]]))


def _as_sets(present: _Present, ratings: Ratings) -> tuple[Ints, Symbols]:
    """Give equal sets one code; return the code of each cell and the symbol of each code."""
    # a set is walked member by member; sets that agree so far are in one state
    length = np.diff(present.offsets)
    state = present.null.astype(np.int64)
    for place in range(int(length.max())):
        longer = np.flatnonzero(length > place)
        member = present.codes[present.offsets[longer] + place]
        step = state[longer] * len(ratings.levels) + member
        state[longer] = np.unique(step, return_inverse=True)[1]
    ended = state * (int(length.max()) + 1) + length
    _, example, codes = np.unique(ended, return_index=True, return_inverse=True)
    members = [
        ratings.levels[present.codes[present.offsets[c] : present.offsets[c + 1]]]
        for c in example.tolist()
    ]
    return codes, Symbols.sets(ratings.scale, members, present.null[example])


def _ends(present: _Present, ratings: Ratings) -> tuple[Floats, Ints, Ints]:
    """Return null's level and the ratings, and where each cell begins and ends in them."""
    values = np.concatenate([[ratings.scale.null_level], ratings.levels])
    high = 1 + present.codes[present.offsets[1:] - 1]
    low = np.where(present.null, 0, 1 + present.codes[present.offsets[:-1]])
    return values, low, high


def _as_ranges(present: _Present, ratings: Ratings) -> tuple[Ints, Symbols]:
    values, low, high = _ends(present, ratings)
    used, codes = np.unique(low * len(values) + high, return_inverse=True)
    low, high = np.divmod(used, len(values))
    return codes, _interval_symbols(ratings.scale, values[low], values[high])


def _as_fixed(present: _Present, ratings: Ratings) -> tuple[Ints, Symbols]:
    """Widen each cell to tenths of the scale: no end is a rating but by chance.

    On a scale with steps null stands beside the interval. On a real scale it stands below the
    scale, and the interval begins there.
    """
    scale = ratings.scale
    low = ratings.levels[present.codes[present.offsets[:-1]]]
    high = ratings.levels[present.codes[present.offsets[1:] - 1]]
    if scale.step is None:
        ends = tenths(scale)
        first = np.clip(np.searchsorted(ends, low, side="right") - 1, 0, 9)
        last = np.clip(np.searchsorted(ends, high, side="left"), first + 1, 10)
        first[present.null] = -1
    else:
        steps = len(scale.levels) - 1
        first, last = (
            np.minimum(10 * np.rint((at - scale.minimum) / scale.step).astype(np.int64) // steps, 9)
            for at in (low, high)
        )
    used, codes = np.unique((first * 11 + last) * 2 + present.null, return_inverse=True)
    first, last = np.divmod(used // 2, 11)
    if scale.step is None:
        start = np.where(first < 0, scale.null_level, ends[first])
        return codes, Symbols.ranges(scale, start, ends[last])
    tenth = np.minimum(10 * np.arange(steps + 1) // steps, 9)
    members = [scale.levels[(tenth >= a) & (tenth <= b)] for a, b in zip(first, last, strict=True)]
    return codes, Symbols.sets(scale, members, used % 2 == 1)


def _as_intervals(present: _Present, ratings: Ratings, dgh: Dgh) -> tuple[Ints, Symbols]:
    """Find each cell's lowest level: level 0 is a single value, number its code, then blocks."""
    values, low, high = _ends(present, ratings)
    choice = np.where(values[high] - values[low] <= SLACK, low, -1)
    names = len(values)
    for level in range(len(dgh.levels)):
        block = dgh.blocks(level, values)
        fits = (choice < 0) & (block[low] == block[high]) & (block[low] >= 0)
        choice[fits] = names + block[low[fits]]
        names += len(dgh.levels[level])
    if (choice < 0).any():
        raise InternalError("a cell that no interval of the hierarchy holds")
    ends = np.full((names, 2), np.nan)
    ends[: len(values)] = values[:, None]
    ends[len(values) :] = [(i.low, i.high) for level in dgh.levels for i in level]
    used, codes = np.unique(choice, return_inverse=True)
    return codes, _interval_symbols(ratings.scale, ends[used, 0], ends[used, 1])


def _interval_symbols(scale: Scale, low: Floats, high: Floats) -> Symbols:
    null = low <= scale.null_level + SLACK
    if scale.step is None:
        # what an interval has beyond the scale says nothing
        return Symbols.ranges(
            scale,
            np.where(null, scale.null_level, np.maximum(low, scale.minimum)),
            np.minimum(high, scale.maximum),
        )
    levels = scale.levels
    members = [
        levels[(levels >= a - SLACK) & (levels <= b + SLACK)]
        for a, b in zip(low, high, strict=True)
    ]
    return Symbols.sets(scale, members, null)
