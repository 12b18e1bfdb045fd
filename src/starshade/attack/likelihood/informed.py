"""The informed adversary: from view and knowledge to the arrays of a kernel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.likelihood.sought import Sought
from starshade.attack.likelihood.unsure import Unsure, nodes_of
from starshade.attack.view import View, below
from starshade.kernels.arrays import Array, find_cells, fixed
from starshade.kernels.attack.knowledge import count_marked
from starshade.kernels.attack.likelihood import Counts as OfRows
from starshade.kernels.attack.likelihood import Facts, Law, weigh
from starshade.kernels.attack.postings import NO_DAY
from starshade.kernels.columns import tally_shown
from starshade.progress import task
from starshade.ratings.scale import SLACK, Scale
from starshade.ratings.shards.counts import Counts
from starshade.ratings.table import UNKNOWN_DAY
from starshade.release.cells import Cells, Symbols
from starshade.release.columns import POSTED, Columns

Floats = NDArray[np.float64]
_BATCH = 4096  # targets between two progress reports
_TABLE = 2**22  # entries of the largest table of chances


@dataclass(frozen=True, eq=False)
class Model:
    """The error model of known facts, by the law of `Knowledge`."""

    view: View
    knowledge: Knowledge
    #: of ratings around cells that were averaged or moved; None: cells are what somebody rated
    spread: float | None = None
    #: rows show items whether they were rated or not; how popular these are says how likely it is
    filled: bool = False
    #: what is counted of everybody whom facts may be about; None: the users of the view's original
    everybody: Counts | None = None

    @cached_property
    def counted(self) -> Counts:
        """What is counted of everybody."""
        return Counts.of(self.view.original) if self.everybody is None else self.everybody

    @cached_property
    def days_below(self) -> NDArray[np.int64]:
        """Dated cells before each day."""
        return below(self.counted.days[:UNKNOWN_DAY] * self.knowledge.knows_days)

    @cached_property
    def ratings_below(self) -> NDArray[np.int64]:
        """Ratings in all levels before each."""
        return below(self.counted.levels)

    def weigh(self, known: Known, goal: Sought | None = None) -> Array:
        """Weigh every row for every target; see `starshade.kernels.attack.posterior.FOUND`."""
        goal = goal or Sought(self.view)
        counts, parts = self._of_rows(goal), []
        days = self.view.cells.days
        knows_days = self.knowledge.knows_days and days is not None
        label = "attacking without the target's record" if goal.absent else "attacking"
        with task(label, len(known)) as step:
            for targets in self._batches(known):
                part = known.take(targets)
                values, kind = np.unique(part.ratings, return_inverse=True)
                right, wrong = self._chances(values)
                law = Law(
                    fixed(right),
                    fixed(wrong),
                    self.knowledge.wrong,
                    self.knowledge.wrong_kind == "item",
                    int(self.knowledge.day_error or 0) if knows_days else -1,
                    self.days_below,
                )
                facts = self._facts(part, kind.reshape(part.items.shape))
                held = goal.held(facts.item)
                parts.append(weigh(held, counts, law, facts, goal.of(part.users, targets)))
                step(len(part))
        return np.concatenate(parts)

    def _batches(self, known: Known) -> Iterator[slice]:
        members, size = max(1, len(self.view.cells.symbols.members)), _BATCH
        if len(np.unique(known.ratings)) * members > _TABLE:
            size = max(1, _TABLE // (members * known.items.shape[1]))
        yield from self.view.batches(known.items, size)

    def _of_rows(self, goal: Sought) -> OfRows:
        view, cells, may = self.view, goal.cells, self.may
        share, items = share_rated(cells.symbols), int(may.sum())
        rated = np.empty(0, np.int64)
        unsure = Unsure.none()
        if isinstance(cells, Columns):
            unsure = self._unsure_patterns(cells, items)
            expected = unsure.expected
        elif view.ungeneralized:
            rated = count_marked(fixed(cells.indptr), fixed(cells.columns), may)
            expected = rated.astype(np.float64)
            users = slice(goal.start, goal.start + cells.n_groups)
            rated[~self.knowledge.with_enough(view.original, self.eligible)[users]] = -1
            if goal.class_of is not None:
                rated[goal.class_of < 0] = -1
        else:
            unsure = self._unsure_rows(cells, items)
            expected = unsure.expected
        return OfRows(
            fixed(view.support.astype(np.int64)),
            rated,
            items,
            may,
            share,
            self.popular,
            fixed(unsure.nodes),
            fixed(unsure.weights),
            fixed(unsure.pattern),
            fixed(unsure.product),
            fixed(unsure.kind.astype(np.int32)),
            fixed(unsure.logs),
            fixed(expected),
            cells.lengths.astype(np.int64),
        )

    def _unsure_rows(self, cells: Cells, items: int) -> Unsure:
        """Say how many items each row of generalized cells may have rated."""
        nodes = nodes_of(items, self.knowledge.known)
        rows = cells.indptr, cells.columns, cells.codes
        return Unsure.of(share_rated(cells.symbols), self.popular * self.may, rows, nodes)

    def _unsure_patterns(self, columns: Columns, items: int) -> Unsure:
        """Say how many items each profile may have rated.

        A level says nothing of it, so rows that are null for the same items are all alike.
        """
        first, pattern = np.unique(columns.first_alike, return_inverse=True)
        nodes, parts = nodes_of(items, self.knowledge.known), []
        popular, alike = self.popular * self.may, np.ones(1)
        each = max(1, POSTED // max(1, columns.n_items))
        for start in range(0, len(first), each):
            row, item = np.nonzero(columns.levels[:, first[start : start + each]].T)
            some = below(np.bincount(row, minlength=min(each, len(first) - start)))
            rows = some, item.astype(np.int32), np.zeros(len(item), np.uint8)
            parts.append(Unsure.of(alike, popular, rows, nodes))
        product = np.concatenate([part.product for part in parts])
        expected = np.concatenate([part.expected for part in parts])
        different, kind = np.unique(popular, return_inverse=True)
        logs = np.log1p(np.outer(different, nodes[0] - 1))
        return Unsure(*nodes, pattern, product, kind, logs, expected[pattern])

    @cached_property
    def eligible(self) -> NDArray[np.bool_]:
        """Items of the original that may be known."""
        items = self.view.original.items
        return self.knowledge.eligible_among(items, lambda: self.counted.items)

    @cached_property
    def may(self) -> NDArray[np.bool_]:
        """Released items that may be known."""
        out = np.zeros(self.view.cells.n_items, np.bool_)
        place = self.view.item_of
        out[place[self.eligible & (place >= 0)]] = True
        return out

    @cached_property
    def popular(self) -> Floats:
        """Chance that an item which a row shows was rated, per released item."""
        out = np.ones(self.view.cells.n_items)
        if self.filled:
            place, counted = self.view.item_of, self.counted
            here = np.flatnonzero(place >= 0)
            out[place[here]] = counted.items[here] / counted.n_users
        return out

    def right_chances(self, ratings: Floats) -> Floats:
        """Return the chance that each content gives each rating, shape (ratings, contents).

        `ratings` (ratings,): known rightly; NaN where a rating is not known.
        """
        return self._chances(ratings)[0]

    def _chances(self, ratings: Floats) -> tuple[Floats, Floats]:
        """Chances of ratings (NaN: not known) from each content: that it is right, and wrong."""
        symbols, original = self.view.cells.symbols, self.view.original
        if self.spread is not None:
            scale = original.scale
            values = scale.levels if scale.step is not None else original.levels
            # what may have been rated where a profile has a mean
            away = ((values[:, None] - symbols.members) / self.spread) ** 2 / 2
            near = np.exp(away.min(axis=0, initial=np.inf) - away)  # all may be far
            near /= near.sum(axis=0)
            right, wrong = self._of_values(ratings, values)
            return np.asarray(right @ near), np.asarray(wrong @ near)
        right, wrong = (
            means_of(symbols, each) for each in self._of_values(ratings, symbols.members)
        )
        ranges = np.flatnonzero(symbols.is_range)
        if len(ranges):
            # of a range any of the data's ratings
            low = np.searchsorted(original.levels, symbols.low[ranges] - SLACK)
            high = np.searchsorted(original.levels, symbols.high[ranges] + SLACK)
            weight = share_rated(symbols)[ranges] / np.maximum(high - low, 1)
            for out, each in zip(
                (right, wrong), self._of_values(ratings, original.levels), strict=True
            ):
                out[:, ranges] = (_sums(each)[:, high] - _sums(each)[:, low]) * weight
        return right, wrong

    def _of_values(self, ratings: Floats, truths: Floats) -> tuple[Floats, Floats]:
        """Return the chances of ratings from true ones, each shape (ratings, truths)."""
        original, reach = self.view.original, self.knowledge.rating_error + SLACK
        scale, levels, counts = original.scale, original.levels, self.ratings_below
        first = np.searchsorted(levels, truths - reach)
        last = np.searchsorted(levels, truths + reach)
        away = np.abs(ratings[:, None] - truths)
        code = np.minimum(np.searchsorted(levels, ratings - SLACK), max(0, len(levels) - 1))
        there = np.abs(levels[code] - ratings) <= SLACK
        often = np.where(there, np.diff(counts)[code], 0)
        outside = counts[-1] - (counts[last] - counts[first])
        wrong = np.where(away > reach, often[:, None] / np.maximum(outside, 1), 0.0)
        wrong = np.where(outside == 0, away <= SLACK, wrong)
        low = np.maximum(scale.minimum, truths - self.knowledge.rating_error)
        high = np.minimum(scale.maximum, truths + self.knowledge.rating_error)
        if scale.step is not None:
            steps = scale.levels
            near = np.searchsorted(steps, truths + reach) - np.searchsorted(steps, truths - reach)
            right = (away <= reach) / near
        else:
            # what the data hold is drawn with no chance at all from so many numbers
            within = (ratings[:, None] >= low) & (ratings[:, None] <= high) & ~there[:, None]
            wide = high > low
            right = np.where(wide, within / np.where(wide, high - low, 1), away <= SLACK)
        unknown = np.isnan(ratings)
        right[unknown], wrong[unknown] = 1.0, 1.0
        return right, wrong

    def _facts(self, known: Known, kind: NDArray[np.int64]) -> Facts:
        knowledge, item = self.knowledge, self.view.places(known.items)
        told = np.full(len(known), -1) if known.rating_counts is None else known.rating_counts
        m, w = known.items.shape[1], knowledge.wrong
        here = (item >= 0).sum(1)
        share = [
            [math.comb(int(n - left), w - i) / math.comb(m, w) if n - left >= w - i else 0.0
             for i in range(w + 1)]
            for n, left in zip(np.full(len(here), m), here, strict=True)
        ]  # fmt: skip
        return Facts(
            fixed(item),
            fixed(kind.astype(np.int32)),
            fixed(known.days),
            fixed(self._blind(known)),
            fixed(told.astype(np.int64)),
            fixed(np.array(share, dtype=np.float64)),
        )

    def _blind(self, known: Known) -> Floats:
        """Chance of each fact where the item was not rated: from the data's ratings and days."""
        original, counts = self.view.original, self.ratings_below
        levels = original.levels
        code = np.minimum(np.searchsorted(levels, known.ratings - SLACK), max(0, len(levels) - 1))
        there = np.abs(levels[code] - known.ratings) <= SLACK
        out = np.where(there, np.diff(counts)[code] / max(1, counts[-1]), 0.0)
        out[np.isnan(known.ratings)] = 1.0
        if not self.knowledge.knows_days or original.days is None:
            return out
        dated = self.days_below[-1]
        if dated == 0:
            return np.asarray(out * (known.days == NO_DAY))
        inside = (known.days >= 0) & (known.days < UNKNOWN_DAY)
        day = np.where(inside, known.days, 0)
        return np.asarray(out * inside * (np.diff(self.days_below)[day] / dated))


