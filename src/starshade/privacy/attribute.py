"""Models of a personal attribute within classes: l-diversity, t-closeness, (α, k)-anonymity.

See the definitions, "l-diversity", "t-closeness" and "alpha-k".
"""

from __future__ import annotations

from dataclasses import dataclass

from starshade.errors import ConfigError
from starshade.naming import called
from starshade.plain import counted
from starshade.privacy.class_values import ClassValues, ClassVerdict, judged, values_in_classes
from starshade.privacy.settings import AlphaKSettings, LDiversitySettings, TClosenessSettings
from starshade.privacy.verdict import SLACK, check_records, checking, records_of
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.setting import check


@dataclass(frozen=True)
class LDiversity(LDiversitySettings):
    """Among the records of a class an attribute has at least l different values.

    A class is a maximal set of records that are equal on every cell and on every released
    quasi-identifier, as in `KAnonymity`. Known values count: a missing one hides nobody's.

    Parameters
    ----------
    l : float
        1 or more.
    attribute : str
        Name of a personal attribute; of a release one that was not generalized.
    kind : {"distinct", "entropy"}
        ``distinct`` counts different values. ``entropy`` asks for exp(H) ≥ l, H = −Σ p ln p over
        the shares p of the values in a class: rare values count for less. It is stricter.
    missing : {"as-value"}, optional
        ``as-value`` counts a missing value as one more value, None does not count it.

    Raises
    ------
    ConfigError
        l is no number or below 1, or an unknown kind.

    Examples
    --------
    >>> LDiversity(0, "City")
    Traceback (most recent call last):
    ...
    starshade.errors.ConfigError: l = 0: must be a finite number, 1 or more
    """

    def __post_init__(self) -> None:
        check(self)

    @checking("l-diversity")
    def check(self, data: Release | Ratings) -> ClassVerdict:
        """Count the values of each class.

        Parameters
        ----------
        data : Release or Ratings

        Returns
        -------
        ClassVerdict
            With ``smallest_l``, that of the worst class, ``values``, the different values of
            the whole table, and ``missing``, the records without one; in `worst` also the ``l`` of
            each class.

        Raises
        ------
        ConfigError
            No such attribute, or l above the number of its values.
        """
        values = values_in_classes(data, self.attribute)
        known = self.missing is None
        different = values.known if known else len(values.totals)
        if self.l > different + SLACK:
            raise ConfigError(
                f"{called('l')} = {self.l:g}: {self.attribute!r} has {different:,} different "
                "values in all, so no class can have more",
                advice=f"Choose l from 1 to {different}.",
            )
        distinct = self.kind == "distinct"
        counts = values.distinct if distinct else values.effective
        diversity = counts(known=known)
        return judged(
            "l-diversity",
            {
                "l": int(self.l) if float(self.l).is_integer() else float(self.l),
                "attribute": self.attribute,
                "kind": self.kind,
                **({} if known else {"missing": self.missing}),
            },
            values,
            failing=diversity < self.l - (0 if distinct else SLACK),
            worst=("l", diversity, True),
            figures={
                "smallest_l": diversity.min().item(),
                "values": different,
                "missing": values.missing,
            },
            meaning=self._meaning(values, diversity.min().item()),
            empty=""
            if self.l > 1 + SLACK or (known and values.missing)
            else f"every class has at least one value of {self.attribute}. Choose l = 2 or more.",
        )

    def _meaning(self, values: ClassValues, least: float) -> tuple[str, str]:
        n, lacking = values.records, ""
        if values.missing:
            how = "is counted as no value" if self.missing is None else "is counted as a value"
            have = "has" if values.missing == 1 else "have"
            lacking = f" {counted(values.missing, 'record')} {have} none, which {how}."
        if self.kind == "distinct":
            text = f"{least:.4g} different values of {self.attribute}"
            fewer = f"fewer than {self.l:g} different values of {self.attribute}"
        else:
            text = f"{least:.4g} effective values of {self.attribute} (exp of the entropy)"
            fewer = f"fewer than {self.l:g} effective values of {self.attribute}"
        return (
            f"the class of each of the {n:,} records has at least {text}. The class alone does not "
            "disclose which value is a person's. One value may still be much likelier, or all may "
            f"mean much the same.{lacking}",
            f"are in classes with {fewer}; the least is {least:.4g}.{lacking}",
        )


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
                f"in the class of each of the {values.records:,} records the distribution of "
                f"{self.attribute} differs from the table's by at most {largest:.4g} (earth "
                f"mover's distance, values {ground}). The class discloses at most this much more "
                "than the whole table.",
                f"are in classes whose distribution of {self.attribute} differs from the "
                f"table's by more than {self.t:g} (earth mover's distance, values {ground}); the "
                f"largest distance is {largest:.4g}.",
            ),
            empty=""
            if self.t < 1 - SLACK
            else "no two distributions differ by more than 1. Choose a t below 1.",
        )


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
                f"in which no value of {self.attribute} has a share above {largest:.1%}. The class "
                "gives no higher confidence in a person's value.",
                self._failures(too_small, too_frequent, largest),
            ),
            empty=""
            if self.alpha < 1 - SLACK
            else f"at alpha = 1 all records of a class may have the same {self.attribute}. Choose "
            "an alpha below 1, or check k-anonymity.",
        )

    def _failures(self, small: int, many: int, largest: float) -> str:
        parts = []
        if small:
            parts.append(f"{small:,} equal fewer than {counted(self.k - 1, 'other')}")
        if many:
            parts.append(
                f"{many:,} are in classes where one value of {self.attribute} has a share above "
                f"{self.alpha:.1%} (largest: {largest:.1%})"
            )
        return f"fail: {', and '.join(parts)}."
