"""Similar-user deviation: people predicted from the most similar profile (PA §7.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.figure import Figure
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.utility.held_out.nearest import Nearness
from starshade.utility.held_out.probe import Probe, readings
from starshade.utility.held_out.released_rows import ReleasedRows
from starshade.utility.held_out.similarity import SAME
from starshade.utility.held_out.training import Refit, chosen, refit
from starshade.utility.result import UtilityResult

__all__ = ["SimilarUserDeviation"]

Indices = NDArray[np.int64]


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
            "The typical distance of a prediction from what people rated, read from the profile "
            "most like them.",
        ),
        Figure(
            "similar_user_users",
            "People compared with profiles",
            "count",
            None,
            "What the deviations rest on.",
        ),
    )

    MEANING: ClassVar[str] = (
        "Low is more useful: how far held-out ratings are, as a root mean square, from what the "
        "released profile that is most like each person says."
    )

    def _found(self, release: Release, original: Ratings, probe: Probe) -> UtilityResult:
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
