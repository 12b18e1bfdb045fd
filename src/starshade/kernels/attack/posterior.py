"""What an attack must remember of the chances of all rows, and how blocks of them become one.

A chance is a number with an exponent of its own: hundreds of facts neither vanish nor overflow.
All are set beside the greatest one, as whole numbers of a fixed unit, so that sums are the same in
any order. Rows may be equal, and a row stands for one or more equal records: these together are a
*class*, as likely as its records together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from starshade.kernels.arrays import Array, Bools, Floats, Ints, fixed, inner
from starshade.kernels.attack.agreement import Contents, Rows, Truth, agrees

SAME = 1e-9  # posteriors are equal when they differ by less than this share
DIGITS, _BASE = 5, 2.0**31  # of a sum: ones, then four in whole 2**31sts of the one before
_HALVED = np.ldexp(1.0, -np.arange(1001))  # a product with it is what ldexp gives, and faster

#: of each target: greatest chance, as ``chance * 2 ** power``; records that have it; whether one of
#: them is right (the target's own; where that is unknown, one that agrees with the truth); first of
#: their rows; all chances over the greatest, in units of `mass_unit`; log2 of the right record's
#: over the greatest (of several the likeliest), -inf where it is impossible; chances of all right
#: records; of the likeliest class: its chance, how many have it, whether a right one, first of
#: their rows, and whether it agrees with the truth; chance of a stranger over the greatest; cells
#: looked at
FOUND = np.dtype(
    [
        ("chance", np.float64),
        ("power", np.int64),
        ("tied", np.int64),
        ("right_tied", np.bool_),
        ("top", np.int64),
        ("mass", np.int64),
        ("right", np.float64),
        ("right_mass", np.int64),
        ("class_mass", np.float64),
        ("classes", np.int64),
        ("right_class", np.bool_),
        ("top_class", np.int64),
        ("true_class", np.bool_),
        ("stranger", np.float64),
        ("touched", np.int64),
    ]
)


#: of each target and pool of candidates: greatest chance in the pool, as ``chance * 2 ** power``;
#: records that have it, and whether the target's is one of them; all chances over the greatest, in
#: units of `mass_unit`
POOLED = np.dtype(
    [
        ("chance", np.float64),
        ("power", np.int64),
        ("tied", np.int64),
        ("right", np.bool_),
        ("mass", np.int64),
    ]
)


class Pools(NamedTuple):
    """Nested pools of candidates of each target: its record, and those next to it on a circle.

    place : where the records of each row begin on a circle of all records
    own : the same of each target's row, shape (targets,)
    sizes : records of each pool, ascending; empty: there are no pools
    total : records on the circle
    chance, power : greatest chance of all blocks, shape (targets, pools); or empty
    found : filled with POOLED, shape (targets, pools)
    """

    place: Ints
    own: Ints
    sizes: Ints
    total: int
    chance: Floats
    power: Ints
    found: Array

    @classmethod
    def none(cls) -> Pools:
        """Return that there are no pools."""
        nothing, few = fixed(np.empty(0, np.int64)), np.empty((0, 0))
        power, found = fixed(few.astype(np.int64)), np.empty((0, 0), POOLED)
        return cls(nothing, nothing, nothing, 1, fixed(few), power, found)


class Sums(NamedTuple):
    """What is added up over all rows for the chance of a stranger, in the digits of `add`.

    records : that somebody else may be, shape (targets,)
    cells : items that they rated, on average, shape (targets, DIGITS)
    told : chance of the number of ratings that is known, likewise
    right, wrong : chances of each fact, shape (targets, known, DIGITS); where items may be wrong,
        `wrong` is how many rated the item
    """

    records: Ints
    cells: Ints
    told: Ints
    right: Ints
    wrong: Ints

    @classmethod
    def of_nobody(cls, targets: int, known: int) -> Sums:
        """Return sums over no row."""
        each, fact = (targets, DIGITS), (targets, known, DIGITS)
        shapes = (targets,), each, each, fact, fact
        return cls(*(np.zeros(shape, dtype=np.int64) for shape in shapes))


class Goal(NamedTuple):
    """Whose record is right, and which records are alike.

    sizes, copies : records of each row, and of all rows that equal it
    again : rows that equal an earlier one
    class_of : class of each row, whose masses are summed; empty: classes are equal rows
    own, users : row and number of each target, shape (targets,); own -1: unknown
    own_class : class of each target, where classes are summed, shape (targets,)
    masses : where classes are summed, filled with what each has, shape (targets, classes); or empty
    rows, truth, contents : what agrees with the truth, where a target's row is unknown
    own_only : only the target's own row, and those that equal it, agree with the truth
    absent : one record of the target's row is not there
    strangers : whether the target may be a stranger
    sums : over all rows, where `chance` is that of all blocks; else of nobody, to be filled; or of
        no target
    chance, power : of each target the greatest chance of all blocks, shape (targets,); or empty
    pools : candidates among whom the target's record is weighed too, where it is known
    first : number of the first row
    unit : of masses
    """

    sizes: Ints
    copies: Ints
    again: Bools
    class_of: Ints
    own: Ints
    users: Ints
    own_class: Ints
    masses: Ints
    rows: Rows
    truth: Truth
    contents: Contents
    own_only: bool
    absent: bool
    strangers: bool
    sums: Sums
    chance: Floats
    power: Ints
    pools: Pools
    first: int
    unit: float


@njit(cache=True, nogil=True)
def sum_up(t, listed, chance, power, stranger, goal, masses, out):  # type: ignore[no-untyped-def]
    """Fill one FOUND from the chances of the rows that are listed, `chance * 2 ** power`.

    stranger : chance, with its exponent; masses : scratch, of zeros, one of each class. Afterwards
    `chance` holds shares of the greatest.
    """
    _sum_up_pools(t, listed, chance, power, goal)
    best, e = _greatest(t, listed, chance, power, goal)
    out["chance"], out["power"] = best, e
    out["top"], out["top_class"], out["right"] = -1, -1, -math.inf
    if best == 0.0:
        out["stranger"] = math.inf if stranger[0] > 0 else 0.0
        return
    by = int(min(max(stranger[1] - e, -1_000), 1_000))
    out["stranger"] = math.ldexp(stranger[0] / best, by)
    own = goal.own[t]
    for i in range(len(listed)):
        row = listed[i]
        exactly, above = chance[i] / best, power[i] - e
        share = chance[i] = _times(exactly, above)
        size = goal.sizes[row] - (goal.absent and row + goal.first == own)
        if size == 0:
            continue
        mass = np.int64(share * goal.unit + 0.5) * size
        out["mass"] += mass
        right = row + goal.first == own
        if own < 0:
            right = agrees(
                np.int64(row), goal.rows, np.int64(goal.users[t]), goal.truth, goal.contents, 1.0
            )
        if share >= 1.0 - SAME:
            out["tied"] += size
            out["right_tied"] = out["right_tied"] or right
            if out["top"] < 0:
                out["top"] = row + goal.first
        if right:
            out["right"] = max(out["right"], math.log2(exactly) + above)
            out["right_mass"] += mass
    _sum_up_classes(t, listed, chance, goal, masses, out)


@inner
def add(x, times, digits):  # type: ignore[no-untyped-def]
    """Add a product of x, from 0 on, to a sum; nothing is carried, so any order gives the same.

    times : whole, may be negative
    """
    start = 0
    if x < 1.0:  # as nearly all are
        start, x = 1, x * _BASE
    for i in range(start, DIGITS):
        if x == 0.0:
            break
        whole = np.int64(x)
        digits[i] += times * whole
        x = (x - whole) * _BASE


@inner
def sum_of(digits):  # type: ignore[no-untyped-def]
    """Return what was added up."""
    out = 0.0
    for i in range(len(digits) - 1, -1, -1):
        out = out / _BASE + digits[i]
    return out


@inner
def _times(share, power):  # type: ignore[no-untyped-def]
    """Return ``share * 2 ** power``, of a share near 1; no power is below -1,000."""
    if power <= 0:
        return share * _HALVED[min(-power, 1_000)]
    return math.ldexp(share, int(power))


@inner
def _greatest(t, listed, chance, power, goal):  # type: ignore[no-untyped-def]
    if len(goal.chance) > 0:
        return goal.chance[t], goal.power[t]
    best, e = 0.0, np.int64(0)
    for i in range(len(listed)):
        row = listed[i]
        here = goal.sizes[row] - (goal.absent and row + goal.first == goal.own[t]) > 0
        if here and (best == 0.0 or (power[i], chance[i]) > (e, best)):
            best, e = chance[i], power[i]
    return best, e


@inner
def _sum_up_pools(t, listed, chance, power, goal):  # type: ignore[no-untyped-def]
    """Fill the POOLED of a target; a row is in every pool from the smallest on that holds it."""
    pools, n = goal.pools, len(goal.pools.sizes)
    for i in range(len(listed) if n > 0 else 0):
        for q in range(_smallest(listed[i], t, pools), n):
            out = pools.found[t, q]
            if len(pools.chance) > 0:
                out["chance"], out["power"] = pools.chance[t, q], pools.power[t, q]
            elif out["chance"] == 0.0 or (power[i], chance[i]) > (out["power"], out["chance"]):
                out["chance"], out["power"] = chance[i], power[i]
    for i in range(len(listed) if n > 0 else 0):
        row = listed[i]
        for q in range(_smallest(row, t, pools), n):
            out = pools.found[t, q]
            share = _times(chance[i] / out["chance"], power[i] - out["power"])
            out["mass"] += np.int64(share * goal.unit + 0.5) * goal.sizes[row]
            if share >= 1.0 - SAME:
                out["tied"] += goal.sizes[row]
                out["right"] = out["right"] or row + goal.first == goal.own[t]


@inner
def _smallest(row, t, pools):  # type: ignore[no-untyped-def]
    """Return the smallest pool of a target that holds a row; their number if none does."""
    away = pools.place[row] - pools.own[t]
    if away < 0:
        away += pools.total
    q = 0
    while q < len(pools.sizes) and pools.sizes[q] <= away:
        q += 1
    return q


@inner
def _sum_up_classes(t, listed, shares, goal, masses, out):  # type: ignore[no-untyped-def]
    """Find the likeliest class; one of several rows is looked at where it comes first."""
    summed, most = len(goal.class_of) > 0, 0.0
    for i in range(len(listed)):
        row = listed[i]
        share = shares[i] * goal.copies[row]
        if summed:
            kind = goal.class_of[row]
            masses[kind] += np.int64(shares[i] * goal.unit + 0.5) * goal.sizes[row]
            share = masses[kind] / goal.unit
        most = max(most, share)
    out["class_mass"] = most
    if len(goal.masses) > 0:
        goal.masses[t, : len(masses)] = masses
    for i in range(len(listed)):
        row = listed[i]
        share = shares[i] * goal.copies[row]
        kind = row + goal.first
        right = kind == goal.own[t]
        if summed:
            kind = goal.class_of[row]
            right, share = kind == goal.own_class[t], masses[kind] / goal.unit
            masses[kind] = 0
        if share < most * (1.0 - SAME) or share == 0.0:
            continue
        if summed or not goal.again[row]:
            out["classes"] += 1
            if out["top_class"] < 0:
                out["top_class"] = kind
        if goal.own[t] < 0:
            right = agrees(
                np.int64(row), goal.rows, np.int64(goal.users[t]), goal.truth, goal.contents, 1.0
            )
        out["right_class"] = out["right_class"] or right
    out["true_class"] = out["right_class"]
    if not goal.own_only:
        row = out["top_class"] - goal.first
        known = out["top_class"] >= 0  # else its first row is in another block, and asked there
        out["true_class"] = known and agrees(
            row, goal.rows, goal.users[t], goal.truth, goal.contents, 1.0
        )


def greatest(parts: Sequence[Array]) -> tuple[Floats, Ints]:
    """Return the greatest chance that any block found, with its exponent; of FOUND or POOLED."""
    chance, power = parts[0]["chance"].copy(), parts[0]["power"].copy()
    for part in parts[1:]:
        above = (part["chance"] > 0) & (
            (chance == 0)
            | (part["power"] > power)
            | ((part["power"] == power) & (part["chance"] > chance))
        )
        chance[above], power[above] = part["chance"][above], part["power"][above]
    return chance, power


def merge_pools(one: Array, other: Array) -> Array:
    """Join the POOLED of two blocks of rows, beside the same greatest chances."""
    out = one.copy()
    out["tied"] += other["tied"]
    out["mass"] += other["mass"]
    out["right"] |= other["right"]
    for name in ("chance", "power"):  # a block without any row of a pool has none
        out[name] = np.where(one["chance"] > 0, one[name], other[name])
    return out


def merge(one: Array, other: Array) -> Array:
    """Join what two blocks of rows found, earlier rows first, beside the same greatest chance."""
    out = one.copy()
    for name in ("tied", "mass", "right_mass", "touched"):
        out[name] += other[name]
    out["right_tied"] |= other["right_tied"]
    out["right"] = np.maximum(one["right"], other["right"])
    out["top"] = np.where(one["top"] < 0, other["top"], one["top"])
    most = np.maximum(one["class_mass"], other["class_mass"])
    out["class_mass"] = most
    out["classes"], out["right_class"], out["top_class"] = 0, False, -1
    out["true_class"] = False
    for part in (other, one):
        here = (part["class_mass"] > 0) & (part["class_mass"] >= most * (1 - SAME))
        out["classes"] += np.where(here, part["classes"], 0)
        out["right_class"] |= here & part["right_class"]
        first = here & (part["top_class"] >= 0)
        for name in ("top_class", "true_class"):
            out[name] = np.where(first, part[name], out[name])
    for part in (one, other):  # the target's own row may be in another block than its class begins
        here = (part["class_mass"] > 0) & (part["class_mass"] >= most * (1 - SAME))
        out["true_class"] |= here & (part["top_class"] < 0) & part["true_class"]
    return out
