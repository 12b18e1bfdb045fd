"""k-Likeness (Riyana & Natwichai 2018, Algorithms 1-3; SPEC §3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from starshade.anonymize.dense import dense_levels
from starshade.anonymize.dgh import Dgh
from starshade.anonymize.generalize import generalize
from starshade.anonymize.hierarchy import READY_MADE, resolve
from starshade.anonymize.hierarchy_file import read_hierarchy
from starshade.anonymize.order import seeded_order
from starshade.anonymize.prepare import RareItems, check_k, prepare
from starshade.errors import ConfigError
from starshade.kernels.likeness import distances, nucleus_groups
from starshade.ratings.select import ItemSelection
from starshade.ratings.table import Ratings
from starshade.release.build import generalized_release
from starshade.release.manifest import Claim
from starshade.release.table import Release
from starshade.rng import Rng, resolve_seed

__all__ = ["KLikeness", "likeness_groups"]

_COPIES = 3  # of the table: by user, by item, and the one that shrinks as groups leave it


@dataclass(frozen=True)
class KLikeness:
    """Group k records that are alike; release of each group what all its members share.

    Parameters
    ----------
    k : int
        Least size of a group, from 2 to the number of records.
    hierarchy : str, path or Dgh
        ``ndgh`` (the set of values present), ``dgh`` (two halves, then all; any scale),
        ``dgh-a``, ``dgh-b``, ``dgh-c`` (the paper's, for null = 0 and 1-5), or the path of a
        file (`starshade.anonymize.hierarchy_file`), which is read at once.
    items : ItemSelection, optional
        Which items to release (`top_items`, `listed_items`); None: all of them.
    rare_items : {"drop", "keep"}
        Whether items rated by fewer than k users are left out.
    attributes : {"none", "exact"}
        Whether personal attributes are released. With ``exact`` the release may only stand
        behind the query service.

    Raises
    ------
    ConfigError
        A parameter is out of its range, or the hierarchy is neither a known name nor a file.

    Notes
    -----
    Distances are L1 over the released items, a null counting as the level below the scale. Ties
    go to the record that comes earlier in a permutation drawn from the seed and the users' ids.
    """

    k: int
    hierarchy: str | Path | Dgh = "ndgh"
    items: ItemSelection | None = None
    rare_items: RareItems = "drop"
    attributes: Literal["none", "exact"] = "none"

    def __post_init__(self) -> None:
        check_k(self.k)
        if self.rare_items not in ("drop", "keep"):
            raise ConfigError(f"rare items {self.rare_items!r}: allowed are drop and keep")
        if self.attributes not in ("none", "exact"):
            raise ConfigError(
                f"attributes {self.attributes!r}: k-likeness generalizes ratings only, "
                "so personal attributes are released not at all (none) or as they are (exact)",
                advice="Use none for a release to publish, exact for one behind the query service.",
            )
        if not isinstance(self.hierarchy, Dgh) and self.hierarchy not in READY_MADE:
            object.__setattr__(self, "hierarchy", read_hierarchy(self.hierarchy))

    def anonymize(self, ratings: Ratings, rng: Rng = None) -> Release:
        """Make a release in which every record equals at least k-1 others on all items.

        Parameters
        ----------
        ratings : Ratings
        rng : int, Generator or None
            The same seed gives the same release, at any number of threads.

        Returns
        -------
        Release
            Not yet saved, and therefore not yet verified.

        Raises
        ------
        ConfigError
            k above the number of records, unknown items, a hierarchy that does not fit the
            scale, or a table beyond the memory budget.
        UnmetError
            No item is rated by k users.
        """
        seed = resolve_seed(rng)
        ready = prepare(ratings, self.k, self.items, self.rare_items)
        table = ready.ratings
        hierarchy = resolve(
            self._named,
            table.scale,
            null_occurs=table.n_ratings < table.n_users * table.n_items,
        )
        order = seeded_order(table.users, seed, "k-likeness")
        groups = likeness_groups(dense_levels(table, copies=_COPIES), self.k, order)
        return generalized_release(
            table,
            groups,
            generalize(hierarchy, table, groups),
            method="k-likeness",
            config=self._config(),
            claims=(Claim(model="k-anonymity", parameters={"k": self.k}),),
            seed=seed,
            private_config=self._private_config(),
            rare_items=self.rare_items,
            rare_items_dropped=ready.rare_items_dropped,
            users_without_rating=ready.users_without_rating,
            attributes=self.attributes,
        )

    @property
    def _named(self) -> str | Dgh:
        """The hierarchy, a file's contents in the place of its path."""
        return self.hierarchy if isinstance(self.hierarchy, Dgh) else str(self.hierarchy)

    def _config(self) -> dict[str, Any]:
        """Return what the manifest says: no seed, no path, no item id."""
        named = self._named
        config: dict[str, Any] = {
            "k": int(self.k),
            "hierarchy": named.name if isinstance(named, Dgh) else named,
            "items": "all" if self.items is None else str(self.items),
        }
        if isinstance(named, Dgh):
            config["levels"] = named.to_text()
        return config

    def _private_config(self) -> dict[str, Any]:
        """Return what the owner's receipt needs beside the seed to make the release again."""
        return {
            "method": "k-likeness",
            **self._config(),
            "item_keys": [] if self.items is None else list(self.items.keys),
            "rare_items": self.rare_items,
            "attributes": self.attributes,
        }


def likeness_groups(matrix: NDArray[Any], k: int, order: NDArray[np.integer]) -> NDArray[np.int64]:
    """Group the rows of a matrix by k-Likeness, meeting them in a given order.

    Parameters
    ----------
    matrix : ndarray of uint8, uint16 or float64, shape (n, n_items)
        Null is a number as well. The type must hold the L1 distance of any two rows.
    k : int
        2 ≤ k ≤ n.
    order : ndarray of int, shape (n,)
        A permutation of the rows: the nucleus is always the first that is left in it, and it
        settles ties.

    Returns
    -------
    ndarray of int64, shape (n,)
        Group of each row, numbered in the order in which groups are formed.

    Examples
    --------
    >>> rows = np.array([[1], [5], [1], [5], [4]], dtype=np.uint8)
    >>> likeness_groups(rows, 2, np.arange(5)).tolist()
    [0, 1, 0, 1, 1]
    """
    n = len(matrix)
    if n <= 2 * k - 1:
        return np.zeros(n, dtype=np.int64)
    table = np.ascontiguousarray(matrix[order].T)
    place, n_groups = nucleus_groups(table, k)
    for left in np.flatnonzero(place < 0).tolist():
        member = place >= 0
        # float64 is exact for sums of integers; on real scales members add in order
        away = distances(table, table[:, left].copy())[member].astype(np.float64)
        place[left] = np.bincount(place[member], weights=away, minlength=n_groups).argmin()
    groups = np.empty(n, dtype=np.int64)
    groups[order] = place
    return groups
