"""k-anonymity of cells (definitions, "k-anonymity"), written for reading."""

from __future__ import annotations

from collections import Counter

from starshade.release.cells import Cells


def contents(cells: Cells) -> list[tuple]:
    """What each row says of every item: members (None: null), or the ends of a range."""
    symbols = cells.symbols
    rows = []
    for row in range(cells.n_groups):
        told: list[object] = [frozenset([None])] * cells.n_items
        for place in range(cells.indptr[row], cells.indptr[row + 1]):
            s = cells.codes[place]
            members = symbols.members[symbols.offsets[s] : symbols.offsets[s + 1]].tolist()
            said: object = frozenset(members + ([None] if symbols.null[s] else []))
            if symbols.is_range[s]:
                said = (float(symbols.low[s]), float(symbols.high[s]))
            day = None if cells.days is None else int(cells.days[place])
            told[cells.columns[place]] = said if day is None else (said, day)
        rows.append(tuple(told))
    return rows


def class_sizes(cells: Cells) -> list[int]:
    """Records of each class, smallest first."""
    count: Counter[tuple] = Counter()
    for row, size in zip(contents(cells), cells.sizes.tolist(), strict=True):
        count[row] += size
    return sorted(count.values())


def k_anonymous(cells: Cells, k: int) -> tuple[bool, int, int]:
    """Satisfied; records in classes that are too small; the smallest class."""
    sizes = class_sizes(cells)
    failing = sum(size for size in sizes if size < k)
    return failing == 0, failing, sizes[0]
