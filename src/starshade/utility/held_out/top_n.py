"""Top-N agreement: whether the release recommends what the original does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.figure import Figure
from starshade.progress import task
from starshade.ratings.table import Ratings
from starshade.recommend.registry import Fitted
from starshade.release.table import Release
from starshade.utility.held_out.nearest import sample_within
from starshade.utility.held_out.probe import HeldOut, Probe, ReleasedRows, readings
from starshade.utility.held_out.recommender_error import Refit, chosen, refit, trained
from starshade.utility.result import UtilityResult
from starshade.utility.settings import TopNSettings

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_CELLS = 2**22  # numbers written out at once


@dataclass(frozen=True)
class TopN(TopNSettings, HeldOut[UtilityResult]):
    """Share of the N best items of the original that are among the N best of the release.

    Best among the items that a person has not rated in training, by prediction, ties by item
    key: of a recommender trained on the original, against the released row that stands for the
    person (`release`, null counting as the level below the scale), and against the same
    recommender trained on the release (`refit`). An item that was not released can be among the
    best of the original alone.

    Parameters
    ----------
    n : int
        Items in a list, at least 1.
    users : int
        Of those with held-out ratings, at most so many are asked, a seeded sample; fewer where
        that would take much memory. Who has fewer than `n` items left to rate is not asked.
    recommender : str or Recommender, optional
        By name, as `starshade.recommend.registry` lists them, or one with settings; None: the one
        that the release was made with, or regularized-svd where none was.
    seed : int
        For training and for the sample.

    Raises
    ------
    ConfigError
        A value outside its range.
    """

    name: ClassVar[str] = "top-n-agreement"
    FIGURES: ClassVar[tuple[Figure, ...]] = (
        *readings(
            "top_n_agreement",
            "Equal recommendations",
            "share",
            False,
            "Share of recommended items that the original recommends too.",
        ),
        Figure(
            "top_n_users",
            "People with recommendations",
            "count",
            None,
            "What the shares rest on.",
        ),
    )

    MEANING: ClassVar[str] = (
        "High is more useful: the share of the {n} items that a recommender on the original would "
        "recommend to a person that are also among the {n} of the release."
    )

    def found(self, release: Release, original: Ratings, probe: Probe) -> UtilityResult:
        """Compare what is recommended to people."""
        users = self.sample(release, original, probe, rated_of(release, original))
        if not len(users):
            return self._unmeasured()
        recommender = chosen(self.recommender, release)
        again = refit(recommender, release, self.seed)
        fitted = trained(recommender, original, self.seed)
        read, learned = self._agreement(release, original, probe, users, fitted, again)
        return self._result(
            {
                "top_n_agreement_release": read,
                "top_n_agreement_refit": learned,
                "top_n_users": len(users),
            },
            again.reason,
        )

    def sample(self, release: Release, original: Ratings, probe: Probe, rated: Indices) -> Indices:
        """Return users of the probe with `n` released items left, ascending.

        `original`: of which ids and items alone count. `rated`: as of `rated_of`.
        """
        users = np.unique(probe.users)
        left = release.classes.n_items - rated[users]
        return sample_within(original, users[left >= self.n], self.users, 1, self.seed)

    def _agreement(
        self,
        release: Release,
        original: Ratings,
        probe: Probe,
        users: Indices,
        fitted: Fitted,
        again: Refit,
    ) -> tuple[float, float | None]:
        rows = ReleasedRows(release)
        own = probe.rows[np.searchsorted(probe.users, users)]
        items = original.items.indices(release.classes.items)  # of released ones
        common = np.zeros(2)
        together = max(1, _CELLS // max(original.n_items, 1))
        with task("comparing recommendations", len(users)) as step:
            for start in range(0, len(users), together):
                here = slice(start, start + together)
                part = original.keep_users(users[here])
                rated = ~np.isnan(part.dense())
                best = self._best(fitted.rows(users[here]), rated)
                lists = [rows.readings(own[here])]
                if again.fitted is not None:
                    lists.append(again.fitted.rows(own[here]))
                for place, scores in enumerate(lists):
                    recommended = items[self._best(scores, rated[:, items])]
                    common[place] += (recommended[:, :, None] == best[:, None, :]).sum()
                step(part.n_users)
        shares = common / (self.n * len(users))
        return float(shares[0]), None if again.fitted is None else float(shares[1])

    def _best(self, scores: Floats, rated: NDArray[np.bool_]) -> Indices:
        """Return the `n` best columns of each row that are not rated, best first."""
        # equal scores that were summed in another order differ in their last bits
        order = np.argsort(np.where(rated, np.inf, -scores.round(9)), axis=1, kind="stable")
        return order[:, : self.n]


def rated_of(release: Release, ratings: Ratings) -> Indices:
    """Return how many released items each user rated."""
    place = release.classes.items.indices(ratings.items)
    owner = np.repeat(np.arange(ratings.n_users), ratings.user_support)
    return np.bincount(owner[place[ratings.columns] >= 0], minlength=ratings.n_users)
