"""Somebody's public ratings beside the records that may be theirs, fact by fact."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Known
from starshade.attack.likelihood.informed import share_rated
from starshade.attack.likelihood.plain import (
    FOUND_AWAY,
    IS_NEAR,
    NEAR,
    NOT_RATED,
    chances,
    rated_of,
)
from starshade.attack.view import View
from starshade.kernels.attack.postings import NO_DAY
from starshade.ratings.scale import SLACK
from starshade.ratings.table import UNKNOWN_DAY

Floats = NDArray[np.float64]
#: records of each name that are looked at one by one, the likeliest by the fixed weights
LISTED = 100
#: how a fact agrees: so many fifths of the scale away, or not rated
PATTERNS = len(FOUND_AWAY) + 1
_RATED = slice(len(FOUND_AWAY))


@dataclass(frozen=True)
class Errors:
    """How public ratings agree with the record of who gave them.

    `found` (6,): chance that a rating is 0 to 4 fifths of the scale away, and that there is none.
    `near`: that a day lies within 30 of the record's. `there`: that somebody has a record at all.
    """

    found: Floats
    near: float
    there: float


def plain_errors(records: int) -> Errors:
    """Return those of the fixed weights, a stranger being as likely as any one record."""
    return Errors(np.append(FOUND_AWAY, NOT_RATED), IS_NEAR, records / (records + 1))


@dataclass(frozen=True, eq=False)
class Compared:
    """What is known of one name, beside the rows that fit best.

    `rows`, `sizes` (C,): rows and their records. `parts` (facts, C, 6): chance of a fact from a
    row, over that from a stranger, by how it agrees: chances of `Errors` taken out. `near`
    (facts, C): 1 where its day is near, 0 where not, -1 where that says nothing. `rest`: logarithm
    of what all other records make of the facts together, by the fixed weights.
    """

    rows: NDArray[np.int64]
    sizes: NDArray[np.int64]
    parts: Floats
    near: NDArray[np.int8]
    rest: float

    def agreement(self, errors: Errors) -> Floats:
        """Return `parts` times their chances, shape (facts, C, 6)."""
        out = self.parts * errors.found
        day = np.array([1 - errors.near, errors.near, 1.0])[self.near]
        out[..., _RATED] *= day[..., None]
        return np.asarray(out)

    def logs(self, errors: Errors) -> Floats:
        """Return the logarithms of what a record of each row makes of the facts, shape (C,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.agreement(errors).sum(2)).sum(0))


