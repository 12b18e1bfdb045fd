"""k-anonymity of cells and of the review graph (KL Def. 9, PA Def. 3.3).

See the definitions, "k-anonymity" and "review-graph".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from starshade.privacy.classes import Classes, classes_of, graphs_of
from starshade.privacy.settings import KAnonymitySettings, ReviewGraphSettings
from starshade.privacy.verdict import SHOWN, Verdict, check_records, checking, records_of
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.setting import check

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class KAnonymity(KAnonymitySettings):
    """Every record equals at least k-1 others on every item.

    Equal means: the same content in every cell, a null (or a null that is possible) included;
    on ratings with dates also the same days. Personal attributes count when they were released
    as quasi-identifiers (``attributes: generalized``); sensitive ones, and exact ones, which only
    a query service may hold, are outside this model.

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
    >>> from starshade.ratings.scale import Scale
    >>> KAnonymity(1)
    Traceback (most recent call last):
    ...
    starshade.errors.ConfigError: k = 1: must be a whole number, 2 or more
    A record always equals itself; choose at least 2.
    """

    def __post_init__(self) -> None:
        check(self)

    @checking("k-anonymity")
    def check(self, data: Release | Ratings) -> Verdict:
        """Count, from the cells alone, how many records look alike.

        Parameters
        ----------
        data : Release or Ratings

        Returns
        -------
        Verdict
            `worst` holds ``{"row", "size"}``: the first row of a class, counted from 0 (on a
            release of layout "generalized" or "profile" the class number), and its records.

        Raises
        ------
        ConfigError
            k is above the number of records.
        """
        check_records(self.k, records_of(data))
        verdict = _judged("k-anonymity", self.k, classes_of(data))
        by = data.manifest.alike_by if isinstance(data, Release) else ""
        return replace(verdict, alike_by=by)


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
        return _judged("review-graph", self.k, graphs_of(data))


def _judged(model: str, k: int, classes: Classes) -> Verdict:
    return judged_by_size(model, k, [(classes.row, classes.size)], numbered=classes.numbered)


def judged_by_size(
    model: str, k: int, parts: Iterable[tuple[Ints, Ints]], *, numbered: bool = False
) -> Verdict:
    """Judge by the fewest records that a class may have.

    `parts`: the first row of each class and its size, of some classes after the other.
    """
    records = failing = 0
    smallest = np.iinfo(np.int64).max
    worst = np.empty((2, 0), dtype=np.int64)
    for row, size in parts:
        few = size < k
        records += int(size.sum())
        failing += int(size[few].sum())
        smallest = min(smallest, int(size.min()))
        worst = np.concatenate([worst, [size[few], row[few]]], axis=1)
        worst = worst[:, np.lexsort(worst[::-1])[:SHOWN]]
    return Verdict(
        model=model,
        parameters={"k": int(k)},
        satisfied=not failing,
        records=records,
        failing_records=failing,
        smallest_class=smallest,
        worst=tuple({"row": row, "size": size} for size, row in worst.T.tolist()),
        numbered=numbered,
    )
