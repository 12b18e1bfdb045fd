"""Rows sorted out of memory: runs on disk, each by user, in the order of the file.

A run holds some consecutive rows: its own users in canonical order, and behind each their rows in
file order. Users of all runs are cut at the same ids, so a shard is a slice of every run.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.progress import task
from starshade.ratings.places.checked import Arrays, ids_as_arrays, load, write_arrays
from starshade.ratings.rows.laying import rows_by_user
from starshade.ratings.scale import Scale
from starshade.ratings.shards.shards import Shards
from starshade.ratings.staging import NO_DAY, Batch, Staged, Staging
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from starshade.ratings.vocabulary import Vocabulary, union

_PER_ROW = 96  # bytes of memory that sorting a run takes for each of its rows
_FEWEST, _MOST = 1 << 16, 1 << 26  # rows of a run, but for the last
_AMONG_ALL = "all."
_CANDIDATES = 4096  # users of each run at whom shards may begin


class _Texts(Sequence[str]):
    """Texts that stay on disk."""

    def __init__(self, text: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        self._text, self._ends = text, ends

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        return self._text[self._ends[at] : self._ends[at + 1]].tobytes().decode()


@dataclass(frozen=True, eq=False)
class Run:
    """A run on disk.

    Its items and ratings have numbers that were given out while it was written. Where others were
    written apart from it, `numbered` says in its folder what they are among those of all.
    """

    folder: Path

    @cached_property
    def indptr(self) -> NDArray[np.int64]:
        """Where each user's rows begin."""
        return load(self.folder, "indptr")

    @cached_property
    def _integers(self) -> NDArray[np.int64]:
        return load(self.folder, "users.integers")

    @cached_property
    def _texts(self) -> _Texts:
        return _Texts(load(self.folder, "users.text"), load(self.folder, "users.offsets"))

    def users(self, start: int, stop: int) -> Vocabulary:
        """Return a range of the users."""
        n = len(self._integers)
        texts = self._texts[max(start - n, 0) : max(stop - n, 0)]
        return Vocabulary(np.array(self._integers[start : min(stop, n)]), texts)

    def places(self, ids: Vocabulary) -> NDArray[np.int64]:
        """Return how many users come before each id."""
        n = len(self._integers)
        texts = [n + bisect_left(self._texts, text) for text in ids.texts]
        before = np.searchsorted(self._integers, ids.integers)
        return np.concatenate([before, np.array(texts, dtype=np.int64)])

    def some_users(self, n: int) -> Vocabulary:
        """Return users at about equal distances in rows; all of them where they are few."""
        size = len(self.indptr) - 1
        at = np.searchsorted(self.indptr, np.linspace(0, self.indptr[-1], n)) if size > n else None
        chosen = np.arange(size) if at is None else np.unique(np.minimum(at, size - 1))
        split = int(np.searchsorted(chosen, len(self._integers)))
        texts = [self._texts[int(i) - len(self._integers)] for i in chosen[split:]]
        return Vocabulary(np.array(self._integers[chosen[:split]]), texts)

    def column(self, name: str, rows: slice) -> NDArray[Any]:
        """Read some rows of a column."""
        found = np.array(load(self.folder, name)[rows])
        if (self.folder / f"{_AMONG_ALL}{name}.npy").exists():
            found = load(self.folder, f"{_AMONG_ALL}{name}")[found]
        return found

    def numbered(self, items: NDArray[np.int32], codes: NDArray[Any]) -> None:
        """Write down which numbers of all runs its own stand for."""
        write_arrays(self.folder, {f"{_AMONG_ALL}items": items, f"{_AMONG_ALL}codes": codes})

    def row_numbers(self, rows: slice) -> NDArray[np.int64]:
        """Return where rows stood in the input."""
        place = self.column("places", rows).astype(np.int64)
        starts = load(self.folder, "starts")
        block = np.searchsorted(starts, place, side="right") - 1
        return np.asarray(load(self.folder, "first_rows")[block] + place - starts[block])


