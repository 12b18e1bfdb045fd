"""(α, k)-anonymity of a personal attribute (Wong et al. 2006; definitions, "alpha-k")."""

from __future__ import annotations

from dataclasses import dataclass

from starshade.plain import counted
from starshade.privacy.classes.values import values_in_classes
from starshade.privacy.classes.verdict import ClassVerdict, judged
from starshade.privacy.parameters import SLACK, check_records, checking, records_of
from starshade.privacy.settings import AlphaKSettings
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.setting import check

__all__ = ["AlphaK"]


@dataclass(frozen=True)
class AlphaK(AlphaKSettings):
    """k-anonymity, and no value of an attribute is that of more than a share α of a class.

    A class is a maximal set of records that are equal on every cell and on every released
    quasi-identifier, as in `KAnonymity`. Null is a value of its own, and every value counts:
    the paper's sensitive value is each of them in turn.

    Parameters
    ----------
    alpha : float
        Above 0, at most 1.
    k : int
        2 or more.
    attribute : str
        Name of a personal attribute; of a release one that was not generalized.

    Raises
    ------
    ConfigError
        A parameter is out of its range.

    Examples
    --------
    >>> AlphaK(0, 5, "City")
    Traceback (most recent call last):
    ...
    starshade.errors.ConfigError: alpha = 0: must be a finite number, above 0 and at most 1
    """

    def __post_init__(self) -> None:
        check(self)

    @checking("alpha-k")
    def check(self, data: Release | Ratings) -> ClassVerdict:
        """Count the records of each class, and those of its most frequent value.

        Parameters
        ----------
        data : Release or Ratings

        Returns
        -------
        ClassVerdict
            With ``largest_share``, that of the worst class, ``values``, the different values of
            the whole table, and the records that fail by either: ``failing_by_size``,
            ``failing_by_share``; in `worst` also the ``share`` of each class.

        Raises
        ------
        ConfigError
            No such attribute, or k above the number of records.
        """
        check_records(self.k, records_of(data))
        values = values_in_classes(data, self.attribute)
        size, most = values.classes.size, values.largest()
        small = size < self.k
        many = most > (float(self.alpha) + SLACK) * size
        largest = float((most / size).max())
        too_small, too_frequent = int(size[small].sum()), int(size[many].sum())
        return judged(
            "alpha-k",
            {"alpha": float(self.alpha), "k": int(self.k), "attribute": self.attribute},
            values,
            failing=small | many,
            worst=("share", most / size, False),
            figures={
                "largest_share": largest,
                "values": len(values.totals),
                "failing_by_size": too_small,
                "failing_by_share": too_frequent,
            },
            meaning=(
                f"each of the {values.records:,} records is in a class of at least {size.min():,}, "
                f"and there no value of {self.attribute} is that of more than "
                f"{largest:.1%}. Whoever finds a person's class cannot be surer of it than that.",
                self._failures(too_small, too_frequent, largest),
            ),
            empty=""
            if self.alpha < 1 - SLACK
            else f"at alpha = 1 all records of a class may have the same {self.attribute}. Ask for "
            "an alpha below 1, or for k-anonymity.",
        )

    def _failures(self, small: int, many: int, largest: float) -> str:
        parts = []
        if small:
            parts.append(f"{small:,} look like fewer than {counted(self.k - 1, 'other')}")
        if many:
            parts.append(
                f"{many:,} are in classes where one value of {self.attribute} is that of more than "
                f"{self.alpha:.1%}, the largest share being {largest:.1%}"
            )
        return f"fail: {', and '.join(parts)}."
