"""`GraphResult`: what the proximity graph looks like, and what a partition of it proves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from starshade._version import __version__
from starshade.chart import Chart
from starshade.chart.shapes import Axis, curve_chart
from starshade.figure import Figure, Shown
from starshade.kernels.balls.cliques import components, grow_cliques
from starshade.plain import counted
from starshade.privacy.proximity.balls import check_edges, prepare
from starshade.privacy.proximity.verdict import each_of
from starshade.privacy.settings import KAnonymitySettings
from starshade.privacy.verdict import check_records
from starshade.progress import announced
from starshade.ratings.proximity.balls import ball_members, ball_sizes
from starshade.ratings.proximity.sensitive import item_keys
from starshade.ratings.proximity.settings import EPS, NULLS, SENSITIVE, NullRule
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.rng import generator
from starshade.setting import check, settings_of

Outcome = Literal["found", "impossible", "not found"]
_POINTS = 100  # of a curve
_DRAWN = 6  # seeded orders tried after the one that the graph itself suggests


@dataclass(frozen=True, eq=False)
class Decomposition:
    """A search for a partition of the graph into cliques of k or more.

    `outcome` ({"found", "impossible", "not found"}): found: (k, ε) holds (Thm 2). Impossible: a
    record has fewer than k-1 neighbours, so there is no such partition, and (k, ε) does not hold.
    Not found: proves nothing; the search is greedy, and (k, ε) asks for less than cliques.
    `cliques`, `smallest`, `largest`: of the partition, as far as it came. `left`: records in no
    clique. `lonely`: records with fewer than k-1 neighbours. `clique_of_record` (n,): -1: none.
    """

    k: int
    outcome: Outcome
    cliques: int
    smallest: int
    largest: int
    left: int
    lonely: int
    clique_of_record: NDArray[np.int64]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain JSON values."""
        return {
            "k": self.k,
            "outcome": self.outcome,
            "proves_k_eps": self.outcome == "found",
            "cliques": self.cliques,
            "smallest_clique": self.smallest,
            "largest_clique": self.largest,
            "records_left": self.left,
            "records_with_too_few_neighbours": self.lonely,
        }

    def __str__(self) -> str:
        k = self.k
        if self.outcome == "found":
            return (
                f"It falls apart into {counted(self.cliques, 'clique')} of {self.smallest:,} to "
                f"{counted(self.largest, 'record')}, all of a clique near one another; that "
                f"proves (k, eps)-anonymity for k = {k} (Theorem 2)."
            )
        if self.outcome == "impossible":
            return (
                f"It has no partition into cliques of {k} or more: fewer "
                f"than {counted(k - 1, 'other')} lie around {each_of(self.lonely, 'record')}, so "
                f"(k, eps)-anonymity does not hold for k = {k}."
            )
        return (
            f"No partition into cliques of {k} or more was found ({counted(self.left, 'record')} "
            "left over), which proves nothing: the search is greedy and may miss one, and "
            f"(k, eps)-anonymity asks for less. It holds for k = {k}, as around each record lie "
            f"at least {counted(k - 1, 'other')}."
        )


