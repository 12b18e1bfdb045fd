"""How PA is run: to the letter, as we read it, ours, and what stands between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from starshade.anonymize.order import put_back, seeded_order
from starshade.anonymize.predictive.bins import Bins, bins_of, distances_of, group_users
from starshade.anonymize.predictive.clusters import (
    Distances,
    bounded_t_means,
    written_out,
)
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.audit.reproduction.configurations import Choice, Name, one_change, settings_of
from starshade.audit.reproduction.parts import Part
from starshade.kernels.arrays import Ints
from starshade.ratings.table import Ratings
from starshade.recommend.factors import Factors
from starshade.recommend.padded import Padded

CHOICES = (
    Choice("dissimilarity", "Dissimilarity of two padded rows", "weighted-sq", "euclidean",
           "euclidean", "§4.2",
           "The text wants large differences to count more than their share: 2d − d² does the "
           "opposite, d² is what it describes and needs no full rows.", "§4.2"),
    Choice("clip", "What is clipped to the scale: each prediction or the released mean",
           "cells", "mean", "mean", "§7.1",
           "Predictions are “between one and five”; clipped before they are averaged they would "
           "need every cell.", "§7.1"),
    Choice("centre", "A cluster's centre", "mean", "mean", "mean", "§4.2, step 2.2",
           "The formula divides by n, the number of items; Algorithm 1 speaks of averages. "
           "Divided by n, all centres lie near 0 and nearly all users join one bin: a separate "
           "line at the least k, on up to 2,000 users.", "a cluster's centre"),
    Choice("biases", "Biases for users and items", False, False, True, "§4.1"),
    Choice("factors", "Factors", *(PredictiveAnonymizer.factors,) * 3, "§4.1",
           "The paper names no number: ours for all three. A separate line has ten."),
    Choice("regularization", "Regularization of the factors", 0.055, 0.055, 0.055, "§4.1",
           "No number is named: ours for all three, and alternating least squares in place of "
           "steps."),
    Choice("grouping", "How groups are made", "t-means", "t-means", "exchange", "§4.2, Algorithm 1",
           "Bounded t-means in bins: a sample of 20 ⌈√m⌉ users, √m bins, at most 8 rounds. The "
           "paper names neither sample nor rounds, and once √n for √m. Exchange is of Euclidean "
           "distances.", "§4.2 against Alg. 1"),
    Choice("weights", "Weight of an item in distances", "uniform", "uniform", "support", "§4.2"),
    Choice("profile", "Released profile of a group", "padded", "padded", "pooled", "§4.3, §5.2",
           "Both of the paper's variants, `padded` and `simple`, are run.",
           "§4.3 against Alg. 1, line 6"),
    Choice("judge", "Model for the error on the original", "the one that pads",
           "the one that pads", "the one that pads", "§7.1"),
)  # fmt: skip
PRINTED: Name = "as-printed"
READ: Name = "as-read"
OURS: Name = "ours"
SIMPLE = "as-read, but profiles of the ratings alone"
UNPADDED = "as-read, but groups from rows filled with each item's mean"
AT_RANDOM = "as-read, but groups at random"
AT_ONCE = "as-read, but all users clustered at once"
RELAXED = "as-read, but closeness-1.0"
FACTORS = 10
MORE_FACTORS = f"as-read, but {FACTORS} factors"
DIVIDED = "as-printed, but centres divided by the number of items"
#: what is said of a choice taken from another configuration
_SAID = {
    "weighted-sq": "weighted squares",
    "cells": "predictions clipped one by one",
    True: "biases",
    "exchange": "groups by exchange",
    "support": "items weighted by support",
    "pooled": "pooled profiles",
}


@dataclass(frozen=True, eq=False)
class Kept:
    """What the lines of one run share: who fits, or groups, alike does it once."""

    models: dict[Any, Factors]
    part: Callable[[str, Callable[[], Part]], Part]


@dataclass(frozen=True)
class Studied(PredictiveAnonymizer):
    """The method as a line has it.

    Parameters
    ----------
    how : str
        How groups are made, where it is no way of ours; see `_GROUPINGS`.
    alike : str
        The first line that groups as this one does.
    kept : Kept, optional
        None: nothing is shared.
    """

    how: str = ""
    alike: str = ""
    kept: Kept | None = None

    def padded(self, table: Ratings, seed: int) -> Padded:
        """Return the rows that are grouped."""
        return self._padded(table, seed)

    def bins(self, padded: Padded, seed: int) -> Bins:
        """Return everybody's bin, whatever k is."""

        def put() -> Part:
            known = padded if (self.dissimilarity, self.clip) == ("euclidean", "mean") else None
            return bins_of(self.away(padded), padded.n_users, seed, known)._asdict()

        return Bins(**self._once(f"bins of {self.alike}, seed {seed}", put))

    def away(self, padded: Padded) -> Distances:
        """Return how rows are compared."""
        if self.how == "divided":
            whole = self.clip == "cells"
            return written_out(padded, self.dissimilarity, clip=whole, divisor=padded.n_items)
        return distances_of(padded, self.dissimilarity, self.clip)

    def _once(self, name: str, make: Callable[[], Part]) -> Part:
        return make() if self.kept is None else self.kept.part(name, make)

    def _fitted(self, table: Ratings, seed: int) -> Factors:
        if self.kept is None:
            return super()._fitted(table, seed)
        models, model = self.kept.models, self.padding()
        if model not in models:
            models[model] = super()._fitted(table, seed)
        return models[model]

    def _groups(self, padded: Padded, seed: int) -> Ints:
        name = f"groups of {self.alike}, k = {self.k}, seed {seed}"
        return self._once(name, lambda: {"groups": self.grouped(padded, seed)})["groups"]

    def grouped(self, padded: Padded, seed: int, given: Distances | None = None) -> Ints:
        """Make groups; `given`: by these distances, everything anew."""
        m = padded.n_users
        if self.how == "at once":  # one clustering of everybody: no sample, no bins
            order = seeded_order(m, seed, "bins")
            away = given or self.away(padded)
            return put_back(order, bounded_t_means(away, order, m // self.k, self.k))
        if self.how == "random":
            order = seeded_order(m, seed, "random groups")
            return put_back(order, np.minimum(np.arange(m) // self.k, m // self.k - 1))
        if self.how == "unpadded":  # nulls are the item's mean for everybody: nothing is predicted
            return super()._groups(replace(padded, factors=item_means(padded)), seed)
        if self.grouping == "exchange":
            return super()._groups(padded, seed)
        return group_users(
            padded,
            self.k,
            seed,
            dissimilarity=self.dissimilarity,
            clip=self.clip,
            away=self.away(padded) if self.how == "divided" else given,
            bins=None if given else self.bins(padded, seed),
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


@dataclass(frozen=True)
class Line:
    """One way to run the algorithm; its name is its configuration."""

    name: str
    settings: Mapping[str, Any]
    # work that grows with users²: not on more users than this
    most_users: int | None = None
    least_k: bool = False  # run at the least k alone
    cells: bool = False  # compares every cell: on so many users drawn where there are more

    def at(self, k: int, kept: Kept | None = None) -> Studied:
        """Return the method; no item is left out."""
        own = {name: self.settings[name] for name in self.settings if name not in _NOT_THE_METHODS}
        how = own["grouping"] if own["grouping"] in _HOW else ""
        own |= {"grouping": "t-means"} if how else {}
        return Studied(k=k, rare_items="keep", how=how, alike=self.alike, kept=kept, **own)

    @property
    def alike(self) -> str:
        """The first line that groups as this one does: all but the profile is equal."""
        own = _grouping(self)
        return next(line.name for line in LINES.values() if _grouping(line) == own)


_NOT_THE_METHODS = ("centre", "judge")
_HOW = ("divided", "at once", "unpadded", "random")


def _grouping(line: Line) -> dict[str, Any]:
    return {name: value for name, value in line.settings.items() if name != "profile"}


def _lines() -> dict[str, Line]:
    printed, read, ours = (settings_of(CHOICES, name) for name in (PRINTED, READ, OURS))
    lines = [Line(PRINTED, printed, cells=True), Line(READ, read)]
    others: tuple[Name, ...] = PRINTED, OURS
    for other in others:
        for key, changed in one_change(CHOICES, READ, other):
            name = f"{READ}, but {_SAID[changed[key]]}"
            lines.append(Line(name, changed, cells=other == PRINTED))
    model = read | {"profile": "model"}
    lines += [
        Line("as-read, but profiles of the predictions alone", model),
        Line(OURS, ours),
        Line(SIMPLE, read | {"profile": "simple"}),
        Line(MORE_FACTORS, read | {"factors": FACTORS}),
        Line(UNPADDED, read | {"grouping": "unpadded"}),
        Line(AT_RANDOM, read | {"grouping": "random"}),
        Line(AT_ONCE, read | {"grouping": "at once"}, most_users=20_000),
        Line(RELAXED, read | {"dissimilarity": "closeness-1.0"}, 20_000, least_k=True, cells=True),
        Line(DIVIDED, printed | {"grouping": "divided"}, most_users=2_000, least_k=True),
    ]
    return {line.name: line for line in lines}


LINES: Mapping[str, Line] = MappingProxyType(_lines())
WEIGHTED = "as-read, but weighted squares"
EXCHANGED = "as-read, but groups by exchange"
#: whose users are compared with every profile (Table 3, Fig. 5)
COMPARED = (PRINTED, READ, SIMPLE, OURS)
#: at a size that leaves no time for more
LARGE = (PRINTED, READ, SIMPLE, OURS)
