"""How a release came to be: what the manifest says of it, and what the owner alone keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.table import Ratings
from starshade.release.band import Exact
from starshade.release.manifest import Claim
from starshade.release.table import Link, Private

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

    def exact(
        self,
        groups: int,
        invented_cells: float | None = None,
        single_rater_cells: float | None = None,
    ) -> Exact:
        """Return what the owner alone knows in figures, with what was counted of the release."""
        return Exact(
            groups,
            self.users_without_rating,
            self.users_deleted,
            self.rare_items_dropped,
            invented_cells,
            single_rater_cells,
        )

    def stated(self, original: Ratings, exact: Exact) -> dict[str, Any]:
        """Return the fields of the manifest that say all this; nothing private is among them."""
        return {
            "method": self.method,
            "config": self.config,
            "claims": self.claims,
            "rare_items": self.rare_items,
            "lineage": original.lineage,
            "records": original.n_users,
            "items": original.n_items,
            **exact.bands(original.n_users, original.n_items),
        }

    def private(
        self,
        original: Ratings,
        record: NDArray[np.int64],
        exact: Exact,
        groups: NDArray[np.int64] | None = None,
    ) -> Private:
        """Return what the owner keeps.

        `original`: the table that was anonymized. `record` (n_users,): the record of each user.
        `groups` (n_users,): by record, which of them the method put together.
        """
        return Private(
            link=Link(original.users, record),
            seed=self.seed,
            config=self.private_config,
            source=original.report.source,
            original=original,
            exact=exact,
            groups=groups,
        )
