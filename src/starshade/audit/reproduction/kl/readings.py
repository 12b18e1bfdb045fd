"""Readings of k-Likeness and k-Member that the paper's text allows, and the releases they make."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Literal

import numpy as np

from starshade.anonymize.generalize import generalize
from starshade.anonymize.hierarchy.hierarchy import resolve
from starshade.anonymize.order import by_content, seeded_order
from starshade.anonymize.points import dense_levels, positions
from starshade.audit.reproduction.kl.naive import REST, likeness, member, warm
from starshade.errors import ConfigError
from starshade.kernels.arrays import Floats, Ints
from starshade.naming import called
from starshade.ratings.table import Ratings
from starshade.release.build import Provenance, generalized_release
from starshade.release.manifest import Claim
from starshade.release.table import Release

MOST = 5_000  # records; readings are run hundreds of times


@dataclass(frozen=True)
class Reading:
    """One reading; as it stands, the one that starshade's own methods follow."""

    method: Literal["k-likeness", "k-member"]
    tuples: Literal["k - 1", "k"] = "k - 1"  # that join a nucleus
    # the next nucleus, of k-Member too: the first in the order, or furthest from the last one
    nucleus: Literal["first", "furthest"] = "first"
    # in which records are met: the first of several that are equally near is taken
    order: Literal["drawn", "table", "reversed"] = "drawn"
    rest: Literal["sum", "mean", "nearest", "smallest", "range"] = "sum"
    # "middle": of the scale; "apart": as far from every rating as 0 from the highest; "ignored":
    # as near as can be
    null: Literal["0", "middle", "apart", "ignored"] = "0"
    hierarchy: str = "ndgh"

    def groups(self, table: Ratings, k: int, seed: int) -> Ints:
        """Return the group of each user."""
        if self.order != "drawn":
            step = 1 if self.order == "table" else -1
            return self.grouped(table, k, np.arange(table.n_users)[::step])
        records = by_content(table, seed)
        order = seeded_order(table.n_users, seed, self.method)
        return np.asarray(records.by_user(self.grouped(records.ratings, k, order)))

    def grouped(self, table: Ratings, k: int, order: Ints) -> Ints:
        """Return the group of each record, met in this order."""
        warm()
        matrix = dense_levels(table, copies=2)
        furthest = self.nucleus == "furthest"
        if self.method == "k-member":
            places = positions(matrix)[0].astype(np.int64)
            return np.asarray(member(places, k, order, furthest, False))
        return np.asarray(likeness(*self.arguments(table, k, order)))

    def arguments(self, table: Ratings, k: int, order: Ints) -> tuple[object, ...]:
        """Return what `likeness` is called with."""
        rows: Floats = dense_levels(table, copies=2).astype(np.float64)
        stepped = table.scale.step is not None
        null = 0.0 if stepped else table.scale.null_level
        apart = {"ignored": 0.0, "apart": float(rows.max() - null)}.get(self.null, -1.0)
        if self.null == "middle":
            rows[rows == null] = rows[rows != null].mean()
        joins = k if self.tuples == "k" else k - 1
        furthest = self.nucleus == "furthest"
        return rows, k, joins, order, furthest, REST.index(self.rest), null, apart

    def release(
        self, table: Ratings, k: int, seed: int, *, exact: bool = False
    ) -> tuple[Release, float]:
        """Make a release; say how long it took."""
        if k > table.n_users:
            raise ConfigError(f"{called('k')} = {k}, records = {table.n_users}")
        if table.n_users > MOST:
            raise ConfigError(
                f"{table.n_users:,} records: the algorithms as printed compare all pairs, and are "
                f"run on up to {MOST:,}"
            )
        started = perf_counter()
        groups = self.groups(table, k, seed)
        hierarchy = resolve(
            self.hierarchy, table.scale, null_occurs=table.n_ratings < table.n_users * table.n_items
        )
        made = Provenance(
            method=self.method,
            seed=seed,
            rare_items="keep",
            claims=(Claim(model="k-anonymity", parameters={"k": k}),),
        )
        release = generalized_release(
            table,
            groups,
            generalize(hierarchy, table, groups),
            made,
            attributes="exact" if exact else "none",
        )
        return release, perf_counter() - started


#: ways of reading k-Likeness: → the reading, in words
OF_LIKENESS = {
    "as-read": Reading("k-likeness"),
    "k tuples join a nucleus": Reading("k-likeness", tuples="k"),
    "nuclei and ties as the table has them": Reading("k-likeness", order="table"),
    "nuclei furthest from the last": Reading("k-likeness", nucleus="furthest"),
    "the rest by the mean distance": Reading("k-likeness", rest="mean"),
    "the rest by the nearest member": Reading("k-likeness", rest="nearest"),
    "the rest to the smallest class": Reading("k-likeness", rest="smallest"),
    "the rest where ranges grow least": Reading("k-likeness", rest="range"),
    "null apart from every rating": Reading("k-likeness", null="apart"),
    "null in the middle of the ratings": Reading("k-likeness", null="middle"),
    "null near every rating": Reading("k-likeness", null="ignored"),
    "furthest nuclei, null apart": Reading("k-likeness", nucleus="furthest", null="apart"),
    "released by DGH (b)": Reading("k-likeness", hierarchy="dgh-b"),
}
#: and k-Member, whose groups its authors grow from the furthest record
OF_MEMBER = {
    "k-Member from drawn records": Reading("k-member", hierarchy="range"),
    "k-Member as the table has them": Reading("k-member", order="table", hierarchy="range"),
    "k-Member, of ties the first in the table": Reading(
        "k-member", nucleus="furthest", order="table", hierarchy="range"
    ),
    "k-Member, of ties the last in the table": Reading(
        "k-member", nucleus="furthest", order="reversed", hierarchy="range"
    ),
    "k-Member released by DGH (b)": Reading("k-member", nucleus="furthest", hierarchy="dgh-b"),
    "k-Member released by NDGH": Reading("k-member", nucleus="furthest", hierarchy="ndgh"),
}
