"""What a release still says of every original rating (definitions, "what-remains")."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.figure import Figure
from starshade.kernels.arrays import find_cells
from starshade.progress import announced
from starshade.ratings.scale import SLACK
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells, Symbols
from starshade.release.table import Private, Release
from starshade.scratch import put_down
from starshade.utility.held_out.probe import expected_ratings, linked_users
from starshade.utility.result import Measure, UtilityResult

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_BLOCK = 2**20  # ratings looked at together
_UNMEASURED = " It takes the owner's receipt, which says who became which record."

#: each rating is one of these, and which of them there can be in a layout
_KINDS = ("exact", "half", "near", "farther", "open", "perhaps", "gone")
_OF_LAYOUT = {
    "generalized": {"exact", "near", "farther", "open", "perhaps", "gone"},
    "record": {"exact", "near", "farther", "gone"},
    "profile": {"half", "near", "farther", "gone"},
}
_EXACT, _HALF, _NEAR, _FARTHER, _OPEN, _PERHAPS, _GONE = range(len(_KINDS))


@dataclass(frozen=True)
class WhatRemains(Measure[UtilityResult]):
    """What becomes of each original rating, beside what a list of item averages tells.

    Of all ratings of `original`, before any selection of items or people, each is the first that
    fits of:

    - *gone*: its person or item is not in the release, or the cell says that nothing is there.
      Of these those *left out* are told apart: their item is not released, or their person has no
      record although the method leaves nobody out;
    - *perhaps rated*: the cell leaves null possible beside a rating;
    - *exact*: the cell is that one rating; of profiles *within half a step* of it;
    - *value open*: the cell says that there is a rating, and leaves the whole scale possible;
    - *within one step*: every rating that the cell leaves possible is at most a step away;
    - *farther*: the cell leaves a rating possible that is more than a step away, or is one.

    A step is the scale's; on one without steps a twentieth of its width (1 where it has none), the
    distance of the null level from the least rating. Records that are nobody's are nobody's rating.

    ``skill`` is 1 - SSE(release) / SSE(item averages), over the same ratings. A cell is read as
    the mean of the ratings that it leaves possible, null left out, whatever the size of its class;
    of a range that is the middle. What is gone is read as the middle of the scale.

    Examples
    --------
    >>> import starshade as ss
    >>> ratings = ss.synthesize(n_users=40, n_items=8, n_ratings=120, rng=1)
    >>> found = WhatRemains().measure(ss.KLikeness(k=2).anonymize(ratings, rng=0), ratings).figures
    >>> kinds = ("exact", "near", "farther", "open", "perhaps", "gone")
    >>> round(sum(found[f"remains_{kind}"] for kind in kinds), 9)
    1.0
    """

    name: ClassVar[str] = "what-remains"
    MEANING: ClassVar[str] = (
        "Shares of all original ratings, also those of items and people that were not released. "
        "What the release tells within one step is worth something above what a list of item "
        "averages tells, which anybody may have; a skill of 0 reads no better than that list, 1 "
        "reads every rating exactly. What is told exactly is also disclosed."
    )

    FIGURES: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "remains_exact",
            "Ratings told exactly (disclosed)",
            "share",
            None,
            "The cell is that one rating: useful, and disclosed to whoever knows whose cell it is.",
            short="exact",
        ),
        Figure(
            "remains_half",
            "Ratings within half a step of the profile",
            "share",
            False,
            "The profile of the group, rounded, is the rating.",
        ),
        Figure(
            "remains_near",
            "Ratings told within one step, less closely",
            "share",
            False,
            "All that the cell leaves possible is at most one step from the rating.",
        ),
        Figure(
            "remains_farther",
            "Ratings told more widely, or farther off",
            "share",
            True,
            "The cell leaves a rating possible that is more than a step away, or is one.",
        ),
        Figure(
            "remains_open",
            "Rated, value open",
            "share",
            True,
            "The cell says that there is a rating, and leaves the whole scale possible.",
        ),
        Figure(
            "remains_perhaps",
            "Perhaps rated",
            "share",
            True,
            "The cell leaves open whether there is a rating at all.",
        ),
        Figure(
            "remains_gone",
            "Ratings gone",
            "share",
            True,
            "Person, item or rating is not in the release.",
            short="gone",
        ),
        Figure(
            "gone_left_out",
            "– of these on items or of people left out",
            "share",
            None,
            "On an item that is not released, or of somebody left out though the method leaves "
            "nobody out; the rest is gone by the method.",
        ),
        Figure(
            "remains_within_step",
            "Ratings told within one step, in all",
            "share",
            False,
            "Exactly or less closely; compare it with the next line.",
            short="within a step",
        ),
        Figure(
            "averages_within_step",
            "The same by a list of item averages",
            "share",
            None,
            "What anybody tells who has the average of each item and no release.",
        ),
        Figure(
            "skill",
            "Skill over item averages",
            "ratio",
            False,
            "1 − squared error of reading the release / that of item averages: 1 reads every "
            "rating exactly, 0 is worth the list of averages, below 0 less.",
            short="skill",
        ),
        Figure(
            "empty_filled",
            "Empty cells filled falsely, of all there were",
            "share",
            True,
            "Of all pairs of a person and an item without a rating: the release says that there "
            "is one.",
        ),
    )

    @typed
    @announced("measuring what-remains")
    def measure(self, release: Release, original: Ratings | None = None) -> UtilityResult:
        """Return the shares, None for kinds that the layout does not have.

        Parameters
        ----------
        release : Release
            With its private facts (just made, or read with the receipt).
        original : Ratings, optional
            All ratings that there were, before items or people were chosen. Not needed for a
            release that is being made shard by shard.

        Returns
        -------
        UtilityResult
            Shares in [0, 1]: ``remains_exact``, ``remains_half`` (layout "profile" alone),
            ``remains_near``, ``remains_farther``, ``remains_open``, ``remains_perhaps`` and
            ``remains_gone``, which add up to 1; ``gone_left_out``, the part of the last that is not
            by the method; ``remains_within_step`` and ``averages_within_step``; ``empty_filled``,
            of the cells that are empty in `original`, None where none is. ``skill``, at most 1,
            None where the averages are right throughout. All None without a link, and without the
            original.

        Raises
        ------
        ConfigError
            Somebody or some item of the release is not in `original`.
        """
        private = release.private
        if original is None and private is not None and private.divided is not None:
            return self._result(_figures(release, lambda: _parts_of(release, private)))
        rows = None if original is None else linked_users(release, original)
        if original is None or rows is None or not original.n_ratings:
            return self._result({}, _UNMEASURED)
        return self._result(_figures(release, lambda: iter([(original, rows)])))


@dataclass(eq=False)
class _Tally:
    """Counts over ratings: of each kind, left out, near their item's average, surely rated."""

    kinds: Indices = field(default_factory=lambda: np.zeros(len(_KINDS), dtype=np.int64))
    left_out: int = 0
    averages_near: int = 0
    surely_rated: int = 0
    error: float = 0.0  # squared, summed
    averages_error: float = 0.0


