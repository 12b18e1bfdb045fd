"""The verifier against the truth, layout "record": whose ratings a record holds, and how moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.release.verify.records import RatingRows
from starshade.release.verify.rows import Failed, Written
from starshade.release.verify.truth import (
    check_attributes,
    check_link,
    check_rare,
    check_stated,
    ratings_of,
    users_by_record,
)

if TYPE_CHECKING:
    from starshade.ratings.table import Ratings
    from starshade.release.table import Private

__all__ = ["check_changes"]

_SLACK = 1e-9


def check_changes(
    rows: RatingRows, written: Written, private: Private, facts: dict[str, Any]
) -> None:
    """Check the written ratings against the original table.

    The link must be one-to-one; where a method invents no cell (``invented_cells`` is null) every
    record must be exactly its user's ratings; elsewhere the share of cells whose user had no
    rating there must be the one that the owner knows, and ratings of sensitive items unchanged;
    released attributes are the users' own; no released item is rare.
    """
    original = check_link(written, private)
    sensitive = _sensitive(written, facts)
    exact = facts["invented_cells"] is None
    invented = 0
    user = users_by_record(private)
    for start, shown in rows.blocks(len(written.items)):
        true = _true_rows(original, user[start : start + len(shown)], written)
        where = slice(None) if exact else sensitive
        if not _equal(shown[:, where], true[:, where]):
            what = "a rating changed by a method that changes none" if exact else "a sensitive one"
            raise Failed("truth", what + ("" if exact else " changed"))
        invented += int((np.isnan(true) & ~np.isnan(shown)).sum())
    share = invented / max(len(rows.item), 1)
    if not exact:
        check_stated(private.exact.invented_cells, share, "is invented")
    check_attributes(written.attributes, original.attributes, private.link.record)
    check_rare(original, facts)


def _true_rows(
    original: Ratings, users: NDArray[np.int64], written: Written
) -> NDArray[np.float64]:
    """Lay out the ratings of some users as `RatingRows.blocks` does."""
    out = np.full((len(users), len(written.items)), np.nan)
    row, item, ratings = ratings_of(original, users)
    if written.step is not None:
        ratings = 1 + np.rint((ratings - written.minimum) / written.step)
    out[row, item] = ratings
    return out


def _equal(shown: NDArray[np.float64], true: NDArray[np.float64]) -> bool:
    same = (np.abs(shown - true) <= _SLACK) | (np.isnan(shown) & np.isnan(true))
    return bool(same.all())


def _sensitive(written: Written, facts: dict[str, Any]) -> NDArray[np.int64]:
    named = {key for claim in facts["claims"] for key in claim["parameters"].get("sensitive", ())}
    return np.flatnonzero([key in named for key in written.items])
