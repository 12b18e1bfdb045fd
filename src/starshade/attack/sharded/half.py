"""Who is in a random half of the people of a store of shards: each shard knows it of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.attack.shadows.halves import in_half
from starshade.ratings.table import Ratings


@dataclass(frozen=True)
class InHalf:
    """The people of a half: a `starshade.ratings.shards.kept.Choice`."""

    seed: int
    number: int

    @property
    def key(self) -> str:
        """What it is known again by."""
        return f"half {self.number} {self.seed}"

    def __call__(self, shard: Ratings, /) -> NDArray[np.bool_]:
        """Mark who is in it, and rated anything."""
        inside = in_half(shard.users.fingerprints, self.seed, self.number)
        return np.asarray(inside & (shard.user_support > 0))
