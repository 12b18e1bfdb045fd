"""A release spelled out as CSV, for small ones and for eyes."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from starshade.errors import ConfigError
from starshade.ratings.places.atomic import atomic_file
from starshade.ratings.places.place import Where
from starshade.release.profile.profiles import Profiles, refuse_large
from starshade.release.symbols import Symbols

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

    from starshade.release.table import Release

__all__ = ["sparse_rows", "write_csv"]


def write_csv(release: Release, path: Where) -> None:
    """Write one row per record and cell that says more than null, members spelled out.

    Columns ``record, group, item, name, members``; members are separated by ``|``, null is the
    word ``null``, a range is ``low..high``. Generalized attributes and the sensitive ones beside
    them follow as columns of their own names: a range as ``low..high`` (before it ``null|`` where
    null is possible), a list of values as JSON, a sensitive value as it is.
    """
    keys = list(release.classes.items)
    names = release.item_names or ("",) * len(keys)
    mode = 0o600 if release.manifest.audience == "query" else 0o666
    with atomic_file(path, mode) as temporary, temporary.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        beside = _people(release)
        out.writerow(["record", "group", "item", "name", "members", *beside])
        people = list(zip(*beside.values(), strict=True)) or [()] * release.n_records
        cells_of = _cells_of(release)
        for record, row in enumerate(release.class_of_record.tolist()):
            group = row if release.groups is None else int(release.groups[record])
            for item, text in cells_of(row):
                out.writerow([record, group, keys[item], names[item], text, *people[record]])


def _cells_of(release: Release) -> Callable[[int], Iterable[tuple[int, str]]]:
    """Return a reader of the rows: items that are not null alone, and what is said of each."""
    classes = release.classes
    if isinstance(classes, Profiles):
        spelled = [f"{rating:.10g}" for rating in classes.ratings]

        def levels(row: int) -> Iterable[tuple[int, str]]:
            items = np.flatnonzero(classes.levels[row])
            shown = classes.levels[row, items] - 1
            return zip(items.tolist(), [spelled[level] for level in shown], strict=True)

        return levels
    texts = [_spell(classes.symbols, s) for s in range(len(classes.symbols))]

    def cells(row: int) -> Iterable[tuple[int, str]]:
        here = slice(int(classes.indptr[row]), int(classes.indptr[row + 1]))
        shown = [texts[code] for code in classes.codes[here]]
        return zip(classes.columns[here].tolist(), shown, strict=True)

    return cells


def sparse_rows(release: Release) -> tuple[csr_matrix, NDArray[np.int64]]:
    """Return the released rows as a SciPy matrix, and how many records each stands for.

    A null has no entry, and a rating of 0 has one.
    """
    from scipy.sparse import csr_matrix

    cells = release.cells()
    symbols = cells.symbols
    if not symbols.is_single.all():
        raise ConfigError(
            f"a release of layout {release.manifest.layout!r}: its cells are no single numbers",
            advice="Release.to_csv writes what each cell may be.",
        )
    n = len(cells.codes)
    refuse_large(f"{n:,} cells as a SciPy matrix", needed=20 * n, held=5 * n)
    values = symbols.bounds[1][cells.codes]
    shape = (cells.n_groups, cells.n_items)
    return csr_matrix((values, cells.columns, cells.indptr), shape=shape), cells.sizes.copy()


def _spell(symbols: Symbols, s: int) -> str:
    if symbols.is_range[s]:
        return f"{symbols.low[s]:.10g}..{symbols.high[s]:.10g}"
    members = symbols.members[symbols.offsets[s] : symbols.offsets[s + 1]]
    return "|".join(["null"] * bool(symbols.null[s]) + [f"{v:.10g}" for v in members])


def _people(release: Release) -> dict[str, list[str]]:
    if release.attributes is None or release.manifest.attributes != "generalized":
        return {}
    columns = release.attributes.to_pydict()
    return {name: [_say(value) for value in values] for name, values in columns.items()}


def _say(value: Any) -> str:
    if isinstance(value, dict):
        ends = [value["low"], value["high"]]
        texts = (f"{end:.10g}" if np.isfinite(end) else "" for end in ends if end is not None)
        ranges = ["..".join(texts)] if None not in ends else []
        return "|".join(["null"] * value["null"] + ranges)
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    if value is None:
        return "null"
    return f"{value:.10g}" if isinstance(value, float) else value
