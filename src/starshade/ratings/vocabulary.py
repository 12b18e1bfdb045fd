"""Ids are text; their order is canonical (definitions, "canonical-order").

Canonical integers come first, by value; then all other ids, by code point. ``007``, ``7`` and
``0x7`` are three ids. Integers are held as one int64 array and turned to text only when
somebody looks, so half a million users cost four megabytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.fingerprint import fingerprint_bytes, fingerprint_integers

_NOTHING = frozenset(
    ["null", "none", "nan", "na", "n/a", "#n/a", "\\n", "<na>", "nil", "undefined"]
)


def is_nothing(text: str) -> bool:
    """Tell whether an id is a word for no id.

    >>> is_nothing(" NULL"), is_nothing("nancy")
    (True, False)
    """
    return text.strip().casefold() in _NOTHING


_SUMS = frozenset(("total", "grand total", "subtotal", "sum", "mean", "average", "avg", "median"))


def is_sum(text: str) -> bool:
    """Tell whether the id of a row says that it sums up others.

    >>> is_sum("Grand total"), is_sum("totality")
    (True, False)
    """
    return text.strip().casefold() in _SUMS


def is_canonical_integer(text: str) -> bool:
    """Tell whether `text` is the one way to write a non-negative integer below 2**63.

    >>> [is_canonical_integer(t) for t in ("7", "007", "-7", "7.0", "٧")]
    [True, False, False, False, False]
    """
    return (
        text.isascii()
        and text.isdigit()
        and (text == "0" or text[0] != "0")
        and len(text) <= 19
        and int(text) < 2**63
    )


class Vocabulary:
    """Ids in canonical order: index ↔ text.

    `integers` (int64 (n,)): the canonical integers, strictly ascending, none negative. `texts`: all
    other ids, strictly ascending by code point.

    >>> v = Vocabulary.of(["b", "10", "9", "007"])
    >>> list(v)
    ['9', '10', '007', 'b']
    >>> v.index("10")
    1
    """

    def __init__(self, integers: NDArray[np.int64], texts: Sequence[str] = ()) -> None:
        self.integers = np.asarray(integers, dtype=np.int64)
        self.texts = tuple(texts)

    @classmethod
    def of(cls, ids: Iterable[str]) -> Vocabulary:
        """Build from ids in any order, repeats allowed."""
        distinct = set(ids)
        numbers = {text for text in distinct if is_canonical_integer(text)}
        integers = np.array(sorted(int(text) for text in numbers), dtype=np.int64)
        return cls(integers, sorted(distinct - numbers))

    def __len__(self) -> int:
        return len(self.integers) + len(self.texts)

    def __getitem__(self, index: int) -> str:
        n = len(self.integers)
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        return str(int(self.integers[index])) if index < n else self.texts[index - n]

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Vocabulary)
            and np.array_equal(self.integers, other.integers)
            and self.texts == other.texts
        )

    def __hash__(self) -> int:
        return hash((len(self), self.texts))

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} ids)"  # never the ids themselves

    @cached_property
    def _position_of_text(self) -> dict[str, int]:
        n = len(self.integers)
        return {text: n + i for i, text in enumerate(self.texts)}

    def index(self, text: str) -> int:
        """Return the index of an id, or -1 when it is unknown."""
        if is_canonical_integer(text):
            value = int(text)
            i = int(np.searchsorted(self.integers, value))
            return i if i < len(self.integers) and self.integers[i] == value else -1
        return self._position_of_text.get(text, -1)

    def indices(self, texts: Iterable[str]) -> NDArray[np.int64]:
        """Return the index of each id, -1 where unknown; those of a vocabulary all at once."""
        if not isinstance(texts, Vocabulary):
            return np.fromiter((self.index(text) for text in texts), dtype=np.int64)
        if texts == self:
            return np.arange(len(self))
        at = np.searchsorted(self.integers, texts.integers)
        there = at < len(self.integers)
        there[there] = self.integers[at[there]] == texts.integers[there]
        others = [self._position_of_text.get(text, -1) for text in texts.texts]
        return np.concatenate([np.where(there, at, -1), np.array(others, dtype=np.int64)])

    def take(self, indices: NDArray[np.integer]) -> Vocabulary:
        """Return the vocabulary of the given ascending indices."""
        indices = np.asarray(indices, dtype=np.int64)
        n = len(self.integers)
        split = int(np.searchsorted(indices, n))
        return Vocabulary(
            self.integers[indices[:split]], [self.texts[i - n] for i in indices[split:]]
        )

    @cached_property
    def fingerprints(self) -> NDArray[np.uint64]:
        """A 64-bit hash of each id's text: the key of what is drawn for it by name."""
        out = np.empty(len(self), dtype=np.uint64)
        n = len(self.integers)
        with np.errstate(over="ignore"):  # hashes wrap around, also where run interpreted
            out[:n] = fingerprint_integers(self.integers)
            for i, text in enumerate(self.texts):
                out[n + i] = fingerprint_bytes(np.frombuffer(text.encode(), dtype=np.uint8))
        return out


def union(vocabularies: Sequence[Vocabulary]) -> Vocabulary:
    """Return all ids of several vocabularies."""
    first, *others = vocabularies
    if all(other == first for other in others):
        return first
    integers = np.unique(np.concatenate([each.integers for each in vocabularies]))
    return Vocabulary(integers, sorted({text for each in vocabularies for text in each.texts}))
