"""From a column as it was stored to ratings.

Ratings are plain decimal numbers; what a type cannot hold exactly (0.1 in float32) is read as its
shortest decimal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InputError
from starshade.naming import aside
from starshade.ratings.readers.faults import Fault, Faults, quoted
from starshade.ratings.rows.wrong import NAMED
from starshade.ratings.vocabulary import is_canonical_integer, is_nothing, is_sum

if TYPE_CHECKING:
    import pyarrow as pa


NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)


def _empty() -> Fault:
    return Fault(
        "rows without a rating (allowed: finite numbers)",
        f"Remove those rows, or declare the value that means not rated{aside('null_values')}.",
    )


def not_a_number() -> Fault:
    """Return the fault of a text that is neither a number nor nearly one."""
    return Fault(
        "ratings that are not finite numbers (allowed: numbers such as 4 or 3.5)",
        f"Correct those rows, or declare the value that means not rated{aside('null_values')}.",
    )


_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+", re.ASCII)
_GROUPED = Fault(
    "ratings with a comma before three digits (allowed: 1234, 1.234)",
    "Remove the comma between thousands, and replace a decimal comma by a point.",
)
_COMMA = Fault(
    "ratings with a decimal comma (allowed: a decimal point, 3.5)",
    "Replace the comma by a point.",
)


_WORDS = frozenset(
    [
        "true",
        "false",
        "yes",
        "no",
        "like",
        "dislike",
        "liked",
        "disliked",
        "up",
        "down",
        "positive",
        "negative",
    ]
)
YES_OR_NO = Fault(
    "ratings that are words (allowed: numbers such as 4 or 3.5)",
    "Write words as numbers: 1 for true, yes or like, 0 for false, no or dislike.",
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
        """Return the ratings of one block; NaN means "not rated": declared, NULL or NaN.

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
                f"ratings of type {kind} (allowed: numbers)",
                advice="Convert the column to numbers first (true to 1, false to 0).",
            )
        return self._of_texts(text, rows)

    def _judged(self, values: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        declared = np.isin(values, self._nulls.numbers)
        self.n_declared += int(np.count_nonzero(declared))
        where = np.flatnonzero(np.isinf(values) & ~declared)
        self._faults.add(not_a_number(), rows[where], lambda k: f"rating {values[where[k]]:g}")
        return np.where(declared | np.isinf(values), np.nan, values)

    def _of_texts(self, array: pa.Array, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        null = array.is_null().to_numpy(zero_copy_only=False)
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
            where = np.flatnonzero(np.isin(places, indices) & ~null)
            first = [_shown(texts[p]) for p in places[where[:NAMED]]]
            text = "no rating" if fault == _empty() else "{}"
            self._faults.add(
                fault,
                rows[where],
                lambda k, first=first, text=text: text.format(first[k]),  # type: ignore[misc]
            )
        if self._nulls:
            declared = np.array([self._nulls.has(text) for text in texts], dtype=np.bool_)
            self.n_declared += int(np.count_nonzero(declared[places] & ~null))
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
        if text.casefold() in _WORDS:
            return YES_OR_NO
        if _THOUSANDS.fullmatch(text):
            return _GROUPED
        return _COMMA if _DECIMAL_COMMA.fullmatch(text) else not_a_number()


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
        raise InputError("a text column contains bytes that are not UTF-8") from None


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


_LIKE_A_RATING = re.compile(r"[-+.\d]\S{0,11}|[^\W\d_]{0,8}|\\N|#?[nN]/[aA]")


def _shown(text: str) -> str:
    """Repeat what stands for a rating, unless it looks like an id or a title.

    Columns may have been taken for one another, and users and items are not named.
    """
    if not _LIKE_A_RATING.fullmatch(text):
        return "the rating is not a number"
    return f"rating {quoted(text)} is not a number"


_EXACT = 2**53  # whole numbers up to here are exact in a float

_NO_ID = Fault("rows without {role} id", "Give every row an id, or remove those rows.")
_BAD_ID = Fault("{role} ids that contain a zero byte", "Correct those rows.")
_PART_ID = Fault(
    "{role} ids stored as numbers that are not whole", "Store ids as text or as whole numbers."
)
_ROUNDED = Fault(
    "{role} ids that a spreadsheet rounded: different ids became one",
    "Export the ids as text from the original source; this file has lost their last digits.",
)
# 76561198012345678 as Excel and as pandas write it
_SCIENTIFIC = re.compile(r"\d([.,]\d+)?[eE]\+\d+", re.ASCII)
_DECIMAL = re.compile(r"\d+\.0+", re.ASCII)
_POINT_ZERO = re.compile(r"\d+\.0", re.ASCII)
_SHORT = 12  # characters, as many as a word for nothing or a sum has
_IN_WORDS = {
    _ROUNDED: "a rounded number as {role} id",
    _NO_ID: "no {role} id",
    _BAD_ID: "a zero byte in the {role} id",
    _PART_ID: "the {role} id is not a whole number",
}


#: what is odd about ids → a sentence about those of a role
ODD_IDS = {
    "decimal": "{role} ids stored as decimal numbers: read as whole numbers",
    "padded": "some {role} ids begin or end with a blank, which is part of the id",
    "null": "some {role} ids are a word for a missing value, such as NULL or nan: those rows "
    "count as one {role}; remove them if they are not",
    "total": "some {role} ids are words such as Total or Mean: remove rows that summarize others",
    "mixed": (
        "some {role} ids end with .0 and others are whole numbers: 1 and 1.0 are two "
        "different {role}s"
    ),
}
_BLANKS = "\u200b\u200c\u200d\u2060\ufeff"  # not seen, and not blank by Unicode


class IdColumn:
    """Turns a column of ids into what `Batch` wants, block after block."""

    def __init__(self, role: str, faults: Faults, *, show_values: bool = False) -> None:
        self._faults = faults
        self.role = role
        self._show = show_values
        self.odd: set[str] = set()  # see `ODD_IDS`
        self._kinds: set[bool] = set()  # whether whole numbers end with .0

    def take(self, array: pa.Array, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return int64 where all ids are canonical integers, else str objects.

        `array`: ids of one block. `rows`: their row numbers, for messages.
        """
        import pyarrow as pa

        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if array.null_count:
            self._add(_NO_ID, rows, array.is_null().to_numpy(zero_copy_only=False), array)
            array = array.drop_null()
        if pa.types.is_null(array.type):
            return np.empty(0, dtype=np.object_)
        if pa.types.is_integer(array.type):
            return self._of_integers(array.to_numpy(zero_copy_only=False))
        if pa.types.is_floating(array.type) or pa.types.is_decimal(array.type):
            return self._of_floats(array, rows)
        text = as_text(array)
        if text is None:
            raise InputError(
                f"{self.role} ids of type {array.type} (allowed: text or whole numbers)",
                advice="Convert the column to text first.",
            )
        return self._of_texts(text, rows)

    def _of_integers(self, integers: NDArray[Any]) -> NDArray[Any]:
        if not len(integers) or (integers.min() >= 0 and integers.max() < 2**63):
            return integers.astype(np.int64)
        return np.array([str(int(value)) for value in integers], dtype=np.object_)

    def _of_floats(self, array: pa.Array, rows: NDArray[np.int64]) -> NDArray[Any]:
        import pyarrow as pa

        values = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        missing = np.isnan(values)
        self._add(_NO_ID, rows, missing, array)
        rounded = np.abs(values) > _EXACT
        self._add(_ROUNDED, rows, rounded, array)
        part = ~missing & ~rounded & (values != np.floor(values))
        self._add(_PART_ID, rows, part, array)
        self.odd.add("decimal")
        return self._of_integers(np.where(missing | part | rounded, 0, values).astype(np.int64))

    def _of_texts(self, array: pa.Array, rows: NDArray[np.int64]) -> NDArray[Any]:
        integers = _canonical_integers(array)
        if integers is not None:
            self._note_numbers({False})
            return integers
        encoded = array.dictionary_encode()
        texts = encoded.dictionary.to_pylist()
        places = encoded.indices.to_numpy(zero_copy_only=False)
        blank = np.array([not text.strip() for text in texts], dtype=np.bool_)
        zero = np.array(["\0" in text for text in texts], dtype=np.bool_)
        rounded = np.array([_is_rounded(text.strip()) for text in texts], dtype=np.bool_)
        for fault, bad in ((_NO_ID, blank), (_BAD_ID, zero), (_ROUNDED, rounded)):
            if bad.any():
                self._add(fault, rows, bad[places], array)
        if any(text != text.strip().strip(_BLANKS) for text in texts):
            self.odd.add("padded")
        short = {text.strip().casefold() for text in texts if len(text) <= _SHORT}
        if any(map(is_nothing, short)):
            self.odd.add("null")
        if any(map(is_sum, short)) and self.role != "item":
            self.odd.add("total")
        self._note_numbers({True} if any(map(_POINT_ZERO.fullmatch, texts)) else set())
        self._note_numbers({False} if any(map(str.isdecimal, texts)) else set())
        return np.asarray(np.array(texts, dtype=np.object_)[places])

    def _note_numbers(self, kinds: set[bool]) -> None:
        self._kinds |= kinds
        if len(self._kinds) > 1:
            self.odd.add("mixed")

    def _add(
        self, fault: Fault, rows: NDArray[np.int64], bad: NDArray[np.bool_], array: pa.Array
    ) -> None:
        where = np.flatnonzero(bad)
        text = _IN_WORDS[fault].format(role=self.role)
        self._faults.add(
            Fault(fault.what.format(role=self.role), fault.advice),
            rows[where],
            lambda k: quoted(array[int(where[k])].as_py()) if self._show else text,
        )


def _is_rounded(text: str) -> bool:
    """Tell whether the text of an id is a number that lost digits."""
    if _SCIENTIFIC.fullmatch(text):
        return True
    return bool(_DECIMAL.fullmatch(text)) and float(text) > _EXACT


def _canonical_integers(array: pa.Array) -> NDArray[np.int64] | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(array) and not is_canonical_integer(array[0].as_py()):
        return None
    try:
        integers = pc.cast(array, pa.int64())
    except pa.ArrowInvalid:
        return None
    # Arrow also reads 007, 0x7 and -7: only what prints back the same is canonical
    if not pc.all(pc.equal(pc.cast(integers, pa.string()), array)).as_py():
        return None
    values = integers.to_numpy(zero_copy_only=False)
    return None if len(values) and values.min() < 0 else np.asarray(values, dtype=np.int64)
