"""Ratings held out beside released rows, and a release as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.engine.job import Tables
from starshade.errors import ConfigError
from starshade.figure import Figure, Unit
from starshade.kernels.arrays import find_cells
from starshade.progress import task
from starshade.ratings.levels import on_scale
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Cells, Symbols
from starshade.release.content import canonical, class_numbers
from starshade.release.match.match import Match, refuse_strangers
from starshade.release.table import Release
from starshade.utility.result import Measure, Result

_UNMEASURED = " It needs a probe and the private key file."

_ADVICE = (
    "`starshade data split RATINGS --out train/ --probe probe/` makes both; stores keep users and "
    "items whose only ratings were held out."
)


@dataclass(frozen=True, eq=False)
class Probe:
    """The held-out ratings that a release can be asked for: of its people, on its items.

    `users`, `items` (p,): indices in the original, ascending by user, then item. `rows`, `columns`
    (p,): the released row of each user, the released item. `values` (p,): True ratings. `left_out`:
    held-out ratings of people or on items that were not released.
    """

    users: NDArray[np.int64]
    items: NDArray[np.int64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    left_out: int

    def of(self, users: NDArray[np.int64]) -> Probe:
        """Return what was held out of some users, ascending, who are numbered from 0 there."""
        place = np.searchsorted(users, self.users)
        theirs = np.append(users, -1)[place] == self.users
        return Probe(
            place[theirs],
            self.items[theirs],
            self.rows[theirs],
            self.columns[theirs],
            self.values[theirs],
            left_out=self.left_out,
        )


def linked_users(release: Release, original: Ratings) -> NDArray[np.int64] | None:
    """Return the released row of each user, -1 for those not released; None without a link."""
    rows = Match(release, original).row_of_user
    if rows is None:
        return None
    refuse_strangers(release, original.items, int((rows >= 0).sum()))
    return rows


def linked_probe(release: Release, original: Ratings, probe: Ratings | None) -> Probe | None:
    """Place held-out ratings among released rows; None without them or without a link.

    `original`: the training part: what the release was made of. `probe`: ratings that were held out
    of it, of users and on items that it knows.
    """
    row_of_user = linked_users(release, original)
    if probe is None or row_of_user is None:
        return None
    asked = Asked.of(probe, original.scale, original.items)
    return asked.placed(release, original.items, [asked.found_in(original, row_of_user)])


@dataclass(frozen=True, eq=False)
class Wanted:
    """Whose ratings of what are looked for, in a table or in a part of it.

    `users` (m,); `indptr` (m + 1,), `items` (p,): the items of each, -1: one that is not there.
    """

    users: Vocabulary
    indptr: NDArray[np.int64]
    items: NDArray[np.int64]

    def found_in(self, part: Ratings, rows: NDArray[np.int64], first: int = 0) -> Tables:
        """Find who is there.

        `rows`: the released row of each user of the part. `first`: the first one's number among
        all. Returns `who` (n,): which of `users` are there; `users`, `rows` (n,): their numbers
        among all and released rows; `rated` (1,): how many of the items they rated.
        """
        place = part.users.indices(self.users)
        who = np.flatnonzero(place >= 0)
        user = np.repeat(place, np.diff(self.indptr))
        there = (user >= 0) & (self.items >= 0)
        cells = find_cells(part.indptr, part.columns, user[there], self.items[there])
        return {
            "who": who,
            "users": place[who] + first,
            "rows": rows[place[who]],
            "rated": np.array([np.count_nonzero(cells >= 0)]),
        }


@dataclass(frozen=True, eq=False)
class Asked(Wanted):
    """A probe beside the ratings that it was held out of.

    `users`: who has a rating in it. `values` (p,): the ratings. `unknown`, `n_items`: how many
    items the ratings lack, of how many that were rated in the probe.
    """

    values: NDArray[np.float64]
    unknown: int
    n_items: int

    @classmethod
    def of(cls, probe: Ratings, scale: Scale, items: Vocabulary) -> Asked:
        """Read a probe by the scale and items of the ratings; one without a rating is refused."""
        if not probe.n_ratings:
            raise ConfigError("the probe has no rating", advice=_ADVICE)
        probe = on_scale(probe, scale).drop_empty_users()
        item, rated = items.indices(probe.items), probe.item_support > 0
        return cls(
            probe.users,
            probe.indptr,
            item[probe.columns],
            probe.values(),
            int((rated & (item < 0)).sum()),
            int(rated.sum()),
        )

    def placed(self, release: Release, items: Vocabulary, found: Sequence[Tables]) -> Probe:
        """Place the ratings among released rows, by what was found in all parts.

        `items`: of the original. Refused: users, or items, that the original lacks, and ratings
        that it has too.
        """
        user, row = np.full((2, len(self.users)), -1)
        for part in found:
            user[part["who"]], row[part["who"]] = part["users"], part["rows"]
        _refuse_unknown(int((user < 0).sum()), len(user), "users")
        _refuse_unknown(self.unknown, self.n_items, "items")
        if trained := sum(int(part["rated"][0]) for part in found):
            raise ConfigError(
                f"{trained:,} of the {len(self.items):,} ratings of the probe are in the ratings "
                "too: what was learned cannot test",
                advice="Give the part that was not held out, from which the release was made.",
            )
        users, rows = (np.repeat(each, np.diff(self.indptr)) for each in (user, row))
        columns = release.classes.items.indices(items)[self.items]
        linked = (rows >= 0) & (columns >= 0)
        return Probe(
            users[linked],
            self.items[linked],
            rows[linked],
            columns[linked],
            self.values[linked],
            left_out=int((~linked).sum()),
        )


def _refuse_unknown(unknown: int, of: int, what: str) -> None:
    if unknown:
        raise ConfigError(
            f"{unknown:,} of the {of:,} {what} of the probe are not in the ratings",
            advice=_ADVICE,
        )


def readings(
    key: str, title: str, unit: Unit, low_is_good: bool, meaning: str
) -> tuple[Figure, Figure]:
    """Declare a figure of the released cells, and of a recommender trained on them."""
    again = "The same, with a recommender trained on the release."
    return (
        Figure(f"{key}_release", f"{title}, released cells", unit, low_is_good, meaning),
        Figure(f"{key}_refit", f"{title}, recommender on the release", unit, low_is_good, again),
    )


class HeldOut(Measure[Result]):
    """A measure by ratings that were held out of what the release was made of."""

    @typed
    def measure(
        self, release: Release, *, original: Ratings, probe: Ratings | None = None
    ) -> Result:
        """Return the figures, None without a probe or a link.

        A refit that takes more memory than there is has none either.

        Parameters
        ----------
        release : Release
            With its private facts (just made, or read with the receipt).
        original : Ratings
            The training part: what the release was made of.
        probe : Ratings, optional
            What was held out of it: its users are asked, on its items.

        Raises
        ------
        ConfigError
            The probe does not belong to these ratings, or they to the release.
        """
        with task(f"measuring {self.name}"):
            return self._judged(release, original, probe)

    def _judged(self, release: Release, original: Ratings, probe: Ratings | None) -> Result:
        linked = linked_probe(release, original, probe)
        return self._unmeasured() if linked is None else self.found(release, original, linked)

    def _unmeasured(self, **figures: int) -> Result:
        """Return no figures, or few, and say what the others take."""
        return self._result(figures, _UNMEASURED)

    def found(self, release: Release, original: Ratings, probe: Probe) -> Result:
        """Return the figures; `probe`: placed among what `original` numbers (`linked_probe`)."""
        raise NotImplementedError


Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReleasedRows:
    """The rows of a release as ratings: means of what a cell says is possible."""

    release: Release

    @cached_property
    def distinct(self) -> NDArray[np.int64]:
        """The first row of each profile: rows that say the same are one; ascending."""
        return np.unique(self.profile_of_row, return_index=True)[1]

    @cached_property
    def profile_of_row(self) -> NDArray[np.int64]:
        """The profile of each row, shape (n_rows,), numbered 0…p-1."""
        classes = self.release.classes
        if not isinstance(classes, Cells):  # profiles are distinct as they stand
            return np.arange(len(classes.sizes))
        return class_numbers(canonical(classes))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Records of each profile, shape (p,)."""
        # whole numbers below 2**53 are exact in float64, which is what bincount sums in
        records = np.bincount(self.profile_of_row, weights=self.release.classes.sizes)
        return records.astype(np.int64)

    def values(self, rows: NDArray[np.int64]) -> Floats:
        """Return rows as ratings, shape (len(rows), n_items); NaN where none is released."""
        classes = self.release.classes
        if not isinstance(classes, Cells):
            return classes.values(rows)
        return _dense(classes.keep_rows(rows), expected_ratings(classes.symbols), np.nan)

    def readings(self, rows: NDArray[np.int64]) -> Floats:
        """Return rows as a reader takes them (`read`), shape (len(rows), n_items)."""
        classes, null = self.release.classes, self.release.scale.null_level
        if not isinstance(classes, Cells):
            return np.nan_to_num(classes.values(rows), nan=null)
        return _dense(classes.keep_rows(rows), with_null(classes.symbols), null)

    def read(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Floats:
        """Return single cells as a reader takes them, null counting as the level below the scale.

        `rows`, `columns` (p,): released rows and items.
        """
        classes, null = self.release.classes, self.release.scale.null_level
        if not isinstance(classes, Cells):
            return np.append(null, classes.ratings)[classes.levels[rows, columns]]
        place = find_cells(classes.indptr, classes.columns, rows, columns)
        present = place >= 0
        out = np.full(len(rows), null)
        out[present] = with_null(classes.symbols)[classes.codes[place[present]]]
        return out


def _dense(rows: Cells, means: Floats, null: float) -> Floats:
    out = np.full((rows.n_groups, rows.n_items), null)
    owner = np.repeat(np.arange(rows.n_groups), np.diff(rows.indptr))
    out[owner, rows.columns] = means[rows.codes]
    return out


def expected_ratings(symbols: Symbols) -> Floats:
    """Return the mean of each content's ratings, shape (n,); NaN where it has none.

    The mean of a range is its middle, of the part that lies within the scale.
    """
    sums = np.concatenate([[0.0], np.cumsum(symbols.members)])
    count = symbols.n_members
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (sums[symbols.offsets[1:]] - sums[symbols.offsets[:-1]]) / count
    single = np.flatnonzero(count == 1)  # exactly, without the cumulative dust
    mean[single] = symbols.members[symbols.offsets[single]]
    middle = (np.maximum(symbols.low, symbols.scale.minimum) + symbols.high) / 2
    return np.where(symbols.is_range, np.where(symbols.has_rating, middle, np.nan), mean)


def with_null(symbols: Symbols) -> Floats:
    """Return the mean of each content's members, shape (n,), null counting as its level."""
    scale = symbols.scale
    rating = expected_ratings(symbols)
    with np.errstate(invalid="ignore", divide="ignore"):
        below = np.where(symbols.low < scale.minimum, scale.minimum - symbols.low, 0.0)
        of_range = np.minimum(below / (symbols.high - symbols.low), 1.0)
        of_set = symbols.null / (symbols.n_members + symbols.null)
    null = np.where(symbols.is_range, np.where(np.isfinite(of_range), of_range, 0.0), of_set)
    return np.where(null >= 1, scale.null_level, (1 - null) * rating + null * scale.null_level)
