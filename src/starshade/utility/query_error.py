"""Query error: how far averages over a release are off (KL §5.2.2, Eq. 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.errors import ConfigError
from starshade.figure import Figure
from starshade.kernels.averages import Asked, Board, averages_all, averages_any
from starshade.naming import aside
from starshade.progress import announced, note
from starshade.query.columns import Column, column_of
from starshade.ratings.scale import SLACK, Scale
from starshade.ratings.table import Ratings
from starshade.release.attributes import attribute_called, did_you_mean
from starshade.release.cells import Cells, cells_of
from starshade.release.match.match import Match
from starshade.release.table import Release
from starshade.rng import generator
from starshade.setting import check
from starshade.utility.query_error_result import KINDS, QueryErrorResult, Step
from starshade.utility.settings import QueryErrorSettings

if TYPE_CHECKING:
    import pyarrow as pa


#: kind and size of conditions, and the answers of the release and of the original; NaN is null
Answers: TypeAlias = tuple[str, int, NDArray[np.float64], NDArray[np.float64]]

_LEVELS = 255  # of a scale, at most: a set of one rating is asked for each
_WORK = 2**32  # rows looked at, all conditions together; a few seconds


@dataclass(frozen=True)
class QueryError(QueryErrorSettings):
    """Ask the release and the original for the same averages, and compare.

    Parameters
    ----------
    attribute : str, optional
        A numeric personal attribute. None: the one called age, in any case, else the first
        numeric one that is released.
    draws : int
        Conditions for each set of items and each kind, at most. Fewer are asked of large tables:
        conditions times rows stay below 2**32.
    items : int
        Items in the conditions: the most rated ones of the release; 1 to 10.
    seed : int
        The same seed asks the same conditions of every release of the same ratings.

    Raises
    ------
    ConfigError
        A value outside its range.

    Notes
    -----
    Three kinds of condition are asked, AVG(attribute) each: an exact rating on each of 1 to
    `items` items joined by AND; the same joined by OR; and one item with a rating in a
    range of width 0 to 5 (fifths of the scale with null's level, so 0 to 5 on 1-5), each range
    that lies within the scale, the whole scale where it is wider. Every set of items is taken.
    Conditions that are null on either side are passed over. Under AND only conditions that
    somebody fulfils are drawn, each with the same chance: all others are null on the original.

    The expected answer of the release is that of `starshade.query`.
    """

    FIGURES: ClassVar[tuple[Figure, ...]] = (
        *(
            Figure(
                f"query_error_{kind}{key}",
                f"Averages of people {who}{of}",
                "percent",
                True,
                f"How far the answer lies from the true average, of the {base}; 0 is exact.",
            )
            for kind, who in KINDS.items()
            for key, of, base in (("", "", "answer"), ("_of_truth", ", of the truth", "true one"))
        ),
        Figure(
            "query_error_conditions", "Averages compared", "count", None, "What the errors rest on."
        ),
    )

    def __post_init__(self) -> None:
        check(self)

    @typed
    @announced("measuring query-error")
    def measure(self, release: Release, original: Ratings) -> QueryErrorResult:
        """Return the mean errors in percent; None without attributes, or on a fine scale.

        Parameters
        ----------
        release : Release
            With personal attributes, exact or generalized; a scale of at most 255 steps.
        original : Ratings
            The table that the release was made from, with its attributes, or one that contains
            it.

        Raises
        ------
        ConfigError
            The release was not made of these ratings, or there is no such numeric attribute.
        """
        name, answers = self.answers(release, original)
        if name is None:
            return QueryErrorResult.of(None)
        return QueryErrorResult.of(name, tuple(Step.of(*each) for each in answers))

    def answers(self, release: Release, original: Ratings) -> tuple[str | None, Iterator[Answers]]:
        """Return what is averaged, and the answers behind `measure`; None where it has none."""
        name = self._name(release.attributes)
        scale = release.scale
        if name is None or scale.step is None or len(scale.levels) > _LEVELS:
            return None, iter(())
        part = Match(release, original).part
        if part.attributes is None or name not in part.attributes.column_names:
            note(
                f"query error: the ratings were read without {name}, so nothing can be compared; "
                f"give the file of personal attributes{aside('users', 'FILE')}"
            )
            return None, iter(())
        chosen = np.sort(part.most_rated(self.items))
        levels = scale.levels
        plain = _column(part.attributes, name, None)
        released = _board(
            release.cells(), chosen, levels, _column(release.attributes, name, release, plain)
        )
        true = _board(cells_of(part), chosen, levels, plain)
        ranges = (_ranges(released, true, width, own) for width, own in enumerate(windows(scale)))
        return name, chain(self._joined(released, true, len(levels)), ranges)

    def _name(self, attributes: pa.Table | None) -> str | None:
        numeric = [] if attributes is None else _numeric(attributes)
        if self.attribute is not None:
            found = attribute_called(self.attribute, numeric)
            if numeric and found is None:
                raise ConfigError(
                    f"attribute {self.attribute!r}: not among the numeric ones of the release",
                    advice=f"{did_you_mean(self.attribute, numeric)}There are "
                    f"{', '.join(numeric)}.",
                )
            return found
        return next((n for n in numeric if n.lower() == "age"), next(iter(numeric), None))

    def _joined(self, released: Board, true: Board, n_levels: int) -> Iterator[Answers]:
        """Ask conditions joined by AND and OR, one number of items after the other."""
        n = len(released.codes)
        rows = len(released.totals) + len(true.totals)
        draws = max(1, min(self.draws, _WORK // (rows * 2 * 2**n)))
        for size in range(1, n + 1):
            both: list[NDArray[np.int32]] = []
            some: list[NDArray[np.int32]] = []
            sets = list(combinations(range(n), size))
            for items in sets:
                rng = generator(self.seed, f"query error {items}")
                both.append(fitting_all(true, items, n_levels, draws, rng))
                some.append(drawn_any(size, n_levels, draws, rng))
            conditions = _conditions(sets, both)
            yield "and", size, averages_all(released, conditions), averages_all(true, conditions)
            conditions = _conditions(sets, some)
            yield "or", size, averages_any(released, conditions), averages_any(true, conditions)


def _conditions(items: list[tuple[int, ...]], ratings: list[NDArray[np.int32]]) -> Asked:
    repeats = [len(each) for each in ratings]
    return Asked(np.repeat(np.array(items, np.int32), repeats, axis=0), np.concatenate(ratings))


def _ranges(released: Board, true: Board, width: int, sets: NDArray[np.bool_]) -> Answers:
    item, each = np.divmod(np.arange(len(released.codes) * len(sets), dtype=np.int32), len(sets))
    conditions = Asked(item[:, None], each[:, None])
    x, x0 = (averages_all(_in_sets(board, sets), conditions) for board in (released, true))
    return "range", width, x, x0


def _in_sets(board: Board, sets: NDArray[np.bool_]) -> Board:
    """Ask for sets of ratings, a row of flags over the levels each, instead of single ones."""
    return board._replace(shares=board.shares @ sets.T.astype(np.float64))


def _board(
    cells: Cells, items: NDArray[np.int64], levels: NDArray[np.float64], column: Column
) -> Board:
    """Lay a table out: content 0 is null alone."""
    symbols, by_item = cells.symbols, cells.by_item
    shares = np.zeros((len(symbols) + 1, len(levels)))
    inside = symbols.contains(levels).T
    shares[1:] = inside / np.maximum(symbols.n_members + symbols.null, 1)[:, None]
    codes = np.zeros((len(items), cells.n_groups), np.int32)
    for place, item in enumerate(items.tolist()):
        at = slice(by_item.indptr[item], by_item.indptr[item + 1])
        codes[place, by_item.users[at]] = 1 + by_item.codes[at].astype(np.int32)
    return Board(codes, shares, column.totals, column.counts.astype(np.float64))


def _column(
    attributes: pa.Table | None, name: str, release: Release | None, true: Column | None = None
) -> Column:
    """Add an attribute up by person, or by class; open ranges end where true values do."""
    assert attributes is not None
    sizes = np.ones(attributes.num_rows, np.int64) if release is None else release.classes.sizes
    starts, data = np.cumsum(sizes) - sizes, attributes.column(name)
    column = column_of(name, data, starts)
    if not column.open_ended or true is None or not true.known.any():
        return column
    assert true.low is not None
    values = true.low.values[true.low.codes[true.known]]
    return column_of(name, data, starts, (float(values.min()), float(values.max())))


def _numeric(attributes: pa.Table) -> list[str]:
    import pyarrow as pa

    kinds = (pa.types.is_floating, pa.types.is_integer, pa.types.is_struct)
    return [f.name for f in attributes.schema if any(is_kind(f.type) for is_kind in kinds)]


WIDTHS = 6  # of rating ranges: 0 to 5 fifths
_FLAGS = 2**24  # combinations that are flagged rather than sorted


def fitting_all(
    true: Board, items: Sequence[int], n_levels: int, draws: int, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Draw some of the combinations of ratings on these items that an original person has.

    `true`: the original: content 1 + l is the l-th level, 0 null. Returns (up to `draws`, s): each
    combination once; those without anybody who has the attribute are none.
    """
    number = np.zeros(len(true.totals), dtype=np.int64)
    fits = true.counts > 0
    for item in items:
        fits &= true.codes[item] > 0
    number = number[fits]
    for item in items:
        number = number * n_levels + (true.codes[item][fits] - 1)
    if n_levels ** len(items) <= _FLAGS:
        flags = np.zeros(n_levels ** len(items), dtype=np.bool_)
        flags[number] = True
        number = np.flatnonzero(flags)
    else:
        number = np.unique(number)
    if len(number) > draws:
        number = rng.choice(number, draws, replace=False)
    return _digits(number, len(items), n_levels)


def drawn_any(size: int, n_levels: int, draws: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return every combination of ratings on so many items, or some of them where they are more.

    Returns (up to `draws`, size): positions among the levels.
    """
    if n_levels**size <= draws:
        return _digits(np.arange(n_levels**size), size, n_levels)
    return rng.integers(0, n_levels, (draws, size), dtype=np.int32)


def _digits(number: NDArray[np.int64], size: int, base: int) -> NDArray[np.int32]:
    powers = base ** np.arange(size - 1, -1, -1, dtype=np.int64)
    return np.asarray(number[:, None] // powers % base, dtype=np.int32)


def windows(scale: Scale) -> list[NDArray[np.bool_]]:
    """Return the ranges of each width as flags over the levels.

    Widths are 0 to 5 fifths of the scale with null's level below it: 0 to 5 on 1-5 and on half
    stars up to 5.

    Returns (ranges, levels): each range within the scale; the whole scale, alone, where the width
    reaches beyond it.
    """
    levels = scale.levels
    ranges = []
    for fifths in range(WIDTHS):
        width = fifths * (scale.maximum - scale.null_level) / (WIDTHS - 1)
        starts = levels[levels + width <= scale.maximum + SLACK]
        if not len(starts):
            starts = levels[:1]
        low, high = starts[:, None] - SLACK, starts[:, None] + width + SLACK
        ranges.append((levels >= low) & (levels <= high))
    return ranges
