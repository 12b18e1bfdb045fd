"""A release spelled out as CSV, for small ones and for eyes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starshade.ratings.atomic import atomic_file
from starshade.release.symbols import Symbols

if TYPE_CHECKING:
    from starshade.release.table import Release

__all__ = ["write_csv"]


def write_csv(release: Release, path: Path) -> None:
    """Write one row per record and cell that says more than null, members spelled out.

    Columns ``record, group, item, name, members``; members are separated by ``|``, null is the
    word ``null``, a range is ``low..high``. Generalized attributes and the sensitive ones beside
    them follow as columns of their own names: a range as ``low..high`` (before it ``null|`` where
    null is possible), a list of values as JSON, a sensitive value as it is.

    Raises
    ------
    OutputError
        The file exists or cannot be written.
    """
    classes = release.classes
    texts = [_spell(classes.symbols, s) for s in range(len(classes.symbols))]
    keys = list(classes.items)
    names = release.item_names or ("",) * len(keys)
    mode = 0o600 if release.manifest.audience == "query" else 0o666
    with atomic_file(path, mode) as temporary, temporary.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        beside = _people(release)
        out.writerow(["record", "group", "item", "name", "members", *beside])
        people = list(zip(*beside.values(), strict=True)) or [()] * release.n_records
        for record, row in enumerate(release.class_of_record.tolist()):
            group = row if release.groups is None else int(release.groups[record])
            for p in range(int(classes.indptr[row]), int(classes.indptr[row + 1])):
                item = int(classes.columns[p])
                told = [record, group, keys[item], names[item], texts[classes.codes[p]]]
                out.writerow([*told, *people[record]])


def _spell(symbols: Symbols, s: int) -> str:
    if symbols.is_range[s]:
        return f"{symbols.low[s]:.10g}..{symbols.high[s]:.10g}"
    members = symbols.members[symbols.offsets[s] : symbols.offsets[s + 1]]
    return "|".join(["null"] * bool(symbols.null[s]) + [f"{v:.10g}" for v in members])


def _people(release: Release) -> dict[str, list[str]]:
    """Spell out generalized attributes and those beside them, by column."""
    if release.attributes is None or release.manifest.attributes != "generalized":
        return {}
    columns = release.attributes.to_pydict()
    return {name: [_say(value) for value in values] for name, values in columns.items()}


def _say(value: Any) -> str:
    if isinstance(value, dict):
        told = [] if value["low"] is None else [f"{value['low']:.10g}..{value['high']:.10g}"]
        return "|".join(["null"] * value["null"] + told)
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    if value is None:
        return "null"
    return f"{value:.10g}" if isinstance(value, float) else value
