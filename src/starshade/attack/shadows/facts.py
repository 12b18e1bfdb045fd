"""What is known of people: a few of their ratings of released items, or all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge
from starshade.attack.shadows.seen import Facts
from starshade.progress import note
from starshade.ratings.table import Ratings


@dataclass(frozen=True, eq=False)
class Told:
    """Where facts come from.

    `truth`: the original on the released items. `item` (n_items,): where each of these is among
    the items of the original. `knowledge`: what of them may be known; see `of_use`.
    """

    truth: Ratings
    item: NDArray[np.int32]
    knowledge: Knowledge
    seed: int

    def enough(self, known: int | None) -> NDArray[np.bool_]:
        """Mark the users of whom so much can be known; None: all that there is, at least one."""
        return replace(self.knowledge, known=known or 1).eligible_users(self.truth)

    def of(self, users: NDArray[np.int64], known: int | None) -> Facts:
        """Return what is known of these users, who have `enough`.

        With the seed a user's id decides it; who else is asked about does not matter.
        """
        if known is None:
            return self._everything(users)
        drawn = replace(self.knowledge, known=known).draw(self.truth, users, self.seed)
        ends = np.arange(len(users) + 1) * known
        return Facts(users, ends, self.item[drawn.items.ravel()], drawn.ratings.ravel())

    def _everything(self, users: NDArray[np.int64]) -> Facts:
        rows = self.truth.keep_users(users)
        may = self.knowledge.eligible_items(self.truth)[rows.columns]
        ends = np.append(0, np.cumsum(may))[rows.indptr]
        ratings = rows.values()[may] if self.knowledge.ratings else np.full(ends[-1], np.nan)
        return Facts(users, ends, self.item[rows.columns[may]], ratings)


def of_use(knowledge: Knowledge, name: str) -> Knowledge:
    """Return the part of knowledge that is of use here: true ratings, without days."""
    if knowledge.wrong or knowledge.rating_error or knowledge.about_count:
        note(f"{name}: what is known is true here: wrong or blurred facts play no part")
    return replace(
        knowledge,
        wrong=0,
        wrong_kind="value",
        rating_error=0.0,
        day_error=None,
        about_count=False,
        dates=False,
    )
