"""What is wrong with the rows of an input: counted whole, the first five remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InputError
from starshade.naming import named
from starshade.ratings.rows.wrong import NAMED, Wrong
from starshade.ratings.table import Ratings

_LONGEST = 40  # characters of a value that a message repeats


@dataclass(frozen=True)
class Fault:
    """One kind of mistake: what it is, with the values allowed, and what to do about it."""

    what: str
    advice: str


class Faults:
    """Collects the mistakes of one input while all of it is read.

    `locate`: row number (from 0 over the whole input) → where that row stands.
    """

    def __init__(self, locate: Callable[[int], str]) -> None:
        self._locate = locate
        self.noted: dict[Fault, Wrong] = {}

    def __bool__(self) -> bool:
        return bool(self.noted)

    @property
    def total(self) -> int:
        """How many mistakes were noted."""
        return sum(wrong.total for wrong in self.noted.values())

    def add(self, fault: Fault, rows: NDArray[np.integer], text_of: Callable[[int], str]) -> None:
        """Note a mistake in some rows, ascending; `text_of(k)` describes the k-th of them."""
        if not len(rows):
            return
        first = [(int(rows[k]), text_of(k)) for k in range(min(len(rows), NAMED))]
        here = Wrong(len(rows), tuple(first))
        # a wide table's cells come column by column: the first are those of lowest number
        self.noted[fault] = self.noted.get(fault, Wrong()) + here

    def refuse(self) -> None:
        """Raise one InputError about everything that was added, if anything was."""
        if not self:
            return
        parts = [f"{each.what}\n{wrong.named(self._locate)}" for each, wrong in self.noted.items()]
        advice = dict.fromkeys(fault.advice for fault in self.noted)
        raise InputError("\n".join(parts), advice=" ".join(advice))


def quoted(value: object) -> str:
    """Repeat a value in a message: quoted, cut when long."""
    text = str(value)
    return repr(text if len(text) <= _LONGEST else text[:_LONGEST] + "…")


_HIGH = (88.0, 97.0, 98.0, 99.0, 888.0, 998.0, 999.0, 9999.0)
_LOW = (-1.0, -8.0, -9.0, -88.0, -98.0, -99.0, -999.0, -9999.0)
_FAR = 3  # times the highest other rating


def suspect_codes(ratings: Ratings) -> tuple[str, ...]:
    """Say in a note which ratings look like codes, where the scale was found in the data.

    A high code is at least three times the highest other rating; a low one is the only negative
    rating of a scale that goes up to 3 at least. A wide table is judged by its columns, by most of
    those in which the code stands: one of them may be an attribute that was not declared as such.

    Returns: one sentence, or none.
    """
    levels = ratings.levels
    if not ratings.report.scale_inferred or not _listed(levels).any():
        return ()
    by_item = ratings.by_item
    wide = ratings.report.format == "wide"
    columns = np.split(by_item.codes, by_item.indptr[1:-1]) if wide else [ratings.codes]
    return suspected(levels, [np.bincount(each, minlength=len(levels)) > 0 for each in columns])


def suspected(levels: NDArray[np.float64], columns: Sequence[NDArray[np.bool_]]) -> tuple[str, ...]:
    """Say which ratings look like codes; `columns`: which levels stand in each."""
    listed = _listed(levels)
    votes = np.zeros(len(listed), dtype=np.int64)
    every = np.logical_or.reduce(columns)
    top = levels[every & ~listed].max(initial=0)
    for present in columns:
        rest = levels[present & ~listed]
        far = levels >= _FAR * rest.max(initial=1)
        negative = (levels < 0) & (rest.min(initial=0) >= 0) & (top >= _FAR)
        votes += np.where(far | negative, 1, -1) * (present & (len(rest) > 0))
    codes = [f"{value:g}" for value in levels[listed & (votes > 0)]]
    if not codes:
        return ()
    looks = "looks like a code" if len(codes) == 1 else "look like codes"
    return (
        f"{' and '.join(codes)} {looks} for 'no answer': if so, give {named('null_values', codes)}",
    )


def _listed(levels: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.isin(levels, (*_HIGH, *_LOW))
