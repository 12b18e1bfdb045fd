"""How a release came to be: what the manifest says of it, and what the owner alone keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.table import Ratings
from starshade.release.band import Exact
from starshade.release.cells import Cells
from starshade.release.manifest import Claim, Manifest, ScaleModel
from starshade.release.profile.profiles import Profiles
from starshade.release.table import Link, Private, Release

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Provenance"]


@dataclass(frozen=True)
class Provenance:
    """What a method says of the release that it makes, whatever its layout.

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
        original: Ratings,
        record: NDArray[np.int64],
        rows: Cells | Profiles,
        groups: int,
        *,
        invented_cells: float | None = None,
        single_rater_cells: float | None = None,
        people: pa.Table | None = None,
        class_of_record: NDArray[np.int64] | None = None,
        put_together: NDArray[np.int64] | None = None,
        **stated: Any,
    ) -> Release:
        """Return the release that says all this; nothing private is in its manifest.

        `original`: the table that was anonymized. `record` (n_users,): the record of each user.
        `groups`: how many the method formed. `people`: released attributes, by record.
        `class_of_record`: on layout "record". `put_together` (n_users,): by record, which of them
        the method put together. `stated`: what else the manifest says.
        """
        exact = Exact(
            groups,
            self.users_without_rating,
            self.users_deleted,
            self.rare_items_dropped,
            invented_cells,
            single_rater_cells,
        )
        facts = {"scale": ScaleModel.of(original.scale), "classes": rows.n_groups} | stated
        manifest = Manifest(
            method=self.method,
            config=self.config,
            claims=self.claims,
            rare_items=self.rare_items,
            lineage=original.lineage,
            records=original.n_users,
            items=original.n_items,
            audience="query" if stated.get("attributes") == "exact" else "publish",
            attribute_columns=() if people is None else tuple(people.column_names),
            **exact.bands(original.n_users, original.n_items),
            **facts,
        )
        private = Private(
            link=Link(original.users, record),
            seed=self.seed,
            config=self.private_config,
            source=original.report.source,
            original=original,
            exact=exact,
            groups=put_together,
        )
        names = original.item_names
        return Release(manifest, rows, people, names, private, class_of_record)
