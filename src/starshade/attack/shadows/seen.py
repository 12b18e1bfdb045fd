"""What an adversary sees of a shadow release: how well rows fit facts, and what they answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.informed import Model, means_of, share_rated, spread_of
from starshade.attack.view import View, averaged, look
from starshade.errors import ConfigError
from starshade.kernels.arrays import fixed
from starshade.kernels.columns import sums_by_item, sums_of, weighted_sums
from starshade.naming import aside
from starshade.ratings.scale import SLACK
from starshade.ratings.table import Ratings
from starshade.release.cells import Symbols
from starshade.release.columns import Columns
from starshade.release.content import code_type
from starshade.release.table import Release

Floats = NDArray[np.float64]
_NEVER = 1e-5  # the chance of a rating that a row excludes: methods and people err
_BLOCK = 2**23  # people times rows, and facts times contents, looked at together
_EXACTLY = Knowledge(known=1, dates=False)


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known of people.

    `users` (people,): users of the original. `indptr` (people + 1,): of each person's facts.
    `items`, `ratings` (facts,): items of the original; NaN where the rating is not known.
    """

    users: NDArray[np.int64]
    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    ratings: Floats

    def __len__(self) -> int:
        return len(self.users)

    def blocks(self, people: int, facts: int) -> Iterator[tuple[slice, Facts]]:
        """Cut into at most so many people, of about so many facts together, at least one person."""
        start = 0
        while start < len(self):
            stop = int(np.searchsorted(self.indptr, self.indptr[start] + facts, "right")) - 1
            stop = min(max(stop, start + 1), start + max(1, people), len(self))
            here = slice(self.indptr[start], self.indptr[stop])
            some = slice(start, stop)
            indptr = self.indptr[start : stop + 1] - self.indptr[start]
            yield some, Facts(self.users[some], indptr, self.items[here], self.ratings[here])
            start = stop


@dataclass(frozen=True, eq=False)
class Seen:
    """A release made without some of the people, and how facts come about from its rows.

    `view`: its truth are the people it was made of. `spread`: of ratings around the cells of
    averaged profiles; None: cells are what somebody rated.
    """

    view: View
    spread: float | None

    @classmethod
    def of(cls, data: Ratings | Release, made_of: Ratings, spread: float | None = None) -> Seen:
        """Look at it; a spread that is not given is that of its own people around their rows."""
        view = look(data, None if isinstance(data, Ratings) else made_of, None)
        return cls(view, spread_of(view) if spread is None and averaged(data) else spread)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Records that each row stands for, shape (rows,)."""
        return self.view.cells.sizes

    @cached_property
    def levels(self) -> NDArray[np.unsignedinteger]:
        """The content of each cell and one, shape (items, rows); 0 where null."""
        cells = self.view.cells
        if isinstance(cells, Columns):
            return fixed(cells.levels)
        kind = np.dtype(code_type(len(cells.symbols) + 1))
        needed = kind.itemsize * cells.n_items * cells.n_groups
        if needed > budget.left(0):
            raise ConfigError(
                f"about {budget.amount(needed)} of memory are needed to compare people with "
                f"{cells.n_groups:,} rows of {cells.n_items:,} items; "
                f"{budget.amount(max(0, budget.left(0)))} may be used",
                advice=f"Allow more memory{aside('memory')}, or attack fewer items.",
            )
        levels = np.zeros((cells.n_items, cells.n_groups), dtype=kind)
        row = np.repeat(np.arange(cells.n_groups), np.diff(cells.indptr))
        levels[cells.columns, row] = cells.codes
        levels[cells.columns, row] += 1
        return fixed(levels)

    @cached_property
    def shares(self) -> Floats:
        """Chance that each content is a rating, 0 of none before them, shape (contents + 1,)."""
        return np.append(0.0, share_rated(self.view.cells.symbols))

    @cached_property
    def means(self) -> Floats:
        """Mean rating of each content, 0 of none before them, shape (contents + 1,)."""
        return np.append(0.0, mean_rating(self.view.cells.symbols, self.view.original.levels))

    @cached_property
    def item_means(self) -> Floats:
        """Mean rating that the release shows of each of its items, over its records.

        The last, and of an item that no row shows: the mean over all items.
        """
        weight, total = sums_by_item(self.levels, fixed(self.sizes), self.shares, self.means)
        scale = self.view.cells.symbols.scale
        middle = (scale.minimum + scale.maximum) / 2
        overall = total.sum() / weight.sum() if weight.any() else middle
        each = np.where(weight > 0, total / np.where(weight > 0, weight, 1), overall)
        return np.append(each, overall)

    def fits(self, facts: Facts) -> Iterator[tuple[slice, Floats, NDArray[np.int64]]]:
        """Say how well each row fits each person, and how many facts could be compared.

        Yields
        ------
        people : slice
            Some of the people, in their order.
        logs : ndarray of float64, shape (people, rows)
            Sum of the logarithms of the chances of their facts, of items that the release has.
        compared : ndarray of int64, shape (people,)
        """
        most = max(1, _BLOCK // max(1, len(self.sizes))), max(1, _BLOCK // len(self.shares))
        for people, part in facts.blocks(*most):
            place = self.view.places(part.items)
            there = place >= 0
            ends = np.append(0, np.cumsum(there))[part.indptr]
            values, kind = np.unique(part.ratings[there], return_inverse=True)
            logs = np.zeros((len(part), len(self.sizes)))
            items, worth = place[there].astype(np.int64), self._logs(values)
            sums_of(self.levels, ends, items, kind, worth, logs)
            yield people, logs, np.diff(ends)

    def _logs(self, values: Floats) -> Floats:
        """Return what each content says of each rating, none before them."""
        chances = self._model.right_chances(values)
        return np.log(np.maximum(np.pad(chances, ((0, 0), (1, 0))), _NEVER))

    @cached_property
    def _model(self) -> Model:
        return Model(self.view, _EXACTLY, self.spread)

    def shown(self, weights: Floats, items: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return the chance that items show as rated, and the rating that they show.

        `weights` (rows,): how likely each row is; `items`: of the original.
        """
        place = self.view.places(items.astype(np.int32)).astype(np.int64)
        chance, sums = np.zeros(len(items)), np.zeros(len(items))
        weighted_sums(self.levels, place, weights, (self.shares, self.means), (chance, sums))
        hidden = chance <= 0
        return chance, np.where(hidden, self.item_means[place], sums / np.where(hidden, 1, chance))


def mean_rating(symbols: Symbols, levels: Floats) -> Floats:
    """Return the mean rating of each content, every value being equally likely; 0 without any.

    Of a range: over the data's ratings (`levels`) in it, or its middle where there are none.
    """
    share = share_rated(symbols)
    sums = means_of(symbols, symbols.members[None, :])[0]
    out = np.where(share > 0, sums / np.where(share > 0, share, 1), 0.0)
    for s in np.flatnonzero(symbols.is_range & symbols.has_rating):
        low, high = max(float(symbols.low[s]), symbols.scale.minimum), float(symbols.high[s])
        inside = levels[(levels >= low - SLACK) & (levels <= high + SLACK)]
        out[s] = inside.mean() if len(inside) else (low + high) / 2
    return out
