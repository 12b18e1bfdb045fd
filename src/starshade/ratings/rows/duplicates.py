"""Users who rated an item more than once: refused by row, or made one rating each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InputError
from starshade.naming import aside, named
from starshade.plain import counted
from starshade.ratings.levels import code_type, places_of
from starshade.ratings.rows.wrong import NAMED, Wrong, allowed_ratings
from starshade.ratings.scale import Scale
from starshade.ratings.settings import OnDuplicate
from starshade.ratings.table import UNKNOWN_DAY, ByItem
from starshade.ratings.vocabulary import Vocabulary, is_nothing

#: what several ratings of one item by one user may become
RULES = "last (the latest date, then the last row), first, latest, mean, sum or max"


def repeated_rows(
    same: NDArray[np.bool_],
    rows: NDArray[np.int64],
    locate: Callable[[int], str],
    name: Callable[[int], str] | None,
) -> Wrong:
    """Find the first rows which repeat an earlier one.

    `same`: cells that repeat the one before them. `rows`: row number of each cell. `locate`: row
    number → "file:line". `name`: cell → its ids, where they may be shown.
    """
    repeated = np.flatnonzero(same)
    firsts = np.flatnonzero(~same)
    earliest = repeated[np.argsort(rows[repeated])[:NAMED]]
    repeats = []
    for cell in earliest:
        first = firsts[np.searchsorted(firsts, cell) - 1]
        text = f"the user already rated this item, at {locate(int(rows[first]))}"
        repeats.append((int(rows[cell]), text + (name(int(cell)) if name else "")))
    return Wrong(len(repeated), tuple(repeats))


def namer(cells: ByItem, users: Vocabulary, items: Vocabulary) -> Callable[[int], str]:
    """Return what names a cell by its ids."""

    def name(cell: int) -> str:
        item = int(np.searchsorted(cells.indptr, cell, side="right")) - 1
        return f" (user {users[int(cells.users[cell])]}, item {items[item]})"

    return name


def refuse_repeated(wrong: Wrong, locate: Callable[[int], str], users: Vocabulary) -> InputError:
    """Return the error that names rows which repeat an earlier one."""
    nothing = (
        "First remove rows whose user id is a word for a missing value, such as NULL or nan: "
        "they count as one user. "
        if any(map(is_nothing, users.texts))
        else ""
    )
    return InputError(
        "rows that repeat a user and an item (allowed: one rating per user and item)\n"
        + wrong.named(locate),
        advice=f"{nothing}Choose with {named('on_duplicate')}: {RULES}.",
        setting="on_duplicate",
    )


@dataclass(frozen=True, eq=False)
class Merged:
    """One cell of each run of cells.

    `cells`: with their codes of before. `changed`: those whose rating is computed from several,
    `means` (or sums), and `ends`: where the last of each run was. `how`: the rule. `tied`: runs
    whose rating the order of rows decided, as several had that day and different ratings.
    """

    cells: ByItem
    changed: NDArray[np.int64]
    means: NDArray[np.float64]
    ends: NDArray[np.int64]
    how: OnDuplicate = "last"
    tied: int = 0

    @classmethod
    def of(cls, cells: ByItem, tied: int = 0) -> Merged:
        """Take cells of which none repeats another."""
        return cls(cells, np.empty(0, int), np.empty(0), np.empty(0, int), tied=tied)

    def counts(self, n_levels: int) -> NDArray[np.int64]:
        """Count the cells that still have each level."""
        untouched = np.ones(len(self.cells.codes), dtype=np.bool_)
        untouched[self.changed] = False
        return np.bincount(self.cells.codes[untouched], minlength=n_levels)

    def off(self, scale: Scale) -> NDArray[np.bool_]:
        """Mark the means or sums that are no ratings of the scale."""
        return ~scale.contains(self.means)

    def wrong(self, off: NDArray[np.bool_], rows: NDArray[np.int64]) -> Wrong:
        """Name these means or sums by their last rows; `rows`: the number of each cell's row."""
        means, at = self.means[off], rows[self.ends[off]]
        order = np.argsort(at)[:NAMED]
        named = (
            (int(at[i]), f"the {self.how} {means[i]:.12g} of this row and earlier ones")
            for i in order
        )
        return Wrong(len(at), tuple(named))

    def recoded(
        self,
        used: NDArray[np.bool_],
        before: NDArray[np.float64],
        levels: NDArray[np.float64],
        scale: Scale,
    ) -> ByItem:
        """Return the cells with codes into other levels, which hold the `used` ones and means."""
        cells = self.cells
        new_code = np.zeros(len(before), dtype=np.int64)
        new_code[used] = places_of(before[used], levels, scale)
        codes = new_code[cells.codes]
        codes[self.changed] = places_of(self.means, levels, scale)
        narrow = codes.astype(code_type(len(levels)))
        return ByItem(cells.indptr, cells.users, narrow, cells.days)


