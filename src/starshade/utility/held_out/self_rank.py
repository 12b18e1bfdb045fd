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
from starshade.progress import announced
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.utility.held_out.nearest import Nearness
from starshade.utility.held_out.probe import UNMEASURED, Probe, linked_probe
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
class SelfRank(Nearness):
    """The rank of each person's own profile among the distinct ones, most similar first.

    1 where no other profile is as similar; profiles that tie share the middle of their ranks. As
    a percentile, 100 · rank / profiles: with 200 profiles the first is 0.5. Low ranks mean that
    `TargetDeviation`, which takes the rank for 1, says what a user of the release will see; they
    mean as well that who knows a person's ratings finds the group.
    """

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

    @announced("measuring self-rank")
    def measure(
        self, release: Release, *, original: Ratings, probe: Ratings | None = None
    ) -> SelfRankResult:
        """Return mean and median percentile, the share of first places, and who was asked.

        Parameters
        ----------
        release : Release
            With its private facts (just made, or read with the receipt).
        original : Ratings
            The training part: what the release was made of.
        probe : Ratings, optional
            What was held out of it: its users are asked.

        Returns
        -------
        SelfRankResult
            ``self_rank_mean`` and ``self_rank_median`` are percentiles, ``self_rank_first`` a
            share, ``self_rank_users`` and ``self_rank_profiles`` counts. None without a probe or
            a link.

        Raises
        ------
        ConfigError
            The probe does not belong to these ratings, or they to the release.
        """
        figures: dict[str, float | int | None] = dict.fromkeys(
            (
                "self_rank_mean",
                "self_rank_median",
                "self_rank_first",
                "self_rank_users",
                "self_rank_profiles",
            )
        )
        within: tuple[float, ...] = ()
        reason = UNMEASURED
        linked = linked_probe(release, original, probe)
        if linked is not None and len(linked.users):
            ranks, profiles = self._ranks(release, original, linked)
            percentile = 100 * ranks / profiles
            reason = ""
            figures = {
                "self_rank_mean": float(percentile.mean()),
                "self_rank_median": float(np.median(percentile)),
                "self_rank_first": float((ranks == 1).mean()),
                "self_rank_users": len(ranks),
                "self_rank_profiles": profiles,
            }
            upto = np.searchsorted(np.sort(percentile), np.arange(1, 101) + SAME, side="right")
            within = tuple((upto / len(ranks)).tolist())
        return SelfRankResult(
            measure="self-rank",
            figures=figures,
            meaning="Low is more useful, and helps who looks for a group: a percentile of 1 means "
            "that 1 % of the profiles are at least as similar to a person as their own anonymized "
            f"version, itself included.{reason}",
            within=within,
        )

    def _ranks(
        self, release: Release, original: Ratings, probe: Probe
    ) -> tuple[NDArray[np.float64], int]:
        """Return the rank of each asked user's own profile, and how many profiles there are."""
        released = ReleasedRows(release)
        first = np.unique(probe.users, return_index=True)
        own_of = dict(
            zip(
                first[0].tolist(),
                released.profile_of_row[probe.rows[first[1]]].tolist(),
                strict=True,
            )
        )
        ranks = []
        for block, unlike in self.compared(
            release, original, self.sample(release, original, probe)
        ):
            own = np.array([own_of[user] for user in block.tolist()])
            mine = unlike[np.arange(len(block)), own][:, None]
            nearer = (unlike < mine - SAME).sum(axis=1)
            tied = (np.abs(unlike - mine) <= SAME).sum(axis=1)
            ranks.append(nearer + (tied + 1) / 2)
        return np.concatenate(ranks), len(released.distinct)
