"""What fake edges show and which groups get them (definitions, "predictive").

The paper's are the members' mean padded values, in any groups that lack the item (PA §5.1). Whoever
reads the release tells them at a glance: such a mean is hardly ever one of a few whole ratings, it
lies on the model, and the groups that were cheapest to choose show the most. `Drawn` makes them as
real cells come about. A value is the mean of as many ratings as some real cell of the item rests
on, each a member's prediction plus what a rating of that real cell differs from its own
prediction, rounded to the scale. A group is drawn by how likely it would show the item:

    w  =  (f / mean + 0.02)² · a

times the sets that it serves. `f` is a fit of rank 8 to what groups show, `mean` the share of them
that show the item. With b = 1 any group may show it, and `a` tells how near the group stands to one
that does, in order of how many items each shows. Larger sets can be shown by those groups alone
that show the rest of them, which are those that show much; to make up for it `a` is 1 over the
number of items that the group shows. Rank, power and width are what told least on MovieLens 100K
(`benchmarks/fake_edges.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from starshade.kernels.arrays import Floats, Ints
from starshade.recommend.padded import Padded
from starshade.release.profiles import Profiles
from starshade.rng import generator

_RANK, _ROUNDS = 8, 6  # of the fit to what groups show, and of power iterations
_FEW = 24  # groups or items for each rank beyond 1: a closer fit would know what is empty
_GRID = 6  # decimals of that fit, so that no rounding decides
_LEAST = 0.02  # for a group that the fit, or the order, rules out
_WIDTH = 0.1  # of all groups, in order of how many items they show
_NEVER = 1e-9


@dataclass(frozen=True, eq=False)
class Invented:
    """What both ways work with.

    `profiles`: what groups show so far, `groups` (n_users,): whose group is which. `draw`: the one
    stream for all items, which come in the same order each time.
    """

    padded: Padded
    profiles: Profiles
    groups: Ints
    b: int
    min_raters: int
    draw: np.random.Generator

    def predictions(self, item: int) -> Floats:
        """Return everybody's unclipped prediction."""
        parts = self.padded.parts
        out = np.full(self.padded.n_users, parts.base[item])
        for j, loading in enumerate(parts.loadings[item]):
            out += loading * parts.phi[:, j]
        return out

    def ratings(self, item: int) -> tuple[Ints, Floats]:
        """Return who rated an item, and how."""
        turned = self.padded.ratings.by_item
        raters = slice(turned.indptr[item], turned.indptr[item + 1])
        return turned.users[raters].astype(np.int64), self.padded.parts.levels[turned.codes[raters]]


class Mean(Invented):
    """The paper's: the members' mean padded value, in the smallest groups of the least spread."""

    def _moments(self, item: int) -> tuple[Floats, Floats]:
        values, groups, sizes = self.predictions(item), self.groups, self.profiles.sizes
        users, rated = self.ratings(item)
        values[users] = rated
        means = np.bincount(groups, values, len(sizes)) / sizes
        squares = np.bincount(groups, (values - means[groups]) ** 2, len(sizes)) / sizes
        return means, np.sqrt(squares)

    def cost(self, item: int) -> tuple[Floats, Ints]:
        """Return the members, and an order by the least spread, then by a draw."""
        sizes = self.profiles.sizes
        tie = self.draw.permutation(len(sizes))
        first = np.empty(len(sizes), np.int64)
        first[np.lexsort([tie, self._moments(item)[1], sizes])] = np.arange(len(sizes))
        return sizes.astype(np.float64), first

    def values(self, item: int, here: Ints) -> Floats:
        """Return the members' means."""
        return self._moments(item)[0][here]


