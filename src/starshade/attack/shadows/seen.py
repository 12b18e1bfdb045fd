"""What an adversary sees of a shadow release: how well rows fit facts, and what they answer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.attack.knowledge import Knowledge
from starshade.attack.likelihood.informed import Model, means_of, share_rated, spread_of
from starshade.attack.view import View, averaged, look
from starshade.errors import ConfigError
from starshade.kernels.arrays import fixed
from starshade.kernels.columns import add_by_level, add_up, count_levels, greatest_shown, sums_of
from starshade.naming import aside
from starshade.ratings.scale import SLACK
from starshade.ratings.table import Ratings
from starshade.release.cells import Symbols
from starshade.release.columns import Columns
from starshade.release.content import code_type
from starshade.release.table import Release

Floats = NDArray[np.float64]
_NEVER = 1e-5  # the chance of a rating that a row excludes: methods and people err
_BLOCK = 2**18  # people times rows looked at together: they stay in a cache
_ENTRIES = 2**23  # facts times contents, likewise
_SOME = 1000  # ratings in which all different ones are looked for first
_TABLE = 2**20  # counts by item and content held together
TIE = 1e-9  # relatively
_LEAST = -900  # binary exponent of the smallest odds that are told apart
STEPS = "greatest", "odds"
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

    @classmethod
    def joined(cls, parts: Sequence[Facts]) -> Facts:
        """Put what is known one after the other, as if of different people."""
        counts = np.concatenate([np.diff(each.indptr) for each in parts])
        users, items, ratings = (
            np.concatenate([getattr(each, name) for each in parts])
            for name in ("users", "items", "ratings")
        )
        return cls(users, np.append(0, np.cumsum(counts)), items, ratings)

    def take(self, people: NDArray[np.int64]) -> Facts:
        """Return what is known of some people, ascending."""
        counts = np.diff(self.indptr)
        kept = np.zeros(len(counts), dtype=np.bool_)
        kept[people] = True
        here = np.repeat(kept, counts)
        indptr = np.append(0, np.cumsum(counts[people]))
        return Facts(self.users[people], indptr, self.items[here], self.ratings[here])

    @cached_property
    def kinds(self) -> tuple[Floats, NDArray[np.int64]]:
        """The different ratings, ascending, and which of them each fact's is."""
        values = np.unique(self.ratings[:_SOME])  # mostly these are all, which needs no sorting
        kind = np.minimum(np.searchsorted(values, self.ratings), max(0, len(values) - 1))
        if np.array_equal(values[kind], self.ratings, equal_nan=True):
            return values, kind
        values, kind = np.unique(self.ratings, return_inverse=True)
        return values, kind

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


class Wanted(NamedTuple):
    """Items of which one wants to know how rows show them, weighed by how they fit a person.

    `people` (wanted,): whose facts, ascending; `items`: of the original, -1: none.
    """

    people: NDArray[np.int64]
    items: NDArray[np.int64]

    @classmethod
    def by(cls, people: Sequence[NDArray[np.int64]]) -> Wanted:
        """Lay out which items are wanted of each person."""
        nothing = np.empty(0, dtype=np.int64)
        lengths = [len(items) for items in people]
        return cls(np.repeat(np.arange(len(people)), lengths), np.concatenate([nothing, *people]))

    def of(self, people: slice) -> tuple[slice, Wanted]:
        """Return which are of some people, and these."""
        here = slice(*np.searchsorted(self.people, [people.start, people.stop]))
        return here, Wanted(self.people[here] - people.start, self.items[here])