def merge(cells: ByItem, same: NDArray[np.bool_], how: OnDuplicate, levels: NDArray[Any]) -> Merged:
    """Make one cell of each run of cells, by the rule `how` (not "error").

    ``last`` is the latest day, then the last row; ``first`` the earliest day, then the first row;
    a row without a day gives way to one that has one. A mean or sum has the day of the last.
    """
    starts = np.flatnonzero(~same)
    ends = np.append(starts[1:], len(same)) - 1
    runs = np.flatnonzero(ends > starts)
    kept = starts.copy()
    kept[runs], tied = _kept(cells, same, how)
    # cells kept before each item's first
    indptr = np.concatenate([[0], np.cumsum(~same)])[cells.indptr]
    merged = ByItem(
        indptr,
        cells.users[kept],
        cells.codes[kept],
        None if cells.days is None else cells.days[kept],
    )
    if how not in ("mean", "sum"):
        return Merged.of(merged, tied)
    values = levels[cells.codes]
    means = np.array(
        [
            math.fsum(values[s : e + 1]) / (e + 1 - s if how == "mean" else 1)
            for s, e in zip(starts[runs], ends[runs], strict=True)
        ]
    )
    return Merged(merged, runs, means, ends[runs], how)


def _kept(
    cells: ByItem, same: NDArray[np.bool_], how: OnDuplicate
) -> tuple[NDArray[np.int64], int]:
    """Return the cell that stays of each run of several, and in how many the day did not decide."""
    several = same.copy()
    several[:-1] |= same[1:]
    where = np.flatnonzero(several)
    run = np.cumsum(~same[where])
    days = np.zeros(len(where), dtype=np.int64)
    if cells.days is not None:
        days = cells.days[where].astype(np.int64)
        days[days == UNKNOWN_DAY] = UNKNOWN_DAY if how == "first" else -1
    rating = cells.codes[where] if how == "max" else np.zeros(len(where), dtype=np.uint8)
    order = where[np.lexsort((days, rating, run))]  # stable: in file order where all are equal
    bounds = np.flatnonzero(np.diff(run))
    first, last = np.append(0, bounds + 1), np.append(bounds, len(where) - 1)
    kept = np.asarray(order[first if how == "first" else last])
    if how not in ("first", "last", "latest") or cells.days is None:
        return kept, 0
    of_run = np.repeat(kept, last - first + 1)
    on_the_day = (cells.days[where] == cells.days[of_run]) & (cells.days[where] != UNKNOWN_DAY)
    open_ = on_the_day & (cells.codes[where] != cells.codes[of_run])
    return kept, int(np.count_nonzero(np.logical_or.reduceat(open_, first)))


def off_the_steps(
    wrong: Wrong, scale: Scale, how: OnDuplicate, locate: Callable[[int], str]
) -> InputError:
    """Return the error that names means or sums which are no ratings of the scale."""
    wider = f"{scale.minimum:g}:{scale.maximum:g}"
    what = f"a real-valued scale{aside('scale', wider)}"
    if how == "sum":
        what = f"a scale that contains every sum{aside('scale')}"
    return InputError(
        f"{how}s of repeated ratings off the scale {scale} (allowed: {allowed_ratings(scale)})\n"
        + wrong.named(locate),
        advice=f"Declare {what}, or keep the first or last rating instead.",
    )


def widened(scale: Scale, how: OnDuplicate, held: NDArray[np.float64], *, off: bool) -> Scale:
    """Return the scale on which all means or sums lie; `held`: the ratings that are left.

    Means off the steps make it real-valued; of sums it is inferred.
    """
    if not off:
        return scale
    return Scale.infer(held) if how == "sum" else Scale(scale.minimum, scale.maximum)


def told(
    notes: tuple[str, ...], before: Scale, after: Scale, how: OnDuplicate, tied: int
) -> tuple[str, ...]:
    """Return the notes, and that means or sums changed the scale, or days were `tied`."""
    if tied:
        pairs = counted(tied, "repeated rating")
        decided = "earliest" if how == "first" else "latest"
        notes = (
            *notes,
            f"{pairs} with different values on the {decided} day: times of day are ignored, so "
            "the order of rows decided",
        )
    if after == before:
        return notes
    what = f"the scale is {after}" if how == "sum" else f"the scale is real-valued, {after}"
    return (*notes, f"{how}s of repeated ratings lie off the scale {before}: {what}")