_Parts = Callable[[], Iterator[tuple[Ratings, Indices]]]


def _parts_of(release: Release, private: Private) -> Iterator[tuple[Ratings, Indices]]:
    ends = np.cumsum(release.classes.sizes)
    for part in private.parts():
        rows = np.searchsorted(ends, part.record, side="right")
        yield part.ratings, np.where(part.record < 0, -1, rows)


def _figures(release: Release, parts: _Parts) -> dict[str, float | int | None]:
    """`parts`: opens some of the users of all items, and the released row of each."""
    said, tally = _Said.of(release), _Tally()
    column = release.classes.items.indices(next(parts())[0].items)
    averages, n_users = _averages(parts), 0
    nobody_deleted = release.manifest.users_deleted == "none"  # by the method
    surely, said_rated = said.surely_rated(), 0
    for original, row_of_user in parts():
        n_users += original.n_users
        for users, items, true in _blocks(original):
            rows, columns = row_of_user[users], column[items]
            code = said.code(rows, columns)
            tally.left_out += int(((columns < 0) | ((rows < 0) & nobody_deleted)).sum())
            tally.kinds += np.bincount(said.kind(code, true), minlength=len(_KINDS))
            tally.surely_rated += int(said.sure[code].sum())
            tally.error += float(((said.mean[code] - true) ** 2).sum())
            off = np.abs(averages[items] - true)
            tally.averages_near += int((off <= said.step + SLACK).sum())
            tally.averages_error += float((off**2).sum())
            put_down()
        said_rated += int(surely[row_of_user[row_of_user >= 0]].sum())
    n, counts = int(tally.kinds.sum()), dict(zip(_KINDS, tally.kinds.tolist(), strict=True))
    empty = n_users * len(column) - n
    told = counts["exact"] + counts["half"] + counts["near"]
    dust = n * SLACK**2
    return {
        **{f"remains_{kind}": counts[kind] / n for kind in _OF_LAYOUT[release.manifest.layout]},
        "gone_left_out": tally.left_out / n,
        "remains_within_step": told / n,
        "averages_within_step": tally.averages_near / n,
        "skill": 1 - tally.error / tally.averages_error if tally.averages_error > dust else None,
        "empty_filled": (said_rated - tally.surely_rated) / empty if empty else None,
    }


