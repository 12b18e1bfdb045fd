"""t-closeness of a personal attribute (Li, Li & Venkatasubramanian 2007)."""

from __future__ import annotations

from dataclasses import dataclass

from starshade.privacy.classes.values import values_in_classes
from starshade.privacy.classes.verdict import ClassVerdict, judged
from starshade.privacy.parameters import SLACK, checking
from starshade.privacy.settings import TClosenessSettings
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.setting import check

__all__ = ["TCloseness"]


@dataclass(frozen=True)
class TCloseness(TClosenessSettings):
    """In no class an attribute is distributed more than t away from the whole table.

    A class is a maximal set of records that are equal on every cell and on every released
    quasi-identifier, as in `KAnonymity`. The distance is the earth mover's: on numbers values
    next to each other among the v different ones of the table lie 1/(v−1) apart, on texts any
    two lie 1 apart. Null is a value of its own, below all numbers.

    Parameters
    ----------
    t : float
        From 0 to 1.
    attribute : str
        Name of a personal attribute; of a release one that was not generalized.

    Raises
    ------
    ConfigError
        t is no number from 0 to 1.

    Examples
    --------
    >>> TCloseness(2, "City")
    Traceback (most recent call last):
    ...
    starshade.errors.ConfigError: t = 2: must be a number from 0 to 1
    """

    def __post_init__(self) -> None:
        check(self)

    @checking("t-closeness")
    def check(self, data: Release | Ratings) -> ClassVerdict:
        """Measure the distance of each class from the whole table.

        Parameters
        ----------
        data : Release or Ratings

        Returns
        -------
        ClassVerdict
            With ``largest_t``, that of the worst class, and ``values``, the different values of
            the whole table; in `worst` also the ``distance`` of each class.

        Raises
        ------
        ConfigError
            No such attribute.
        """
        values = values_in_classes(data, self.attribute)
        away = values.distances()
        largest, ground = float(away.max()), "in order" if values.numeric else "all equally far"
        return judged(
            "t-closeness",
            {"t": float(self.t), "attribute": self.attribute},
            values,
            failing=away > self.t + SLACK,
            worst=("distance", away, False),
            figures={"largest_t": largest, "values": len(values.totals)},
            meaning=(
                f"the values of {self.attribute} in the class of each of the {values.records:,} "
                f"records are distributed at most {largest:.4g} away from those of all "
                f"(earth mover's distance, values {ground}). Whoever finds a person's class learns "
                "more about it than the whole table tells, but only as far as that.",
                f"are in classes whose values of {self.attribute} are distributed more than "
                f"{self.t:g} away from those of all records (earth mover's distance, values "
                f"{ground}); the largest distance is {largest:.4g}.",
            ),
            empty=""
            if self.t < 1 - SLACK
            else "no two distributions lie more than 1 apart. Ask for a t below 1.",
        )
