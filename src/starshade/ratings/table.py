"""`Ratings`: users × items, sparse, as every other room sees them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.errors import ConfigError
from starshade.kernels.arrays import UNKNOWN_DAY as UNKNOWN_DAY
from starshade.kernels.csr import keep_columns, keep_rows, transpose
from starshade.ratings.frames import Framed
from starshade.ratings.places.place import Where
from starshade.ratings.scale import Scale
from starshade.ratings.settings import OnDuplicate
from starshade.ratings.vocabulary import Vocabulary
from starshade.setting import shown

if TYPE_CHECKING:
    import pyarrow as pa
    from scipy.sparse import csr_array

    from starshade.chart import Chart


@dataclass(frozen=True)
class ReadReport:
    """What reading found and decided; internal, never part of a release.

    `source`: path or kind of the input. `format`: the recognised format, e.g. ``movielens-100k``,
    ``csv``, ``wide``. `mapping`: role → column that was taken for it. `scale_inferred`: whether the
    scale was found in the data rather than declared. `dropped_users`, `dropped_items`,
    `merged_duplicates`: what is not in the table any more and why; never silent. `notes`: anything
    else a person should know, one sentence each.
    """

    source: str = ""
    format: str = ""
    mapping: dict[str, str] = field(default_factory=dict)
    scale_inferred: bool = False
    dropped_users: int = 0
    dropped_items: int = 0
    merged_duplicates: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ByItem:
    """The same cells item by item, users ascending within an item.

    `indptr` (n_items + 1,). `users` (n_ratings,). `codes` (n_ratings,).
    """

    indptr: NDArray[np.int64]
    users: NDArray[np.int32]
    codes: NDArray[Any]
    days: NDArray[np.uint16] | None


@dataclass(frozen=True, eq=False)
class Ratings(Framed):
    """A rating table in canonical order.

    Build one with `read_ratings` or `Ratings.from_arrays`; the constructor assumes valid,
    canonical input.

    Attributes
    ----------
    scale : Scale
    users, items : Vocabulary
        Row i is the user ``users[i]``, column j the item ``items[j]``.
    indptr : ndarray of int64, shape (n_users + 1,)
        Row i's cells are ``indptr[i]:indptr[i + 1]``; a row may be empty.
    columns : ndarray of int32, shape (n_ratings,)
        Item indices, strictly ascending within a row.
    codes : ndarray of uint8, uint16 or uint32, shape (n_ratings,)
        Positions in `levels`.
    levels : ndarray of float64, shape (n_levels,)
        Ascending ratings that a code stands for: every level of a stepped scale, the distinct
        ratings seen on a real one.
    days : ndarray of uint16, shape (n_ratings,), or None
        UTC days since `first_day`; 65535 = unknown. None: the data have no dates.
    first_day : int
        Day number (since 1970-01-01) that 0 in `days` stands for.
    attributes : pyarrow.Table or None
        Personal attributes, one row per user in user order; numeric columns are float64,
        all others string; null is a value of its own.
    item_names : tuple of str or None
        A name per item, in item order; names repeat, keys do not.
    lineage : str or None
        Random id given when the data set was first stored; None before that.
    report : ReadReport
    """

    scale: Scale
    users: Vocabulary
    items: Vocabulary
    indptr: NDArray[np.int64]
    columns: NDArray[np.int32]
    codes: NDArray[Any]
    levels: NDArray[np.float64]
    days: NDArray[np.uint16] | None = None
    first_day: int = 0
    attributes: pa.Table | None = None
    item_names: tuple[str, ...] | None = None
    lineage: str | None = None
    report: ReadReport = field(default_factory=ReadReport)

    @classmethod
    def from_arrays(
        cls,
        users: Any,
        items: Any,
        ratings: Any,
        days: Any = None,
        *,
        scale: Scale | str | None = None,
        on_duplicate: OnDuplicate = "error",
    ) -> Ratings:
        """Build a table from arrays of equal length; see `ratings_from_arrays`."""
        from starshade.ratings.read import ratings_from_arrays

        return ratings_from_arrays(
            users, items, ratings, days, scale=scale, on_duplicate=on_duplicate
        )

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        *,
        scale: Scale | str | None = None,
        on_duplicate: OnDuplicate = "error",
    ) -> Ratings:
        """Build a table from a sparse matrix; see `building.sparse.ratings_from_scipy`."""
        from starshade.ratings.readers.formats.tables import ratings_from_scipy

        return ratings_from_scipy(matrix, scale=scale, on_duplicate=on_duplicate)

    @property
    def n_users(self) -> int:
        """Rows, empty ones included."""
        return len(self.indptr) - 1

    @property
    def n_items(self) -> int:
        """Columns, those without a rating included."""
        return len(self.items)

    @property
    def n_ratings(self) -> int:
        """Cells that hold a rating."""
        return len(self.columns)

    @property
    def has_days(self) -> bool:
        """Whether any cell may carry a day."""
        return self.days is not None

    def values(self) -> NDArray[np.float64]:
        """Return the ratings themselves, one per cell in row order."""
        return np.asarray(self.levels[self.codes])

    @cached_property
    def by_item(self) -> ByItem:
        """The cells item by item; computed on first use, read from disk on a stored table."""
        return ByItem(*transpose(self.indptr, self.columns, self.codes, self.days, self.n_items))

    @cached_property
    def item_support(self) -> NDArray[np.int64]:
        """|supp(i)|: users who rated each item, shape (n_items,)."""
        return np.bincount(self.columns, minlength=self.n_items).astype(np.int64)

    @cached_property
    def user_support(self) -> NDArray[np.int64]:
        """|supp(u)|: items that each user rated, shape (n_users,)."""
        return np.diff(self.indptr)

    @typed
    def most_rated(self, n: int) -> NDArray[np.int64]:
        """Return the indices of the n most rated items, best first; ties by item key.

        Canonical order is key order, so a stable sort on the index settles ties.
        """
        return np.argsort(-self.item_support, kind="stable")[:n]

    def dense(self) -> NDArray[np.float64]:
        """Return users × items with NaN for null; the caller has checked that it fits."""
        out = np.full((self.n_users, self.n_items), np.nan)
        rows = np.repeat(np.arange(self.n_users), self.user_support)
        out[rows, self.columns] = self.values()
        return out

    def to_scipy(self) -> csr_array:
        """Return a SciPy CSR array of the ratings, users × items (explicit zeros are ratings)."""
        from scipy.sparse import csr_array

        return csr_array(
            (self.values(), self.columns, self.indptr), shape=(self.n_users, self.n_items)
        )

    def _rows(self) -> pa.RecordBatchReader:
        from starshade.ratings.write import rows_of

        return rows_of(self, {role: role for role in ("user", "item", "rating", "day")})

    def keep_items(self, indices: NDArray[np.integer]) -> Ratings:
        """Return the table of these items; users left without a rating are dropped and counted.

        Parameters
        ----------
        indices : ndarray of int
            Item indices in any order, without repeats.
        """
        keep = np.zeros(self.n_items, dtype=np.bool_)
        keep[_places(indices, self.n_items)] = True
        kept = np.flatnonzero(keep)
        indptr, columns, codes, days = keep_columns(
            self.indptr, self.columns, self.codes, self.days, keep
        )
        names = self.item_names
        table = replace(
            self,
            items=self.items.take(kept),
            indptr=indptr,
            columns=columns,
            codes=codes,
            days=days,
            item_names=None if names is None else tuple(names[i] for i in kept),
            report=replace(
                self.report, dropped_items=self.report.dropped_items + self.n_items - len(kept)
            ),
        )
        return table.drop_empty_users()

    def drop_empty_users(self) -> Ratings:
        """Return the table without users who have no rating; they are counted in the report."""
        rated = np.diff(self.indptr) > 0
        if rated.all():
            return self
        return self.keep_users(np.flatnonzero(rated))

    def keep_users(self, indices: NDArray[np.integer]) -> Ratings:
        """Return the table of these users (ascending indices); the others are counted."""
        indices = _places(indices, self.n_users)
        indptr, columns, codes, days = keep_rows(
            self.indptr, self.columns, self.codes, self.days, indices
        )
        return replace(
            self,
            users=self.users.take(indices),
            indptr=indptr,
            columns=columns,
            codes=codes,
            days=days,
            attributes=None if self.attributes is None else self.attributes.take(indices),
            report=replace(
                self.report,
                dropped_users=self.report.dropped_users + self.n_users - len(indices),
            ),
        )

    def annotate(self, **beside: Any) -> Ratings:
        """Return the same cells with another report, attributes, item_names or lineage.

        What was computed from the cells is kept.
        """
        assert beside.keys() <= {"report", "attributes", "item_names", "lineage"}
        table = replace(self, **beside)
        for name in ("by_item", "item_support", "user_support"):
            if name in self.__dict__:
                table.__dict__[name] = self.__dict__[name]
        return table

    @typed
    def save(self, path: Where) -> None:
        """Write the compact store, a folder that `read_ratings` opens memory-mapped.

        Raises
        ------
        OutputError
            The folder exists or cannot be written; nothing is left behind.
        """
        from starshade.ratings.store import write_store

        write_store(self, path)

    def plot(self) -> Chart:
        """Draw the ratings by value, and the share of the most rated items."""
        from starshade.ratings.describe import ratings_chart

        return ratings_chart(self)

    def _repr_html_(self) -> str:
        from starshade.ratings.describe import describe

        return describe(self)._repr_html_()

    def __repr__(self) -> str:
        return (
            f"Ratings({self.n_users:,} users x {self.n_items:,} items, "
            f"{self.n_ratings:,} ratings, scale {self.scale})"
        )


def _places(indices: Any, size: int) -> NDArray[np.int64]:
    """Return indices as int64; ConfigError where they are none of 0 to size - 1."""
    found = np.asarray(indices)
    if found.dtype == np.bool_ and found.shape == (size,):
        return np.flatnonzero(found)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise ConfigError(f"indices = {shown(indices)}: must be an array of whole numbers")
    if found.size and not (found.min() >= 0 and found.max() < size):
        raise ConfigError(
            f"indices: {found.min():,} to {found.max():,}, the table has 0 to {size - 1:,}"
        )
    return found.astype(np.int64)
