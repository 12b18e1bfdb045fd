"""Attribute disclosure by averaged profiles (definitions, "attribute-disclosure").

The adversary knows a person's class and that they rated an item, and reads the rating from the
cell. What is *certain* follows from the release alone: every data set that agrees with it gives
the person this rating.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from starshade.attack.low_rank import LowRankFit, shown_profiles
from starshade.attack.view import View, truth_on
from starshade.kernels.arrays import cut
from starshade.ratings.scale import SLACK, Scale
from starshade.ratings.table import Ratings
from starshade.release.columns import Columns
from starshade.release.profiles import Profiles, quantize, released_levels
from starshade.release.table import Release

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
RIGHT_ENOUGH = 0.95  # of cells at an end of the scale, for which they count as readable
_ROUNDING = 1.5 / np.sqrt(12)  # of the profile step: the rms that a low-rank model may leave


class Readings(NamedTuple):
    """Counts of reading the cells of a release's people; they add up over partitions.

    `people`: with a record. `disclosed`: of these, people with a rated cell that is marked.
    `marked`: rated cells that are marked; `right`: those that equal the rating (on a real-valued
    scale, to within half a step of the release).
    `tried`: rated cells of the profiles fitted; `by_residual`, `by_cell`: those whose rating is the
    scale value nearest to ``fit + g·e``, and nearest to the cell.
    """

    people: int
    disclosed: int
    right: int
    marked: int
    by_residual: int
    by_cell: int
    tried: int

    def plus(self, other: Readings) -> Readings:
        """Return the counts of both."""
        return Readings(*(a + b for a, b in zip(self, other, strict=True)))


@dataclass(frozen=True, eq=False)
class Reader:
    """An adversary who reads the cells of a release.

    `marks` (kinds, levels + 1): which levels are read, 0 being null; `kind` (rows,): of each row.
    `place` (rows,): where a row is among those fitted, -1: it is not. `guess` (fitted, items): the
    scale value nearest to ``fit + g·e``, in steps above the minimum.
    """

    marks: Bools
    kind: Ints
    place: Ints
    guess: NDArray[np.uint16]

    def tables(self) -> dict[str, NDArray[Any]]:
        """Return the arrays, as jobs over partitions take them."""
        return dict(vars(self))

    @classmethod
    def of(
        cls, release: Release, fit: LowRankFit | None = None, rows: Ints | None = None
    ) -> Reader:
        """Return a reader of certain cells (profile "simple"), or of cells at an end of the scale.

        `fit`: to the profiles `rows`; None: nothing is read from residuals.
        """
        profiles, manifest = release.classes, release.manifest
        assert isinstance(profiles, Profiles)
        n_levels = len(profiles.ratings)
        reader = cls.of_ends(profiles.n_groups, profiles.n_items, n_levels)
        if manifest.profile == "simple":
            least = max(1, manifest.config.get("min_raters", 1))
            marks, kind = forced_levels(profiles.scale, profiles.step, profiles.sizes, least)
            reader = replace(reader, marks=marks, kind=kind)
        if fit is None or rows is None or profiles.scale.step is None:
            return reader
        shown, place = shown_profiles(profiles.columns, rows), reader.place.copy()
        place[rows] = np.arange(len(rows))
        guess = by_residual(shown, fit.of(shown), profiles.sizes[rows], profiles.scale)
        return replace(reader, place=place, guess=guess)

    @classmethod
    def of_ends(cls, n_rows: int, n_items: int, n_levels: int) -> Reader:
        """Return a reader of the cells at an end of the scale, without residuals."""
        nowhere = np.full(n_rows, -1, dtype=np.int64)
        guess = np.empty((0, n_items), dtype=np.uint16)
        return cls(ends_marked(n_levels), np.zeros(n_rows, dtype=np.int64), nowhere, guess)

    def read(
        self, levels: NDArray[np.uint8], values: Floats, truth: Ratings, row_of_user: Ints
    ) -> Readings:
        """Compare the cells read with the true ratings.

        Parameters
        ----------
        levels : ndarray of uint8, shape (rows, items)
            Of the release; 0 is null.
        values : ndarray of float64, shape (levels,)
            The rating of each level from 1.
        truth : Ratings
            The people's, on the released items.
        row_of_user : ndarray of int64, shape (n_users,)
            The row of each; -1: none.
        """
        total = Readings(int((row_of_user >= 0).sum()), *(0,) * 6)
        off = 0.0 if truth.scale.step or len(values) < 2 else float(values[1] - values[0]) / 2
        for start, stop in cut(truth.user_support):
            here = slice(truth.indptr[start], truth.indptr[stop])
            user = np.repeat(np.arange(start, stop), truth.user_support[start:stop])
            linked = row_of_user[user] >= 0
            user, item, code = user[linked], truth.columns[here][linked], truth.codes[here][linked]
            value, row = truth.levels[code], row_of_user[user]
            level = levels[row, item]
            shown = np.append(np.nan, values)[level]
            marked = self.marks[self.kind[row], level]
            right = marked & (np.abs(shown - value) <= off + SLACK)
            tried = np.flatnonzero((self.place[row] >= 0) & (level > 0))
            nearest, true = (
                nearest_steps(each[tried], truth.scale) if len(tried) else tried
                for each in (shown, value)
            )
            guessed = self.guess[self.place[row[tried]], item[tried]]
            counts = (right, marked, guessed == true, nearest == true, tried >= 0)
            people = len(np.unique(user[marked]))
            total = total.plus(Readings(0, people, *(int(np.count_nonzero(c)) for c in counts)))
        return total


def ends_right(view: View) -> tuple[int, int]:
    """Count the rated cells at an end of the scale that equal the rating, and all of them.

    Of the people of one release of profiles who have a record. Cells at both ends count together.
    Summed over shadow releases, they say whether such cells can be read (`RIGHT_ENOUGH`).
    """
    cells = view.cells
    assert isinstance(cells, Columns)
    reader = Reader.of_ends(cells.n_groups, cells.n_items, len(cells.symbols))
    found = reader.read(cells.levels.T, cells.symbols.members, view.truth(), view.row_of_user)
    return found.right, found.marked


def rounding_limit(step: float) -> float:
    """Return the largest rms at which a model explains profiles: 1.5 × step / √12.

    A step's rounding alone leaves step / √12.
    """
    return float(_ROUNDING * step)


def by_residual(shown: Floats, fit: Floats, sizes: Ints, scale: Scale) -> NDArray[np.uint16]:
    """Return the scale value nearest to ``fit + g·(cell − fit)``, g the size of the class.

    Where one of g people rated an item, and a model's predictions stand for the others, this is
    that person's rating, up to rounding. In steps above the minimum; 0 where null.
    """
    value = fit + sizes[:, None] * (shown - fit)
    return nearest_steps(np.nan_to_num(value, nan=scale.minimum), scale).astype(np.uint16)


def nearest_steps(values: Floats, scale: Scale) -> Floats:
    """Return the nearest value of a scale with steps, in steps above the minimum; half up."""
    assert scale.step is not None
    steps = np.clip(values, scale.minimum, scale.maximum) - scale.minimum
    return np.floor(steps / scale.step + (0.5 + SLACK))


def ends_marked(n_levels: int) -> Bools:
    """Mark the first and the last of so many levels; shape (1, n_levels + 1), the first is null."""
    marks = np.zeros((1, n_levels + 1), dtype=np.bool_)
    marks[0, [1, n_levels]] = True
    return marks


def forced_levels(scale: Scale, step: float, sizes: Ints, least: int) -> tuple[Bools, Ints]:
    """Mark the levels of means that leave a person who rated the item a single rating.

    A cell of a class of g people is the quantized mean of the ratings of r of them, `least` ≤ r ≤
    g; neither r nor who they are is released. The level is marked when all ratings of one of them
    that give it are equal, whatever r and the others' ratings are: mostly at the ends of the
    scale. On a real-valued scale, where ratings differ by as little as one likes, the ends are
    marked instead.

    Returns
    -------
    marks : ndarray of bool, shape (kinds, levels + 1)
        The first is null, which is never marked.
    kind : ndarray of int64, shape (classes,)
        Of each class.
    """
    n_levels = len(released_levels(scale, step))
    if scale.step is None or not scale.width:
        return ends_marked(n_levels), np.zeros(len(sizes), dtype=np.int64)
    most = round(scale.width / scale.step)
    low, high = np.full(n_levels + 1, most + 1), np.full(n_levels + 1, -1)
    marks = [np.zeros(n_levels + 1, dtype=np.bool_)] * least  # of classes below `least`: no cell
    for raters in range(least, int(sizes.max(initial=0)) + 1):
        sums = np.arange(raters * most + 1)
        level = quantize(scale.minimum + sums * scale.step / raters, scale, step)
        np.minimum.at(low, level, np.maximum(0, sums - (raters - 1) * most))
        np.maximum.at(high, level, np.minimum(most, sums))
        marks.append(low == high)
        if (low[1:] < high[1:]).all():
            break
    return np.stack(marks), np.minimum(sizes, len(marks) - 1).astype(np.int64)


def read_part(
    release: Release, ratings: Ratings, row_of_user: Ints, tables: Mapping[str, NDArray[Any]]
) -> Readings:
    """Read the cells of some people of a release of profiles; `tables` as of `Reader.tables`."""
    profiles, names = release.classes, ("marks", "kind", "place", "guess")
    assert isinstance(profiles, Profiles)
    item_of = profiles.items.indices(ratings.items).astype(np.int32)
    truth = truth_on(ratings, profiles.items, item_of)
    reader = Reader(*(tables[name] for name in names))
    return reader.read(profiles.levels, profiles.ratings, truth, row_of_user)
