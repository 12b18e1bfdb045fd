"""A release as a chart, and as a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from starshade.chart import Chart
from starshade.chart.shapes import Axis, Bar, bar_chart
from starshade.errors import ConfigError
from starshade.plain import counted
from starshade.release.profiles import refuse_large

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from starshade.release.table import Release


_CLASSES = 12  # bars of class sizes; larger ones share the last


def release_chart(release: Release) -> Chart:
    """Draw the share of records by class size; larger classes protect better."""
    bars = [Bar(label, share) for label, share in sizes_shown(release.classes.sizes)]
    return bar_chart(
        f"Records by size of their class{release.manifest.alike_by}",
        f"{counted(release.n_records, 'record')} in "
        f"{counted(release.classes.n_groups, 'class', 'classes')}",
        bars,
        "records in the class",
        Axis("share of records", share=True),
    )


def sizes_shown(sizes: NDArray[np.int64], most: int = _CLASSES) -> list[tuple[str, float]]:
    """Return sizes of classes and their share of the records; the largest together."""
    distinct, classes = np.unique(sizes, return_counts=True)
    shares = (distinct * classes / max(int(sizes.sum()), 1)).tolist()
    rows = [(f"{size:,}", share) for size, share in zip(distinct.tolist(), shares, strict=True)]
    if len(rows) > most:
        rows[most:] = [(f"{rows[most][0]} and more", sum(shares[most:]))]
    return rows


def sparse_rows(release: Release) -> tuple[csr_matrix, NDArray[np.int64]]:
    """Return the released rows as a SciPy matrix, and the number of records of each.

    A null has no entry, and a rating of 0 has one.
    """
    from scipy.sparse import csr_matrix

    cells = release.cells()
    symbols = cells.symbols
    if not symbols.is_single.all():
        raise ConfigError(
            f"layout {release.manifest.layout!r}: the cells are not single numbers",
            advice="Release.to_csr gives expected ratings, with their weights.",
        )
    n = len(cells.codes)
    refuse_large(f"{n:,} cells as a SciPy matrix", needed=20 * n, held=5 * n)
    values = symbols.bounds[1][cells.codes]
    shape = (cells.n_groups, cells.n_items)
    return csr_matrix((values, cells.columns, cells.indptr), shape=shape), cells.sizes.copy()
