"""A release to be looked at: in a notebook, and spelled out as CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.chart import Chart
from starshade.chart.shapes import Axis, Bar, bar_chart
from starshade.errors import ConfigError
from starshade.figure import Figure, Table, found_html
from starshade.plain import counted
from starshade.ratings.places.atomic import atomic_file
from starshade.ratings.places.place import Where
from starshade.release.cells import Symbols
from starshade.release.figures import (
    AUDIENCE,
    AUDIENCES,
    CLASSES,
    LAYOUT,
    LAYOUTS,
    SMALLEST_GROUP,
    counted_of,
    private_figures,
    shares,
)
from starshade.release.profiles import Profiles, refuse_large

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from starshade.release.manifest import Claim
    from starshade.release.table import Release


_CLASSES = 12  # bars of class sizes; larger ones share the last


def release_html(release: Release) -> str:
    """Say what a release is, what it claims, and what it still tells."""
    manifest = release.manifest
    sizes, names = release.classes.sizes, ", ".join(manifest.attribute_columns)
    found = (
        replace(LAYOUT, meaning=LAYOUTS[manifest.layout]).of(manifest.layout),
        replace(AUDIENCE, meaning=AUDIENCES[manifest.audience]).of(manifest.audience),
        Figure("attribute_columns", "Personal attributes", "text").of(names or "none"),
        CLASSES.of(release.classes.n_groups),
        SMALLEST_GROUP.of(int(sizes.min()) if len(sizes) else 0),
        *private_figures(manifest, release.exact),
        *shares(manifest),
    )
    claims = tuple(
        (c.model, _parameters(c), counted_of(c.verified) or "not yet: when it is saved")
        for c in manifest.claims
    )
    promises = Table("What it promises", ("promise", "with", "counted on the files"), claims)
    where = (
        "Just made and not saved: save() counts the promises again on what was written. The link "
        "to the people is in memory only."
        if release.private is not None and not manifest.files
        else ""
    )
    title = (
        f"{manifest.method}: {counted(release.n_records, 'record')}, "
        f"{counted(release.classes.n_items, 'item')}"
    )
    return found_html(title, found, where, [promises] if claims else ())


def release_chart(release: Release) -> Chart:
    """Draw how many records share a class of which size: the larger, the better hidden."""
    bars = [Bar(label, share) for label, share in sizes_shown(release.classes.sizes)]
    return bar_chart(
        f"How many others a record looks like{release.manifest.alike_by}",
        f"{counted(release.n_records, 'record')} in "
        f"{counted(release.classes.n_groups, 'class', 'classes')}",
        bars,
        "records in the class",
        Axis("share of the records", share=True),
    )


def sizes_shown(sizes: NDArray[np.int64]) -> list[tuple[str, float]]:
    """Return sizes of classes and the share of the records in such; the largest together."""
    distinct, classes = np.unique(sizes, return_counts=True)
    shares = (distinct * classes / max(int(sizes.sum()), 1)).tolist()
    rows = [(f"{size:,}", share) for size, share in zip(distinct.tolist(), shares, strict=True)]
    if len(rows) > _CLASSES:
        rows[_CLASSES:] = [(f"{rows[_CLASSES][0]} and more", sum(shares[_CLASSES:]))]
    return rows


def _parameters(claim: Claim) -> str:
    """Write parameters; items are counted, not named."""

    def spelled(value: Any) -> str:
        return f"{len(value)} items" if isinstance(value, list) else f"{value}"

    return ", ".join(f"{name} = {spelled(value)}" for name, value in claim.parameters.items())


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