@dataclass(frozen=True, eq=False)
class GraphResult(Shown):
    """Records as vertices, proximate pairs as edges (SR §6).

    Attributes
    ----------
    eps : float
    nulls : str
    indptr, members : ndarray of int64
        Neighbours of each record, itself included.
    component : ndarray of int64, shape (n,)
        Connected component of each record, numbered by first record.
    decomposition : Decomposition or None
        Once asked for with `decomposed`.
    """

    eps: float
    nulls: str
    indptr: NDArray[np.int64]
    members: NDArray[np.int64]
    component: NDArray[np.int64]
    decomposition: Decomposition | None = None
    version: str = __version__

    @property
    def records(self) -> int:
        """Vertices."""
        return len(self.component)

    @property
    def edges(self) -> int:
        """Proximate pairs of different records."""
        return (len(self.members) - self.records) // 2

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Neighbours of each record, itself not counted, shape (n,)."""
        return np.diff(self.indptr) - 1

    @property
    def component_sizes(self) -> NDArray[np.int64]:
        """Records of each component."""
        return np.bincount(self.component)

    def decomposed(self, k: int) -> GraphResult:
        """Return the same with a partition into cliques of k or more, as far as one is found.

        Components are partitioned greedily, each until an order of its records works: fewest
        neighbours first, then a few drawn from fixed seeds.

        Raises
        ------
        ConfigError
            k is no whole number, below 2, or above the number of records.
        """
        k = settings_of(KAnonymitySettings)[0].checked(k)
        check_records(k, self.records)
        lonely = int((self.degrees < k - 1).sum())
        clique = np.full(self.records, -1, dtype=np.int64) if lonely else self._partition(k)
        size = np.bincount(clique[clique >= 0])
        left = int((clique < 0).sum())
        outcome: Outcome = "impossible" if lonely else "not found" if left else "found"
        decomposition = Decomposition(
            k=k,
            outcome=outcome,
            cliques=len(size),
            smallest=int(size.min()) if len(size) else 0,
            largest=int(size.max(initial=0)),
            left=left,
            lonely=lonely,
            clique_of_record=clique,
        )
        return replace(self, decomposition=decomposition)

    def _partition(self, k: int) -> NDArray[np.int64]:
        """Return the clique of each record, of the order that left fewest of its component."""
        clique = np.full(self.records, -1, dtype=np.int64)
        fewest = self.component_sizes
        for order in self._orders():
            own = grow_cliques(
                self.indptr, self.members, order[fewest[self.component[order]] > 0], k
            )
            left = np.bincount(self.component[own < 0], minlength=len(fewest))
            better = (left < fewest)[self.component]
            clique[better] = own[better]
            fewest = np.minimum(fewest, left)
            if not fewest.any():
                break
        put = clique >= 0
        key = self.component[put] * np.int64(self.records) + clique[put]
        clique[put] = np.unique(key, return_inverse=True)[1]
        return clique

    def _orders(self) -> Iterator[NDArray[np.int64]]:
        """Yield orders to take records in; where neighbours are as many, row by row."""
        yield np.argsort(self.degrees, kind="stable")
        for draw in range(_DRAWN):
            yield generator(draw, "cliques").permutation(self.records)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain JSON values."""
        degrees, sizes = self.degrees, self.component_sizes
        return {
            "eps": self.eps,
            "nulls": self.nulls,
            "records": self.records,
            "edges": self.edges,
            "components": {
                "number": len(sizes),
                "smallest": int(sizes.min()),
                "largest": int(sizes.max()),
                "sizes": _distribution(sizes, "size", "components"),
            },
            "degrees": {
                "min": int(degrees.min()),
                "mean": float(degrees.mean()),
                "max": int(degrees.max()),
                "distribution": _distribution(degrees, "degree", "records"),
            },
            "decomposition": None if self.decomposition is None else self.decomposition.to_dict(),
            "version": self.version,
        }

    def __str__(self) -> str:
        degrees, sizes = self.degrees, self.component_sizes
        text = (
            f"Proximity graph (eps = {self.eps:g}, nulls = {self.nulls}): "
            f"{counted(self.records, 'record')}, "
            f"{counted(self.edges, 'pair')} within eps of each other; "
            f"{counted(len(sizes), 'connected component')} of {sizes.min():,} to "
            f"{counted(int(sizes.max()), 'record')}; a record has {degrees.min():,} to "
            f"{counted(int(degrees.max()), 'neighbour')}, {degrees.mean():.1f} on average."
        )
        return text if self.decomposition is None else f"{text} {self.decomposition}"

    def plot(self) -> Chart:
        """Draw how many neighbours records have."""
        degrees = np.sort(self.degrees)
        places = np.linspace(0, len(degrees) - 1, min(len(degrees), _POINTS)).round()
        points = [
            ((place + 1) / len(degrees), float(degrees[int(place)])) for place in places.tolist()
        ]
        return curve_chart(
            "Neighbours within ε of a record",
            f"{counted(self.records, 'record')}, ε = {self.eps:g}, nulls {self.nulls}",
            {"": points},
            Axis("share of the records, those with fewest first", share=True),
            Axis("others within ε"),
        )

    @property
    def found(self) -> tuple[Figure, ...]:
        """What was counted; a neighbour of a record is one within ε of it."""
        degrees = self.degrees
        values = (
            *(self.records, self.edges, len(self.component_sizes)),
            *(int(degrees.min()), float(degrees.mean()), int(degrees.max())),
        )
        return tuple(figure.of(value) for figure, value in zip(_FIGURES, values, strict=True))

    def _headline(self) -> str:
        return f"Proximity graph, ε = {self.eps:g}"


_FIGURES = (
    Figure("records", "Records", "count"),
    Figure("edges", "Pairs within ε of each other", "count", False),
    Figure("components", "Connected components", "count", True, "1: all records are connected."),
    Figure("degrees.min", "Fewest neighbours of a record", "count", False),
    Figure("degrees.mean", "Neighbours of a record, on average", "ratio", False),
    Figure("degrees.max", "Most neighbours of a record", "count"),
)


def _distribution(values: NDArray[np.int64], name: str, what: str) -> list[dict[str, int]]:
    return [{name: v, what: n} for v, n in Counter(np.sort(values).tolist()).items()]


@dataclass(frozen=True)
class ProximityGraph:
    """Records are vertices; those within ε of each other on every open item are joined.

    Parameters
    ----------
    eps : float
        0 or more, in units of the scale.
    sensitive : sequence of str
        Item ids that the distance leaves out.
    nulls : {"strict", "ignore", "zero"}
        As in `KEpsAnonymity`.

    Raises
    ------
    ConfigError
        A parameter is out of range.

    Examples
    --------
    >>> four = Ratings.from_arrays(list("abcd"), list("xxxx"), [1, 2, 3, 5], scale="1:5:1")
    >>> graph = ProximityGraph(eps=1).of(four)
    >>> graph.edges, graph.component_sizes.tolist()
    (2, [3, 1])
    """

    eps: float = field(metadata=EPS)
    sensitive: Sequence[str] = field(default=(), metadata=SENSITIVE)
    nulls: NullRule = field(default="strict", metadata=NULLS)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sensitive", item_keys(self.sensitive))
        check(self)

    @announced("proximity graph")
    def of(self, data: Release | Ratings) -> GraphResult:
        """Find every edge.

        Parameters
        ----------
        data : Release or Ratings
            A release must have one rating, or null, in every cell.

        Raises
        ------
        ConfigError
            No records; a sensitive item is unknown, or none is left that is not sensitive; a
            release has cells of several members; the edges do not fit the memory budget.
        """
        ready = prepare(data, self.eps, self.sensitive, self.nulls, k=1)
        edges = int(ball_sizes(ready.space).sum() - ready.space.n_records) // 2
        check_edges(edges)
        indptr, members = ball_members(ready.space, np.arange(ready.space.n_records))
        return GraphResult(
            eps=self.eps,
            nulls=self.nulls,
            indptr=indptr,
            members=members,
            component=components(indptr, members),
        )