def spread_of(view: View) -> float:
    """Return how far ratings lie from the averaged cells they went into, the root mean square.

    Where nobody says who is in which row, how far they lie from their items' means.
    """
    original, cells = view.original, view.cells
    if view.credit != "linked":
        return _from_means(view)
    if isinstance(cells, Columns):
        return spread_around(cells, original.scale, original.levels, shown_of(view, cells))
    row, users = view.row_of_user, np.arange(original.n_users)
    user = np.repeat(users, original.user_support)
    item, ratings = view.item_of[original.columns], original.values()
    here = (row[user] >= 0) & (item >= 0)
    wanted = item[here].astype(np.int64)
    place = find_cells(cells.indptr, cells.columns, row[user][here], wanted)
    shown = cells.symbols.members[cells.symbols.offsets[cells.codes[place]]]
    away = (ratings[here] - shown)[place >= 0]
    return _root_mean(original.scale, float(np.sum(away**2)), len(away))


def shown_of(view: View, profiles: Columns) -> NDArray[np.int64]:
    """Count the ratings of each level beside what is shown of them, (levels, contents)."""
    by_item = view.original.by_item
    counts = np.zeros((len(view.original.levels), len(profiles.symbols) + 1), np.int64)
    here = np.flatnonzero(view.item_of >= 0)
    tally_shown(
        fixed(profiles.levels),
        (fixed(by_item.indptr), fixed(by_item.users), fixed(by_item.codes)),
        (here, view.item_of[here].astype(np.int64), fixed(view.row_of_user)),
        counts,
    )
    return counts[:, 1:]


