"""How the values of a personal attribute are spread over the classes of a table.

Null is a value of its own. On a numeric attribute it stands below all numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.figure import Figure
from starshade.naming import aside
from starshade.plain import counted
from starshade.privacy.classes import Classes, classes_of
from starshade.privacy.verdict import BY_SIZE, SHOWN, Verdict, records_of
from starshade.ratings.table import Ratings
from starshade.release.attributes import attribute_called, did_you_mean
from starshade.release.figures import COUNTED
from starshade.release.table import Release

if TYPE_CHECKING:
    import pyarrow as pa


Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClassValues:
    """The values of one attribute, class by class.

    `totals` (int64 (n_values,)): records that have each value: null first where it occurs, then
    ascending. `indptr` (int64 (n_classes + 1,)): class c has the entries ``indptr[c]:indptr[c +
    1]``. `value`, `count` (int64 (n_entries,)): a value of the class, ascending within it, and the
    records of the class that have it.
    """

    classes: Classes
    numeric: bool
    totals: Ints
    indptr: Ints
    value: Ints
    count: Ints
    has_missing: bool = False  # value 0 is null

    @property
    def missing(self) -> int:
        """Records without a value."""
        return int(self.totals[0]) if self.has_missing else 0

    @property
    def known(self) -> int:
        """Different values in the whole table, null left out."""
        return len(self.totals) - self.has_missing

    @property
    def records(self) -> int:
        """Records of the whole table."""
        return len(self.classes.of_record)

    def distinct(self, *, known: bool = False) -> Ints:
        """Return the number of different values in each class; `known`: null left out."""
        every = np.diff(self.indptr)
        return every - (self.value[self.indptr[:-1]] == 0) if known and self.has_missing else every

    def effective(self, *, known: bool = False) -> Floats:
        """Return exp(entropy) of each class: how many equally frequent values spread as much.

        `known`: of the records that have a value; 0 where none has.
        """
        row = np.repeat(np.arange(len(self.classes)), self.distinct())
        kept = (self.value > 0) if known and self.has_missing else np.ones(len(row), dtype=np.bool_)
        row, count = row[kept], self.count[kept]
        n, size = len(self.classes), np.bincount(row, count, minlength=len(self.classes))
        share = count / size[row]
        entropy = -np.bincount(row, share * np.log(share), minlength=n)
        distinct, largest = self.distinct(known=known), np.zeros(n)
        np.maximum.at(largest, row, count)
        even = largest * distinct == size  # then it is a whole number
        return np.where(even, distinct, np.exp(entropy))

    def largest(self) -> Ints:
        """Return how many records of each class have its most frequent value."""
        return np.maximum.reduceat(self.count, self.indptr[:-1])

    def distances(self) -> Floats:
        """Return the earth mover's distance of each class from the whole table.

        Numbers: values next to each other lie 1/(v-1) apart, v being the number of different
        values in the table. Texts: any two lie 1 apart, which makes it the total variation.

        Returns float64 (n_classes,): in [0, 1].
        """
        if len(self.totals) == 1:
            return np.zeros(len(self.classes))
        return self._ordered() if self.numeric else self._equal()

    def _equal(self) -> Floats:
        size = np.repeat(self.classes.size, self.distinct())
        # whole numbers: how far a share is above that of the table, times both sizes
        above = np.maximum(self.count * self.records - self.totals[self.value] * size, 0)
        total = np.add.reduceat(above.astype(np.float64), self.indptr[:-1])
        return np.asarray(total / (self.classes.size * float(self.records)))

    def _ordered(self) -> Floats:
        """Sum |share of the class up to a value − share of the table| over all values.

        Between two values that a class has its own share is constant, while that of the table
        grows: where they meet is searched for, and both sides are summed as wholes.
        """
        n, v = self.records, len(self.totals)
        below = np.cumsum(self.totals)  # records of the table up to each value
        summed = np.concatenate([[0], np.cumsum(below)])
        last = np.append(self.value[1:], v)
        last[self.indptr[1:] - 1] = v  # an entry holds from its value up to the next
        ends = np.cumsum(self.count)
        start = np.repeat(ends[self.indptr[1:] - 1] - self.classes.size, self.distinct())
        size, own = np.repeat(self.classes.size, self.distinct()), ends - start
        meet = np.searchsorted(below, own * n // size, side="right")
        meet = np.clip(meet, self.value, last)
        share = own / size
        more = share * (meet - self.value) - (summed[meet] - summed[self.value]) / n
        less = (summed[last] - summed[meet]) / n - share * (last - meet)
        away = np.add.reduceat(more + less, self.indptr[:-1])
        away += summed[self.value[self.indptr[:-1]]] / n  # below the first value of a class
        return np.asarray(away / (v - 1))


def values_in_classes(data: Release | Ratings, attribute: str) -> ClassValues:
    """Count the values of an attribute in each class."""
    records = records_of(data)
    column = _column(data, attribute)
    if not records:
        raise ConfigError("no records to check")
    code, numeric, has_missing = _codes(column)
    classes = classes_of(data)
    n_values = int(code.max()) + 1
    entry, count = np.unique(classes.of_record * n_values + code, return_counts=True)
    return ClassValues(
        classes=classes,
        numeric=numeric,
        totals=np.bincount(code),
        indptr=np.searchsorted(entry, np.arange(len(classes) + 1) * n_values).astype(np.int64),
        value=entry % n_values,
        count=count.astype(np.int64),
        has_missing=has_missing,
    )


def _column(data: Release | Ratings, attribute: str) -> pa.ChunkedArray:
    table = data.attributes
    has, lacks, quasi = "data have", "data lack", tuple[str, ...]()
    advice = f"Give a file of them{aside('users', 'FILE')}."
    if isinstance(data, Release):
        has, lacks, quasi = "release has", "release lacks", data.manifest.quasi_identifiers
        advice = "Make a release with some (starshade anonymize --attributes generalized)."
    if table is None:
        raise ConfigError(
            f"attribute {attribute!r}: the {has} no personal attributes", advice=advice
        )
    open_ = [name for name in table.column_names if name not in quasi]
    found = attribute_called(attribute, table.column_names) or attribute
    if found in quasi:
        raise ConfigError(
            f"attribute {attribute!r}: is a quasi-identifier of this release, generalized and "
            "equal within each class, so there is nothing sensitive to count",
            advice=_listed(open_),
        )
    if found not in open_:
        advice = f"{did_you_mean(attribute, open_)}{_listed(open_)}"
        raise ConfigError(f"attribute {attribute!r}: the {lacks} it", advice=advice)
    return table.column(found)


def _listed(names: list[str]) -> str:
    listed = ", ".join(names)
    return f"Attributes with values of their own: {listed}." if names else "There is no other one."


def _codes(column: pa.ChunkedArray) -> tuple[Ints, bool, bool]:
    """Return the place of each record's value, null first and others ascending.

    And whether they are numbers, and whether null occurs.
    """
    import pyarrow as pa

    numeric = pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
    if numeric:
        missing = column.is_null(nan_is_null=True).to_numpy()
        values = column.cast(pa.float64()).fill_null(0.0).to_numpy()[~missing]
        place = np.unique(values, return_inverse=True)[1]
    else:
        texts_or_none = column.cast(pa.string()).to_pylist()
        missing = np.array([v is None for v in texts_or_none])
        texts = [v for v in texts_or_none if v is not None]
        rank = {v: i for i, v in enumerate(sorted(set(texts)))}
        place = np.array([rank[v] for v in texts], dtype=np.int64)
    code = np.zeros(len(column), dtype=np.int64)
    code[~missing] = place + bool(missing.any())
    return code, numeric, bool(missing.any())


_FIGURES = (
    *(figure for figure in COUNTED if figure.key in ("smallest_l", "largest_t")),
    Figure(
        "largest_share",
        "Largest share of one value in a class",
        "share",
        True,
        "High: the class nearly discloses the value.",
    ),
    Figure("values", "Different values in the whole table", "count", False, "None has more."),
    Figure("missing", "Records without a value", "count", True, "Their value is unknown."),
    BY_SIZE,
    Figure("failing_by_share", "Records in whose class one value is too frequent", "count", True),
)


@dataclass(frozen=True)
class ClassVerdict(Verdict):
    """A verdict about the values of one attribute in each class.

    Attributes
    ----------
    figures : dict
        What was counted over all classes; `to_dict` lists it among the other keys.
    meaning : str
        What this verdict says, without its head.
    """

    figures: dict[str, float | int] = field(default_factory=dict)
    meaning: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain JSON values."""
        return self._with(self.figures)

    def __str__(self) -> str:
        settings = ", ".join(f"{name} = {_plain(value)}" for name, value in self.parameters.items())
        meaning = self.empty_because if self.vacuous else self.meaning
        return f"{self.model} ({settings}) {self.outcome}: {meaning}"

    @property
    def found(self) -> tuple[Figure, ...]:
        """What was counted."""
        own = (figure.of(self.figures.get(figure.key)) for figure in _FIGURES)
        return (*super().found, *own)

    def _group(self, entry: dict[str, Any]) -> str:
        figures = [
            f"{name} {_plain(value)}"
            for name, value in entry.items()
            if name not in ("row", "size")
        ]
        return f"{super()._group(entry)}: {', '.join(figures)}"


