"""`ShardedRatings`: ratings in shards, whoever holds them."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from starshade.engine.job import Sharded
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary


class ShardedRatings(Sharded, Protocol):
    """What all shards have in common, and each of them as a table."""

    @property
    def items(self) -> Vocabulary:
        """Those of every shard."""
        raise NotImplementedError

    @property
    def item_names(self) -> tuple[str, ...] | None:
        """Their names."""
        raise NotImplementedError

    @property
    def scale(self) -> Scale:
        """Of the ratings."""
        raise NotImplementedError

    @property
    def levels(self) -> NDArray[np.float64]:
        """As in `Ratings`, the same in every shard."""
        raise NotImplementedError

    @property
    def n_users(self) -> int:
        """Users of all shards."""
        raise NotImplementedError

    @property
    def n_items(self) -> int:
        """Items, those without a rating included."""
        raise NotImplementedError

    @property
    def n_ratings(self) -> int:
        """Ratings of all shards."""
        raise NotImplementedError

    def shard(self, number: int, /) -> Ratings:
        """Open a shard."""
        raise NotImplementedError
