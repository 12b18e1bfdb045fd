"""Scoreboard-RH once more, record by record in plain Python (NS §4, §5).

Nothing here is shared with the package but the tables themselves: a record is a dict
``item -> Cell``, a score a float.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.integrate import quad

from starshade.ratings.scale import Scale
from starshade.ratings.table import UNKNOWN_DAY, Ratings
from starshade.release.cells import Cells
from starshade.release.columns import Columns

SLACK = 1e-9


@dataclass(frozen=True)
class Cell:
    """What one released cell may be: some ratings or a range of them, null possibly too."""

    members: tuple[float, ...] = ()
    null: bool = False
    bounds: tuple[float, float] | None = None
    day: int | None = None

    def rated(self, minimum: float) -> bool:
        """Whether some member is a rating."""
        in_range = self.bounds is not None and self.bounds[1] >= minimum - SLACK
        return bool(self.members) or in_range


Record = dict[int, Cell]


@dataclass(frozen=True)
class Clue:
    """One thing known: an item, and its rating and day where they are known."""

    item: int
    rating: float | None
    day: int | None


@dataclass(frozen=True)
class Attack:
    """The settings."""

    scale: Scale
    phi: float = 1.5
    rho0: float | None = None
    d0: float = 30.0
    theta: float = 1.0
    dated: bool = False  # the data carry days
    bits: int | None = None  # terms rounded to 2^-bits first; None: the paper's real numbers

    @property
    def reach(self) -> float:
        if self.rho0 is not None:
            return self.rho0
        return 0.375 * self.scale.width or math.inf


@dataclass(frozen=True)
class Found:
    """What came of one target."""

    matched: bool
    success: bool
    false_match: bool
    disclosed: bool
    expected_top1: float
    entropy_bits: float
    entropy_bits_profile: float
    eccentricity: float
    profile_eccentricity: float


def records_of(rows: Cells | Columns) -> list[Record]:
    """Write every record out, as often as its row has it."""
    if isinstance(rows, Columns):
        return [
            {
                int(item): Cell((float(rows.symbols.members[rows.levels[item, g] - 1]),))
                for item in range(rows.n_items)
                if rows.levels[item, g]
            }
            for g in range(rows.n_groups)
            for _ in range(int(rows.sizes[g]))
        ]
    out = []
    for g in range(rows.n_groups):
        record: Record = {}
        for p in range(rows.indptr[g], rows.indptr[g + 1]):
            s = rows.codes[p]
            day = None if rows.days is None or rows.days[p] == UNKNOWN_DAY else int(rows.days[p])
            symbols = rows.symbols
            bounds = (float(symbols.low[s]), float(symbols.high[s]))
            record[int(rows.columns[p])] = Cell(
                tuple(symbols.members[symbols.offsets[s] : symbols.offsets[s + 1]].tolist()),
                bool(symbols.null[s]),
                None if math.isnan(bounds[0]) else bounds,
                day,
            )
        out += [record] * int(rows.sizes[g])
    return out


def records_of_table(table: Ratings) -> list[Record]:
    """Write an original table out."""
    values = table.values()
    out = []
    for u in range(table.n_users):
        record: Record = {}
        for p in range(table.indptr[u], table.indptr[u + 1]):
            day = None
            if table.days is not None and table.days[p] != UNKNOWN_DAY:
                day = int(table.days[p])
            record[int(table.columns[p])] = Cell((float(values[p]),), day=day)
        out.append(record)
    return out


def weight(records: list[Record], item: int, scale: Scale) -> float:
    """wt(i) = 1/ln|supp(i)|, fewer than two raters taken as two."""
    raters = sum(1 for r in records if item in r and r[item].rated(scale.minimum))
    return 1 / math.log(max(raters, 2))


def likeness(rating: float, cell: Cell, attack: Attack) -> float:
    """Mean of e^(-|rating - v|/ρ0) over the members v, a null member adding 0."""

    def near(v: float) -> float:
        return math.exp(-abs(rating - v) / attack.reach)

    if cell.bounds is None:
        return sum(near(v) for v in cell.members) / (len(cell.members) + cell.null)
    low, high = cell.bounds
    start = max(low, attack.scale.minimum)
    if high < start:
        return 0.0
    if high - low <= SLACK:
        return near(high)
    # a narrow peak would be stepped over
    reach = attack.reach if math.isfinite(attack.reach) else 0.0
    steps = (rating + n * reach for n in (-30, -5, -1, 0, 1, 5, 30))
    kinks = sorted({point for point in steps if start < point < high})
    area, _ = quad(near, start, high, points=kinks or None, epsabs=1e-13, epsrel=1e-12)
    return area / (high - low)


def rated_share(cell: Cell, attack: Attack) -> float:
    """Say how much of a cell is a rating: what is known is the item alone."""
    return likeness(0.0, cell, replace(attack, rho0=math.inf))


def score(record: Record, clues: list[Clue], records: list[Record], attack: Attack) -> float:
    """Score(aux, r') of NS §4."""
    total = 0.0
    for clue in clues:
        if clue.item not in record:
            continue
        cell = record[clue.item]
        terms = []
        if clue.rating is not None:
            terms.append(likeness(clue.rating, cell, attack))
        if clue.day is not None and attack.dated and cell.day is not None:
            terms.append(math.exp(-abs(clue.day - cell.day) / attack.d0))
        if clue.rating is None and (clue.day is None or not attack.dated):
            terms.append(rated_share(cell, attack))
        wt = weight(records, clue.item, attack.scale)
        if attack.bits is None:
            total += wt * sum(terms)
        else:
            total += sum(math.floor(wt * t * 2**attack.bits + 0.5) for t in terms)
    return total


def agrees(record: Record, truth: Record, attack: Attack) -> bool:
    """Sim(record, truth) >= θ: the share of agreeing items among those that either rates."""
    agreeing = union = 0
    for item in record.keys() | truth.keys():
        cell, true = record.get(item), truth.get(item)
        if true is None:
            if cell is None or not cell.rated(attack.scale.minimum):
                continue  # null on both sides
            same = cell.null
        elif cell is None:
            same = False
        else:
            rating = true.members[0]
            same = any(abs(rating - v) <= SLACK for v in cell.members)
            if cell.bounds is not None:
                low = max(cell.bounds[0], attack.scale.minimum)
                same = low - SLACK <= rating <= cell.bounds[1] + SLACK
            if attack.dated:
                same = same and cell.day == true.day
        union += 1
        agreeing += same
    return union == 0 or agreeing / union >= attack.theta - SLACK


def eccentricity(scores: list[float]) -> float:
    """(max - max2)/σ, max2 counted with repetition; 0 where all scores are equal."""
    if len(scores) < 2 or is_flat(scores):
        return 0.0
    best, second = sorted(scores, reverse=True)[:2]
    return 0.0 if ties(best, second) else (best - second) / float(np.std(scores))


def ties(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def is_flat(scores: list[float]) -> bool:
    return ties(max(scores), min(scores))


def find(
    records: list[Record],
    clues: list[Clue],
    truth: Record,
    attack: Attack,
    *,
    own: int | None,
    told: int | None = None,
) -> Found:
    """Attack one target: `own` is the number of their record, None where it is not known."""
    everyone = records
    who = list(range(len(records)))
    if told is not None:
        who = [
            i
            for i in who
            if told / 1.5
            <= sum(c.rated(attack.scale.minimum) for c in records[i].values())
            <= told / 0.5
        ]
    scores = [score(records[i], clues, everyone, attack) for i in who]
    agreeing = [j for j, i in enumerate(who) if agrees(records[i], truth, attack)]
    prior = math.log2(len(everyone))
    if not who:
        return Found(False, False, False, False, 0.0, prior, prior, 0.0, 0.0)
    top = max(scores)
    tied = [j for j, s in enumerate(scores) if ties(s, top)]
    right = (
        any(who[j] == own for j in tied) if own is not None else any(j in agreeing for j in tied)
    )
    ecc = eccentricity(scores)
    matched = len(tied) == 1 and not is_flat(scores) and ecc >= attack.phi - 1e-9
    profiles: list[tuple[Record, float]] = []
    for j, i in enumerate(who):
        if all(records[i] != profile for profile, _ in profiles):
            profiles.append((records[i], scores[j]))
    profile_scores = [s for _, s in profiles]
    profile_ecc = eccentricity(profile_scores)
    best_profiles = [r for r, s in profiles if ties(s, top)]
    sigma = 0.0 if is_flat(scores) else float(np.std(scores))
    mass = [math.exp((s - top) / sigma) if sigma else 1.0 for s in scores]
    pi = [m / sum(mass) for m in mass]
    return Found(
        matched=matched,
        success=matched and right,
        false_match=matched and not right,
        disclosed=len(best_profiles) == 1
        and not is_flat(profile_scores)
        and profile_ecc >= attack.phi - 1e-9
        and agrees(best_profiles[0], truth, attack),
        expected_top1=1 / len(tied) if right else 0.0,
        entropy_bits=min((-math.log2(pi[j]) for j in agreeing), default=prior),
        entropy_bits_profile=-math.log2(sum(pi[j] for j in agreeing)) if agreeing else prior,
        eccentricity=ecc,
        profile_eccentricity=profile_ecc,
    )


def matched_without(
    records: list[Record], clues: list[Clue], attack: Attack, *, own: int, told: int | None = None
) -> bool:
    """Whether a record stands out once the target's is taken out."""
    rest = records[:own] + records[own + 1 :]
    if not rest:
        return False
    return find(rest, clues, {}, attack, own=None, told=told).matched