@dataclass(frozen=True, eq=False)
class Shown:
    """What is asked of the data for every name again."""

    view: View

    @cached_property
    def share(self) -> Floats:
        """Which share of each content is a rating."""
        return share_rated(self.view.cells.symbols)

    @cached_property
    def rated(self) -> Floats:
        """Items that each row rated, at most all but where it rated all."""
        return rated_of(self.view.cells)

    @cached_property
    def unrated(self) -> Floats:
        """Items that each row did not rate."""
        out = self.view.cells.n_items - self.rated
        out[out < SLACK] = 0.0
        return np.asarray(out)

    @cached_property
    def often(self) -> Floats:
        """Records' cells of each content."""
        return np.asarray(self.view.cells.often, dtype=np.float64)

    @cached_property
    def popular(self) -> Floats:
        """Chance that a stranger rates each item, of all items."""
        support = self.view.support + 0.5
        return np.asarray(support / support.sum())

    @cached_property
    def days_below(self) -> NDArray[np.int64]:
        """Dated cells before each day."""
        days = self.view.cells.days
        dated = np.zeros(UNKNOWN_DAY, np.int64) if days is None else np.bincount(
            days[days != UNKNOWN_DAY], minlength=UNKNOWN_DAY)  # fmt: skip
        return np.concatenate([[0], np.cumsum(dated)])

    def compare(self, known: Known) -> Compared:
        """Hold one name's facts against every row, and list those that fit best."""
        view, cells = self.view, self.view.cells
        here = np.flatnonzero(known.items[0] >= 0)
        places, ratings, days = (a[0][here] for a in (known.items, known.ratings, known.days))
        if not len(here):
            none = np.empty(0, np.int64)
            parts = np.empty((0, 0, PATTERNS))
            return Compared(none, none, parts, np.empty((0, 0), np.int8), np.log(cells.n_records))
        right = np.stack([chances(view, ratings, one) for one in np.eye(len(FOUND_AWAY))], 2)
        rated = self.often @ self.share
        blind = np.maximum(right[:, :, 0] @ self.often, 0.5) / max(1.0, rated)
        blind[np.isnan(ratings)] = 1.0
        stranger = blind * self.popular[places]
        found = [
            self._fact(item, right[f], blind[f], stranger[f], int(days[f]))
            for f, item in enumerate(places.tolist())
        ]
        fixed = plain_errors(cells.n_records)
        some = np.zeros(cells.n_groups)
        gap = np.log(np.where(self.unrated > 0, self.unrated, 1.0))
        for fact, (rows, parts, near) in enumerate(found):
            missing = np.log(NOT_RATED * blind[fact] / stranger[fact])
            one = Compared(rows, rows, parts[None], near[None], 0.0)
            some += missing - gap
            some[rows] += one.logs(fixed) - (missing - gap[rows])
        listed = _best(some)
        others = np.ones(cells.n_groups, np.bool_)
        others[listed] = False
        left = some[others] + np.log(cells.sizes[others])
        rest = float(np.logaddexp.reduce(left)) if len(left) else -np.inf
        parts, near = self._listed(listed, found, blind / stranger)
        return Compared(listed, cells.sizes[listed], parts, near, rest)

    def _fact(
        self, item: int, right: Floats, blind: float, stranger: float, day: int
    ) -> tuple[NDArray[np.int64], Floats, NDArray[np.int8]]:
        """Return who has an item, and how a fact about it agrees with each of them."""
        held = self.view.held(np.array([item]))
        cells = slice(int(held.indptr[item]), int(held.indptr[item + 1]))
        rows, codes = held.users[cells].astype(np.int64), held.codes[cells]
        parts = np.zeros((len(rows), PATTERNS))
        parts[:, _RATED] = right[codes] / np.maximum(self.rated[rows], SLACK)[:, None]
        open_ = self.unrated[rows] > 0
        null = (1 - self.share[codes[open_]]) * blind / self.unrated[rows[open_]]
        parts[open_, -1] = null
        near = np.full(len(rows), -1, np.int8)
        dated = self.days_below[-1]
        if day != NO_DAY and held.days is not None and dated:
            there = held.days[cells]
            known = (there != UNKNOWN_DAY) & (np.abs(there.astype(np.int64) - day) <= NEAR)
            first, last = np.clip([day - NEAR, day + NEAR + 1], 0, UNKNOWN_DAY)
            within = (self.days_below[last] - self.days_below[first]) / dated
            within = min(max(within, 0.5 / dated), 1 - 0.5 / dated)
            near[:] = known
            parts[:, _RATED] /= np.where(known, within, 1 - within)[:, None]
        return rows, parts / stranger, near

    def _listed(
        self,
        listed: NDArray[np.int64],
        found: list[tuple[NDArray[np.int64], Floats, NDArray[np.int8]]],
        over: Floats,
    ) -> tuple[Floats, NDArray[np.int8]]:
        """Lay out what was found of some rows; `over`: a fact's chance without an item's."""
        parts = np.zeros((len(found), len(listed), PATTERNS))
        near = np.full(parts.shape[:2], -1, np.int8)
        spare = self.unrated[listed]
        parts[:, spare > 0, -1] = over[:, None] / spare[spare > 0]
        for fact, (rows, its, days) in enumerate(found):
            at = np.minimum(np.searchsorted(rows, listed), max(0, len(rows) - 1))
            hit = rows[at] == listed if len(rows) else np.zeros(len(listed), np.bool_)
            parts[fact, hit], near[fact, hit] = its[at[hit]], days[at[hit]]
        return parts, near


def _best(scores: Floats) -> NDArray[np.int64]:
    """Return the rows of highest score; of equal ones the first."""
    n = min(LISTED, len(scores))
    rows = np.flatnonzero(scores >= np.partition(scores, -n)[-n])
    return np.sort(rows[np.argsort(-scores[rows], kind="stable")][:n])
