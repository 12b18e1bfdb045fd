"""The cells of joint classes: what remains possible in the intersection of releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.attack.composition.contents import Changes, Pool, possible
from starshade.attack.composition.people import Joint, Part
from starshade.errors import ConfigError
from starshade.kernels.csr import keep_rows
from starshade.naming import aside
from starshade.plain import counted
from starshade.progress import task
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary, union
from starshade.release.cells import Cells, Symbols
from starshade.release.content import canonical, code_type

_BLOCK = 2**20  # cells treated together
_TABLE = 2**22  # numbers up to which it is marked, not sorted, which there are
_BYTES = 4 + 4 + 1 + 16  # of a cell: its column and contents, and what both are made of
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Together:
    """The intersected cells of each joint class.

    `cells`: a row per joint class, its contents at the time of the last release. `pinned`
    (joint classes,): cells of which one rating alone is possible. `impossible` (joint classes,):
    whether some cell has no possible history.
    """

    cells: Cells
    pinned: Ints
    impossible: NDArray[np.bool_]


def told_items(parts: Sequence[Part], scale: Scale) -> Vocabulary:
    """Return the items on which some release has cells of this scale that hold the truth."""
    told = [part.cells.items for part in parts if part.cells is not None and part.tells(scale)]
    return union(told) if told else Vocabulary(np.empty(0, dtype=np.int64))


def cells_together(parts: Sequence[Part], joint: Joint, scale: Scale, changes: Changes) -> Together:
    """Intersect the cells of several releases, oldest first; see `told_items`."""
    stack = _Stack.of(parts, joint, told_items(parts, scale), scale, changes)
    stack.refuse_too_much()
    lengths, columns, numbers, histories = [], [], [], []
    with task("intersecting the releases", len(joint.sizes)) as step:
        for start, stop in stack.blocks():
            keys, codes = stack.of_rows(start, stop)
            row, column = np.divmod(keys, max(len(stack.items), 1))
            distinct, number = numbered(codes, len(stack.pool))
            lengths.append(np.bincount(row, minlength=stop - start))
            columns.append(column.astype(np.int32))
            numbers.append(number.astype(np.int32))
            histories.append(distinct)
            step(stop - start)
    every, number = numbered(np.concatenate(histories), len(stack.pool))
    code = np.empty(sum(map(len, columns)), dtype=code_type(len(every)))
    done = before = 0
    for own, distinct in zip(numbers, histories, strict=True):
        code[done : done + len(own)] = number[before + own]
        done, before = done + len(own), before + len(distinct)
    what = possible(stack.pool, every, changes)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)
    pinned, impossible = (_per_row(each[code], indptr) for each in (what.pinned, what.impossible))
    cells = Cells(stack.items, joint.sizes, indptr, np.concatenate(columns), code, what.last)
    return Together(cells if impossible.any() else canonical(cells), pinned, impossible > 0)


def numbered(rows: Ints, limit: int) -> tuple[Ints, Ints]:
    """Return the distinct rows of whole numbers in 0…limit-1, and which one each row is."""
    key, most = np.zeros(len(rows), dtype=np.int64), 1
    for column in rows.T:
        if most * limit >= 2**62:
            distinct, key = np.unique(key, return_inverse=True)
            most = len(distinct)
        key = key * limit + column
        most *= limit
    if most > _TABLE:
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        return rows[first], number
    which = np.zeros(most, dtype=np.int64)
    which[key] = 1
    there = np.flatnonzero(which)
    which[there] = np.arange(len(there))
    number = which[key]
    example = np.empty(len(there), dtype=np.int64)
    example[number] = np.arange(len(rows))
    return rows[example], number


def _per_row(which: NDArray[np.bool_], indptr: Ints) -> Ints:
    before = np.concatenate([[0], np.cumsum(which, dtype=np.int64)])
    return np.diff(before[indptr])


@dataclass(frozen=True, eq=False)
class _Rows:
    """The cells of a release's classes, numbered as all the items; an empty row comes last."""

    indptr: Ints
    columns: NDArray[np.int32]
    codes: NDArray[np.integer]
    symbols: Symbols
    told: NDArray[np.bool_]  # items of which it says something

    @classmethod
    def of(cls, part: Part, items: Vocabulary, scale: Scale) -> _Rows:
        told = np.zeros(len(items), dtype=np.bool_)
        cells = part.cells
        if cells is None or not part.tells(scale):
            none = np.zeros(len(part.sizes) + 2, dtype=np.int64)
            contents = Symbols.exact(scale, np.empty(0))
            return cls(none, np.empty(0, np.int32), np.empty(0, np.uint8), contents, told)
        place = items.indices(cells.items).astype(np.int32)
        told[place] = True
        indptr = np.append(cells.indptr, cells.indptr[-1])
        return cls(indptr, place[cells.columns], cells.codes, cells.symbols, told)


