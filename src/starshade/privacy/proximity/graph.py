"""The graph of ε-proximate records (Sun & Sun 2013, §6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from starshade import budget
from starshade.errors import ConfigError
from starshade.kernels.balls.cliques import components
from starshade.naming import named
from starshade.plain import counted
from starshade.privacy.proximity.balls import prepare
from starshade.privacy.proximity.graph_result import GraphResult
from starshade.progress import announced
from starshade.ratings.proximity.balls import ball_members, ball_sizes
from starshade.ratings.proximity.sensitive import item_keys
from starshade.ratings.proximity.settings import EPS, NULLS, SENSITIVE, NullRule
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.setting import check

__all__ = ["ProximityGraph"]

_BYTES = 16  # an edge is held twice, as a number of eight bytes in the list of either end


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
        if edges * _BYTES > budget.memory():
            raise ConfigError(
                f"the graph has {counted(edges, 'edge')}, which take "
                f"{budget.amount(edges * _BYTES)}; the budget is {budget.amount(budget.memory())}",
                advice="Take a smaller eps or fewer records, or allow more with "
                f"{named('memory')}. The check of k-eps needs no graph.",
            )
        indptr, members = ball_members(ready.space, np.arange(ready.space.n_records))
        return GraphResult(
            eps=self.eps,
            nulls=self.nulls,
            indptr=indptr,
            members=members,
            component=components(indptr, members),
        )
