"""The attacks by candidates once more, record by record in plain Python (NS §4, PA §3).

Records, cells and clues are those of the twin of Scoreboard-RH.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tests.naive.scoreboard_rh import SLACK, Attack, Cell, Clue, Record, agrees


@dataclass(frozen=True)
class Within:
    """How far a cell may be from what is known; infinity: it does not matter."""

    rating: float = math.inf
    day: float = math.inf


@dataclass(frozen=True)
class Found:
    """What came of one target."""

    records: int
    agreeing: int
    credit: float
    false_match: bool
    disclosed: bool
    entropy_bits: float
    entropy_bits_profile: float


def sim(clue: Clue, cell: Cell | None, within: Within, attack: Attack) -> bool:
    """Sim(aux_i, r'_i) of NS §4: 1 when rating and day are within their thresholds."""
    if cell is None or not cell.rated(attack.scale.minimum):
        return False
    if clue.rating is not None and within.rating < math.inf:
        near = [abs(clue.rating - v) <= within.rating + SLACK for v in cell.members]
        if cell.bounds is not None:
            low, high = max(cell.bounds[0], attack.scale.minimum), cell.bounds[1]
            nearest = min(max(clue.rating, low), high)
            near.append(abs(clue.rating - nearest) <= within.rating + SLACK)
        if not any(near):
            return False
    if clue.day is not None and within.day < math.inf and attack.dated:
        return cell.day is not None and abs(clue.day - cell.day) <= within.day
    return True


def matching_set(
    records: list[Record], clues: list[Clue], within: Within, attack: Attack, told: int | None
) -> list[int]:
    """{r' : min over the known items of Sim(aux_i, r'_i) > α}, for any α in [0, 1)."""
    out = []
    for number, record in enumerate(records):
        rated = sum(cell.rated(attack.scale.minimum) for cell in record.values())
        if told is not None and not told / 1.5 <= rated <= told / 0.5:
            continue
        if min(sim(clue, record.get(clue.item), within, attack) for clue in clues):
            out.append(number)
    return out


def find(
    records: list[Record],
    clues: list[Clue],
    truth: Record,
    within: Within,
    attack: Attack,
    *,
    own: int | None,
    told: int | None = None,
) -> Found:
    """Attack one target: `own` is the number of their record, None where it is not known."""
    matching = matching_set(records, clues, within, attack, told)
    t = len(matching)
    agreeing = [number for number in matching if agrees(records[number], truth, attack)]
    right = bool(agreeing) if own is None else own in matching
    prior = math.log2(len(records))
    return Found(
        records=t,
        agreeing=len(agreeing),
        credit=1 / t if right else 0.0,
        false_match=t > 0 and not right,
        disclosed=t > 0
        and all(records[number] == records[matching[0]] for number in matching)
        and bool(agreeing),
        entropy_bits=math.log2(t) if agreeing else prior,
        entropy_bits_profile=-math.log2(len(agreeing) / t) if agreeing else prior,
    )


def matches_without(
    records: list[Record],
    clues: list[Clue],
    within: Within,
    attack: Attack,
    *,
    own: int,
    told: int | None = None,
) -> bool:
    """Whether anybody fits once the target's record is taken out."""
    rest = records[:own] + records[own + 1 :]
    return bool(matching_set(rest, clues, within, attack, told))