def judged(
    model: str,
    parameters: dict[str, Any],
    values: ClassValues,
    *,
    failing: NDArray[np.bool_],
    worst: tuple[str, NDArray[Any], bool],
    figures: dict[str, float | int],
    meaning: tuple[str, str],
    empty: str,
) -> ClassVerdict:
    """Put a verdict together.

    `failing` (n_classes,). `worst` (str, ndarray of shape (n_classes,), bool): what is told of
    failing classes: its name, its value in each class, and whether the least is the worst.
    `meaning` (str, str): if it holds; and if it does not, behind the number of records that fail.
    `empty`: why it holds whatever the values are; empty where it need not.
    """
    classes = values.classes
    records = int(classes.size[failing].sum())
    name, measured, least = worst
    order = np.lexsort([classes.row, classes.size, measured if least else -measured])
    share = f"{records:,} of {counted(values.records, 'record')} ({records / values.records:.1%})"
    return ClassVerdict(
        model=model,
        parameters=parameters,
        satisfied=not records,
        records=values.records,
        failing_records=records,
        smallest_class=int(classes.size.min()),
        worst=tuple(
            {"row": int(classes.row[c]), "size": int(classes.size[c]), name: measured[c].item()}
            for c in order[failing[order]][:SHOWN].tolist()
        ),
        numbered=classes.numbered,
        figures=figures,
        empty_because=empty,
        meaning=f"{share} {meaning[1]}" if records else meaning[0],
    )


def _plain(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else f"{value}"
