"""Items are cut into ranges of no more ratings than a shard holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from starshade.ratings.shards.item_blocks import ItemBlocks
from starshade.ratings.shards.manifest import PER_RATING


class Shards:
    """Shards of so many ratings each."""

    keys = ("a", "b")

    def __init__(self, *ratings: int) -> None:
        self.ratings = ratings

    def __len__(self) -> int:
        return len(self.ratings)

    def bytes_of(self, number: int) -> int:
        return PER_RATING * self.ratings[number]


@pytest.mark.parametrize(
    ("ratings", "support", "edges", "sizes"),
    [
        ((5, 6), [3, 3, 1, 7, 2, 2, 2], [0, 2, 3, 4, 7], [6, 1, 7, 6]),
        ((6, 5), [3, 3, 1, 7, 2, 2, 2], [0, 2, 3, 4, 7], [6, 1, 7, 6]),
        ((1, 1), [1, 1, 1], [0, 1, 2, 3], [1, 1, 1]),
        ((3, 0), [1, 1, 1], [0, 3], [3]),
        ((2, 2), [0, 0, 4, 0], [0, 2, 3, 4], [0, 4, 0]),
    ],
)
def test_a_range_has_no_more_ratings_than_the_largest_shard_or_is_one_item(
    ratings: tuple[int, ...], support: list[int], edges: list[int], sizes: list[int]
) -> None:
    shards: Any = Shards(*ratings)
    blocks = ItemBlocks.of(shards, np.array(support))
    assert (blocks.edges, blocks.sizes) == (edges, sizes)
    assert len(blocks) == len(set(blocks.keys)) == len(sizes)
    assert blocks.first_users == edges[:-1]
    assert [blocks.bytes_of(number) for number in range(len(sizes))] == [64 * n for n in sizes]
