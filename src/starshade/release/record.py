"""From moved ratings to a release that has a row for every record: one order, the link."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InternalError
from starshade.kernels.lookup import places_in
from starshade.ratings.table import Ratings
from starshade.release.attributes import check_attributes, in_order, plain_attributes
from starshade.release.cells import cells_of
from starshade.release.content import canonical, class_numbers
from starshade.release.disclosure import users_rating_disclosed, users_rating_exists
from starshade.release.manifest import ScaleModel
from starshade.release.provenance import Provenance
from starshade.release.table import Release

__all__ = ["record_release"]


def record_release(
    original: Ratings,
    released: Ratings,
    made: Provenance,
    *,
    attributes: Literal["none", "exact"] = "none",
    groups: NDArray[np.int64] | None = None,
) -> Release:
    """Make a release of layout "record" out of the ratings as they are to be published.

    Every record has a row of its own, each cell one rating; a null has no cell. Records are
    sorted by content (`starshade.release.content`), then by their released attributes, and
    numbered 0…n-1 in that order. Records that are equal in every cell form a class; which
    records a method put together beyond that is not told (definitions, "layouts").

    `original`: the table that was anonymized: the released items and users. `released`: the same
    with ratings, nulls and scale as published; days are not released. `attributes`: with "exact"
    they are released as they are, for the query service alone. `groups` (n_users,): which users
    the method put together; kept in memory alone, for the verifier to know where to look first.
    """
    check_attributes(original, attributes)
    for name in ("users", "items"):
        if getattr(original, name) != getattr(released, name):
            raise InternalError(f"the released ratings have other {name} than the original ones")
    cells = canonical(replace(cells_of(released), days=None, first_day=0))
    class_of_user = class_numbers(cells)
    people = plain_attributes(original.attributes) if attributes == "exact" else None
    order, record = in_order(class_of_user, people)
    records, class_of_record = cells.keep_rows(order), class_of_user[order]
    classes = int(class_of_record[-1]) + 1 if len(order) else 0
    # deletion changes no cell of those who stay
    invented = None if made.method == "suppress" else _invented_share(original, released)
    return made.release(
        original,
        record,
        records,
        classes,
        invented_cells=invented,
        people=None if people is None else people.take(order),
        class_of_record=class_of_record,
        put_together=None if groups is None else groups[order],
        layout="record",
        attributes=attributes,
        scale=ScaleModel.of(released.scale),
        classes=classes,
        users_rating_disclosed=users_rating_disclosed(records),
        users_rating_exists=users_rating_exists(records),
    )


def _invented_share(original: Ratings, released: Ratings) -> float:
    """Return the share of released ratings whose own user had no rating there; 0 without any."""
    place = places_in(
        original.indptr, original.columns, released.indptr, released.columns, original.n_items
    )
    return int((place < 0).sum()) / max(len(place), 1)
