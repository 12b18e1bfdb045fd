"""Padded rows, of which none has to be written out (PA §4.1; definitions, "predictive").

Padding replaces every null by the recommender's prediction, so that a user's row is full::

    x_u  =  c  +  L phi_u  +  e_u

    c      (n,)         mean rating + item bias: the same for all users
    L      (n, f + 1)   a column of ones, then the item factors
    phi_u  (f + 1,)     the user's bias, then the user's factors
    e_u    (n,) sparse  rating − unclipped prediction on the items that u rated, 0 elsewhere

At Netflix's size the rows together are 8.5 thousand million numbers; what they are made of is the
ratings themselves and 17 numbers for each user and item (f = 16). Everything that grouping needs
follows from these parts. Let W be diagonal, the weights of the items in squared distances (all 1
unless asked otherwise), ``G = L'WL`` (f + 1 × f + 1), and ``g_u = L'W e_u`` (f + 1 numbers, one
pass over u's ratings). Then, for two users::

    |x_u − x_v|²  =  |psi_u − psi_v|²  +  2 (phi_u − phi_v)·(g_u − g_v)  +  |e_u − e_v|²_W
                     psi = G^(1/2) phi        cross terms                    sparse

The first part is plain Euclidean distance in f + 1 numbers (`Padded.coordinates`). The same holds
against a mean of rows, a *virtual centre*: its phi, g and e are the means of its members', for
averaging is linear, which is why means and distances are taken of **unclipped** predictions and
only what is released is clipped. Multiplying out, with ``s_u = L'W (x_u − c) = G phi_u + g_u``::

    (x_u − c)'W(x_v − c)  =  s_u·phi_v  +  phi_u·g_v  +  e_u'W e_v

so a distance costs 2(f + 1) products and one for each item that u rated, against n for rows
written out: 240 in place of 17,770. ``e_u`` is not stored either; a pass over the ratings gives it.

What is not a sum of products does not split like this: the other dissimilarities of
`starshade.recommend.padded`, and rows whose predictions are clipped cell by cell. For these
`Padded.block` writes out some rows at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, get_args

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.kernels.arrays import Floats, Ints, fixed
from starshade.kernels.padded.padded import (
    ABSOLUTE,
    FAR,
    SIMILAR,
    SQUARED,
    Parts,
    dense_rows,
    few_rows,
    gram,
    mean_over_common,
    mean_rows,
    project,
)
from starshade.ratings.scale import SLACK, Scale
from starshade.ratings.table import Ratings
from starshade.recommend.settings import Dissimilarity

if TYPE_CHECKING:
    from starshade.recommend.factors import Factors


@dataclass(frozen=True, eq=False)
class Padded:
    """The padded rows of a table.

    `weights` (n_items,): of the items in squared distances, finite, none negative; 1 each by
    default. They change no row and no mean.
    """

    ratings: Ratings
    factors: Factors
    weights: Floats | None = None

    def __post_init__(self) -> None:
        shape = len(self.factors.user_bias), len(self.factors.item_bias)
        own = self.ratings.n_users, self.ratings.n_items
        if shape != own:
            raise ConfigError(
                f"factors of {shape[0]:,} users and {shape[1]:,} items, "
                f"ratings of {own[0]:,} and {own[1]:,}",
                advice="Fit the recommender to the same table.",
            )
        weights = self.weights
        if weights is not None and (
            weights.shape != own[1:] or not np.isfinite(weights).all() or (weights < 0).any()
        ):
            raise ConfigError("item weights: must be one finite number per item, none negative")

    @property
    def n_users(self) -> int:
        """Rows."""
        return self.ratings.n_users

    @property
    def n_items(self) -> int:
        """Columns."""
        return self.ratings.n_items

    @cached_property
    def parts(self) -> Parts:
        """What kernels read."""
        ratings, factors = self.ratings, self.factors
        weights = np.ones(self.n_items) if self.weights is None else self.weights
        loadings = np.column_stack([np.ones(self.n_items), factors.item_factors])
        phi = np.column_stack([factors.user_bias, factors.user_factors])
        return Parts(
            fixed(ratings.indptr),
            fixed(ratings.columns),
            fixed(ratings.codes),
            fixed(ratings.levels),
            fixed(factors.mean + factors.item_bias),
            fixed(loadings),
            fixed(phi),
            fixed(weights.astype(np.float64)),
        )

    @cached_property
    def inner(self) -> Floats:
        """G = L'WL, shape (f + 1, f + 1)."""
        return np.asarray(gram(self.parts.loadings, self.parts.weights))

    @cached_property
    def _projected(self) -> tuple[Floats, Floats]:
        return project(self.parts, self.inner)

    @property
    def sums(self) -> Floats:
        """s_u = L'W(x_u − c), shape (n_users, f + 1)."""
        return self._projected[0]

    @property
    def lengths(self) -> Floats:
        """Squared length of x_u − c, weighted, shape (n_users,)."""
        return self._projected[1]

    @cached_property
    def coordinates(self) -> Floats:
        """Whitened psi = G^(1/2) phi: distances of these are those of the predicted rows."""
        values, vectors = np.linalg.eigh(self.inner)
        # rounding leaves values a little below 0 where factors depend on each other
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        out = np.zeros_like(self.parts.phi)
        for j in range(len(root)):  # term by term: the same on any number of threads
            out += self.parts.phi[:, j, None] * root[j]
        return out

    def block(self, users: NDArray[np.integer], *, clip: bool = False) -> Floats:
        """Write out the padded rows of some users; `clip`: predictions, cell by cell."""
        return dense_rows(self.parts, users, *self._bounds(clip))

    def few(self, users: NDArray[np.integer], *, clip: bool = False) -> Floats:
        """Write out the padded rows of a few users, as `block` does, on one thread."""
        return few_rows(self.parts, users, *self._bounds(clip))

    def means(self, starts: Ints, members: Ints, *, clip: bool = False) -> Floats:
        """Write out the mean padded row of some groups.

        `clip`: whether predictions are clipped to the scale before they are averaged, cell by cell,
        which takes every member's row by itself. The mean is not clipped otherwise.
        """
        return mean_rows(self.parts, starts, members, *self._bounds(clip))

    def _bounds(self, clip: bool) -> tuple[float, float]:
        scale = self.ratings.scale
        return (scale.minimum, scale.maximum) if clip else (-np.inf, np.inf)

    def without_ratings(self) -> Padded:
        """Return the predictions alone: rows of the same users and items, corrected nowhere."""
        ratings = replace(
            self.ratings,
            indptr=np.zeros(self.n_users + 1, np.int64),
            columns=np.empty(0, np.int32),
            codes=self.ratings.codes[:0],
            days=None,
        )
        return replace(self, ratings=ratings)


