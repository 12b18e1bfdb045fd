"""Releases as their definitions tell of them: classes, kept groups and what cells hold."""

from __future__ import annotations

from collections import Counter

from starshade.attack.composition.people import Part
from starshade.release.cells import Cells, Symbols
from tests.naive import again as naive
from tests.naive.composition import Content


def content(symbols: Symbols, code: int) -> Content:
    if symbols.is_range[code]:
        least = max(float(symbols.low[code]), symbols.scale.minimum)
        return least, float(symbols.high[code]), bool(symbols.null[code])
    members = symbols.members[symbols.offsets[code] : symbols.offsets[code + 1]].tolist()
    return frozenset([*members, *([None] if symbols.null[code] else [])])


def cells_told(cells: Cells) -> list[dict[str, Content]]:
    """What each row of cells says of each of its items."""
    out = []
    for row in range(cells.n_groups):
        said: dict[str, Content] = dict.fromkeys(cells.items, naive.NOTHING)
        for p in range(cells.indptr[row], cells.indptr[row + 1]):
            said[cells.items[int(cells.columns[p])]] = content(cells.symbols, int(cells.codes[p]))
        out.append(said)
    return out


def told_of(part: Part) -> naive.Told:
    rows = zip(part.class_of_user.tolist(), part.group_of_user.tolist(), strict=True)
    return naive.Told(
        dict(zip(part.users, rows, strict=True)),
        None if part.cells is None else cells_told(part.cells),
        part.means,
        Counter({g: n for g, n in enumerate(part.nobodys.tolist()) if n}),
    )