def spread_around(
    profiles: Columns, scale: Scale, levels: Floats, counts: NDArray[np.int64]
) -> float:
    """Return the root mean square from what was counted of everybody; see `shown_of`."""
    away = (levels[:, None] - profiles.symbols.members[None, :]) ** 2
    return _root_mean(scale, float((counts * away).sum()), int(counts.sum()))


def _from_means(view: View) -> float:
    by_item, levels, squares = view.original.by_item, view.original.levels, 0.0
    for start, stop in pairwise(by_item.indptr.tolist()):
        given = levels[by_item.codes[start:stop]]
        squares += float(np.sum((given - given.sum() / max(1, stop - start)) ** 2))
    return _root_mean(view.original.scale, squares, view.original.n_ratings)


def _root_mean(scale: Scale, squares: float, n: int) -> float:
    least = scale.width / 100 or 1.0
    return float(max(least, np.sqrt(squares / n) if n else 0.0))


def share_rated(symbols: Symbols) -> Floats:
    """Return which share of each content is a rating, every value being equally likely."""
    out = symbols.n_members / np.maximum(symbols.n_members + symbols.null, 1)
    low, high = symbols.low, symbols.high
    wide = symbols.is_range & (high - low > SLACK)
    start = np.maximum(low[wide], symbols.scale.minimum)
    out[wide] = np.maximum(0, high[wide] - start) / (high[wide] - low[wide])
    out[symbols.is_range & ~wide] = symbols.has_rating[symbols.is_range & ~wide]
    return out


def means_of(symbols: Symbols, of_members: Floats) -> Floats:
    """Return the mean over each set's members, null adding 0, shape (q, n)."""
    sums = _sums(of_members)
    total = sums[:, symbols.offsets[1:]] - sums[:, symbols.offsets[:-1]]
    single = np.flatnonzero(symbols.n_members == 1)  # without the cumulative dust
    total[:, single] = of_members[:, symbols.offsets[single]]
    return np.asarray(total / np.maximum(symbols.n_members + symbols.null, 1))


def _sums(values: Floats) -> Floats:
    return np.concatenate([np.zeros((len(values), 1)), np.cumsum(values, axis=1)], axis=1)