__all__ = ["DISSIMILARITIES", "Dissimilarity", "dissimilarities"]

#: names, the default first
DISSIMILARITIES: tuple[str, ...] = get_args(Dissimilarity)

_WITHIN = {"closeness-0.5": 0.5, "closeness-1.0": 1.0}  # ratings, not shares of the scale
_KIND = {"weighted-sq": SIMILAR, "weighted": ABSOLUTE, "euclidean": SQUARED}


def dissimilarities(
    rows: Floats,
    others: Floats,
    name: Dissimilarity,
    scale: Scale,
    *,
    weights: Floats | None = None,
) -> Floats:
    """Compare each row with each of the others, on the items that both have.

    With n common items and d the difference of two ratings as a share of the scale's width:

    - ``weighted-sq``: 1 − (1/n) Σ (1 − d)², what PA §4.2 calls "sim";
    - ``closeness-0.5``, ``closeness-1.0``: 1 − the share of items whose ratings differ by at most
      so much (in ratings, within 1e-9);
    - ``weighted``: (1/n) Σ d;
    - ``euclidean``: √((1/n) Σ d²). On rows without nulls it orders as the Euclidean distance does.

    `rows`, `others`: NaN is null. `weights` (n,): of the items, none negative: sums and counts over
    items become weighted ones. Returns (a, b): in [0, 1] where both are on the scale; 1 for two
    rows without a common item.

    >>> x, y = np.array([[1.0, 5.0, np.nan]]), np.array([[2.0, 5.0, 3.0]])
    >>> dissimilarities(x, y, "weighted-sq", Scale(1, 5, 1)).tolist()
    [[0.21875]]
    """
    if weights is None:
        weights = np.ones(rows.shape[1])
    if name in _WITHIN:
        return mean_over_common(rows, others, FAR, 1.0, _WITHIN[name] + SLACK, weights)
    width = scale.width or 1.0  # a scale of one level: all ratings are equal
    result = mean_over_common(rows, others, _KIND[name], width, 0.0, weights)
    return np.sqrt(result) if name == "euclidean" else result
