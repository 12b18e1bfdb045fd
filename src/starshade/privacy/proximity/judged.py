"""What is counted of records' balls, added up over parts of the records, and the verdict on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.engine.job import Tables
from starshade.plain import counted
from starshade.privacy.proximity.verdict import ProximityVerdict
from starshade.privacy.verdict import SHOWN
from starshade.ratings.proximity.settings import NullRule
from starshade.ratings.proximity.space import Rule, largest_distance, reaches_all
from starshade.ratings.scale import Scale

NAMED = 20  # records of a witness's ball named in it


@dataclass(frozen=True, eq=False)
class About:
    """What a verdict tells of the data beside what was counted.

    `dated`: whether there are days, which nobody looks at. `released`: whether rows are the records
    of a release.
    """

    scale: Scale
    rule: Rule
    dated: bool
    released: bool


@dataclass(frozen=True, eq=False)
class Spread:
    """How sensitive ratings spread in every ball.

    `deviations` (n, q): standard deviation; NaN where nobody in the ball rated the item. `low` (n,
    q): whether that is too little. `raters` (n, q): members of the ball who rated the item.
    """

    deviations: NDArray[np.float64]
    low: NDArray[np.bool_]
    raters: NDArray[np.int64]


def tally(
    rows: NDArray[np.int64], sizes: NDArray[np.int64], k: int, spread: Spread | None
) -> Tables:
    """Count of some records how large their balls are, and how far ratings spread there.

    `rows`: their numbers among all. `sizes`: records in each ball; of those of `k` or more this may
    be all that it says. Returns `sums`: what `_SUMS` names; `size`, `often`: how many balls have
    each size; `low`, `rated` (q,): records in whose ball an item spreads too little, is rated;
    `worst`, `worst_size` (at most five,), `worst_sd` (at most five, q).
    """
    small = sizes < k
    failing = small
    low = rated = np.empty(0, dtype=np.int64)
    deviations = np.empty((len(rows), 0))
    alone = silent = 0
    if spread is not None:
        failing = small | spread.low.any(axis=1)
        low, rated = spread.low.sum(axis=0), (spread.raters > 0).sum(axis=0)
        alone = _rows((spread.raters == 1) & ~spread.low)
        silent = _rows(spread.raters == 0)
        deviations = spread.deviations
    size, often = np.unique(sizes, return_counts=True)
    found: Tables = {
        "sums": np.array([len(rows), failing.sum(), small.sum(), alone, silent], dtype=np.int64),
        "size": size,
        "often": often,
        "low": low,
        "rated": rated,
    }
    worst = _worst(rows[failing], sizes[failing], deviations[failing], k)
    return {**found, **worst}


def merged(parts: Iterable[Tables], k: int) -> Tables:
    """Add up what was counted of parts of the records."""
    told = list(parts)
    columns = {name: [part[name] for part in told] for name in told[0]}
    size, place = np.unique(np.concatenate(columns["size"]), return_inverse=True)
    often = np.zeros(len(size), dtype=np.int64)
    np.add.at(often, place, np.concatenate(columns["often"]))
    sums = {name: np.sum(columns[name], axis=0) for name in ("sums", "low", "rated")}
    rows, sizes, sds = (np.concatenate(columns[n]) for n in ("worst", "worst_size", "worst_sd"))
    return {**sums, "size": size, "often": often, **_worst(rows, sizes, sds, k)}


def _worst(
    rows: NDArray[np.int64], sizes: NDArray[np.int64], deviations: NDArray[np.float64], k: int
) -> Tables:
    """Take a few: the smallest balls first, among those large enough the least spread."""
    least = _rounded(deviations).min(axis=1, initial=np.inf)
    first = np.lexsort([rows, least, np.minimum(sizes, k)])[:SHOWN]
    return {"worst": rows[first], "worst_size": sizes[first], "worst_sd": deviations[first]}


def _rounded(deviations: NDArray[np.float64]) -> NDArray[np.float64]:
    # spreads that differ by rounding alone are ties, whichever way neighbours were found
    finite: NDArray[np.float64] = np.where(np.isnan(deviations), np.inf, deviations)
    return finite.round(9)


def judge(
    about: About,
    found: Tables,
    *,
    model: str,
    parameters: dict[str, Any],
    all_exact: bool,
    spreads: bool,
    patterns: tuple[int, int] | None,
    distinct: int | None,
    members: Callable[[int], tuple[int, list[int]]],
) -> ProximityVerdict:
    """Say which records fail, why, and what the verdict rests on; `seconds` stay 0.

    `found`: the `tally` of all records. `model`, `parameters`: as the verdict names them.
    `all_exact`: whether balls were counted to their end. `spreads`: whether spreads were asked for.
    `patterns`: sets of items that were rated, and the records of those that too few rated.
    `distinct`: balls that differ, where it was asked for. `members`: how many are in a record's
    ball, and the first `NAMED` of them.
    """
    records, failing, small, alone, silent = found["sums"].tolist()
    worst = _told(found, spreads=spreads)
    sizes = tuple(zip(found["size"].tolist(), found["often"].tolist(), strict=True))
    return ProximityVerdict(
        model=model,
        parameters=parameters,
        satisfied=not failing,
        records=records,
        failing_records=failing,
        smallest_class=sizes[0][0],
        smallest_class_exact=bool(all_exact or small),
        worst=worst,
        numbered=about.released,
        empty_because=_empty(about, parameters["eps"], parameters["nulls"], spreads=spreads),
        all_proximate=about.rule.everybody,
        patterns=None if patterns is None else patterns[0],
        records_in_small_patterns=None if patterns is None else patterns[1],
        distinct_balls=distinct,
        sizes=sizes if all_exact else None,
        failing_by_size=small,
        failing_by_spread=tuple(found["low"].tolist()) if spreads else None,
        balls_with_one_rating=alone if spreads else None,
        balls_without_rating=silent if spreads else None,
        warnings=_warnings(about, found["rated"], alone),
        witness=_witness(worst[0], found["worst_sd"][0], members, spreads) if worst else None,
    )


def _told(found: Tables, *, spreads: bool) -> tuple[dict[str, Any], ...]:
    worst = []
    columns = found["worst"], found["worst_size"], found["worst_sd"]
    for row, size, own in zip(*columns, strict=True):
        entry: dict[str, Any] = {"row": int(row), "size": int(size)}
        if spreads:
            deviations = _rounded(own)
            item = int(deviations.argmin())
            finite = bool(np.isfinite(deviations[item]))
            entry["item"] = item + 1 if finite else None
            entry["sd"] = float(own[item]) if finite else None
        worst.append(entry)
    return tuple(worst)


def _witness(
    entry: dict[str, Any],
    deviations: NDArray[np.float64],
    members: Callable[[int], tuple[int, list[int]]],
    spreads: bool,
) -> dict[str, Any]:
    row = entry["row"]
    size, first = members(row)
    witness = {"row": row, "size": size, "records": first}
    if spreads:
        witness["sd"] = [None if np.isnan(sd) else sd for sd in deviations.tolist()]
    return witness


def _rows(marks: NDArray[np.bool_]) -> int:
    return int(marks.any(axis=1).sum())


def _empty(about: About, eps: float, nulls: NullRule, *, spreads: bool) -> str:
    """Say why everybody would be near everybody on any ratings of this scale; else nothing."""
    scale = about.scale
    most = largest_distance(scale, nulls)
    if not reaches_all(scale, eps, nulls):
        return ""
    text = (
        f"on the scale {scale} and with nulls {nulls} no two ratings, or a rating and a null, lie "
        f"more than {most:g} apart, so at eps = {eps:g} everybody is proximate to everybody, "
        "those who rated nothing in common too."
    )
    if spreads:
        text += " That sensitive ratings spread is said of the whole table alone."
    return f"{text} Ask for an eps below {most:g}."


def _warnings(about: About, rated: NDArray[np.int64], alone: int) -> tuple[str, ...]:
    sentences = []
    if about.rule.everybody:
        sentences.append(
            "Note: at this eps and null rule all records are proximate, so every ball has all "
            "records."
        )
    unrated = np.flatnonzero(rated == 0) + 1
    if len(unrated):
        sentences.append(
            f"Note: no record has a rating of sensitive item {', '.join(map(str, unrated))} of "
            "those given; it passes because it discloses nothing."
        )
    if alone:
        sentences.append(
            f"Note: in the ball of {counted(alone, 'record')} a single member rated a sensitive "
            "item. It passes because the definition counts nulls as spread, but the ball discloses "
            "this rating."
        )
    if about.dated:
        sentences.append("Note: the ratings carry dates, which this model does not look at.")
    return tuple(sentences)
