"""The conditions that query errors are measured with (KL §5.2.2; definitions, "query-error")."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.averages import Board
from starshade.ratings.scale import SLACK, Scale

__all__ = ["WIDTHS", "drawn_any", "fitting_all", "windows"]

WIDTHS = 6  # of rating ranges: 0 to 5 fifths
_FLAGS = 2**24  # combinations that are flagged rather than sorted


def fitting_all(
    true: Board, items: Sequence[int], n_levels: int, draws: int, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Draw some of the combinations of ratings on these items that an original person has.

    `true`: the original: content 1 + l is the l-th level, 0 null. Returns (up to `draws`, s): each
    combination once; those without anybody who has the attribute are none.
    """
    number = np.zeros(len(true.totals), dtype=np.int64)
    fits = true.counts > 0
    for item in items:
        fits &= true.codes[item] > 0
    number = number[fits]
    for item in items:
        number = number * n_levels + (true.codes[item][fits] - 1)
    if n_levels ** len(items) <= _FLAGS:
        flags = np.zeros(n_levels ** len(items), dtype=np.bool_)
        flags[number] = True
        number = np.flatnonzero(flags)
    else:
        number = np.unique(number)
    if len(number) > draws:
        number = rng.choice(number, draws, replace=False)
    return _digits(number, len(items), n_levels)


def drawn_any(size: int, n_levels: int, draws: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return every combination of ratings on so many items, or some of them where they are more.

    Returns (up to `draws`, size): positions among the levels.
    """
    if n_levels**size <= draws:
        return _digits(np.arange(n_levels**size), size, n_levels)
    return rng.integers(0, n_levels, (draws, size), dtype=np.int32)


def _digits(number: NDArray[np.int64], size: int, base: int) -> NDArray[np.int32]:
    powers = base ** np.arange(size - 1, -1, -1, dtype=np.int64)
    return np.asarray(number[:, None] // powers % base, dtype=np.int32)


def windows(scale: Scale) -> list[NDArray[np.bool_]]:
    """Return the ranges of each width as flags over the levels.

    Widths are 0 to 5 fifths of the scale with null's level below it: 0 to 5 on 1-5 and on half
    stars up to 5.

    Returns (ranges, levels): each range within the scale; the whole scale, alone, where the width
    reaches beyond it.
    """
    levels = scale.levels
    ranges = []
    for fifths in range(WIDTHS):
        width = fifths * (scale.maximum - scale.null_level) / (WIDTHS - 1)
        starts = levels[levels + width <= scale.maximum + SLACK]
        if not len(starts):
            starts = levels[:1]
        low, high = starts[:, None] - SLACK, starts[:, None] + width + SLACK
        ranges.append((levels >= low) & (levels <= high))
    return ranges