@dataclass(frozen=True, eq=False)
class Runs:
    """All rows on disk, and what is known of them at their end.

    `item_rank`: number in the runs → index among `items`. `distinct`, `first_day`: as in `Staged`.
    """

    runs: tuple[Run, ...]
    items: Vocabulary
    item_rank: NDArray[np.int32]
    distinct: NDArray[np.float64]
    first_day: int | None
    n_rows: int

    @cached_property
    def users(self) -> Vocabulary:
        """All users."""
        return union([run.users(0, len(run.indptr) - 1) for run in self.runs])

    def cuts(self, n: int) -> NDArray[np.int64]:
        """Cut the users into at most `n` ranges of about equally many rows.

        Returns (ranges + 1, runs): where each range begins among the users of each run. A range
        holds somebody.
        """
        n = min(n, max(1, self.n_rows))  # no finer than a row each
        some = union([run.some_users(max(_CANDIDATES, 64 * n)) for run in self.runs])
        places = np.array([run.places(some) for run in self.runs])
        rows = sum(run.indptr[at] for run, at in zip(self.runs, places, strict=True))
        wanted = self.n_rows * np.arange(1, n) / n
        nearest = np.clip(np.searchsorted(rows, wanted), 1, max(1, len(some) - 1))
        nearest -= np.abs(rows[nearest - 1] - wanted) < np.abs(rows[nearest % len(some)] - wanted)
        inner = np.unique(nearest[(nearest > 0) & (nearest < len(some))])
        ends = [len(run.indptr) - 1 for run in self.runs]
        return np.array([np.zeros(len(ends), np.int64), *places[:, inner].T, ends])

    def first_users(self, cuts: NDArray[np.int64]) -> list[int]:
        """Return how many users come before each range."""
        sizes = [len(union(self._ids(*ends))) for ends in pairwise(cuts)]
        return [0, *accumulate(sizes)][:-1]

    def _ids(self, start: NDArray[np.int64], stop: NDArray[np.int64]) -> list[Vocabulary]:
        ends = zip(self.runs, start.tolist(), stop.tolist(), strict=True)
        return [run.users(a, b) for run, a, b in ends if a < b]

    def part(self, start: NDArray[np.int64], stop: NDArray[np.int64]) -> tuple[Staged, Vocabulary]:
        """Return the rows of a range of users, numbered as in the vocabulary returned."""
        ranges = [
            (run, int(a), int(b)) for run, a, b in zip(self.runs, start, stop, strict=True) if a < b
        ]
        own = self._ids(start, stop)
        users = union(own)
        staged = Staged(distinct=self.distinct, first_day=self.first_day)
        rows = [slice(int(run.indptr[a]), int(run.indptr[b])) for run, a, b in ranges]
        for (run, a, b), each, here in zip(ranges, own, rows, strict=True):
            index = users.indices(each).astype(np.int32)
            staged.user_blocks.append(np.repeat(index, np.diff(run.indptr[a : b + 1])))
            staged.item_blocks.append(run.column("items", here))
            staged.code_blocks.append(run.column("codes", here))
            dated = self.first_day is not None
            staged.day_blocks.append(run.column("days", here) if dated else None)

        def row_of(places: NDArray[np.int64]) -> NDArray[np.int64]:
            numbers = [r.row_numbers(at) for (r, *_), at in zip(ranges, rows, strict=True)]
            return np.asarray(np.concatenate(numbers)[places])

        staged.row_of = row_of
        return staged, users


def spill(
    batches: Iterable[Batch],
    scale: Scale | None,
    folder: Path,
    tables: Sequence[Shards | Ratings] = (),
) -> tuple[list[Run], Staging]:
    """Write batches as runs into a new folder; returns also what was staged on the way.

    `tables`: go before them; their rows are sorted already, and numbered below 0.
    """
    folder.mkdir(mode=0o700)
    most = min(max(budget.memory() // _PER_ROW, _FEWEST), _MOST)
    staging = Staging(scale)
    runs: list[Run] = []
    first_row = -sum(table.n_ratings for table in tables)
    for part in _parts(tables):
        runs.append(_adopt(part, staging, first_row, folder / f"run-{len(runs):05}"))
        first_row += part.n_ratings

    def write() -> None:
        runs.append(_write(staging.cut(), folder / f"run-{len(runs):05}"))

    with task("reading ratings") as step:
        for batch in batches:
            staging.take(batch)
            step(len(batch))
            if staging.n_rows >= most:
                write()
    if staging.n_rows:
        write()
    return runs, staging


def runs_of(
    batches: Iterable[Batch],
    scale: Scale | None,
    locate: Callable[[int], str],
    folder: Path,
    tables: Sequence[Shards | Ratings] = (),
) -> Runs:
    """Write batches as runs, see `spill`; refuse what no later step could repair."""
    runs, staging = spill(batches, scale, folder, tables)
    staged = staging.finish(locate)
    items, rank = staged.items.finish()
    n_rows = sum(int(run.indptr[-1]) for run in runs)
    return Runs(tuple(runs), items, rank, staged.distinct, staged.first_day, n_rows)


def _parts(tables: Sequence[Shards | Ratings]) -> Iterator[Ratings]:
    for table in tables:
        if isinstance(table, Ratings):
            yield table
        else:
            yield from map(table.shard, range(len(table)))


def _adopt(table: Ratings, staging: Staging, first_row: int, folder: Path) -> Run:
    """Write a table as a run: users without a rating are in it as well."""
    items, positions = staging.learn(table, first_row)
    days = np.full(table.n_ratings, NO_DAY, dtype=np.int32)
    if table.days is not None:
        known = table.days != UNKNOWN_DAY
        days[known] = table.days[known].astype(np.int32) + np.int32(table.first_day)
    columns = {
        "indptr": table.indptr,
        "items": items[table.columns],
        "codes": positions[table.codes],
        "days": days,
        "places": np.arange(table.n_ratings, dtype=np.uint32),
        "starts": np.zeros(1, dtype=np.int64),
        "first_rows": np.array([first_row]),
    }
    return _run(folder, table.users, columns)


def _run(folder: Path, users: Vocabulary, columns: Arrays) -> Run:
    folder.mkdir(mode=0o700)
    write_arrays(folder, ids_as_arrays("users", users) | columns)
    return Run(folder)


def _write(staged: Staged, folder: Path) -> Run:
    users, user_rank = staged.users.finish()
    as_numbered = np.arange(staged.items.count, dtype=np.int32)
    indptr, items, places = rows_by_user(staged, (user_rank, as_numbered))
    codes = np.concatenate(staged.code_blocks)[places]
    sizes = np.array([len(block) for block in staged.user_blocks])
    days = [
        np.full(n, NO_DAY, dtype=np.int32) if block is None else block
        for n, block in zip(sizes, staged.day_blocks, strict=True)
    ]
    columns: Arrays = {
        "indptr": indptr,
        "items": items,
        "codes": codes,
        "days": np.concatenate(days)[places],
        "places": places.astype(np.uint32),
        "starts": np.concatenate([[0], np.cumsum(sizes)[:-1]]),
        "first_rows": np.array(staged.first_rows, dtype=np.int64),
    }
    return _run(folder, users, columns)
