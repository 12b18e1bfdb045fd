"""Which columns of a wide table hold other values than most, one cell at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tests.naive.outlying import outlying

Cells = Sequence[float]


def unlike_most(columns: Sequence[Sequence[float | None]]) -> set[int]:
    """Return the places of the columns; None where there is no rating."""
    filled: dict[int, Cells] = {}
    for place, column in enumerate(columns):
        counts = Counter(cell for cell in column if cell is not None)
        codes = outlying(counts)
        if cells := [cell for cell in column if cell is not None and cell not in codes]:
            filled[place] = cells
    best: tuple[int, float] = (0, 0)
    most: list[int] = []
    low = high = 0.0
    for bottom, top in sorted({(min(cells), max(cells)) for cells in filled.values()}):
        alike = [place for place, cells in filled.items() if fills(cells, bottom, top)]
        if (len(alike), bottom - top) > best:
            best, most, low, high = (len(alike), bottom - top), alike, bottom, top
    fine = {place for place, cells in filled.items() if is_fine(cells)}
    coarse = len(fine & set(most)) < len(most) / 2
    of = [place for place in filled if not (coarse and place in fine)]
    if len(most) < 3 or len(most) <= len(of) / 2:
        return set()
    return {
        place
        for place, cells in filled.items()
        if lies_outside(cells, low, high) or (coarse and place in fine)
    }


def fills(cells: Cells, low: float, high: float) -> bool:
    """Tell whether a column lies in a range and fills three quarters of it."""
    inside = low <= min(cells) and max(cells) <= high
    return inside and low < high and max(cells) - min(cells) >= 0.75 * (high - low)


def is_fine(cells: Cells) -> bool:
    """Tell whether more than a quarter of the cells are no multiple of a half."""
    return sum(cell % 0.5 != 0 for cell in cells) > len(cells) / 4


def lies_outside(cells: Cells, low: float, high: float) -> bool:
    """Tell whether many cells lie outside, some of them far; or nearly all, though not far."""
    beyond = [max(low - cell, cell - high) for cell in cells]
    outside = sum(distance > 0 for distance in beyond)
    off = sum(distance > (high - low) / 2 for distance in beyond)
    far = outside > len(cells) / 4 and max(beyond) > 2 * (high - low)
    return far or off >= 0.9 * len(cells)
