"""A release of layout "record" user by user, as plain rows; None is null."""

from __future__ import annotations

from starshade.ratings.table import Ratings
from starshade.release.table import Release


def rows_of(ratings: Ratings) -> list[list[float | None]]:
    """The ratings themselves."""
    return [[None if v != v else v for v in row] for row in ratings.dense().tolist()]


def released_rows(release: Release) -> list[list[float | None]]:
    """What each original user's record became, in the users' order."""
    assert release.private is not None
    cells = release.cells()
    rows: list[list[float | None]] = [[None] * cells.n_items for _ in range(cells.n_groups)]
    for record, row in enumerate(rows):
        for cell in range(cells.indptr[record], cells.indptr[record + 1]):
            symbol = cells.codes[cell]
            first, last = cells.symbols.offsets[symbol : symbol + 2]
            assert last - first == 1  # one rating, and no null besides
            assert not cells.symbols.null[symbol]
            row[cells.columns[cell]] = float(cells.symbols.members[first])
    return [rows[record] for record in release.private.link.record.tolist()]
