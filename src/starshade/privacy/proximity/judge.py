"""From sizes and spreads of balls to a verdict (definitions, "k-eps" and "k-eps-l")."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.plain import counted
from starshade.privacy.proximity.balls import Prepared
from starshade.privacy.proximity.verdict import ProximityVerdict
from starshade.privacy.verdict import SHOWN
from starshade.ratings.proximity.balls import ball_members
from starshade.ratings.proximity.rule import NullRule, largest_distance, reaches_all

__all__ = ["Spread", "judge"]

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
