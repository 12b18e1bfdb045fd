"""People compared with released profiles: nearest, predictions, self-rank (PA §7.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.chart import Chart
from starshade.chart.shapes import Axis, curve_chart
from starshade.errors import ConfigError
from starshade.figure import Figure
from starshade.progress import task
from starshade.ratings.holdout import sample_users
from starshade.ratings.table import Ratings
from starshade.recommend.padded import dissimilarities
from starshade.recommend.registry import Fitted
from starshade.recommend.settings import Dissimilarity
from starshade.release.table import Release
from starshade.utility.held_out.probe import HeldOut, Probe, ReleasedRows, readings
from starshade.utility.held_out.recommender_error import Refit, chosen, refit, trained
from starshade.utility.result import Result, UtilityResult
from starshade.utility.settings import NearnessSettings


@dataclass(frozen=True)
class Nearness(NearnessSettings, HeldOut[Result]):
    """How people are compared with released profiles.

    Where profiles are full (layout "profile" with a profile other than `simple`), a person is
    their padded row: ratings, and predictions of the recommender trained on the original; else
    their ratings, and items that both have count.

    Parameters
    ----------
    dissimilarity : str
        As `starshade.recommend.padded` names it; ``weighted-sq`` is the paper's.
    users : int
        Of those with held-out ratings, at most so many are asked, a seeded sample; fewer where
        more than 10¹⁰ ratings would be compared (people × profiles × items), or it would take
        much memory.
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

    def sample(self, release: Release, original: Ratings, probe: Probe) -> NDArray[np.int64]:
        """Return who is compared: users of the probe, ascending.

        `original`: of which ids and items alone count.
        """
        work = len(ReleasedRows(release).distinct) * release.classes.n_items
        return sample_within(original, np.unique(probe.users), self.users, work, self.seed)

    def compared(
        self, release: Release, original: Ratings, users: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Compare users with every distinct profile; see `compared`."""
        manifest = release.manifest
        full = manifest.layout == "profile" and manifest.profile != "simple"
        fitted = trained(chosen(self.recommender, release), original, self.seed) if full else None
        yield from compared(release, original, fitted, users, self.dissimilarity)


Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

SAME = 1e-9  # dissimilarities closer than this are a tie
_WORK = 10**10  # ratings compared by one measure, at most
_CELLS = 2**22  # numbers written out at once


def sample_within(ratings: Ratings, among: Indices, users: int, work: int, seed: int) -> Indices:
    """Take some users, the same whatever the order of the file.

    `among` (int64): rows to choose from. `users`: how many, at most. `work`: ratings compared for
    each of them; all together at most 10¹⁰, and their rows within a quarter of the memory that may
    be used.
    """
    return sample_users(ratings, among, most_within(ratings.n_items, users, work), seed)


def most_within(n_items: int, users: int, work: int) -> int:
    """Return how many users `sample_within` takes, at most; at least 1."""
    memory = max(budget.left(0), 0) // 4 // (8 * max(n_items, 1))
    return max(1, min(int(users), _WORK // max(work, 1), memory))


def owner_rows(
    release: Release, original: Ratings, fitted: Fitted | None, users: Indices
) -> Floats:
    """Write out what the owner knows of people, on the released items.

    `fitted`: what nulls become (`padded_rows`); None: they stay NaN. `users` (int64): ascending.
    Returns float64 (len(users), released items).
    """
    columns = original.items.indices(release.classes.items)
    if fitted is None:
        return original.keep_users(users).dense()[:, columns]
    return padded_rows(fitted, original, users)[:, columns]


def padded_rows(fitted: Fitted, ratings: Ratings, users: Indices) -> Floats:
    """Write out padded rows: ratings, and predictions within the scale where there is none."""
    part = ratings.keep_users(users)
    rows = np.clip(fitted.rows(users), ratings.scale.minimum, ratings.scale.maximum)
    rows[np.repeat(np.arange(part.n_users), part.user_support), part.columns] = part.values()
    return rows


def compared(
    release: Release,
    original: Ratings,
    fitted: Fitted | None,
    users: Indices,
    dissimilarity: Dissimilarity,
) -> Iterator[tuple[Indices, Floats]]:
    """Compare people with every released profile.

    `release`, `original`, `fitted`, `users`: as `owner_rows` takes them. `dissimilarity`: as
    `starshade.recommend.padded` names it. Returns `users` (int64 (b,)). `dissimilarity`
    (float64 (b, profiles)): in the order of `ReleasedRows.distinct`.
    """
    released = ReleasedRows(release)
    profiles = released.distinct
    step = max(1, _CELLS // max(release.classes.n_items, 1))
    together = max(1, _CELLS // max(len(profiles), original.n_items, 1))
    with task("comparing with profiles", len(users)) as advance:
        for start in range(0, len(users), together):
            block = users[start : start + together]
            own = owner_rows(release, original, fitted, block)
            distances = np.empty((len(block), len(profiles)))
            for first in range(0, len(profiles), step):
                shown = released.values(profiles[first : first + step])
                distances[:, first : first + step] = dissimilarities(
                    own, shown, dissimilarity, release.scale
                )
            yield block, distances
            advance(len(block))


@dataclass(frozen=True)
class SimilarUserDeviation(Nearness[UtilityResult]):
    """RMSE on held-out ratings when each person is predicted from the most similar profile.

    Nobody outside knows which row stands for whom; whoever uses a release looks for a profile
    like the person in front of them. Of profiles that tie, each is taken with the same chance,
    and the expected squared error counts. `release` reads the profile's cell, null counting as
    the level below the scale; `refit` asks a recommender trained on the release.
    """

    name: ClassVar[str] = "similar-user-deviation"
    FIGURES: ClassVar[tuple[Figure, ...]] = (
        *readings(
            "similar_user_deviation",
            "Similar-user deviation",
            "error",
            True,
            "Root mean square error of predictions from the profile most similar to each person.",
        ),
        Figure(
            "similar_user_users",
            "People compared with profiles",
            "count",
            None,
            "Sample size of the deviations.",
        ),
    )

    MEANING: ClassVar[str] = (
        "Low is more useful: root mean square error of held-out ratings, predicted from the "
        "released profile most similar to each person."
    )

    def found(self, release: Release, original: Ratings, probe: Probe) -> UtilityResult:
        """Compare people with profiles, and read the nearest ones."""
        if not len(probe.values):
            return self._unmeasured()
        again = refit(chosen(self.recommender, release), release, self.seed)
        users = self.sample(release, original, probe)
        read, learned = self._errors(release, original, probe, users, again)
        return self._result(
            {
                "similar_user_deviation_release": read,
                "similar_user_deviation_refit": learned,
                "similar_user_users": len(users),
            },
            again.reason,
        )

    def _errors(
        self, release: Release, original: Ratings, probe: Probe, users: Indices, again: Refit
    ) -> tuple[float, float | None]:
        rows = ReleasedRows(release)
        sums, cells = np.zeros(2), 0
        for block, unlike in self.compared(release, original, users):
            nearest = unlike <= unlike.min(axis=1, keepdims=True) + SAME
            for user, tied in zip(block, nearest, strict=True):
                held = slice(*np.searchsorted(probe.users, (user, user + 1)))
                true, columns = probe.values[held], probe.columns[held]
                these = rows.distinct[tied]
                pair = np.repeat(these, len(columns)), np.tile(columns, len(these))
                target = np.tile(true, len(these))
                guesses = rows.read(*pair), again.predict(*pair)
                for place, guess in enumerate(guesses):
                    if guess is not None:
                        sums[place] += ((guess - target) ** 2).sum() / len(these)
                cells += len(true)
        deviation = np.sqrt(sums / cells)
        return float(deviation[0]), None if again.fitted is None else float(deviation[1])


@dataclass(frozen=True)
class SelfRankResult(UtilityResult):
    """Figures, and the curve behind them.

    Attributes
    ----------
    within : tuple of float
        Share of the people whose own version is among the nearest 1 %, 2 %, …, 100 % of the
        profiles (PA Fig 5); empty where it was not measured.
    """

    within: tuple[float, ...] = ()

    def plot(self) -> Chart:
        """Draw how many people are how near to their own version (PA Fig 5).

        Raises
        ------
        ConfigError
            It was not measured: there was no probe, or no receipt.
        """
        if not self.within:
            raise ConfigError(
                "self-rank was not measured", advice="Give a probe and the private key file."
            )
        return curve_chart(
            "Similarity of people to their own profile",
            f"{self.figures['self_rank_users']:,} people, "
            f"{self.figures['self_rank_profiles']:,} profiles",
            {"": [(percent / 100, share) for percent, share in enumerate(self.within, 1)]},
            Axis("nearest profiles", share=True),
            Axis("share of people with their own among them", share=True),
        )


@dataclass(frozen=True)
class SelfRank(Nearness[SelfRankResult]):
    """The rank of each person's own profile among the distinct ones, most similar first.

    1 where no other profile is as similar; profiles that tie share the middle of their ranks. As
    a percentile, 100 · rank / profiles: with 200 profiles the first is 0.5. Low ranks mean that
    `TargetDeviation`, which takes the rank for 1, says what a user of the release will see; they
    mean as well that who knows a person's ratings finds the group.
    """

    name: ClassVar[str] = "self-rank"
    RESULT: ClassVar[type[SelfRankResult]] = SelfRankResult
    FIGURES: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "self_rank_mean",
            "Self-rank, mean percentile",
            "ratio",
            None,
            "Rank of people's own profile among all, the most similar first; low means "
            "recognisable, also by others.",
        ),
        Figure(
            "self_rank_median",
            "Self-rank, median percentile",
            "ratio",
            None,
            "The same; half of the people rank before it.",
        ),
        Figure(
            "self_rank_first",
            "People whose own profile is the most similar",
            "share",
            None,
            "High means recognisable, also by others.",
        ),
        Figure("self_rank_users", "People ranked", "count", None, "Sample size of the ranks."),
        Figure(
            "self_rank_profiles",
            "Profiles ranked",
            "count",
            None,
            "Of the release.",
        ),
    )

    MEANING: ClassVar[str] = (
        "Low is more useful, and helps class linkage: a percentile of 1 means that 1 % of the "
        "profiles are at least as similar to a person as their own, itself included."
    )

    def found(self, release: Release, original: Ratings, probe: Probe) -> SelfRankResult:
        """Compare people with profiles, and find their own."""
        if not len(probe.users):
            return self._unmeasured()
        ranks, profiles = self._ranks(release, original, probe)
        percentile = 100 * ranks / profiles
        upto = np.searchsorted(np.sort(percentile), np.arange(1, 101) + SAME, side="right")
        return self._result(
            {
                "self_rank_mean": float(percentile.mean()),
                "self_rank_median": float(np.median(percentile)),
                "self_rank_first": float((ranks == 1).mean()),
                "self_rank_users": len(ranks),
                "self_rank_profiles": profiles,
            },
            within=tuple((upto / len(ranks)).tolist()),
        )

    def _ranks(
        self, release: Release, original: Ratings, probe: Probe
    ) -> tuple[NDArray[np.float64], int]:
        """Return the rank of each asked user's own profile, and how many profiles there are."""
        released = ReleasedRows(release)
        users, first = np.unique(probe.users, return_index=True)
        profile = released.profile_of_row[probe.rows[first]]
        ranks = []
        sample = self.sample(release, original, probe)
        for block, unlike in self.compared(release, original, sample):
            own = profile[np.searchsorted(users, block)]
            mine = unlike[np.arange(len(block)), own][:, None]
            nearer = (unlike < mine - SAME).sum(axis=1)
            tied = (np.abs(unlike - mine) <= SAME).sum(axis=1)
            ranks.append(nearer + (tied + 1) / 2)
        return np.concatenate(ranks), len(released.distinct)
