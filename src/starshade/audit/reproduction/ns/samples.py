"""The data with one property changed, and nothing else: what decides a cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from starshade.attack.view import View, look
from starshade.audit.reproduction.estimates import Untestable
from starshade.plain import counted
from starshade.ratings.holdout import hold_out, sample_users
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from starshade.rng import generator

FEWEST = 20  # people of whom some can be drawn


def dealt_days(ratings: Ratings, seed: int) -> Ratings:
    """Deal the days anew among all ratings: as many of each, and nobody's habits in them."""
    if ratings.days is None:
        raise Untestable("the data have no dates")
    days = np.array(ratings.days)
    generator(seed, "dealt days").shuffle(days)
    return replace(ratings, days=days)


def moved_days(ratings: Ratings, seed: int, most: int = 14) -> Ratings:
    """Move every known day by up to so many, each as likely."""
    if ratings.days is None:
        raise Untestable("the data have no dates")
    moves = generator(seed, "moved days").integers(-most, most + 1, len(ratings.days), np.int32)
    days = np.clip(ratings.days + moves, 0, UNKNOWN_DAY - 1).astype(np.uint16)
    return replace(ratings, days=np.where(ratings.days == UNKNOWN_DAY, ratings.days, days))


def altered(ratings: Ratings, seed: int, share: float = 5 / 229) -> Ratings:
    """Give a share of the cells the rating and the day of some other cell."""
    rng = generator(seed, "altered")
    cells = rng.choice(ratings.n_ratings, round(share * ratings.n_ratings), replace=False)
    others = rng.integers(0, ratings.n_ratings, len(cells))
    codes = np.array(ratings.codes)
    codes[cells] = ratings.codes[others]
    if ratings.days is None:
        return replace(ratings, codes=codes)
    days = np.array(ratings.days)
    days[cells] = ratings.days[others]
    return replace(ratings, codes=codes, days=days)


def drawn(ratings: Ratings, share: float, seed: int) -> Ratings:
    """Draw a share of the users."""
    if ratings.n_users < FEWEST:
        raise Untestable(f"{counted(ratings.n_users, 'user')}: a sample takes {FEWEST} or more")
    return ratings.keep_users(_some(ratings, share, seed))


def _some(ratings: Ratings, share: float, seed: int) -> NDArray[np.int64]:
    everyone = np.arange(ratings.n_users)
    return sample_users(ratings, everyone, max(2, round(share * ratings.n_users)), seed)


def _half(ratings: Ratings, seed: int) -> Ratings:
    if ratings.n_ratings < 2:
        raise Untestable("one rating cannot be halved")
    return hold_out(ratings, 0.5, seed)[0]


def _four_raters(ratings: Ratings, seed: int) -> Ratings:
    items = np.flatnonzero(ratings.item_support >= 4)
    if not len(items):
        raise Untestable("no item has four raters")
    return ratings.keep_items(items)


def _columns(ratings: Ratings, seed: int) -> Ratings:
    return replace(ratings, codes=np.zeros_like(ratings.codes), days=None)


#: way → how its data are made
CHANGED: dict[str, Callable[[Ratings, int], Ratings]] = {
    "dealt-days": dealt_days,
    "half": _half,
    "fifth": lambda ratings, seed: drawn(ratings, 0.2, seed),
    "moved-days": moved_days,
    "altered": altered,
    "four-raters": _four_raters,
    "all-columns": _columns,
}


@dataclass(frozen=True, eq=False)
class Tenth:
    """A random tenth of the people, as published; targets are theirs and others'.

    `view`: has one more person than rows, of whom there is none. `users`: rows of the whole that
    are in it, ascending.
    """

    view: View
    users: NDArray[np.int64]

    @classmethod
    def of(cls, ratings: Ratings, seed: int) -> Tenth:
        """Draw it."""
        sample = drawn(ratings, 0.1, seed)
        view = look(sample, None, None)
        view = replace(view, row_of_user=np.append(view.row_of_user, -1))
        return cls(view, _some(ratings, 0.1, seed))

    def rows(self, users: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of people here, the one without a row for those who are not in it."""
        at = np.minimum(np.searchsorted(self.users, users), len(self.users) - 1)
        return np.where(self.users[at] == users, at, len(self.users))
