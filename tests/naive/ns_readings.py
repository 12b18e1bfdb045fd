"""Scoreboard-RH under other readings, record by record in plain Python (NS §4, §5)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tests.naive.scoreboard_rh import Clue, Record, eccentricity, is_flat, ties


def score(record: Record, clues: Sequence[Clue], records: Sequence[Record], **of: object) -> float:
    """Add up what each clue is worth; `of`: similarity, rho0, d0, weighted, within, dated."""
    total = 0.0
    for clue in clues:
        if clue.item not in record:
            continue
        cell = record[clue.item]
        day = clue.day if of["dated"] else None
        raters = sum(clue.item in each for each in records)
        weight = 1 / math.log(max(raters, 2)) if of["weighted"] else 1.0
        total += weight * worth(clue.rating, day, cell.members[0], cell.day, **of)
    return total


def worth(
    rating: float | None, day: int | None, true: float, when: int | None, **of: object
) -> float:
    if rating is None and day is None:
        return 1.0
    if of["similarity"] == "threshold":
        near, soon = of["within"]  # type: ignore[misc]
        wrong = rating is not None and abs(rating - true) > near + 1e-9
        late = day is not None and (when is None or abs(day - when) > soon)
        return 0.0 if wrong or late else 1.0
    sign = 1 if of["similarity"] == "signed" else -1
    terms = 0.0
    for known, truth, unit in ((rating, true, of["rho0"]), (day, when, of["d0"])):
        if known is not None and truth is not None:
            off = known - truth if sign == 1 else -abs(known - truth)
            terms += math.exp(min(off / unit, 700))  # type: ignore[operator]
    return terms


def judged(
    scores: Sequence[float], own: int | None, phi: float, *, strict: bool
) -> dict[str, float]:
    """Say what comes of the scores of those in question; `own`: the place of the target's."""
    found = dict.fromkeys(("named", "success", "eccentricity", "right", "top1"), 0.0)
    if not scores:
        return found
    top = max(scores)
    unit = top or 1.0
    best = [n for n, each in enumerate(scores) if ties(each, top)]
    ecc = eccentricity([each / unit for each in scores])
    over = ecc > phi if strict else ecc >= phi * (1 - 1e-9)
    named = over and len(best) == 1 and not is_flat(list(scores))
    right = own in best
    return {
        "named": float(named),
        "success": float(named and right),
        "eccentricity": ecc,
        "right": float(right),
        "top1": right / len(best),
    }