class Drawn(Invented):
    """As real cells come about."""

    @cached_property
    def _shown(self) -> Ints:
        return np.maximum(self.profiles.n_rated(), 1)

    @cached_property
    def _fit(self) -> tuple[Floats, Floats, Floats]:
        """Return the share of groups that show each item, and factors of what is above it."""
        levels, blocks = self.profiles.levels, self.profiles.blocks()
        n_groups, n_items = levels.shape
        mean = np.count_nonzero(levels, axis=0) / n_groups
        width = min(_RANK, 1 + min(n_groups, n_items) // _FEW)
        right = generator(0, "fake edges fitted").standard_normal((n_items, width))
        left = np.empty((n_groups, width))
        for _ in range(_ROUNDS):
            for rows in blocks:
                left[rows] = (levels[rows] > 0).astype(np.float64) @ right - mean @ right
            left = np.linalg.qr(left)[0]
            right = -np.outer(mean, left.sum(axis=0))
            for rows in blocks:
                right += (levels[rows] > 0).astype(np.float64).T @ left[rows]
        return mean, left, right

    def _likely(self, item: int) -> Floats:
        mean, left, right = self._fit
        share = max(mean[item], 1 / len(left))
        fit = np.round(np.maximum(mean[item] + left @ right[item], 0) / share, _GRID)
        return np.asarray((fit + _LEAST) ** 2)

    @cached_property
    def _place(self) -> Floats:
        """Where each group stands among all by how many items it shows, in [0, 1)."""
        place = np.empty(len(self._shown))
        place[np.argsort(self._shown, kind="stable")] = np.arange(len(place)) / len(place)
        return place

    def _active(self, item: int) -> Floats:
        if self.b > 1:
            return 1 / self._shown
        here = self._place[self.profiles.levels[:, item] > 0]  # fewer than l
        near = np.exp(-(((self._place[:, None] - here) / _WIDTH) ** 2) / 2)
        return np.asarray(near.sum(axis=1) + _LEAST)

    def cost(self, item: int) -> tuple[Floats, Ints]:
        """Return an exponential draw over each weight: the least of them is drawn by the weights.

        A group too small for so many raters comes last.
        """
        weight = self._likely(item) * self._active(item)
        weight[self.profiles.sizes < self.min_raters] *= _NEVER
        drawn = self.draw.standard_exponential(len(weight)) + _NEVER
        return drawn / weight, np.arange(len(weight))

    def values(self, item: int, here: Ints) -> Floats:
        """Return means of ratings that members might have given."""
        guess, (users, rated) = self.predictions(item), self.ratings(item)
        order = np.argsort(self.groups[users], kind="stable")
        off = (rated - guess[users])[order]
        _, start, length = np.unique(
            self.groups[users][order], return_index=True, return_counts=True
        )
        real = length >= self.min_raters
        if real.any():
            start, length, raters = start[real], length[real], length[real]
        else:  # nobody may see one of these cells, so all ratings of the item stand for one
            start, length, raters = (
                np.zeros(1, np.int64),
                np.array([len(off)]),
                np.ones(1, np.int64),
            )
        sizes = self.profiles.sizes[here]
        like = self.draw.integers(len(start), size=len(here))
        n = np.minimum(np.maximum(raters[like], self.min_raters), sizes)
        of = np.repeat(np.arange(len(here)), n)
        nth = np.arange(len(of)) - np.repeat(np.cumsum(n) - n, n)
        turn = self.draw.integers(2**31, size=(2, len(here)))
        first, members = self._members
        who = members[first[here][of] + (turn[0][of] + nth) % sizes[of]]
        other = start[like][of] + (turn[1][of] + nth) % length[like][of]
        given = self._on_scale(guess[who] + off[other])
        return np.asarray(np.bincount(of, given, len(here)) / n)

    @cached_property
    def _members(self) -> tuple[Ints, Ints]:
        ends = np.cumsum(self.profiles.sizes)
        return ends - self.profiles.sizes, np.argsort(self.groups, kind="stable")

    def _on_scale(self, values: Floats) -> Floats:
        scale = self.profiles.scale
        values = np.clip(values, scale.minimum, scale.maximum)
        if not scale.step:
            return values
        return scale.minimum + scale.step * np.round((values - scale.minimum) / scale.step)
