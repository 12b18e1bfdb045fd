"""Known ratings of people: a few of their ratings of released items, or all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge
from starshade.attack.shadows.seen import Facts
from starshade.kernels.csr import keep_rows
from starshade.progress import note
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from starshade.rng import stream_key


@dataclass(frozen=True, eq=False)
class Told:
    """Where facts come from.

    `truth`: people, on the items of the catalogue. `knowledge`: what of it may be known; see
    `of_use`. `raters` (n_items,): of all people, where `truth` has some of them; None: all are
    there.
    """

    truth: Ratings
    knowledge: Knowledge
    seed: int
    raters: NDArray[np.int64] | None = None

    @cached_property
    def support(self) -> NDArray[np.int64]:
        """People who rated each item."""
        return self.truth.item_support if self.raters is None else self.raters

    @cached_property
    def eligible(self) -> NDArray[np.bool_]:
        """Items that may be known."""
        return self.knowledge.eligible_among(self.truth.items, lambda: self.support)

    def enough(self, known: int | None) -> NDArray[np.bool_]:
        """Mark the users of whom so much can be known; None: all that there is, at least one."""
        return replace(self.knowledge, known=known or 1).with_enough(self.truth, self.eligible)

    def of(self, users: NDArray[np.int64], known: int | None, draw: int = 0) -> Facts:
        """Return what is known of these users, who have `enough`; `draw`: of several, which.

        With the seed a user's id decides it; who else is asked about does not matter.
        """
        if known is None:
            return all_known(self.truth, users, self.eligible, ratings=self.knowledge.ratings)
        # only what is wrong is drawn from everybody's ratings and days
        levels, days = (np.zeros(n, np.int64) for n in (len(self.truth.levels), UNKNOWN_DAY + 1))
        drawn = replace(self.knowledge, known=known).draw_of(
            self.truth, users, self.seed_of(draw), self.eligible, levels, days
        )
        ends = np.arange(len(users) + 1) * known
        return Facts(users, ends, drawn.items.ravel().astype(np.int32), drawn.ratings.ravel())

    def seed_of(self, draw: int) -> int:
        """Return the seed of a draw of facts."""
        return self.seed if not draw else stream_key(self.seed, f"facts {draw}") >> 1


def all_known(
    truth: Ratings, users: NDArray[np.int64], eligible: NDArray[np.bool_], *, ratings: bool
) -> Facts:
    """Return all of these users' ratings of `eligible` items (n_items,), in their order.

    `ratings`: whether these are known, or only that they are there.
    """
    indptr, columns, codes, _ = keep_rows(truth.indptr, truth.columns, truth.codes, None, users)
    may = eligible[columns]
    ends = np.append(0, np.cumsum(may))[indptr]
    known = truth.levels[codes[may]] if ratings else np.full(ends[-1], np.nan)
    return Facts(users, ends, columns[may].astype(np.int32), known)


def of_use(knowledge: Knowledge, name: str) -> Knowledge:
    """Return the part of knowledge that is of use here: true ratings, without days."""
    if knowledge.wrong or knowledge.rating_error or knowledge.about_count:
        note(f"{name}: uses true ratings; settings for wrong or inexact facts have no effect")
    return replace(
        knowledge,
        wrong=0,
        wrong_kind="value",
        rating_error=0.0,
        day_error=None,
        about_count=False,
        dates=False,
    )
