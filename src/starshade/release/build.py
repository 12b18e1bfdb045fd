"""From groups and their generalized cells to a release: classes, content order, the link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InternalError
from starshade.ratings.table import Ratings
from starshade.release.attributes import check_attributes, in_order, plain_attributes
from starshade.release.cells import Cells
from starshade.release.content import canonical, class_numbers
from starshade.release.disclosure import (
    records_alone_with_sensitive,
    users_rating_disclosed,
    users_rating_exists,
)
from starshade.release.provenance import Provenance
from starshade.release.quasi import quasi_table, split_classes
from starshade.release.table import Release

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["generalized_release"]


def generalized_release(
    original: Ratings,
    groups: NDArray[np.int64],
    cells: Cells,
    made: Provenance,
    *,
    attributes: Literal["none", "generalized", "exact"] = "none",
    generalized: pa.Table | None = None,
    quasi_identifiers: Sequence[str] = (),
    sensitive_attributes: Sequence[str] = (),
    invented_cells: float | None = None,
) -> Release:
    """Make a release of layout "generalized" out of groups and one row of cells for each.

    Groups that are equal on every released cell and quasi-identifier become one class. Classes
    are sorted by content (`starshade.release.content`, then `starshade.release.quasi`), records
    within a class by their other released attributes; records without a difference need no
    order. Record ids are 0…n−1 in that order, so neither order nor ids say anything that the
    cells and attributes do not (definitions, "order").

    `original`: the table that was anonymized: the released items, the users left on them. `groups`
    (n_users,): group of each user, 0…G−1, none empty. `cells`: one row per group. `attributes`:
    with "exact" they are released as they are, for the query service alone. With "generalized"
    `generalized` has a row per user, the columns of `quasi_identifiers`, which k records share
    (`starshade.release.quasi`), then those of `sensitive_attributes`, released as they are.
    `invented_cells`: share of cells that no original user rated; None where the method invents
    none.
    """
    _check(original, groups, cells, attributes)
    if attributes != "generalized" and (generalized is not None or quasi_identifiers):
        raise InternalError("generalized attributes of a release that has none")
    plain = canonical(replace(cells, days=None, first_day=0))
    class_of_group, released, own = class_numbers(plain), None, None
    if attributes == "exact":
        released = own = plain_attributes(original.attributes)
    elif attributes == "generalized":
        released = quasi_table(
            original, groups, generalized, quasi_identifiers, sensitive_attributes
        )
        own = released.select(list(sensitive_attributes))
        class_of_group = split_classes(class_of_group, groups, released, quasi_identifiers)
    classes = _merge(plain, class_of_group)
    order, record = in_order(class_of_group[groups], own)
    return made.release(
        original,
        record,
        classes,
        cells.n_groups,
        invented_cells=invented_cells,
        people=None if released is None else released.take(order),
        attributes=attributes,
        quasi_identifiers=tuple(quasi_identifiers),
        sensitive_attributes=tuple(sensitive_attributes),
        users_rating_disclosed=users_rating_disclosed(classes),
        users_rating_exists=users_rating_exists(classes),
        records_alone_with_sensitive=None
        if own is None or attributes == "exact"
        else records_alone_with_sensitive(class_of_group[groups], own),
    )


def _merge(groups: Cells, class_of_group: NDArray[np.int64]) -> Cells:
    """Make one row of groups of one class; classes in the order of their numbers."""
    _, representative = np.unique(class_of_group, return_index=True)
    sizes = np.zeros(len(representative), dtype=np.int64)
    np.add.at(sizes, class_of_group, groups.sizes)
    return replace(groups.keep_rows(representative), sizes=sizes)


def _check(original: Ratings, groups: NDArray[np.int64], cells: Cells, attributes: str) -> None:
    check_attributes(original, attributes)
    if cells.items != original.items:
        raise InternalError("the cells' items are not those of the table")
    sizes = np.bincount(groups, minlength=cells.n_groups)
    if len(groups) != original.n_users or not np.array_equal(sizes, cells.sizes):
        raise InternalError("the groups' sizes are not those of the cells")
    if cells.n_groups and not sizes.all():
        raise InternalError("a group without a user")
