"""How alone a record is: nearest neighbours and (ε,δ)-sparsity (NS §3, Fig 1, Def 1)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade._version import __version__
from starshade.arguments import typed
from starshade.attack.sparsity.nearest import nearest_in_shards, nearest_records, sampled
from starshade.attack.sparsity.settings import SparsitySettings
from starshade.chart import Chart
from starshade.chart.shapes import Axis, curve_chart
from starshade.engine.job import Engine
from starshade.engine.local import Local
from starshade.errors import ConfigError
from starshade.figure import Figure, Rate, Shown, payload
from starshade.plain import counted
from starshade.progress import announced
from starshade.ratings.holdout import sample_users
from starshade.ratings.scale import Scale
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.release.folder.digest import digest_of_any
from starshade.rng import Rng, resolve_seed
from starshade.setting import check
from starshade.stats import share

_GRID = tuple(i / 40 for i in range(41))


def about_one_star(scale: Scale) -> float:
    """Return the equivalent of ±1 on 1-5 on a scale: a quarter of its width.

    >>> about_one_star(Scale(1, 5, 1)), about_one_star(Scale(-10, 10))
    (1.0, 5.0)
    """
    return 0.25 * scale.width


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Similarity of each record to its nearest neighbour, at one strictness.

    `name`: what two records must have in common: "rated", "ratings ±1", "ratings ±1, days ±14".
    `similarity` (targets,): highest Sim to another record, one per record looked at; internal.
    `covered` (targets,): highest share of the record's own cells that another record has in common
    with it; internal. At least the similarity: a longer record may cover a shorter one.
    """

    name: str
    similarity: NDArray[np.float64] = field(repr=False)
    covered: NDArray[np.float64] = field(repr=False)

    def at_least(self, x: float) -> Rate:
        """Share of records whose neighbour has Sim ≥ x (Fig 1)."""
        return share(self.similarity >= x)

    def delta(self, eps: float) -> Rate:
        """Share of records whose neighbour has Sim > eps: the δ of (ε,δ)-sparsity (Def 1)."""
        return share(self.similarity > eps)

    def covered_at_least(self, x: float) -> Rate:
        """Share of records of which another one has at least a share x in common."""
        return share(self.covered >= x)

    def to_dict(self) -> dict[str, Any]:
        """Return the curves on a grid of steps of 1/40."""
        return {
            "name": self.name,
            "at_least": [{"x": x, **self.at_least(x).to_dict()} for x in _GRID],
            "delta": [{"eps": x, **self.delta(x).to_dict()} for x in _GRID],
            "covered_at_least": [{"x": x, **self.covered_at_least(x).to_dict()} for x in _GRID],
        }


_DELTA = Figure(
    "delta",
    "Records with a neighbour that shares more than half",
    "share",
    False,
    "Low: a few facts identify a person.",
    "NS §3, Def 1",
)


