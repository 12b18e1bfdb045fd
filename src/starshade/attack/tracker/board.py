"""What a query interface lets one ask of the data: items, predicates, and who may satisfy them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.attack.view import View
from starshade.errors import ConfigError
from starshade.kernels.attack.tracker import Board
from starshade.kernels.readonly import fixed
from starshade.ratings.scale import SLACK
from starshade.release.symbols import Symbols

__all__ = ["IS_NULL", "NOT_NULL", "Items", "spelt"]

#: predicates; 2 + l is "= the l-th level"
IS_NULL, NOT_NULL = 0, 1


def spelt(predicate: int, levels: NDArray[np.float64]) -> str:
    """Write a predicate as SQL has it.

    >>> spelt(IS_NULL, np.array([1.0, 2.0])), spelt(3, np.array([1.0, 2.0]))
    ('IS NULL', '= 2')
    """
    if predicate == IS_NULL:
        return "IS NULL"
    return "IS NOT NULL" if predicate == NOT_NULL else f"= {float(levels[predicate - 2]):.15g}"


@dataclass
class Items:
    """The items that are asked about, most rated first, laid out as the kernel reads them.

    Grows item by item: how many are needed shows only while asking. On a real scale the ratings
    asked for are those that somebody gave to some item.

    `order`: released items, most rated in the original first, ties by item key.
    """

    view: View
    order: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        truth, cells = self.view.truth(), self.view.cells
        self.order = truth.most_rated(truth.n_items)
        self._n_levels = len(truth.levels)
        if self.view.ungeneralized:  # one member each, as many as there are levels
            levels = np.arange(len(truth.levels))
            pairs = np.stack([np.repeat(levels + 1, 2), np.ones(2 * len(levels), np.int64)])
            pairs[1, 1::2] = 2 + levels
            self._indptr, self._predicates = _sorted(pairs, len(levels))
        else:
            self._indptr, self._predicates = _satisfied(cells.symbols, truth.levels)
        self._lengths = np.diff(self._indptr)
        self._codes = np.empty((0, cells.n_groups), np.int32)
        self._width = 0
        self._n = 0

    def first(self, n: int) -> Board:
        """Lay out the n first items."""
        while self._n < n:
            self._add(self.order[self._n])
        return Board(
            fixed(self._codes[:n]),
            fixed(self._indptr),
            fixed(self._predicates),
            fixed(self.view.cells.sizes),
            2 + self._n_levels,
            self._width,
        )

    def _add(self, item: int) -> None:
        cells, by_item = self.view.cells, self.view.postings
        if self._n == len(self._codes):
            grown = np.empty((max(2 * self._n, 8), cells.n_groups), np.int32)
            if grown.nbytes > budget.memory():
                raise ConfigError(
                    f"asking about {self._n + 1:,} items of {cells.n_groups:,} rows takes "
                    f"{budget.amount(grown.nbytes)} of memory; {budget.amount(budget.memory())} "
                    "may be used",
                    advice="Ask fewer queries, keep fewer items, or allow more memory.",
                )
            grown[: self._n] = self._codes
            self._codes = grown
        place = slice(by_item.indptr[item], by_item.indptr[item + 1])
        column = self._codes[self._n]
        column[:] = 0
        column[by_item.users[place]] = 1 + by_item.codes[place].astype(np.int32)
        self._width = max(self._width, int(self._lengths[column].sum()))
        self._n += 1


def _satisfied(
    symbols: Symbols, levels: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """List the predicates that each content may satisfy; content 0 is null alone."""
    content = 1 + np.arange(len(symbols))
    pairs = [
        np.stack([content[symbols.null], np.full(int(symbols.null.sum()), IS_NULL)]),
        np.stack([content[symbols.has_rating], np.full(int(symbols.has_rating.sum()), NOT_NULL)]),
    ]
    owner = np.repeat(content, symbols.n_members)
    at = np.searchsorted(levels, symbols.members - SLACK)
    hit = at < len(levels)
    hit[hit] = np.abs(levels[at[hit]] - symbols.members[hit]) <= SLACK
    pairs.append(np.stack([owner[hit], 2 + at[hit]]))
    ranges = np.flatnonzero(symbols.is_range)
    low = np.maximum(symbols.low[ranges], symbols.scale.minimum) - SLACK
    begin = np.searchsorted(levels, low)
    length = np.searchsorted(levels, symbols.high[ranges] + SLACK, side="right") - begin
    length = np.maximum(length, 0)
    within = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
    pairs.append(
        np.stack([np.repeat(content[ranges], length), 2 + np.repeat(begin, length) + within])
    )
    return _sorted(np.concatenate(pairs, axis=1), len(symbols))


def _sorted(
    pairs: NDArray[np.int64], n_symbols: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Turn pairs of content and predicate into lists, null alone put before them."""
    pairs = np.concatenate([[[0], [IS_NULL]], pairs], axis=1)
    pairs = pairs[:, np.lexsort((pairs[1], pairs[0]))]
    counts = np.bincount(pairs[0], minlength=n_symbols + 1)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return indptr, pairs[1].astype(np.int32)
