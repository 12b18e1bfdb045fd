"""Self-rank: where people's own anonymized version stands among all (PA §7.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.chart import Chart
from starshade.chart.shapes import Axis, curve_chart
from starshade.errors import ConfigError
from starshade.figure import Figure
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.utility.held_out.nearest import Nearness
from starshade.utility.held_out.probe import Probe
from starshade.utility.held_out.released_rows import ReleasedRows
from starshade.utility.held_out.similarity import SAME
from starshade.utility.result import UtilityResult

__all__ = ["SelfRank", "SelfRankResult"]


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
                "self-rank was not measured", advice="Give a probe and the owner's receipt."
            )
        return curve_chart(
            "How near people are to their own anonymized version",
            f"{self.figures['self_rank_users']:,} people, "
            f"{self.figures['self_rank_profiles']:,} profiles",
            {"": [(percent / 100, share) for percent, share in enumerate(self.within, 1)]},
            Axis("nearest profiles", share=True),
            Axis("people whose own is among them", share=True),
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
            "Where people's own profile stands among all, the most similar first; low keeps people "
            "recognisable to themselves, and to others.",
        ),
        Figure(
            "self_rank_median",
            "Self-rank, median percentile",
            "ratio",
            None,
            "The same; half of the people stand before it.",
        ),
        Figure(
            "self_rank_first",
            "People whose own profile is the most similar",
            "share",
            None,
            "High keeps people recognisable to themselves, and to others.",
        ),
        Figure("self_rank_users", "People ranked", "count", None, "What the ranks rest on."),
        Figure(
            "self_rank_profiles",
            "Profiles they were ranked among",
            "count",
            None,
            "Of the release.",
        ),
    )

    MEANING: ClassVar[str] = (
        "Low is more useful, and helps who looks for a group: a percentile of 1 means that 1 % of "
        "the profiles are at least as similar to a person as their own anonymized version, itself "
        "included."
    )

    def _found(self, release: Release, original: Ratings, probe: Probe) -> SelfRankResult:
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
