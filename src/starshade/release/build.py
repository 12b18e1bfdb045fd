"""From groups, or moved ratings, to a release: classes, content order, the link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InternalError
from starshade.kernels.arrays import places_in
from starshade.ratings.shards.kept import KeptShards
from starshade.ratings.table import Ratings
from starshade.release.attributes import (
    check_attributes,
    in_order,
    plain_attributes,
    records_alone_with_sensitive,
    users_exact_values_listed,
    users_rating_disclosed,
    users_rating_exists,
)
from starshade.release.band import Exact
from starshade.release.cells import Cells, cells_of
from starshade.release.content import canonical, class_numbers
from starshade.release.manifest import Claim, Manifest, ScaleModel
from starshade.release.profiles import Profiles
from starshade.release.quasi import quasi_table, split_classes
from starshade.release.table import Chain, Divided, Link, Private, Release

if TYPE_CHECKING:
    import pyarrow as pa


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
    imputed_cells: float | None = None,
    chain: Chain | None = None,
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
    `imputed_cells`: share of cells that no original user rated; None where the method invents
    none. `chain`: of a release that continues an earlier one: the groups have the records as well
    that it invents, and cells that nobody rated are counted here.
    """
    everybody = with_invented(groups, chain)
    _check(original, everybody, cells, attributes)
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
    order, record = in_order(class_of_group[everybody], own)
    if chain is not None:
        imputed_cells = _unrated_share(original, class_of_group[groups], classes)
    return made.release(
        original,
        Link(original.users, record[: original.n_users]),
        len(record),
        classes,
        cells.n_groups,
        imputed_cells=imputed_cells,
        chain=chain,
        people=None if released is None else released.take(order),
        attributes=attributes,
        quasi_identifiers=tuple(quasi_identifiers),
        sensitive_attributes=tuple(sensitive_attributes),
        users_rating_disclosed=users_rating_disclosed(classes),
        users_exact_values_listed=users_exact_values_listed(classes, made.config.get("hierarchy")),
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


def with_invented(groups: NDArray[np.int64], chain: Chain | None) -> NDArray[np.int64]:
    """Return the group of each user, then that of each dummy record."""
    if chain is None:
        return groups
    of_kept = np.full(chain.n_groups, -1, dtype=np.int64)
    of_kept[chain.group] = groups
    return np.concatenate([groups, of_kept[chain.invented]])


def _unrated_share(original: Ratings, class_of_user: NDArray[np.int64], classes: Cells) -> float:
    """Return the share of cells without a rating of their class."""
    rated = np.repeat(class_of_user, original.user_support) * original.n_items + original.columns
    shown = np.repeat(np.arange(classes.n_groups), np.diff(classes.indptr)) * original.n_items
    nobodys = np.isin(shown + classes.columns, rated, invert=True)
    return int(nobodys.sum()) / max(len(nobodys), 1)


def _check(original: Ratings, groups: NDArray[np.int64], cells: Cells, attributes: str) -> None:
    check_attributes(original, attributes)
    if cells.items != original.items:
        raise InternalError("the cells' items are not those of the table")
    sizes = np.bincount(groups, minlength=cells.n_groups)
    if len(groups) < original.n_users or not np.array_equal(sizes, cells.sizes):
        raise InternalError("the groups' sizes are not those of the cells")
    if cells.n_groups and not sizes.all():
        raise InternalError("a group without a user")


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
    numbered 0…n-1 in that order. Records that are equal in every cell form a class; the release
    does not state which records a method put together beyond that (definitions, "layouts").

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
        Link(original.users, record),
        len(record),
        records,
        classes,
        imputed_cells=invented,
        people=None if people is None else people.take(order),
        class_of_record=class_of_record,
        put_together=None if groups is None else groups[order],
        layout="record",
        attributes=attributes,
        scale=ScaleModel.of(released.scale),
        classes=classes,
        users_rating_disclosed=users_rating_disclosed(records),
        users_exact_values_listed=users_exact_values_listed(
            records, sizes=np.bincount(class_of_record)[class_of_record]
        ),
        users_rating_exists=users_rating_exists(records),
    )


def _invented_share(original: Ratings, released: Ratings) -> float:
    """Return the share of released ratings whose own user had no rating there; 0 without any."""
    place = places_in(
        original.indptr, original.columns, released.indptr, released.columns, original.n_items
    )
    return int((place < 0).sum()) / max(len(place), 1)


@dataclass(frozen=True)
class Provenance:
    """What a method states of its release, whatever the layout.

    `seed`: with `private_config` what it takes to do it again; for the owner's receipt alone.
    `config`: what the manifest says was done; no seed, no path. `claims`: what the method promises;
    counted anew when the release is saved. `rare_items`: what became of items that fewer than k
    users rated. `rare_items_dropped`, `users_without_rating`: what was left out before.
    `users_deleted`: users whom the method left out to meet its requirement; they are in no released
    table.
    """

    method: str
    seed: int
    config: dict[str, Any] = field(default_factory=dict)
    private_config: dict[str, Any] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    rare_items: Literal["drop", "keep"] = "drop"
    rare_items_dropped: int = 0
    users_without_rating: int = 0
    users_deleted: int = 0

    def release(
        self,
        original: Ratings | KeptShards,
        link: Link,
        records: int,
        rows: Cells | Profiles,
        groups: int,
        *,
        imputed_cells: float | None = None,
        single_rater_cells: float | None = None,
        chain: Chain | None = None,
        people: pa.Table | None = None,
        class_of_record: NDArray[np.int64] | None = None,
        put_together: NDArray[np.int64] | None = None,
        divided: Divided | None = None,
        **stated: Any,
    ) -> Release:
        """Return the release with these facts; its manifest holds nothing private.

        `original`: the table that was anonymized. `link`: the record of each of its users.
        `records`: theirs, and those that are nobody's. `groups`: how many the method formed.
        `people`: released attributes, by record. `class_of_record`: on layout "record".
        `put_together` (n_users,): by record, which of them the method put together. `divided`: of a
        release made shard by shard, in place of the link. `stated`: what else the manifest says.
        """
        exact = Exact(
            groups,
            self.users_without_rating,
            self.users_deleted,
            self.rare_items_dropped,
            imputed_cells,
            single_rater_cells,
            None if chain is None else len(chain.invented),
        )
        facts = {"scale": ScaleModel.of(original.scale), "classes": rows.n_groups} | stated
        manifest = Manifest(
            method=self.method,
            config=self.config,
            claims=self.claims,
            rare_items=self.rare_items,
            lineage=original.lineage,
            records=records,
            items=original.n_items,
            audience="query" if stated.get("attributes") == "exact" else "publish",
            attribute_columns=() if people is None else tuple(people.column_names),
            **exact.bands(records, original.n_items),
            **facts,
        )
        private = Private(
            link=link,
            seed=self.seed,
            config=self.private_config,
            source=original.report.source,
            original=original if isinstance(original, Ratings) else None,
            exact=exact,
            groups=put_together,
            chain=chain,
            divided=divided,
            partitions=(len(link.users),)
            if isinstance(original, Ratings)
            else tuple(accumulate(original.users)),
        )
        names = original.item_names
        return Release(manifest, rows, people, names, private, class_of_record)
