"""A few classes of a release as readable rows.

The choice of classes, and in public reports of items, depends on the release alone, so that it
reveals nothing of the ratings; it never prefers the best.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.write import shortest_decimal
from starshade.release import ProfileKind
from starshade.release.cells import Cells, Symbols
from starshade.release.profiles import Profiles
from starshade.release.readable.rows import rating_bounds
from starshade.release.table import Release

Indices = NDArray[np.int64]

_ITEMS = 8  # shown side by side, at most
_AT = (0.25, 0.5, 0.75)  # where classes are taken, of the records in order
NOTHING = "–"
_RULE = (
    "{Classes} at the 25th, 50th and 75th percentile of precision, by records, and the {items} "
    "items among those that they state most about."
)


def example_classes(release: Release) -> dict[str, Any] | None:
    """Return up to three classes of a release on up to eight items; None where it has no cell.

    ``{rule, items[text], classes[{size, head, released[text], real[[text]] or None, more}]}``:
    `head` is whose cells they are; `released` has an entry for each item; `real` is None here
    (`starshade.audit.dossier.examples` fills it).

    Examples
    --------
    >>> import starshade as ss
    >>> ratings = ss.synthesize(n_users=40, n_items=8, n_ratings=120, rng=1)
    >>> shown = example_classes(ss.KExchange(k=5).anonymize(ratings, rng=0))
    >>> [one["size"] for one in shown["classes"]]
    [5, 5, 5]
    """
    rows = typical(release)
    # profiles do not say how many people rated an item
    support = release.classes.support if isinstance(release.classes, Cells) else None
    return released_rows(release, rows, support)[0] if len(rows) else None


def released_rows(
    release: Release, rows: Indices, support: NDArray[Any] | None
) -> tuple[dict[str, Any], Indices]:
    """Return these rows as `example_classes` does, and the items shown.

    `support`: raters of each item of the release, if known.
    """
    items = _told_items(release, rows, support)
    cells = _cells_of(release, rows)
    names, keys, said = release.item_names, release.classes.items, _texts(cells.symbols)
    what = "Records" if release.manifest.layout == "record" else "Classes"
    most = "first" if support is None else "most rated"
    shown = {
        "rule": _RULE.format(Classes=what, items=most),
        "items": [names[i] if names else f"item {keys[i]}" for i in items.tolist()],
        "classes": [
            {
                "size": size,
                "head": _head(release.manifest.profile, size),
                "released": _row(cells, row, items, said),
                "real": None,
                "more": 0,
            }
            for row, size in enumerate(cells.sizes.tolist())
        ],
    }
    return shown, items


def _head(profile: ProfileKind | None, size: int) -> str:
    """Return whose cells a class shows: its records', or a mean or prediction for them."""
    if profile is None:
        return "1 record" if size == 1 else f"{size:,} records"
    return f"{'mean of' if profile == 'simple' else 'predicted for'} {size:,}"


def typical(release: Release) -> Indices:
    """Return the rows (at most 3,) at some percentiles of precision."""
    classes = release.classes
    if not classes.n_records or not classes.n_items:
        return np.empty(0, dtype=np.int64)
    if isinstance(classes, Profiles):
        left_open, rated = np.zeros(classes.n_groups), classes.n_rated()
    else:
        symbols = classes.symbols
        low, high = rating_bounds(symbols)
        width = np.where(symbols.has_rating, np.nan_to_num(high - low), 0.0)
        width += (release.scale.width or 1.0) * (symbols.null & symbols.has_rating)
        ends = classes.indptr
        sums = np.append(0.0, np.cumsum(width[classes.codes]))
        left_open, rated = np.round(sums[ends[1:]] - sums[ends[:-1]], 6), np.diff(ends)
    order = np.lexsort((np.arange(classes.n_groups), -rated, left_open))
    upto = np.cumsum(classes.sizes[order])
    places = np.searchsorted(upto, np.asarray(_AT) * upto[-1])
    return np.asarray(order[np.unique(places)], dtype=np.int64)


def _cells_of(release: Release, rows: Indices) -> Cells:
    classes = release.classes
    return classes.cells(rows) if isinstance(classes, Profiles) else classes.keep_rows(rows)


def _told_items(release: Release, rows: Indices, support: NDArray[Any] | None) -> Indices:
    """Return the items on which most of these rows have a rating, most rated first."""
    n = release.classes.n_items
    support = np.zeros(n) if support is None else support
    said = np.bincount(_cells_of(release, rows).columns, minlength=n)
    chosen = np.lexsort((np.arange(n), -support, -said))[:_ITEMS]
    return np.sort(chosen).astype(np.int64)


def _row(cells: Cells, row: int, items: Indices, said: list[str]) -> list[str]:
    here = slice(int(cells.indptr[row]), int(cells.indptr[row + 1]))
    codes = dict(zip(cells.columns[here].tolist(), cells.codes[here].tolist(), strict=True))
    return [said[codes[i]] if i in codes else NOTHING for i in items.tolist()]


def _texts(symbols: Symbols) -> list[str]:
    """Return the possible values of each symbol: ``3``, ``3–5``, ``1, 5``, ``3–5 or –``."""
    lowest, highest = rating_bounds(symbols)
    texts = []
    for s, (low, high) in enumerate(zip(lowest.tolist(), highest.tolist(), strict=True)):
        members = symbols.members[symbols.offsets[s] : symbols.offsets[s + 1]]
        parts = []
        if symbols.has_rating[s]:
            step = symbols.scale.step
            gaps = len(members) > 2 and (step is None or len(members) * step < high - low)
            ends = dict.fromkeys(shortest_decimal(end) for end in (low, high))
            every = (shortest_decimal(value) for value in members.tolist())
            parts.append(", ".join(every) if gaps else "–".join(ends))
        texts.append(" or ".join(parts + [NOTHING] * bool(symbols.null[s])))
    return texts
