"""k-anonymity of the review graph (Chang et al. 2009, Def. 3.3; definitions, "review-graph")."""

from __future__ import annotations

from dataclasses import dataclass

from starshade.privacy.classes.classes import graphs_of
from starshade.privacy.classes.sizes import judged_by_size
from starshade.privacy.parameters import check_records, checking, records_of
from starshade.privacy.settings import ReviewGraphSettings
from starshade.privacy.verdict import Verdict
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.setting import check

__all__ = ["ReviewGraph"]


@dataclass(frozen=True)
class ReviewGraph(ReviewGraphSettings):
    """Every record has at least k-1 others with an identical review graph.

    A review graph (Def. 2.1) is the items that a record shows and the rating on each: days and
    personal attributes are outside it, which is how this model differs from `KAnonymity`. A
    generalized cell is alike where it says the same, a null that is possible included.

    Parameters
    ----------
    k : int
        2 or more.

    Raises
    ------
    ConfigError
        k is no whole number, or below 2.

    Examples
    --------
    >>> from starshade.ratings.table import Ratings
    >>> users, items = ["a", "a", "b", "b", "c"], ["x", "y", "x", "y", "x"]
    >>> verdict = ReviewGraph(k=2).check(Ratings.from_arrays(users, items, [5, 1, 5, 1, 5]))
    >>> verdict.satisfied, verdict.failing_records, verdict.worst
    (False, 1, ({'row': 2, 'size': 1},))
    """

    def __post_init__(self) -> None:
        check(self)

    @checking("review-graph")
    def check(self, data: Release | Ratings) -> Verdict:
        """Count, from the cells alone, how many records have the same review graph.

        Parameters
        ----------
        data : Release or Ratings
            On a release of layout "profile" the bytes of the profiles are compared; no cells
            are made of them.

        Returns
        -------
        Verdict
            As of `KAnonymity`.

        Raises
        ------
        ConfigError
            k is above the number of records.
        """
        check_records(self.k, records_of(data))
        return judged_by_size("review-graph", self.k, graphs_of(data))