class Weighed(NamedTuple):
    """Rows weighed by how likely each is a person's, in numbers that merge exactly in any order.

    `greatest` (people,): largest logarithm of the chance of the facts, times records, of any row.
    `most` (wanted,): the same, of the rows that show the item as rated; -inf: there are none.
    `compared` (people,): facts that could be compared. `rows` (2, people): sums of the odds of
    rows, each a whole number, the likeliest row's being a power of 2; how many are likeliest.
    `shown` (2, wanted, contents + 1): likewise, of the rows that show each content; the first in
    units by the likeliest of these rows, as otherwise nothing were left of small chances.
    """

    greatest: Floats
    most: Floats
    compared: NDArray[np.int64]
    rows: NDArray[np.int64]
    shown: NDArray[np.int64]

    @classmethod
    def by_nothing(cls, people: int, wanted: int, contents: int) -> Weighed:
        """Return what no row comes to."""
        whole = (
            np.zeros(shape, np.int64) for shape in (people, (2, people), (2, wanted, contents))
        )
        return cls(np.full(people, -np.inf), np.full(wanted, -np.inf), *whole)

    def of(self, people: slice, wanted: slice) -> Weighed:
        """Return the part of some people, which may be filled."""
        return Weighed(
            self.greatest[people],
            self.most[wanted],
            self.compared[people],
            self.rows[:, people],
            self.shown[:, wanted],
        )

    def exponents(self, wanted: Wanted) -> NDArray[np.int64]:
        """Return the binary exponents of the units of `shown`, beside those of `rows`."""
        odds = np.exp(self.most - self.greatest[wanted.people])
        return np.maximum(np.frexp(odds)[1], _LEAST).astype(np.int64)


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

    @property
    def records(self) -> int:
        """Records of all rows."""
        return self.view.cells.n_records

    @cached_property
    def item_means(self) -> Floats:
        """Mean rating that the release shows of each of its items, over its records.

        The last, and of an item that no row shows: the mean over all items.
        """
        n_items, contents = self.view.cells.n_items, len(self.shares)
        weights, totals, overall = [], [], np.zeros((1, contents), dtype=np.int64)
        each = max(1, _TABLE // contents)
        for first in range(0, n_items, each):
            counts = self.counts_of(first, min(first + each, n_items))
            overall += counts.sum(axis=0)
            weight, total = self._summed(counts)
            weights.append(weight)
            totals.append(total)
        weight, total = (
            np.concatenate([*parts, own])
            for parts, own in zip((weights, totals), self._summed(overall), strict=True)
        )
        scale = self.view.cells.symbols.scale
        middle = total[-1] / weight[-1] if weight[-1] else (scale.minimum + scale.maximum) / 2
        return np.where(weight > 0, total / np.where(weight > 0, weight, 1), middle)

    def counts_of(self, first: int, last: int) -> NDArray[np.int64]:
        """Count records by item, from the first to before the last, and content (null first)."""
        counts = np.zeros((last - first, len(self.shares)), dtype=np.int64)
        count_levels(fixed(self.levels[first:last]), fixed(self.sizes), counts)
        return counts

    def _summed(self, counts: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return how much is rated, and that times its mean rating, of counts by content."""
        rows = fixed(counts.reshape(-1, counts.shape[-1]))
        weight, total = add_up(rows, fixed(self.shares), fixed(self.means))
        return weight.reshape(counts.shape[:-1]), total.reshape(counts.shape[:-1])

    def fits(self, facts: Facts) -> Iterator[tuple[slice, Floats, NDArray[np.int64]]]:
        """Say how well each row fits each person, and how many facts could be compared.

        Yields
        ------
        people : slice
            Some of the people, in their order.
        logs : ndarray of float64, shape (people, rows)
            Logarithm of the chance of their facts, of items that the release has, times records.
        compared : ndarray of int64, shape (people,)
        """
        most = max(1, _BLOCK // max(1, len(self.sizes))), max(1, _ENTRIES // len(self.shares))
        values, kinds = facts.kinds
        records = np.log(self.sizes)
        for people, part in facts.blocks(*most):
            place = self.view.places(part.items)
            there = place >= 0
            ends = np.append(0, np.cumsum(there))[part.indptr]
            kind = kinds[facts.indptr[people.start] : facts.indptr[people.stop]][there]
            used = np.bincount(kind, minlength=len(values)) > 0
            worth = self._logs(values[used])
            logs = np.zeros((len(part), len(self.sizes)))
            sums_of(
                self.levels,
                ends,
                place[there].astype(np.int64),
                (np.cumsum(used) - 1)[kind],
                worth,
                logs,
            )
            logs += records
            yield people, logs, np.diff(ends)

    def _logs(self, values: Floats) -> Floats:
        """Return what each content says of each rating, none before them; the last is kept."""
        key = values.tobytes()
        if key not in self._worth:
            chances = self._model.right_chances(values)
            self._worth.clear()
            self._worth[key] = np.log(np.maximum(np.pad(chances, ((0, 0), (1, 0))), _NEVER))
        return self._worth[key]

    @cached_property
    def _worth(self) -> dict[bytes, Floats]:
        return {}

    @cached_property
    def _model(self) -> Model:
        return Model(self.view, _EXACTLY, self.spread)

    def chances(self, facts: Facts) -> tuple[Floats, NDArray[np.int64]]:
        """Return the logarithm of the chance of the facts that can be compared, from any record.

        And how many these are; both of shape (people,).
        """
        found, records = self.weighed(facts, Wanted.by([])), self.records
        often = found.rows[0] / (2.0 ** _bits(records) * records)
        return found.greatest + np.log(often), found.compared

    def at_once(self, wanted: int) -> int:
        """Return of how many people so many items each may be `shown` together."""
        return max(1, _TABLE // max(1, 2 * wanted * len(self.shares)))

    def shown(self, facts: Facts, wanted: Wanted) -> tuple[Floats, Floats]:
        """Return the chance that items show as rated, and the rating that they show.

        Both of shape (2, wanted): to who weighs all rows, and who believes the likeliest alone.
        """
        found = self.weighed(facts, wanted)
        sums, total = self._summed(found.shown)
        chance = sums / found.rows[:, wanted.people]
        chance[0] = np.ldexp(chance[0], found.exponents(wanted))
        hidden, place = sums <= 0, self.view.places(wanted.items.astype(np.int32))
        value = np.where(hidden, self.item_means[place], total / np.where(hidden, 1, sums))
        return chance, value

    def weighed(self, facts: Facts, wanted: Wanted) -> Weighed:
        """Weigh all rows."""
        out = Weighed.by_nothing(len(facts), len(wanted.items), len(self.shares))
        self.weigh(facts, wanted, out, self.records)
        return out

    def weigh(
        self,
        facts: Facts,
        wanted: Wanted,
        out: Weighed,
        records: int,
        steps: Collection[str] = STEPS,
    ) -> None:
        """Fill in what rows come to, in two steps.

        The second takes the `greatest` and the `most` of all rows, which the first finds.
        `records`: of all rows.
        """
        for people, logs, compared in self.fits(facts):
            here, some = wanted.of(people)
            part = out.of(people, here)
            part.compared[:] = compared
            if "greatest" in steps:
                part.greatest[:] = logs.max(axis=1, initial=-np.inf)
                greatest_shown(self.levels, self._placed(some), logs, self.shares, part.most)
            if "odds" in steps:
                self._add_odds(logs, some, part, _bits(records))

    def _add_odds(self, logs: Floats, wanted: Wanted, part: Weighed, bits: int) -> None:
        logs -= part.greatest[:, None]
        odds, least = np.exp(logs, out=logs), 1 - TIE
        scales = np.ldexp(1.0, bits - part.exponents(wanted))
        told = self.levels, self._placed(wanted), odds, scales, least
        add_by_level(*told, (part.shown[0], part.shown[1]))
        part.rows[1] = (odds >= least).sum(axis=1)
        odds *= 2.0**bits
        part.rows[0] = odds.astype(np.int64).sum(axis=1)

    def _placed(self, wanted: Wanted) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        place = self.view.places(wanted.items.astype(np.int32))
        return wanted.people, place.astype(np.int64)


def _bits(records: int) -> int:
    """Return the exponent of the odds of 1: those of so many records add up to a whole number."""
    return 62 - records.bit_length()


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
