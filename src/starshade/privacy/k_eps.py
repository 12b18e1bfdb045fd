"""(k, ε)- and (k, ε, l)-anonymity (SR Def. 2, 3; definitions, "k-eps" and "k-eps-l")."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.naming import called
from starshade.privacy.proximity.balls import (
    Prepared,
    count_balls,
    found_cliques,
    prepare,
)
from starshade.privacy.proximity.judged import NAMED, Spread, judge, tally
from starshade.privacy.proximity.verdict import ProximityVerdict
from starshade.privacy.settings import KEpsAnonymitySettings, KEpsLAnonymitySettings
from starshade.privacy.verdict import checking
from starshade.ratings.proximity.balls import ball_members, ball_sizes
from starshade.ratings.proximity.sensitive import (
    item_keys,
    moments,
    refuse_above_bound,
    spreads,
    too_low,
)
from starshade.ratings.proximity.space import Space
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.setting import check


@dataclass(frozen=True)
class KEpsAnonymity(KEpsAnonymitySettings):
    """Every record has at least k-1 others within ε of it on every non-sensitive item.

    The records within ε of one, and itself, are its *ball*. Balls overlap and their members need
    not be near each other (Def. 2 asks for no more), so the model protects against somebody who
    takes near ratings for the same, not against one who knows them exactly.

    Parameters
    ----------
    k : int
        2 or more; the record itself counts.
    eps : float
        0 or more, in units of the scale.
    sensitive : sequence of str
        Item ids that the distance leaves out.
    nulls : {"strict", "ignore", "zero"}
        What a null against a rating costs: R = max(maximum, width) of the scale (the paper),
        nothing, or the rating's distance from the level just below the scale. Null against null
        costs nothing.
    search : {"tree", "slicing", "pairwise"}
        How neighbours are found: ours, the paper's, every pair. The verdict is the same.
    full : bool
        Count every ball to its end, for the distribution of sizes and the number of distinct
        balls; else counting a ball stops at k.
    groups : {"ball", "clique"}
        "clique" asks for more than the definition, as the paper's slicing does: a set of k or more
        that are within ε of *one another*. A largest one is hard to find; the search is greedy.
        It takes the record's ball and adds its members in row order as long as they are near all
        that were added. What it finds is proven, (k, ε) as well. Where it finds none, and the ball
        has k, that proves nothing: the verdict counts these records as not found. Sizes are those
        of the sets found, which larger ones may exist of.

    Raises
    ------
    ConfigError
        A parameter is out of range; `full` with cliques.

    Examples
    --------
    >>> from starshade.ratings.table import Ratings
    >>> three = Ratings.from_arrays(["a", "b", "c"], ["x", "x", "x"], [1, 2, 4], scale="1:5:1")
    >>> verdict = KEpsAnonymity(k=2, eps=1).check(three)
    >>> verdict.satisfied, verdict.failing_records, verdict.worst
    (False, 1, ({'row': 2, 'size': 1},))
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "sensitive", item_keys(self.sensitive))
        check(self)
        if self.full and self.groups == "clique":
            raise ConfigError(
                f"{called('full')} and {called('groups')} clique: not all cliques can be counted",
                advice=f"Leave {called('full')} out: it counts balls.",
            )

    @checking("k-eps")
    def check(self, data: Release | Ratings) -> ProximityVerdict:
        """Count who is near whom.

        Parameters
        ----------
        data : Release or Ratings
            A release must have one rating, or null, in every cell.

        Raises
        ------
        ConfigError
            k is above the number of records; a sensitive item is unknown, or none is left that
            is not sensitive; a release has cells of several members; too little memory.
        """
        ready = prepare(data, self.eps, self.sensitive, self.nulls, self.k)
        if self.groups == "clique":
            return self._of_cliques(ready)
        if self.full:
            sizes, _, distinct = count_balls(ready.space, self.search, distinct=True)
        else:
            sizes = ball_sizes(ready.space, stop_at=self.k, search=self.search)
            distinct = None
        return _judged(
            ready, "k-eps", self.parameters(), sizes, all_exact=self.full, distinct=distinct
        )

    def _of_cliques(self, ready: Prepared) -> ProximityVerdict:
        balls = ball_sizes(ready.space, stop_at=self.k, search=self.search)
        sizes = found_cliques(ready.space, self.k)
        verdict = _judged(ready, "k-eps", self.parameters(), sizes, all_exact=False)
        not_found = int(((sizes < self.k) & (balls >= self.k)).sum())
        return replace(verdict, not_found=not_found, smallest_class_exact=False, witness=None)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as a verdict names them."""
        parameters: dict[str, Any] = {"k": int(self.k), "eps": self.eps, "nulls": self.nulls}
        if self.groups != "ball":
            parameters["groups"] = self.groups
        return parameters | ({"sensitive": list(self.sensitive)} if self.sensitive else {})


@dataclass(frozen=True)
class KEpsLAnonymity(KEpsLAnonymitySettings):
    """(k, ε)-anonymity, and in every ball each sensitive item spreads by at least l.

    The spread is the paper's standard deviation over all members of the ball, a null deviating
    by the mean of those who rated. An item that nobody in the ball rated discloses nothing there
    and passes; one that a single member rated is treated like any other, with a warning.

    Parameters
    ----------
    k : int
        2 or more; the record itself counts.
    eps : float
        0 or more, in units of the scale.
    l : float
        0 or more. 0 asks for (k, ε) alone.
    sensitive : sequence of str
        Item ids whose ratings are to be protected; the distance leaves them out.
    nulls, search, full
        As in `KEpsAnonymity`. Spreads need every ball to its end, so sizes are always exact
        where l is above 0; `full` adds the number of distinct balls.

    Raises
    ------
    ConfigError
        A parameter is out of range, or l is above 0 and no item is sensitive.

    Examples
    --------
    >>> from starshade.ratings.table import Ratings
    >>> two = Ratings.from_arrays(list("aabb"), list("xsxs"), [1, 1, 2, 5], scale="1:5:1")
    >>> verdict = KEpsLAnonymity(k=2, eps=1, l=2, sensitive=["s"]).check(two)
    >>> verdict.satisfied
    True
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "sensitive", item_keys(self.sensitive))
        check(self)
        if self.l > 0 and not self.sensitive:
            raise ConfigError(
                f"{called('l')} = {self.l:g}, and no item is sensitive: l has no effect",
                advice="Name the sensitive items, or check k-eps.",
            )

    @checking("k-eps-l")
    def check(self, data: Release | Ratings) -> ProximityVerdict:
        """Count who is near whom, and how far sensitive ratings spread among them.

        Parameters
        ----------
        data : Release or Ratings
            A release must have one rating, or null, in every cell.

        Raises
        ------
        ConfigError
            As `KEpsAnonymity.check`; or everybody rated a sensitive item and l is above half
            the range of its ratings, so that no data can meet it (Thm 1).
        """
        if self.l == 0:
            alone = KEpsAnonymity(
                self.k, self.eps, self.sensitive, self.nulls, self.search, self.full
            ).check(data)
            return replace(alone, model="k-eps-l", parameters=self.parameters())
        ready = prepare(data, self.eps, self.sensitive, self.nulls, self.k)
        refuse_above_bound(ready.ratings, ready.sensitive, self.l)
        sizes, sums, distinct = count_balls(
            ready.space,
            self.search,
            columns=moments(ready.ratings, ready.sensitive),
            distinct=self.full,
        )
        assert sums is not None
        return _judged(
            ready,
            "k-eps-l",
            self.parameters(),
            sizes,
            all_exact=True,
            spread=spread_of(sizes, sums, ready.ratings.scale, self.l),
            distinct=distinct,
        )

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as a verdict names them."""
        parameters = {"k": int(self.k), "eps": self.eps, "l": self.l, "nulls": self.nulls}
        return parameters | ({"sensitive": list(self.sensitive)} if self.sensitive else {})


def spread_of(
    sizes: NDArray[np.int64],
    sums: NDArray[Any],
    scale: Scale,
    l: float,  # noqa: E741 - the paper's name
) -> Spread:
    """Tell how far ratings spread in balls of which sizes and `moments` were summed up."""
    deviations = spreads(sizes, sums, scale)
    raters = np.round(sums[:, ::3]).astype(np.int64)
    return Spread(deviations, too_low(deviations, l), raters)


def _judged(
    ready: Prepared,
    model: str,
    parameters: dict[str, Any],
    sizes: NDArray[np.int64],
    *,
    all_exact: bool,
    spread: Spread | None = None,
    distinct: int | None = None,
) -> ProximityVerdict:
    space, k = ready.space, parameters["k"]
    patterns = None
    if space.rule.by_pattern:  # a block holds those who rated the same items
        shared = np.add.reduceat(space.kinds.size, space.kinds.block[:-1])
        patterns = len(shared), int(shared[shared < k].sum())
    return judge(
        ready.about,
        tally(np.arange(len(sizes)), sizes, k, spread),
        model=model,
        parameters=parameters,
        all_exact=all_exact,
        spreads=spread is not None,
        patterns=patterns,
        distinct=distinct,
        members=lambda row: first_members(space, row),
    )


def first_members(space: Space, row: int) -> tuple[int, list[int]]:
    """Return how many are in a record's ball, and the first of them."""
    ball = ball_members(space, np.array([row]))[1]
    return len(ball), ball[:NAMED].tolist()