@dataclass(frozen=True)
class SparsityResult(Shown):
    """Result of `Sparsity`: nearest-neighbour similarities.

    Attributes
    ----------
    records, targets : int
        Users of the table; those whose nearest neighbour was computed.
    neighbours : tuple of Neighbours
        From the weakest to the strictest; without dates the strictest is missing.
    rating_error : float
        Ratings within this much are alike, in the scale's units.
    day_error : int or None
        Days within this many are alike; None: the data have no dates.
    seconds : float
    seed : int
    digest : str
        SHA-256 over the table.
    version : str
        Of starshade.
    """

    records: int
    targets: int
    neighbours: tuple[Neighbours, ...]
    rating_error: float
    day_error: int | None
    seconds: float
    seed: int
    digest: str
    version: str = field(default=__version__)

    @property
    def exact(self) -> bool:
        """Whether all records were tested, so that shares are counts and not estimates."""
        return self.targets == self.records

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values; nothing in it is about a single user."""
        return payload(self)

    def __str__(self) -> str:
        deltas = "; ".join(f"{curve.delta(0.5)} ({curve.name})" for curve in self.neighbours)
        return (
            f"Records with a neighbour that shares more than half of the items that either rated: "
            f"{deltas}. Tested on {counted(self.targets, 'record')}, each compared with all "
            f"{self.records:,}. The lower the share, the fewer facts identify a person."
        )

    def plot(self) -> Chart:
        """Draw the share of records by nearest-neighbour similarity (NS Fig 1)."""
        curves = {}
        for curve in self.neighbours:
            rates = [(x, curve.at_least(x)) for x in _GRID]
            curves[curve.name] = [(x, rate.rate, rate.low, rate.high) for x, rate in rates]
        return curve_chart(
            "Similarity to the nearest neighbour",
            f"{self.targets:,} of {counted(self.records, 'record')}; a low "
            "curve: records are unique",
            curves,
            Axis("similarity, over items that either rated"),
            Axis("share of records with such a neighbour", share=True),
        )

    @property
    def found(self) -> tuple[Figure, ...]:
        """Records with a similar neighbour, by strictness."""
        named = ((curve, f"{_DELTA.title}: {curve.name}") for curve in self.neighbours)
        return tuple(replace(_DELTA, title=title).of(curve.delta(0.5)) for curve, title in named)

    def _headline(self) -> str:
        return "Sparsity: similarity to the nearest neighbour"


@dataclass(frozen=True)
class Sparsity(SparsitySettings):
    """Measure the similarity of records to their nearest neighbour.

    In sparse data most records have no neighbour that shares even half of the items. Two records
    share an item when both rated it; more strictly, when their ratings are also close; most
    strictly, when the days are close as well.

    Parameters
    ----------
    targets : int or None
        Number of records to test, a seeded sample; None: all. Each is compared with
        every other record of the table.
    rating_error : float or None
        Ratings within this much are close; None: a quarter of the scale's width (one star on
        1-5).
    day_error : int
        Days within this many are close. An unknown day is close to none.

    Raises
    ------
    ConfigError
        A value out of range.

    Notes
    -----
    Sim(r, r') = Σ_i Sim(r_i, r'_i) / |supp(r) ∪ supp(r')| (NS §3, Fig 1). Two records
    without any rating are equal: 1.

    Examples
    --------
    >>> table = Ratings.from_arrays(
    ...     ["a", "a", "b", "b", "c"], ["x", "y", "x", "z", "x"], [5, 3, 4, 2, 1], scale="1:5:1")
    >>> result = Sparsity().run(table, rng=0)
    >>> [(curve.name, curve.delta(0.4).rate) for curve in result.neighbours]
    [('rated', 1.0), ('ratings ±1', 0.0)]
    """

    def __post_init__(self) -> None:
        check(self)

    @typed
    @announced("measuring sparsity")
    def run(
        self, ratings: Ratings | Shards, *, rng: Rng = None, engine: Engine | None = None
    ) -> SparsityResult:
        """Compute the nearest neighbours.

        Parameters
        ----------
        ratings : Ratings or Shards
            A partitioned store is read partition by partition; the result equals that of one table.
        rng : int, Generator or None
        engine : Engine, optional
            Execution engine for partitions; None: this process, without a journal.

        Raises
        ------
        ConfigError
            A table without users.
        """
        if not ratings.n_users:
            raise ConfigError("sparsity: the table has no users")
        seed = resolve_seed(rng)
        started = perf_counter()
        error = about_one_star(ratings.scale) if self.rating_error is None else self.rating_error
        if isinstance(ratings, Shards):
            working = engine or Local()
            users = sampled(ratings, working, self.targets, seed)
            alike, covered = nearest_in_shards(ratings, working, users, error, self.day_error)
        else:
            users = sample_users(ratings, np.arange(ratings.n_users), self.targets, seed)
            alike, covered = nearest_records(ratings, users, error, self.day_error)
        names = ["rated", f"ratings ±{error:g}", f"ratings ±{error:g}, days ±{self.day_error}"]
        shown = 3 if ratings.has_days else 2
        return SparsityResult(
            records=ratings.n_users,
            targets=len(users),
            neighbours=tuple(
                Neighbours(names[s], alike[:, s].copy(), covered[:, s].copy()) for s in range(shown)
            ),
            rating_error=error,
            day_error=self.day_error if ratings.has_days else None,
            seconds=perf_counter() - started,
            seed=seed,
            digest=digest_of_any(ratings),
        )
