"""The same user and item more than once: refuse, or make one rating of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InputError
from starshade.naming import aside, named
from starshade.ratings.building.staging import allowed_ratings, name_rows
from starshade.ratings.levels import code_type, level_table
from starshade.ratings.scale import Scale
from starshade.ratings.table import ByItem

__all__ = ["Coded", "merge_duplicates", "refuse_duplicates"]


@dataclass(frozen=True, eq=False)
class Coded:
    """Cells by item with the scale and levels of their codes; in a cell's run, file order."""

    cells: ByItem
    scale: Scale
    levels: NDArray[np.float64]


def refuse_duplicates(
    same: NDArray[np.bool_],
    rows: NDArray[np.int64],
    locate: Callable[[int], str],
    name: Callable[[int], str] | None,
) -> InputError:
    """Return the error that names the first rows which repeat an earlier one.

    `same`: cells that repeat the one before them. `rows`: row number of each cell. `locate`: row
    number → "file:line". `name`: cell → its ids, where they may be shown.
    """
    repeated = np.flatnonzero(same)
    firsts = np.flatnonzero(~same)
    earliest = repeated[np.argsort(rows[repeated])[:5]]
    repeats = []
    for cell in earliest:
        first = firsts[np.searchsorted(firsts, cell) - 1]
        text = f"the user rated this item before, at {locate(int(rows[first]))}"
        repeats.append((int(rows[cell]), text + (name(int(cell)) if name else "")))
    return InputError(
        "rows that rate an item for a second time (allowed: one rating per user and item)\n"
        + name_rows(repeats, len(repeated), locate),
        advice=f"Say which to keep with {named('on_duplicate')}: first, last or mean.",
    )


def merge_duplicates(
    coded: Coded,
    same: NDArray[np.bool_],
    how: Literal["first", "last", "mean"],
    *,
    declared: bool,
    rows: Callable[[], NDArray[np.int64]],
    locate: Callable[[int], str],
) -> Coded:
    """Make one cell of each run of cells; the mean keeps the day of the last."""
    starts = np.flatnonzero(~same)
    ends = np.append(starts[1:], len(same)) - 1
    kept = starts if how == "first" else ends
    cells = coded.cells
    # cells kept before each item's first
    indptr = np.concatenate([[0], np.cumsum(~same)])[cells.indptr]
    merged = ByItem(
        indptr,
        cells.users[kept],
        cells.codes[kept],
        None if cells.days is None else cells.days[kept],
    )
    if how != "mean":
        return _recode(Coded(merged, coded.scale, coded.levels), np.empty(0, int), np.empty(0))
    runs = np.flatnonzero(ends > starts)
    values = coded.levels[cells.codes]
    means = np.array(
        [
            math.fsum(values[s : e + 1]) / (e + 1 - s)
            for s, e in zip(starts[runs], ends[runs], strict=True)
        ]
    )
    scale = coded.scale
    off = ~scale.contains(means)
    if off.any() and declared:
        raise _off_the_steps(means[off], rows()[ends[runs[off]]], scale, locate)
    if off.any():
        scale = Scale(scale.minimum, scale.maximum)
    return _recode(Coded(merged, scale, coded.levels), runs, means)


def _recode(coded: Coded, changed: NDArray[np.int64], means: NDArray[np.float64]) -> Coded:
    """Give the changed cells their new ratings; a real scale keeps only levels in use."""
    cells = coded.cells
    untouched = np.ones(len(cells.codes), dtype=np.bool_)
    untouched[changed] = False
    used = np.flatnonzero(np.bincount(cells.codes[untouched], minlength=len(coded.levels)))
    levels, positions = level_table(np.concatenate([coded.levels[used], means]), coded.scale)
    new_code = np.zeros(len(coded.levels), dtype=np.int64)
    new_code[used] = positions[: len(used)]
    codes = new_code[cells.codes]
    codes[changed] = positions[len(used) :]
    narrow = codes.astype(code_type(len(levels)))
    return Coded(ByItem(cells.indptr, cells.users, narrow, cells.days), coded.scale, levels)


def _off_the_steps(
    means: NDArray[np.float64],
    rows: NDArray[np.int64],
    scale: Scale,
    locate: Callable[[int], str],
) -> InputError:
    order = np.argsort(rows)[:5]
    named = [(int(rows[i]), f"mean {means[i]:.12g} of this row and earlier ones") for i in order]
    return InputError(
        f"means of repeated ratings off the scale {scale} (allowed: {allowed_ratings(scale)})\n"
        + name_rows(named, len(rows), locate),
        advice="Declare a real-valued scale"
        f"{aside('scale', f'{scale.minimum:g}:{scale.maximum:g}')}, or keep the first or last "
        "rating instead.",
    )
