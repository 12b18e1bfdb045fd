"""Personal attributes as queries need them: sorted once, added up by class once.

An attribute of one record may be half known: a generalized one is a range, perhaps with a null
among its members. So each record has a low and a high end, and two answers to "has it a value":
surely (`known`) and perhaps (`maybe`). An exact attribute has equal ends and answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ReleaseError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Column", "Ranked", "column_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ranked:
    """One value per record, by rank.

    Attributes
    ----------
    values : sequence
        The distinct values, ascending: an array of numbers, or a list of text by code point.
    codes : ndarray of int32, shape (n_records,)
        The place in `values`; 0 where there is no value.
    """

    values: Any
    codes: NDArray[np.int32]

    def counts(self, records: Bools) -> Ints:
        """Count each value among some records that have one, shape (len(values),)."""
        return np.bincount(self.codes[records], minlength=len(self.values))


@dataclass(frozen=True, eq=False)
class Column:
    """One personal attribute.

    Attributes
    ----------
    name : str
    kind : {"number", "text", "set"}
        A set is a generalized category: it can be counted, and nothing else.
    exact : bool
        Whether values are those of single people rather than what a class has in common.
    known, maybe : ndarray of bool, shape (n_records,)
    low, high, middle : Ranked or None
        The ends and the middle of what each record may have; the same object where exact.
    counts : ndarray of int64, shape (n_classes,)
        Records that may have a value.
    totals : ndarray of float64, shape (n_classes,)
        Sum of their middles; zeros for text.
    """

    name: str
    kind: str
    exact: bool
    known: Bools
    maybe: Bools
    low: Ranked | None
    high: Ranked | None
    middle: Ranked | None
    counts: Ints
    totals: Floats


def column_of(name: str, data: pa.ChunkedArray, starts: Ints) -> Column:
    """Prepare one attribute.

    Parameters
    ----------
    name : str
    data : pyarrow.ChunkedArray
        A value per record, records in the order of their classes.
    starts : ndarray of int64, shape (n_classes,)
        First record of each class.

    Raises
    ------
    ReleaseError
        A type that no release has.
    """
    import pyarrow as pa

    kind = data.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind):
        missing = data.is_null(nan_is_null=True).to_numpy()
        numbers = data.cast(pa.float64()).fill_null(0.0).to_numpy()
        return _numeric(name, numbers, numbers, ~missing, ~missing, starts, exact=True)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        known = data.is_valid().to_numpy()
        ranked = _ranked_text(data)
        counts = _per_class(known.astype(np.int64), starts)
        totals = np.zeros(len(starts))
        return Column(name, "text", True, known, known, ranked, ranked, ranked, counts, totals)
    if pa.types.is_struct(kind):
        return _ranges(name, data.combine_chunks(), starts)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _sets(name, data.combine_chunks(), starts)
    raise ReleaseError(f"the personal attribute {name!r} is of type {kind}, which no release has")


def _numeric(
    name: str, low: Floats, high: Floats, known: Bools, maybe: Bools, starts: Ints, *, exact: bool
) -> Column:
    lows = _ranked(low)
    highs = lows if exact else _ranked(high)
    middle = low if exact else (low + high) / 2
    return Column(
        name=name,
        kind="number",
        exact=exact,
        known=known,
        maybe=maybe,
        low=lows,
        high=highs,
        middle=lows if exact else _ranked(middle),
        counts=_per_class(maybe.astype(np.int64), starts),
        totals=_per_class(np.where(maybe, middle, 0.0), starts),
    )


def _ranges(name: str, data: pa.StructArray, starts: Ints) -> Column:
    """Read ``struct<low, high, null>``: low and high are null where all members are."""
    low, high = data.field("low"), data.field("high")
    maybe = low.is_valid().to_numpy(zero_copy_only=False)
    null = data.field("null").fill_null(True).to_numpy(zero_copy_only=False)
    ends = [end.fill_null(0.0).to_numpy(zero_copy_only=False) for end in (low, high)]
    return _numeric(name, ends[0], ends[1], maybe & ~null, maybe, starts, exact=False)


def _sets(name: str, data: pa.ListArray, starts: Ints) -> Column:
    """Read ``list<string>``: a null among the members stands at the front."""
    members = data.to_pylist()
    known = np.array([bool(m) and m[0] is not None for m in members], dtype=np.bool_)
    maybe = np.array([bool(m) and m[-1] is not None for m in members], dtype=np.bool_)
    counts = _per_class(maybe.astype(np.int64), starts)
    totals = np.zeros(len(starts))
    return Column(name, "set", False, known, maybe, None, None, None, counts, totals)


def _ranked(numbers: Floats) -> Ranked:
    values, codes = np.unique(numbers, return_inverse=True)
    return Ranked(values, codes.astype(np.int32))


def _ranked_text(data: pa.ChunkedArray) -> Ranked:
    coded = data.combine_chunks().dictionary_encode()
    texts = coded.dictionary.to_pylist()
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.zeros(max(len(texts), 1), dtype=np.int32)
    rank[order] = np.arange(len(order))
    codes = rank[coded.indices.fill_null(0).to_numpy(zero_copy_only=False)]
    return Ranked([texts[i] for i in order], codes)


def _per_class(values: NDArray[Any], starts: Ints) -> NDArray[Any]:
    return np.add.reduceat(values, starts) if len(starts) else values[:0]
