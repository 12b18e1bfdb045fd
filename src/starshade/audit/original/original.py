"""The interface of an audit to the original ratings, in memory or in a partitioned store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from starshade.attack.attribute import Reader, Readings
from starshade.attack.knowledge import Knowledge
from starshade.attack.targets import Attack
from starshade.ratings.levels import users_per_level
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.table import Release


@dataclass(frozen=True, eq=False)
class Given:
    """The ratings as they were given, of all users and items.

    `inferred`: whether the scale was not declared. `levels`, `givers` (n_levels,): the ratings, and
    how many users gave each. `released`: the ratings that the released part has.
    """

    scale: Scale
    inferred: bool
    levels: NDArray[np.float64]
    givers: NDArray[np.int64]
    released: NDArray[np.float64]

    @classmethod
    def of(cls, ratings: Ratings, part: Ratings) -> Given:
        """Describe ratings; `part`: the released users on the released items."""
        released = part.levels[np.unique(part.codes)]
        inferred, givers = ratings.report.scale_inferred, users_per_level(ratings)
        return cls(ratings.scale, inferred, ratings.levels, givers, released)

    def shared(self, k: int) -> NDArray[np.float64]:
        """Return the ratings that k users gave."""
        return self.levels[self.givers >= k]


class Knowable(NamedTuple):
    """`cells`: numbers of cells that can be known of a person; `people`: how many have each."""

    cells: NDArray[np.int64]
    people: NDArray[np.int64]

    @property
    def most(self) -> int:
        """The most cells that can be known of a person."""
        return int(self.cells.max(initial=0))

    def have(self, known: int) -> int:
        """Return how many people have at least this many."""
        return int(self.people[self.cells >= known].sum())


class Original(Protocol):
    """The original of a release: the users who became its records, on the released items."""

    @property
    def release(self) -> Release:
        """The release, with its private facts where the key file is given."""

    @property
    def given(self) -> Given:
        """The ratings as they were given, the rest included."""

    @property
    def part(self) -> Any:
        """The released part, as attacks take it."""

    def knowable(self, hidden: Sequence[str]) -> Knowable:
        """Return how many cells can be known of people; hidden items are not counted."""

    def digest(self) -> str:
        """Return the SHA-256 over the released part."""

    def verified(self, folder: Path) -> dict[str, Any]:
        """Verify the files; with the key file look up every original cell."""

    def attack(self, attack: Attack[Any], knowledge: Knowledge, targets: int, seed: int) -> Any:
        """Attack the released part."""

    def attack_release(
        self, attack: Attack[Any], knowledge: Knowledge | None, targets: int | None, seed: int
    ) -> Any:
        """Attack the release."""

    def rows_of(self, users: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return the released row of some users, -1 for none; None without a key file."""

    def read(self, reader: Reader) -> Readings | None:
        """Compare readings of a release of profiles with ratings; None without a key file."""

    def measured(self, probe: Ratings | None) -> dict[str, float | int | None]:
        """Measure the utility of the release."""
