"""Ways to group that no release of ours is made with: what the paper prints, and controls."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np

from starshade.anonymize.order import seeded_order
from starshade.anonymize.predictive.bins import group_users
from starshade.anonymize.predictive.clusters import bounded_t_means, factored, written_out
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.kernels.arrays import Ints
from starshade.recommend.factors import Factors
from starshade.recommend.padded import Padded


class Divided(PredictiveAnonymizer):
    """Centres are sums over the number of items, as §4.2 has it."""

    def _groups(self, padded: Padded, seed: int) -> Ints:
        away = written_out(
            padded, self.dissimilarity, clip=self.clip == "cells", divisor=padded.n_items
        )
        return group_users(padded, self.k, seed, away=away)


class AtOnce(PredictiveAnonymizer):
    """One clustering of everybody: no sample, no bins."""

    def _groups(self, padded: Padded, seed: int) -> Ints:
        order = seeded_order(padded.n_users, seed, "bins")
        groups = np.empty(len(order), np.int64)
        groups[order] = bounded_t_means(factored(padded), order, len(order) // self.k, self.k)
        return groups


class Unpadded(PredictiveAnonymizer):
    """Nulls are the item's mean for everybody while groups are made: nothing is predicted."""

    def _groups(self, padded: Padded, seed: int) -> Ints:
        return super()._groups(replace(padded, factors=item_means(padded)), seed)


class AtRandom(PredictiveAnonymizer):
    """Groups of users who have nothing in common."""

    def _groups(self, padded: Padded, seed: int) -> Ints:
        order = seeded_order(padded.n_users, seed, "random groups")
        groups = np.empty(len(order), np.int64)
        groups[order] = np.minimum(np.arange(len(order)) // self.k, len(order) // self.k - 1)
        return groups


#: name → class
GROUPINGS = MappingProxyType(
    {"divided": Divided, "at once": AtOnce, "unpadded": Unpadded, "random": AtRandom}
)


def item_means(padded: Padded) -> Factors:
    """Return factors that predict each item's mean rating for everybody."""
    table, factors = padded.ratings, padded.factors
    support = table.item_support
    sums = np.bincount(table.columns, table.values(), table.n_items)
    means = np.divide(sums, support, out=np.full(len(sums), factors.mean), where=support > 0)
    return replace(
        factors,
        user_bias=np.zeros_like(factors.user_bias),
        item_bias=means - factors.mean,
        user_factors=np.zeros_like(factors.user_factors),
        item_factors=np.zeros_like(factors.item_factors),
    )
