"""k-anonymity of cells (Riyana & Natwichai 2018, Def. 9; definitions, "k-anonymity")."""

from __future__ import annotations

from dataclasses import dataclass, replace

from starshade.privacy.classes.classes import classes_of
from starshade.privacy.classes.sizes import judged_by_size
from starshade.privacy.parameters import check_records, checking, records_of
from starshade.privacy.settings import KAnonymitySettings
from starshade.privacy.verdict import Verdict
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.setting import check

__all__ = ["KAnonymity"]


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
    A record is always equal to itself; ask for 2 at least.
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
        verdict = judged_by_size("k-anonymity", self.k, classes_of(data))
        by = data.manifest.alike_by if isinstance(data, Release) else ""
        return replace(verdict, alike_by=by)
