"""What (k, ε) and (k, ε, l)-anonymity have in common: from a table to its balls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.errors import ConfigError
from starshade.kernels.balls.cliques import seek_cliques
from starshade.kernels.fingerprint import keyed_numbers
from starshade.naming import named
from starshade.plain import counted
from starshade.privacy.proximity.verdict import ProximityVerdict
from starshade.privacy.verdict import SHOWN, check_records, records_of
from starshade.ratings.levels import code_type, level_table
from starshade.ratings.proximity.balls import ball_members, ball_sizes, ball_sums
from starshade.ratings.proximity.sensitive import split_items
from starshade.ratings.proximity.settings import NullRule, Search
from starshade.ratings.proximity.space import (
    Rule,
    Space,
    largest_distance,
    reaches_all,
    rule_of,
    space_of,
)
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Cells
from starshade.release.table import Release

_HALVES = (np.uint64(1), np.uint64(2))  # two independent 64-bit hashes make one of 128


@dataclass(frozen=True, eq=False)
class Prepared:
    """Data made ready to be asked about balls.

    `ratings`: one rating per cell, also when the data are a release. `sensitive`: indices of the
    items that are to be protected, in the order given. `released`: whether rows are the records of
    a release.
    """

    ratings: Ratings
    sensitive: NDArray[np.int64]
    rule: Rule
    space: Space
    released: bool


def prepare(
    data: Release | Ratings, eps: float, sensitive: Sequence[str], nulls: NullRule, k: int = 0
) -> Prepared:
    """Make data ready; `k` is only held against the number of records."""
    check_records(k, records_of(data))
    ratings = single_ratings(data.cells()) if isinstance(data, Release) else data
    rest, chosen = split_items(ratings.items, sensitive)
    return Prepared(
        ratings=ratings,
        sensitive=chosen,
        rule=rule_of(ratings.scale, ratings.levels, eps, nulls),
        space=space_of(ratings, rest, eps, nulls),
        released=isinstance(data, Release),
    )


def count_balls(
    space: Space, search: Search, *, columns: NDArray[Any] | None = None, distinct: bool = False
) -> tuple[NDArray[np.int64], NDArray[Any] | None, int | None]:
    """Return the size of every ball, the columns asked for summed over it, how many balls differ.

    Two balls are taken for the same when the sums of their records' 128-bit keys and their sizes
    agree: of a million balls, two that differ are mistaken with a chance below 2**-88.

    `columns` (int64 or float64 (n, q)): what to sum besides.
    """
    n = space.n_records
    whole = [np.ones(n, dtype=np.int64)]
    if distinct:
        rows = np.arange(n, dtype=np.uint64)
        # sums of keys wrap around at 64 bits, in int64 as in uint64
        whole += [keyed_numbers(rows, half).view(np.int64) for half in _HALVES]
    width = len(whole)
    beside: NDArray[Any] | None = None
    if columns is not None and columns.dtype == np.int64:
        sums = ball_sums(space, np.column_stack([*whole, columns]), search=search)
        whole_sums, beside = sums[:, :width], sums[:, width:]
    else:
        whole_sums = ball_sums(space, np.column_stack(whole), search=search)
        if columns is not None:
            beside = ball_sums(space, columns, search=search)
    differ = len(np.unique(whole_sums, axis=0)) if distinct else None
    return np.ascontiguousarray(whole_sums[:, 0]), beside, differ


def found_cliques(space: Space, k: int) -> NDArray[np.int64]:
    """Return the size of the largest clique found that each record is in; 1 where none was.

    Greedy: a clique of `k` that exists may be missed.
    """
    if space.rule.everybody:
        return np.full(space.n_records, space.n_records)
    edges = int(ball_sizes(space).sum() - space.n_records) // 2
    check_edges(edges)
    indptr, members = ball_members(space, np.arange(space.n_records))
    return seek_cliques(indptr, members, k)[0]


_BYTES = 16  # an edge is held twice, as a number of eight bytes in the list of either end


def check_edges(edges: int) -> None:
    """Refuse a graph that does not fit the memory budget."""
    if edges * _BYTES > budget.memory():
        raise ConfigError(
            f"the graph has {counted(edges, 'edge')}, which take "
            f"{budget.amount(edges * _BYTES)}; the budget is {budget.amount(budget.memory())}",
            advice="Take a smaller eps or fewer records, or allow more with "
            f"{named('memory')}. The check of k-eps needs no graph.",
        )


def single_ratings(cells: Cells) -> Ratings:
    """Read cells as a table of ratings, a row of several records as so many users.

    `cells`: in each cell one rating, or null alone (written or left out). Returns: users are the
    records, numbered from 0.

    >>> from starshade.ratings.scale import Scale
    >>> from starshade.release.cells import cells_of
    >>> three = Ratings.from_arrays(["a", "b", "b"], ["x", "x", "y"], [1, 2, 5], scale="1:5:1")
    >>> single_ratings(cells_of(three)).values().tolist()
    [1.0, 2.0, 5.0]
    """
    symbols = cells.symbols
    used = np.flatnonzero(np.bincount(cells.codes, minlength=len(symbols)))
    silent = symbols.null & ~symbols.has_rating
    value = symbols.bounds[1]
    rated = used[~silent[used]]
    several = rated[~symbols.is_single[rated]]
    if len(several):
        share = np.isin(cells.codes, several).mean()
        raise ConfigError(
            f"the release has cells with several members ({share:.1%} of those with a rating), "
            "and this model is about records with one rating per cell",
            advice="Check such a release for k-anonymity: its records are equal within a class.",
        )
    if not symbols.scale.contains(value[rated]).all():
        raise ConfigError(
            f"the release has ratings that are not on its scale {symbols.scale}, as means and "
            "predictions are, and this model is about ratings on it",
            advice="Check such a release for review-graph or k-anonymity: its records are equal "
            "within a class.",
        )
    levels, place = level_table(value[rated], symbols.scale)
    code = np.zeros(len(symbols), dtype=code_type(len(levels)))
    code[rated] = place
    rows = np.repeat(np.arange(cells.n_groups), cells.sizes)
    records = cells if len(rows) == cells.n_groups else cells.keep_rows(rows)
    kept = ~silent[records.codes]
    before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
    return Ratings(
        scale=symbols.scale,
        users=Vocabulary(np.arange(len(rows))),
        items=cells.items,
        indptr=before[records.indptr],
        columns=records.columns[kept],
        codes=code[records.codes[kept]],
        levels=levels,
        days=None if records.days is None else records.days[kept],
        first_day=records.first_day,
    )


_MEMBERS = 20  # records of a witness's ball named in it


@dataclass(frozen=True, eq=False)
class Spread:
    """How sensitive ratings spread in every ball.

    `deviations` (n, q): standard deviation; NaN where nobody in the ball rated the item. `low` (n,
    q): whether that is too little. `raters` (n, q): members of the ball who rated the item.
    """

    deviations: NDArray[np.float64]
    low: NDArray[np.bool_]
    raters: NDArray[np.int64]


def judge(
    prepared: Prepared,
    *,
    model: str,
    parameters: dict[str, Any],
    sizes: NDArray[np.int64],
    all_exact: bool,
    spread: Spread | None = None,
    distinct: int | None = None,
) -> ProximityVerdict:
    """Say which records fail, why, and what the verdict rests on; `seconds` stay 0.

    `model`, `parameters`: as the verdict names them; ``k`` is among the parameters. `sizes` (n,):
    records in each ball; where not `all_exact`, those of k or more say only that. `spread`: where
    it was asked for. `distinct`: balls that differ, where it was asked for.
    """
    k = parameters["k"]
    small = sizes < k
    failing = small if spread is None else small | spread.low.any(axis=1)
    worst = _worst(np.flatnonzero(failing), k, sizes, spread)
    patterns = None
    if prepared.rule.by_pattern:
        kinds = prepared.space.kinds  # a block holds those who rated the same items
        patterns = np.add.reduceat(kinds.size, kinds.block[:-1])
    return ProximityVerdict(
        model=model,
        parameters=parameters,
        satisfied=not failing.any(),
        records=len(sizes),
        failing_records=int(failing.sum()),
        smallest_group=int(sizes.min()),
        smallest_group_exact=bool(all_exact or small.any()),
        worst=worst,
        numbered=prepared.released,
        empty_because=_empty(prepared, parameters["eps"], parameters["nulls"], spread),
        everyone_proximate=prepared.rule.everybody,
        patterns=None if patterns is None else len(patterns),
        records_in_small_patterns=None if patterns is None else int(patterns[patterns < k].sum()),
        distinct_balls=distinct,
        sizes=tuple(Counter(np.sort(sizes).tolist()).items()) if all_exact else None,
        failing_by_size=int(small.sum()),
        failing_by_spread=None if spread is None else tuple(spread.low.sum(axis=0).tolist()),
        balls_with_one_rating=None if spread is None else _alone(spread),
        balls_without_rating=None if spread is None else _rows(spread.raters == 0),
        warnings=_warnings(prepared, spread),
        witness=_witness(prepared, worst[0], spread) if worst else None,
    )


def _worst(
    failing: NDArray[np.int64], k: int, sizes: NDArray[np.int64], spread: Spread | None
) -> tuple[dict[str, Any], ...]:
    """Name a few: the smallest balls first, among those large enough the least spread."""
    size = np.minimum(sizes[failing], k)
    if spread is None:
        first = failing[np.lexsort([failing, size])[:SHOWN]]
        return tuple({"row": row, "size": int(sizes[row])} for row in first.tolist())
    # spreads that differ by rounding alone are ties, whichever way neighbours were found
    deviations = np.round(np.where(np.isnan(spread.deviations), np.inf, spread.deviations), 9)
    least = deviations[failing].min(axis=1)
    worst = []
    for row in failing[np.lexsort([failing, least, size])[:SHOWN]].tolist():
        item = int(deviations[row].argmin())
        finite = bool(np.isfinite(deviations[row, item]))
        worst.append({
            "row": row,
            "size": int(sizes[row]),
            "item": item + 1 if finite else None,
            "sd": float(spread.deviations[row, item]) if finite else None,
        })  # fmt: skip
    return tuple(worst)


def _witness(prepared: Prepared, entry: dict[str, Any], spread: Spread | None) -> dict[str, Any]:
    row = entry["row"]
    _, members = ball_members(prepared.space, np.array([row]))
    witness = {"row": row, "size": len(members), "records": members[:_MEMBERS].tolist()}
    if spread is not None:
        witness["sd"] = [None if np.isnan(sd) else sd for sd in spread.deviations[row].tolist()]
    return witness


def _alone(spread: Spread) -> int:
    return _rows((spread.raters == 1) & ~spread.low)


def _rows(marks: NDArray[np.bool_]) -> int:
    return int(marks.any(axis=1).sum())


def _empty(prepared: Prepared, eps: float, nulls: NullRule, spread: Spread | None) -> str:
    """Say why everybody would be near everybody on any ratings of this scale; else nothing."""
    scale = prepared.ratings.scale
    most = largest_distance(scale, nulls)
    if not reaches_all(scale, eps, nulls):
        return ""
    text = (
        f"on the scale {scale} and with nulls {nulls} no two ratings, or a rating and a null, lie "
        f"more than {most:g} apart, so at eps = {eps:g} everybody is proximate to everybody, "
        "those who rated nothing in common too."
    )
    if spread is not None:
        text += " That sensitive ratings spread is said of the whole table alone."
    return f"{text} Ask for an eps below {most:g}."


def _warnings(prepared: Prepared, spread: Spread | None) -> tuple[str, ...]:
    sentences = []
    if prepared.rule.everybody:
        sentences.append(
            "Note: at this eps and null rule every record is proximate to every other, so the "
            "sizes of balls say only how many records there are."
        )
    if spread is not None:
        unrated = np.flatnonzero(~spread.raters.any(axis=0)) + 1
        if len(unrated):
            sentences.append(
                f"Note: nobody rated sensitive item {', '.join(map(str, unrated))} of those given; "
                "it passes because it discloses nothing."
            )
        alone = _alone(spread)
        if alone:
            sentences.append(
                f"Note: in the ball of {counted(alone, 'record')} a sensitive item was "
                "rated by one member alone. It passes, as the definition takes nulls for spread, "
                "but whoever reads the ball reads that one rating."
            )
    if prepared.ratings.has_days:
        sentences.append("Note: the ratings carry dates, which this model does not look at.")
    return tuple(sentences)
