"""l-diversity of a personal attribute (Machanavajjhala et al. 2006; definitions, "l-diversity")."""

from __future__ import annotations

from dataclasses import dataclass

from starshade.errors import ConfigError
from starshade.naming import called
from starshade.privacy.classes.values import ClassValues, values_in_classes
from starshade.privacy.classes.verdict import ClassVerdict, judged
from starshade.privacy.parameters import SLACK, checking
from starshade.privacy.settings import LDiversitySettings
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.setting import check

__all__ = ["LDiversity"]


@dataclass(frozen=True)
class LDiversity(LDiversitySettings):
    """Among the records of a class an attribute has at least l different values.

    A class is a maximal set of records that are equal on every cell and on every released
    quasi-identifier, as in `KAnonymity`. Null is a value of its own.

    Parameters
    ----------
    l : float
        1 or more.
    attribute : str
        Name of a personal attribute; of a release one that was not generalized.
    kind : {"distinct", "entropy"}
        ``distinct`` counts different values. ``entropy`` asks for exp(H) ≥ l, H = −Σ p ln p over
        the shares p of the values in a class: rare values count for less. It is stricter.

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
            With ``smallest_l``, that of the worst class, and ``values``, the different values of
            the whole table; in `worst` also the ``l`` of each class.

        Raises
        ------
        ConfigError
            No such attribute, or l above the number of its values.
        """
        values = values_in_classes(data, self.attribute)
        different = len(values.totals)
        if self.l > different + SLACK:
            raise ConfigError(
                f"{called('l')} = {self.l:g}: {self.attribute!r} has {different:,} different "
                "values in all, so no class can have more",
                advice=f"Choose l from 1 to {different}.",
            )
        distinct = self.kind == "distinct"
        diversity = values.distinct() if distinct else values.effective()
        return judged(
            "l-diversity",
            {
                "l": int(self.l) if float(self.l).is_integer() else float(self.l),
                "attribute": self.attribute,
                "kind": self.kind,
            },
            values,
            failing=diversity < self.l - (0 if distinct else SLACK),
            worst=("l", diversity, True),
            figures={"smallest_l": diversity.min().item(), "values": different},
            meaning=self._meaning(values, diversity.min().item()),
            empty=""
            if self.l > 1 + SLACK
            else f"every class has one value of {self.attribute} at least. Ask for l = 2 or more.",
        )

    def _meaning(self, values: ClassValues, least: float) -> tuple[str, str]:
        n = values.records
        if self.kind == "distinct":
            text = f"{least:.4g} different values of {self.attribute}"
            fewer = f"fewer than {self.l:g} different values of {self.attribute}"
        else:
            text = f"{least:.4g} values of {self.attribute}, counted as if all were as frequent"
            fewer = f"values of {self.attribute} that count for fewer than {self.l:g}"
        return (
            f"in the class of each of the {n:,} records there are at least {text}. "
            "Whoever finds a person's class cannot tell from it alone which of them is theirs; "
            "that one is much likelier than the others, or that they mean much the same, is not "
            "ruled out.",
            f"are in classes with {fewer}; the least is {least:.4g}.",
        )
