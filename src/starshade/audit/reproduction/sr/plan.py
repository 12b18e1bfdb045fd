"""On which data, and with which parameters, each of SR's Figs 3-8 is made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from starshade.errors import ConfigError
from starshade.naming import called
from starshade.ratings.proximity.balls import Search
from starshade.ratings.proximity.rule import NullRule
from starshade.ratings.proximity.sensitive import split_items
from starshade.ratings.scale import SLACK, Scale
from starshade.ratings.table import Ratings

__all__ = [
    "KS",
    "LOSS_K",
    "RULES",
    "SEARCHES",
    "SHARES",
    "Grid",
    "K",
    "Workload",
    "grid_of",
    "workloads_of",
]

RULES: tuple[NullRule, ...] = ("strict", "ignore", "zero")
SEARCHES: tuple[Search, ...] = ("pairwise", "slicing", "tree")
SHARES = tuple(range(10, 101, 10))  # % of the records, Fig 3(a)
KS = (10, 20, 30, 40, 50, 60)  # Fig 4(a)
K = 20  # the paper's default
LOSS_K = 40  # Fig 7(a)


@dataclass(frozen=True, eq=False)
class Workload:
    """Ratings that figures are made on."""

    name: str  # "top 20 items", "all 1,682 items"
    ratings: Ratings
    sensitive: tuple[str, ...]  # item ids
    rules: tuple[NullRule, ...]  # the null rules that are looked at


@dataclass(frozen=True)
class Grid:
    """ε and l on a scale: the paper's 0-5 and 0-2 are multiples of one star of 1-5."""

    star: float  # what one star comes to on this scale
    eps: tuple[float, ...]  # from 0 to R, at which everybody is proximate to everybody
    # from 0 to what two stars come to
    l: tuple[float, ...]  # noqa: E741  (the paper's name)


def grid_of(scale: Scale) -> Grid:
    """Return the ε and l that are tried on a scale.

    Examples
    --------
    >>> grid_of(Scale(1, 5, 1)).eps
    (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
    >>> grid_of(Scale(0.5, 5, 0.5)).star
    1.0
    """
    star = scale.width / 4 or 1.0
    if scale.step is not None:  # a whole number of steps, at least one
        star = scale.step * max(1, math.floor(star / scale.step + SLACK))
    last = max(2, math.ceil(scale.cost_of_null / star - SLACK))
    eps = tuple(round(star * i, 9) for i in range(last + 1))
    return Grid(star, eps, tuple(round(star * i / 2, 9) for i in range(5)))


def workloads_of(ratings: Ratings, top: int, sensitive: Sequence[str] = ()) -> tuple[Workload, ...]:
    """Return the most rated items under three null rules; all, if more, under the paper's own.

    Sensitive items (ids) are looked at whether most rated or not; empty: the last of the most
    rated.
    """
    if top < 2:
        raise ConfigError(f"{called('top')} {top}: at least 2, one of which is sensitive")
    if ratings.n_items < 2 or ratings.n_users < 2:
        raise ConfigError(
            f"{ratings.n_users:,} users on {ratings.n_items:,} items: the study needs two of each"
        )
    ranking = ratings.most_rated(top)
    if len(sensitive):
        keys = tuple(str(key) for key in sensitive)
        _, chosen = split_items(ratings.items, keys)
    else:
        chosen, keys = ranking[-1:], (ratings.items[int(ranking[-1])],)
    looked_at = np.union1d(ranking, chosen)
    if len(looked_at) == ratings.n_items:
        table = ratings.drop_empty_users()
        return (Workload(f"all {ratings.n_items:,} items", table, keys, RULES),)
    name = f"top {top:,} items"
    if len(looked_at) > len(ranking):
        name += f" and {len(looked_at) - len(ranking):,} sensitive"
    return (
        Workload(name, ratings.keep_items(looked_at), keys, RULES),
        Workload(f"all {ratings.n_items:,} items", ratings.drop_empty_users(), keys, ("strict",)),
    )
