"""From ids as read to canonical indices (definitions, "canonical-order").

While a file is read its order is all there is, so ids are numbered as they appear; at the end the
distinct ones are sorted and every number gets its rank. Integers and texts share one numbering,
and a text that is a canonical integer is that integer: a column that turns from ``9`` to ``B7``
in its last block gives the same vocabulary as one that was text throughout.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InputError, InternalError
from starshade.kernels.text.numbering import KeyTable
from starshade.ratings.vocabulary import Vocabulary, is_canonical_integer

__all__ = ["IdNumbering"]


class IdNumbering:
    """Numbers ids, block after block, and ends in a `Vocabulary`."""

    def __init__(self) -> None:
        self._integers = KeyTable()
        self._texts: dict[str, int] = {}

    def number(self, ids: NDArray[Any]) -> NDArray[np.int32]:
        """Return the number of each id, shape (n,).

        `ids` (int64 or of str objects): as in `Batch`.
        """
        if ids.dtype == object:
            numbers = self._number_texts(ids)
        else:
            if len(ids) and ids.min() < 0:
                raise InternalError("a reader called a negative id a canonical integer")
            numbers = self._integers.number(np.asarray(ids, dtype=np.int64))
        if self._integers.count > 2**31 - 1:
            raise InputError("more than 2,147,483,647 distinct ids in one column")
        return numbers

    def _number_texts(self, ids: NDArray[np.object_]) -> NDArray[np.int32]:
        import pyarrow as pa

        try:
            encoded = pa.array(ids, type=pa.large_string()).dictionary_encode()
        except UnicodeEncodeError:
            raise InputError("an id is no valid Unicode text (a lone surrogate)") from None
        of_distinct = np.fromiter(
            (self._number_text(text) for text in encoded.dictionary.to_pylist()), dtype=np.int32
        )
        return np.asarray(of_distinct[encoded.indices.to_numpy()])

    def _number_text(self, text: str) -> int:
        if is_canonical_integer(text):
            return int(self._integers.number(np.array([int(text)]))[0])
        known = self._texts.get(text)
        if known is None:
            known = self._texts[text] = self._integers.count
            self._integers.count += 1
        return known

    def finish(self) -> tuple[Vocabulary, NDArray[np.int32]]:
        """Return the vocabulary and, for each number given out, its index there."""
        integers, numbers = self._integers.distinct()
        order = np.argsort(integers)
        texts = sorted(self._texts)
        rank = np.empty(self._integers.count, dtype=np.int32)
        rank[numbers[order]] = np.arange(len(order), dtype=np.int32)
        rank[[self._texts[text] for text in texts]] = np.arange(len(order), len(rank))
        return Vocabulary(integers[order], texts), rank