def _blocks(ratings: Ratings) -> Iterator[tuple[Indices, NDArray[np.int32], Floats]]:
    """Yield users, items and values of some ratings after the other."""
    for start in range(0, ratings.n_ratings, _BLOCK):
        stop = min(start + _BLOCK, ratings.n_ratings)
        users = np.searchsorted(ratings.indptr, np.arange(start, stop), side="right") - 1
        values = ratings.levels[ratings.codes[start:stop]]
        yield users.astype(np.int64), ratings.columns[start:stop], values


def _averages(parts: _Parts) -> Floats:
    sums, raters = np.zeros(1), np.zeros(1, dtype=np.int64)
    for ratings, _ in parts():
        for _, items, values in _blocks(ratings):
            sums = sums + np.bincount(items, weights=values, minlength=ratings.n_items)
        raters = raters + ratings.item_support
    return np.asarray(sums / np.maximum(raters, 1))


@dataclass(frozen=True, eq=False)
class _Said:
    """What each content of a cell says of a rating; the last one, -1, is no cell at all.

    `low`, `high`, `mean` (n + 1,): of the ratings that it leaves possible. `rated`, `sure`,
    `whole` (bool (n + 1,)): a rating is possible; and null is not; and it is any of the scale.
    """

    release: Release
    low: Floats
    high: Floats
    mean: Floats
    rated: NDArray[np.bool_]
    sure: NDArray[np.bool_]
    whole: NDArray[np.bool_]

    @classmethod
    def of(cls, release: Release) -> _Said:
        classes, scale = release.classes, release.scale
        symbols = (
            classes.symbols if isinstance(classes, Cells) else Symbols.exact(scale, classes.ratings)
        )
        rated = np.append(symbols.has_rating, False)
        sure = rated & ~np.append(symbols.null, True)
        low, high = np.maximum(symbols.low, scale.minimum), symbols.high.copy()
        filled = np.flatnonzero(symbols.n_members)
        low[filled] = symbols.members[symbols.offsets[filled]]
        high[filled] = symbols.members[symbols.offsets[filled + 1] - 1]
        if scale.step is None:
            ends = (low <= scale.minimum + SLACK) & (high >= scale.maximum - SLACK)
            every = symbols.is_range & ends
        else:
            every = symbols.n_members == len(scale.levels)
        middle = (scale.minimum + scale.maximum) / 2
        mean = np.append(expected_ratings(symbols), middle)
        return cls(
            release,
            low=np.append(low, np.nan),
            high=np.append(high, np.nan),
            mean=np.where(rated, mean, middle),
            rated=rated,
            sure=sure,
            whole=sure & np.append(every, False),
        )

    @property
    def step(self) -> float:
        """The scale's; on a real one a twentieth of its width."""
        scale = self.release.scale
        return scale.minimum - scale.null_level if scale.step is None else scale.step

    def code(self, rows: Indices, columns: Indices) -> Indices:
        """Return the content of each cell, -1 where there is none; -1 are no rows, no columns."""
        classes, out = self.release.classes, np.full(len(rows), -1, dtype=np.int64)
        there = np.flatnonzero((rows >= 0) & (columns >= 0))
        rows, columns = rows[there], columns[there]
        if isinstance(classes, Cells):
            place = find_cells(classes.indptr, classes.columns, rows, columns)
            present = place >= 0
            out[there[present]] = classes.codes[place[present]]
        else:
            out[there] = classes.levels[rows, columns].astype(np.int64) - 1
        return out

    def kind(self, code: Indices, true: Floats) -> Indices:
        """Return the place of each rating among `_KINDS`."""
        profile = self.release.manifest.layout == "profile"
        away = np.maximum(np.abs(self.low[code] - true), np.abs(self.high[code] - true))
        close = self.step / 2 if profile else 0.0
        cases = (
            (~self.rated[code], _GONE),
            (~self.sure[code], _PERHAPS),
            (away <= close + SLACK, _HALF if profile else _EXACT),
            (self.whole[code], _OPEN),
            (away <= self.step + SLACK, _NEAR),
        )
        return np.select([case for case, _ in cases], [kind for _, kind in cases], _FARTHER)

    def surely_rated(self) -> Indices:
        """Count the cells of each row that say that there is a rating, shape (n_rows,)."""
        classes = self.release.classes
        if not isinstance(classes, Cells):
            return classes.n_rated()
        counts = np.append(0, np.cumsum(self.sure[classes.codes], dtype=np.int64))
        return np.asarray(np.diff(counts[classes.indptr]))
