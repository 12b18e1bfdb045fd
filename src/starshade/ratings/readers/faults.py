"""What is wrong with the rows of an input: counted whole, the first five remembered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InputError
from starshade.ratings.building.staging import name_rows

__all__ = ["SHOWN", "Fault", "Faults", "quoted"]

SHOWN = 5
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
        self._rows: dict[Fault, list[tuple[int, str]]] = {}
        self._totals: dict[Fault, int] = {}

    def __bool__(self) -> bool:
        return bool(self._totals)

    @property
    def total(self) -> int:
        """How many mistakes were noted."""
        return sum(self._totals.values())

    def add(self, fault: Fault, rows: NDArray[np.integer], text_of: Callable[[int], str]) -> None:
        """Note a mistake in some rows, ascending; `text_of(k)` describes the k-th of them."""
        if not len(rows):
            return
        first = [(int(rows[k]), text_of(k)) for k in range(min(len(rows), SHOWN))]
        # a wide table's cells come column by column: the first five are those of lowest number
        self._rows[fault] = sorted(self._rows.get(fault, []) + first)[:SHOWN]
        self._totals[fault] = self._totals.get(fault, 0) + len(rows)

    def refuse(self) -> None:
        """Raise one InputError about everything that was added, if anything was."""
        if not self._totals:
            return
        parts = [
            f"{fault.what}\n" + name_rows(self._rows[fault], self._totals[fault], self._locate)
            for fault in self._totals
        ]
        advice = dict.fromkeys(fault.advice for fault in self._totals)
        raise InputError("\n".join(parts), advice=" ".join(advice))


def quoted(value: object) -> str:
    """Repeat a value in a message: quoted, cut when long."""
    text = str(value)
    return repr(text if len(text) <= _LONGEST else text[:_LONGEST] + "…")
