"""How unlike people are, before clustering and within clusters (PA §7.3, Fig 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.chart import Chart
from starshade.chart.shapes import Axis, curve_chart
from starshade.errors import ConfigError
from starshade.figure import Figure
from starshade.progress import task
from starshade.ratings.holdout import sample_users
from starshade.ratings.table import Ratings
from starshade.recommend.padded import dissimilarities
from starshade.recommend.registry import Fitted
from starshade.release.table import Release
from starshade.utility.held_out.nearest import owner_rows, sample_within
from starshade.utility.held_out.probe import HeldOut, linked_users
from starshade.utility.held_out.recommender_error import chosen, trained
from starshade.utility.result import UtilityResult
from starshade.utility.settings import PairwiseDissimilaritySettings

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

BINS = 20  # of 0.05 each; the last one holds 1 too
_CELLS = 2**22  # numbers written out at once
_SUM, _BIN = 0, slice(1, None)  # a tally: the sum of all, then the pairs of each bin


@dataclass(frozen=True)
class PairwiseResult(UtilityResult):
    """Means, and the distributions behind them.

    Attributes
    ----------
    all_pairs, within : tuple of float
        Shares of the pairs in [0, 0.05), [0.05, 0.1), …, [0.95, 1]: of all pairs of the sample,
        of pairs in one cluster; empty where it was not measured or there is no pair.
    """

    all_pairs: tuple[float, ...] = ()
    within: tuple[float, ...] = ()

    def plot(self) -> Chart:
        """Draw how unlike any two people are, and two of one cluster (PA Fig 4).

        Raises
        ------
        ConfigError
            It was not measured, or no pair was to be had.
        """
        if not self.all_pairs:
            raise ConfigError("no pair of people was compared, so there is no chart")
        lines = (("any two people", self.all_pairs), ("two of one class", self.within))
        curves = {
            name: [((at + 0.5) / BINS, share) for at, share in enumerate(shares)]
            for name, shares in lines
            if shares
        }
        return curve_chart(
            "Dissimilarity of people",
            "further left within classes: similar people share a class",
            curves,
            Axis("dissimilarity"),
            Axis("share of the pairs", share=True),
        )


@dataclass(frozen=True)
class PairwiseDissimilarity(PairwiseDissimilaritySettings, HeldOut[PairwiseResult]):
    """Dissimilarities of padded rows: of any two people, and of two in one cluster.

    A cluster is who has the same released profile. Rows are padded by the recommender trained
    on the original: ratings, and predictions within the scale. Clusters that brought like people
    together shift the distribution to the left.

    Parameters
    ----------
    dissimilarity : str
        As `starshade.recommend.padded` names it; ``weighted-sq`` is the paper's.
    users : int
        People in the sample, at least 2; fewer where more than 10¹⁰ ratings would be compared
        (half of people² × items), or it would take much memory. Clusters are taken whole until so
        many people are in them; a larger one is sampled.
    recommender : str or Recommender, optional
        By name, as `starshade.recommend.registry` lists them, or one with settings; None: the one
        that the release was made with, or regularized-svd where none was.
    seed : int
        For training and for the samples.

    Raises
    ------
    ConfigError
        A value outside its range.
    """

    name: ClassVar[str] = "pairwise-dissimilarity"
    RESULT: ClassVar[type[PairwiseResult]] = PairwiseResult
    FIGURES: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "dissimilarity_all",
            "Dissimilarity of two people",
            "ratio",
            None,
            "Over any two people; compare with people who share a profile.",
        ),
        Figure(
            "dissimilarity_within",
            "Dissimilarity of two people with the same profile",
            "ratio",
            True,
            "The lower compared with any two people, the more similar are people who share a "
            "profile.",
        ),
        Figure(
            "dissimilarity_users",
            "People in the sample",
            "count",
            None,
            "Sample size of the dissimilarity of any two people.",
        ),
        Figure(
            "dissimilarity_pairs_within",
            "Pairs with the same profile",
            "count",
            None,
            "Sample size of the dissimilarity within classes.",
        ),
    )

    MEANING: ClassVar[str] = (
        "Mean dissimilarity of two people's padded rows. The lower within classes than over all "
        "pairs, the more similar are people who share a profile."
    )

    def _judged(self, release: Release, original: Ratings, probe: Ratings | None) -> PairwiseResult:
        """Compare pairs; the probe is not used, but without one nothing is trained here either."""
        rows = linked_users(release, original)
        if rows is None or probe is None or not original.n_ratings:
            return self._unmeasured()
        linked = np.flatnonzero(rows >= 0)
        work = self.work(release, len(linked))
        sample = sample_within(original, linked, self.users, work, self.seed)
        return self.compared(release, original, rows, sample)

    def work(self, release: Release, linked: int) -> int:
        """Return the ratings compared for each of so many people."""
        return min(self.users, linked) * release.classes.n_items // 2

    def compared(
        self, release: Release, original: Ratings, rows: Indices, sample: Indices
    ) -> PairwiseResult:
        """Compare a sample of people, and those of the clusters it is in.

        `rows`: the released row of each user of `original`, who may be the sample and its clusters
        alone: whole ones, in the order of the sample, until as many are in them; of the last one
        those whose ids hash lowest.
        """
        if not len(sample):
            return self._unmeasured()
        fitted = trained(chosen(self.recommender, release), original, self.seed)
        every = self._tally(release, original, fitted, [sample])
        clusters = list(self._clusters(original, rows, sample))
        own = self._tally(release, original, fitted, clusters)
        return self._result(
            {
                "dissimilarity_all": _mean(every),
                "dissimilarity_within": _mean(own),
                "dissimilarity_users": len(sample),
                "dissimilarity_pairs_within": int(own[_BIN].sum()),
            },
            all_pairs=_shares(every),
            within=_shares(own),
        )

    def _clusters(self, original: Ratings, rows: Indices, lead: Indices) -> Iterator[Indices]:
        """Yield whole clusters, in the order of a sample, until they hold as many people."""
        order = np.flatnonzero(rows >= 0)
        by_row = order[np.argsort(rows[order], kind="stable")]
        ends = np.searchsorted(rows[by_row], np.arange(rows.max(initial=-1) + 2))
        held, most = 0, len(lead)
        for row in dict.fromkeys(rows[lead].tolist()):
            members = by_row[ends[row] : ends[row + 1]]
            members = sample_users(original, members, most - held, self.seed)
            yield members
            held += len(members)
            if held >= most:
                return

    def _tally(
        self, release: Release, original: Ratings, fitted: Fitted, sets: list[Indices]
    ) -> Floats:
        tally = np.zeros(1 + BINS)
        with task("comparing pairs", sum(map(len, sets))) as step:
            for users in sets:
                for unlike in self._pairs(release, original, fitted, users):
                    place = np.clip(np.floor(unlike * BINS + 1e-9), 0, BINS - 1).astype(np.int64)
                    tally[_SUM] += unlike.sum()
                    tally[_BIN] += np.bincount(place, minlength=BINS)
                step(len(users))
        return tally

    def _pairs(
        self, release: Release, original: Ratings, fitted: Fitted, users: Indices
    ) -> Iterator[Floats]:
        rows = owner_rows(release, original, fitted, users)
        step = max(1, _CELLS // max(len(users), 1))
        for start in range(0, len(users), step):
            block = rows[start : start + step]
            unlike = dissimilarities(block, rows[start:], self.dissimilarity, release.scale)
            yield unlike[np.triu_indices(len(block), 1, len(rows) - start)]


def _mean(tally: Floats) -> float | None:
    pairs = tally[_BIN].sum()
    return float(tally[_SUM] / pairs) if pairs else None


def _shares(tally: Floats) -> tuple[float, ...]:
    pairs = tally[_BIN].sum()
    return tuple((tally[_BIN] / pairs).tolist()) if pairs else ()
