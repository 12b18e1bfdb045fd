"""What the measures that compare people with released profiles have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.utility.held_out.probe import HeldOut, Probe
from starshade.utility.held_out.released_rows import ReleasedRows
from starshade.utility.held_out.similarity import compared, sample_within
from starshade.utility.held_out.training import chosen, trained
from starshade.utility.result import Result
from starshade.utility.settings import NearnessSettings

__all__ = ["Nearness"]


@dataclass(frozen=True)
class Nearness(NearnessSettings, HeldOut[Result]):
    """How people are compared with released profiles.

    Where profiles are full (layout "profile" with a profile other than `simple`), a person is
    their padded row: ratings, and predictions of the recommender trained on the original; else
    their ratings, and items that both have count.

    Parameters
    ----------
    dissimilarity : str
        As `starshade.recommend.dissimilarity` names it; ``weighted-sq`` is the paper's.
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
        """Return who is compared: users of the probe, ascending."""
        work = len(ReleasedRows(release).distinct) * release.classes.n_items
        return sample_within(original, np.unique(probe.users), self.users, work, self.seed)

    def compared(
        self, release: Release, original: Ratings, users: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Compare users with every distinct profile; see `similarity.compared`."""
        manifest = release.manifest
        full = manifest.layout == "profile" and manifest.profile != "simple"
        fitted = trained(chosen(self.recommender, release), original, self.seed) if full else None
        yield from compared(release, original, fitted, users, self.dissimilarity)
