"""From a column as it was stored to ratings.

Ratings are plain decimal numbers; what a type cannot hold exactly (0.1 in float32) is read as its
shortest decimal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InputError
from starshade.naming import aside
from starshade.ratings.readers.faults import SHOWN, Fault, Faults, quoted

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["NUMBER", "NullValues", "RatingColumn", "as_text", "numbers", "shortest"]

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)


def _empty() -> Fault:
    return Fault(
        "rows without a rating (allowed: finite numbers)",
        f"Remove those rows, or declare what stands for not rated{aside('null_values')}.",
    )


def _text() -> Fault:
    return Fault(
        "ratings that are no finite numbers (allowed: numbers such as 4 or 3.5)",
        f"Correct those rows, or declare what stands for not rated{aside('null_values')}.",
    )


_COMMA = Fault(
    "ratings with a decimal comma (allowed: a decimal point, 3.5)",
    "Replace the comma by a point.",
)


class NullValues:
    """Values that stand for "not rated": as text, or as an equal number.

    >>> nulls = NullValues(["99"])
    >>> [nulls.has(text) for text in ("99", "99.0", "9", "NA")]
    [True, True, False, False]
    """

    def __init__(self, values: Iterable[object] = ()) -> None:
        self.texts = frozenset(str(value).strip() for value in values)
        decimals = [float(text) for text in self.texts if NUMBER.fullmatch(text)]
        self.numbers = np.array(sorted(decimals), dtype=np.float64)

    def __bool__(self) -> bool:
        return bool(self.texts)

    def has(self, text: str) -> bool:
        """Tell whether a text without blanks around it stands for null."""
        if text in self.texts:
            return True
        return bool(NUMBER.fullmatch(text)) and float(text) in self.numbers


class RatingColumn:
    """Turns a column of ratings into float64, NaN where it is declared null."""

    def __init__(self, nulls: NullValues, faults: Faults, *, blank_is_null: bool = False) -> None:
        self._nulls = nulls
        self._faults = faults
        self._blank_is_null = blank_is_null
        self.n_declared = 0  # that say a declared value of "not rated"

    def take(self, array: pa.Array, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the ratings of one block; NaN means "declared as not rated".

        What is no rating is added to the faults, and NaN as well.
        """
        import pyarrow as pa

        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        kind = array.type
        if pa.types.is_null(kind):
            return self._judged(np.full(len(array), np.nan), rows)
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            return self._judged(numbers(array), rows)
        text = as_text(array)
        if text is None:
            raise InputError(
                f"ratings of type {kind}: ratings are numbers",
                advice="Convert the column to numbers first (true to 1, false to 0).",
            )
        return self._of_texts(text, rows)

    def _judged(self, values: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        declared = np.isin(values, self._nulls.numbers)
        self.n_declared += int(np.count_nonzero(declared))
        if not self._blank_is_null:
            where = np.flatnonzero(np.isnan(values))
            self._faults.add(_empty(), rows[where], lambda _: "no rating")
        where = np.flatnonzero(np.isinf(values) & ~declared)
        self._faults.add(_text(), rows[where], lambda k: f"rating {values[where[k]]:g}")
        return np.where(declared | np.isinf(values), np.nan, values)

    def _of_texts(self, array: pa.Array, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        encoded = array.fill_null("").dictionary_encode()
        texts = [text.strip(" \t") for text in encoded.dictionary.to_pylist()]
        places = encoded.indices.to_numpy(zero_copy_only=False)
        values = np.full(len(texts), np.nan)
        wrong: dict[Fault, list[int]] = {}
        for i, text in enumerate(texts):
            fault = self._parse(text, values, i)
            if fault is not None:
                wrong.setdefault(fault, []).append(i)
        for fault, indices in wrong.items():
            where = np.flatnonzero(np.isin(places, indices))
            first = [_shown(texts[p]) for p in places[where[:SHOWN]]]
            text = "no rating" if fault == _empty() else "rating {}"
            self._faults.add(
                fault,
                rows[where],
                lambda k, first=first, text=text: text.format(first[k]),  # type: ignore[misc]
            )
        if self._nulls:
            declared = np.array([self._nulls.has(text) for text in texts], dtype=np.bool_)
            self.n_declared += int(np.count_nonzero(declared[places]))
        return np.asarray(values[places])

    def _parse(self, text: str, values: NDArray[np.float64], i: int) -> Fault | None:
        """Write a text's number to `values`, or say what is wrong with it."""
        if self._nulls and self._nulls.has(text):
            return None
        if NUMBER.fullmatch(text):
            number = float(text)
            if math.isfinite(number):
                values[i] = number
                return None
        if text == "":
            return None if self._blank_is_null else _empty()
        return _COMMA if _DECIMAL_COMMA.fullmatch(text) else _text()


def as_text(array: pa.Array) -> pa.Array | None:
    """Return a column of any text type as plain text; None when it is of another type."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_string(kind):
        return array
    views = (pa.types.is_string_view, pa.types.is_large_string, pa.types.is_binary)
    if not any(is_one(kind) for is_one in (*views, pa.types.is_large_binary)):
        return None
    try:
        return array.cast(pa.string())
    except pa.ArrowInvalid:
        raise InputError("a text column holds bytes that are not UTF-8") from None


def shortest(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Read float32 and float16 as the shortest decimals that stand for them: 0.1 is 0.1."""
    if values.dtype == np.float64:
        return values.astype(np.float64)
    distinct, places = np.unique(values, return_inverse=True)
    return np.array([float(str(value)) for value in distinct], dtype=np.float64)[places]


def numbers(array: pa.Array) -> NDArray[np.float64]:
    """Return a column of any number type as float64, null as NaN."""
    import pyarrow as pa

    if pa.types.is_decimal(array.type):
        array = array.cast(pa.float64(), safe=False)
    values = array.to_numpy(zero_copy_only=False)
    if pa.types.is_floating(array.type):
        return shortest(values)
    return np.asarray(values, dtype=np.float64)


_LIKE_A_RATING = re.compile(r"[-+.\d]\S{0,11}|[^\W\d_]{0,8}")


def _shown(text: str) -> str:
    """Repeat what stands for a rating, unless it looks like an id or a title.

    Columns may have been taken for one another, and users and items are not named.
    """
    return quoted(text) if _LIKE_A_RATING.fullmatch(text) else "a text that is none"
