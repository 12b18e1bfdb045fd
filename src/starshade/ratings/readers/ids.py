"""From a column as it was stored to ids.

Ids are text. A block of canonical integers, proved cell by cell, is handed on as
int64; anything else as str objects, blanks and all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InputError
from starshade.ratings.readers.columns import as_text
from starshade.ratings.readers.faults import Fault, Faults, quoted
from starshade.ratings.vocabulary import is_canonical_integer

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["IdColumn"]

_EXACT = 2**53  # whole numbers up to here are exact in a float

_NO_ID = Fault("rows without {role} id", "Give every row an id, or remove those rows.")
_BAD_ID = Fault("{role} ids that are no text: they hold a zero byte", "Correct those rows.")
_PART_ID = Fault(
    "{role} ids stored as numbers that are not whole", "Store ids as text or as whole numbers."
)
_IN_WORDS = {
    _NO_ID: "no {role} id",
    _BAD_ID: "a zero byte in the {role} id",
    _PART_ID: "no whole number as {role} id",
}


class IdColumn:
    """Turns a column of ids into what `Batch` wants, block after block."""

    def __init__(self, role: str, faults: Faults, *, show_values: bool = False) -> None:
        self._faults = faults
        self.role = role
        self._show = show_values
        self.n_padded = 0
        self.was_float = False

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
                f"{self.role} ids of type {array.type}: ids are text or whole numbers",
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
        part = ~missing & ((values != np.floor(values)) | (np.abs(values) > _EXACT))
        self._add(_PART_ID, rows, part, array)
        self.was_float = True
        return self._of_integers(np.where(missing | part, 0, values).astype(np.int64))

    def _of_texts(self, array: pa.Array, rows: NDArray[np.int64]) -> NDArray[Any]:
        integers = _canonical_integers(array)
        if integers is not None:
            return integers
        encoded = array.dictionary_encode()
        texts = encoded.dictionary.to_pylist()
        places = encoded.indices.to_numpy(zero_copy_only=False)
        blank = np.array([not text.strip() for text in texts], dtype=np.bool_)
        zero = np.array(["\0" in text for text in texts], dtype=np.bool_)
        for fault, bad in ((_NO_ID, blank), (_BAD_ID, zero)):
            if bad.any():
                self._add(fault, rows, bad[places], array)
        self.n_padded += sum(text != text.strip() for text in texts)
        return np.asarray(np.array(texts, dtype=np.object_)[places])

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