@dataclass(frozen=True, eq=False)
class _Stack:
    """The cells of joint classes, from the rows of several releases.

    `pattern` (joint classes,): in which of them the people are. `default` (patterns, releases,
    items): what each says where it has no cell. `open` (patterns, items): where a rating is
    possible that none has a cell of. `ends` (joint classes,): cells up to each, at most.
    """

    rows: Sequence[_Rows]
    joint: Joint
    items: Vocabulary
    pool: Pool
    pattern: Ints
    default: Ints
    open: NDArray[np.bool_]
    ends: Ints

    @classmethod
    def of(
        cls,
        parts: Sequence[Part],
        joint: Joint,
        items: Vocabulary,
        scale: Scale,
        changes: Changes,
    ) -> _Stack:
        rows = [_Rows.of(part, items, scale) for part in parts]
        pool = Pool.of(scale, [row.symbols for row in rows])
        patterns, pattern = np.unique(joint.classes >= 0, axis=0, return_inverse=True)
        pattern = pattern.reshape(-1)
        told = np.stack([row.told for row in rows])
        default = np.where(patterns[:, :, None] & told, pool.nothing, pool.anything)
        histories = np.moveaxis(default, 1, 2).reshape(-1, len(rows))
        last = possible(pool, histories, changes).last
        opened = last.has_rating.reshape(len(patterns), len(items))
        most = opened.sum(axis=1)[pattern]
        for row, classes in zip(rows, joint.classes.T, strict=True):
            most = most + np.diff(row.indptr)[classes]  # the last row is empty
        return cls(rows, joint, items, pool, pattern, default, opened, np.cumsum(most))

    def refuse_too_much(self) -> None:
        needed = _BYTES * int(self.ends[-1])
        if needed > budget.left(0):
            raise ConfigError(
                f"composition: about {budget.amount(needed)} of memory for "
                f"{counted(len(self.joint.sizes), 'joint class', 'joint classes')} x "
                f"{counted(len(self.items), 'item')}; "
                f"{budget.amount(max(0, budget.left(0)))} may be used",
                advice=f"Allow more memory{aside('memory')}, or give fewer releases at once.",
            )

    def blocks(self) -> Iterator[tuple[int, int]]:
        cuts = np.searchsorted(self.ends, np.arange(0, self.ends[-1], _BLOCK), side="right")
        yield from pairwise(np.unique([0, *cuts.tolist(), len(self.ends)]).tolist())

    def of_rows(self, start: int, stop: int) -> tuple[Ints, Ints]:
        """Return the cells of some joint classes, row by row, and what each release has there."""
        own = [self._cells(j, start, stop) for j in range(len(self.rows))]
        pattern, n_items = self.pattern[start:stop], len(self.items)
        row, item = np.nonzero(self.open[pattern])
        merged = np.sort(
            np.concatenate([row * n_items + item, *(key for key, _ in own)]), kind="stable"
        )
        merged = merged[np.diff(merged, prepend=-1) > 0]
        row, item = np.divmod(merged, max(n_items, 1))
        codes = self.default[pattern[row], :, item]
        for j, (key, code) in enumerate(own):
            codes[np.searchsorted(merged, key), j] = code
        return merged, codes

    def _cells(self, j: int, start: int, stop: int) -> tuple[Ints, Ints]:
        rows, classes = self.rows[j], self.joint.classes[start:stop, j]
        taken = np.where(classes < 0, len(rows.indptr) - 2, classes)
        indptr, columns, codes, _ = keep_rows(rows.indptr, rows.columns, rows.codes, None, taken)
        key = np.repeat(np.arange(stop - start), np.diff(indptr)) * len(self.items) + columns
        return key, codes.astype(np.int64) + self.pool.offsets[j]
