"""Scores of Scoreboard-RH over rows with multiplicity, block by block (NS §4, §5).

For each target the few cells that the adversary knows are looked up item by item, and each
rater's row gets the item's contribution added. What is added is a table look-up: one entry per
cell content and one per day, in whole units of 2^-20 (fewer bits where more than 709 cells are
known, so that a score fits 31 bits). Whole numbers make scores of equal terms equal, and sums exact
whatever the order: one block or many, one thread or more, give the same bits.

Three stages, so that rows may come in blocks::

    blocks ── score ──> summaries ── merge (summary.py) ──> one summary per target
    blocks ── weigh (given the merged summary) ──> masses of exp(Score/σ), which add up
    one block ── attack = both at once, scores computed once
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from starshade.kernels.arrays import Array, Bools, Floats, Int32s, Ints, in_chunks, inner
from starshade.kernels.attack.agreement import (
    Contents,
    Rows,
    Truth,
    agrees,
    content_of,
    of_like_length,
)
from starshade.kernels.attack.postings import (
    EVERY_ROW,
    add_known,
    is_candidate,
    list_candidates,
    list_repeats,
    list_touched,
    scratch,
)
from starshade.kernels.attack.summary import (
    SUMMARY,
    leave_out,
    mass,
    mass_unit,
    power,
    powers,
    sigma,
    summarize,
)
from starshade.kernels.warm import announce

_SPARSE = 8  # look at touched rows only when they are fewer than one in this many
_LOG2E = math.log2(math.e)


class Block(NamedTuple):
    """Some rows of what the adversary sees.

    first : number of the first row among all rows
    cuts, local : raters item by item, in windows of rows; from `windows_of`
    codes, days : what they gave and when; `days` is empty where none are released
    last_day : the greatest of `days`, 0 where there are none
    sizes : records of each row
    copies : records of all rows that equal it, itself included
    repeats : rows that equal an earlier one, in this block or before
    support : rated items of each row
    rows_below, records_below : rows and records with fewer than s rated items, s = 0…items + 1
    single : every row is one record
    by_row : the same cells row by row, read only where agreement must be judged
    """

    first: int
    cuts: Ints
    local: NDArray[np.uint16]
    codes: Array
    days: NDArray[np.uint16]
    last_day: int
    sizes: Ints
    copies: Ints
    repeats: Ints
    support: Int32s
    rows_below: Ints
    records_below: Ints
    single: bool
    by_row: Rows


class Aux(NamedTuple):
    """What is known of each target, shape (targets, known) unless said otherwise.

    item : position among the block's items, -1 where it is not released
    weight : wt(i) of NS §4
    sim : row of `Tables.similarity`; -1 reads the similarity from `rating` and `Tables.levels`
    rating : NaN where not known
    day : NO_DAY where not known
    own : the target's row among all rows, -1 where it is unknown; shape (targets,)
    user : the target's row in `Truth`; shape (targets,)
    least, most : rows with fewer or more rated items are no candidates; shape (targets,);
        0 and EVERY_ROW where all are
    """

    item: Int32s
    weight: Floats
    sim: Int32s
    rating: Floats
    day: Int32s
    own: Ints
    user: Ints
    least: Ints
    most: Ints


class Tables(NamedTuple):
    """What a cell is worth.

    similarity : shape (q, contents), in [0, 1]
    levels : the rating of each content where every content is one rating, else empty
    decay : e^(-Δ/d0) by difference in days Δ, until it is worth nothing
    unit : 2^bits, the whole units of 1.0
    """

    similarity: Floats
    levels: Floats
    rho0: float
    decay: Floats
    unit: float


class Goal(NamedTuple):
    """What is asked about the target itself.

    own_only : no row but the target's own and its copies can agree with its truth (an
        ungeneralized table)
    absent : one record is taken out of the target's own row first; profiles do not matter then
    """

    truth: Truth
    contents: Contents
    theta: float
    own_only: bool
    absent: bool


#: sums of 2^((Score - reference)·log2(e)/σ) in whole units: over all records, the reference
#: being the top; over the records that agree with the target, the reference being their best
MASSES = np.dtype([("total", np.int64), ("agreeing", np.int64)])


def fraction_bits(known: int) -> int:
    """Bits behind the point: 20, or fewer where `known` cells, at most 2/ln 2 each, sum to 2^31."""
    return min(20, math.floor(math.log2((2**31 - 1) / (known * (2 / math.log(2) + 2**-20)))))


def holds(rows: Rows, rated: Bools, own: Ints, item: Int32s) -> Bools:
    """Tell which known items the target's own row holds a rating of."""
    return np.asarray(_holds(rows, rated, own, item))


@njit(cache=True, nogil=True)
def _holds(rows, rated, own, item):  # type: ignore[no-untyped-def]
    out = np.zeros(item.shape, np.bool_)
    for t in range(len(own)):
        if own[t] < 0:
            continue
        for j in range(item.shape[1]):
            if item[t, j] >= 0:
                content = content_of(own[t], item[t, j], rows)
                out[t, j] = content >= 0 and rated[content]
    return out


def scores(block: Block, aux: Aux, tables: Tables) -> Int32s:
    """Return every row's score for every target, in whole units: to look at, not to attack with."""
    out = np.zeros((len(aux.item), len(block.sizes)), dtype=np.int32)
    _scores(block, aux, tables, out)
    return out


@njit(cache=True, nogil=True)
def _scores(block, aux, tables, out):  # type: ignore[no-untyped-def]
    worth, day_worth = scratch(aux.item.shape[1], block.last_day, tables)
    for t in range(len(out)):
        add_known(t, block, aux, tables, out[t], worth, day_worth)


def score(block: Block, aux: Aux, tables: Tables, goal: Goal) -> Array:
    """Summarize one block of rows for every target; `merge` joins the blocks."""
    summaries = np.zeros(len(aux.item), dtype=SUMMARY)
    masses = np.zeros(len(aux.item), dtype=MASSES)
    _run(block, aux, tables, goal, 1, summaries, masses, merged=False, weighed=False)
    return summaries


def weigh(block: Block, aux: Aux, tables: Tables, goal: Goal, merged: Array, records: int) -> Array:
    """Give one block's share of the masses, once the summary of all blocks is known."""
    masses = np.zeros(len(aux.item), dtype=MASSES)
    _run(block, aux, tables, goal, records, merged.copy(), masses, merged=True, weighed=True)
    return masses


def attack(block: Block, aux: Aux, tables: Tables, goal: Goal) -> tuple[Array, Array]:
    """Summarize and weigh the only block there is, scoring it once."""
    summaries = np.zeros(len(aux.item), dtype=SUMMARY)
    masses = np.zeros(len(aux.item), dtype=MASSES)
    records = int(block.records_below[-1])
    _run(block, aux, tables, goal, records, summaries, masses, merged=False, weighed=True)
    return summaries, masses


def _run(
    block: Block,
    aux: Aux,
    tables: Tables,
    goal: Goal,
    records: int,
    summaries: Array,
    masses: Array,
    *,
    merged: bool,
    weighed: bool,
) -> None:
    announce("the attack", _chunk)
    shared = (block, aux, tables, goal, mass_unit(records), merged, weighed, summaries, masses)
    in_chunks(_chunk, len(summaries), *shared)


@njit(cache=True, nogil=True)
def _chunk(start, stop, block, aux, tables, goal, unit, merged, weighed, summaries, masses):  # type: ignore[no-untyped-def]
    n_rows = len(block.sizes)
    scores = np.zeros(n_rows, np.int32)
    worth, day_worth = scratch(aux.item.shape[1], block.last_day, tables)
    values, weights = np.empty(n_rows, np.int32), np.empty(n_rows, np.int64)
    repeated = np.empty(len(block.repeats), np.int32)
    n_agreeing = 1 if goal.own_only else n_rows
    alike, alike_weights = np.empty(n_agreeing, np.int32), np.empty(n_agreeing, np.int64)
    for t in range(start, stop):
        own = aux.own[t] - block.first
        own = own if aux.own[t] >= 0 and 0 <= own < n_rows else -1
        touched = add_known(t, block, aux, tables, scores, worth, day_worth)
        out = summaries[t]
        n_alike = 0
        if not goal.absent:
            n_alike = _find_agreeing(t, own, block, aux, goal, scores, alike, alike_weights)
        if not merged:
            out["own"], out["best"] = -1, -1
            if own >= 0 and not goal.absent and is_candidate(own, t, block, aux):
                out["own"] = scores[own]
            for i in range(n_alike):
                out["best"] = max(out["best"], alike[i])
        n_repeated = 0 if goal.absent else list_repeats(t, block, aux, scores, repeated)
        sparse = touched * _SPARSE < n_rows
        whole = not sparse and not goal.absent and aux.most[t] == EVERY_ROW
        zero_rows, zero_records = 0, 0
        if whole:
            n = n_rows
            some, some_weights = scores, block.sizes
        else:
            if sparse:
                n, zero_rows, zero_records = list_touched(
                    t, own, block, aux, goal.absent, scores, values, weights
                )
            else:
                n = list_candidates(t, own, block, aux, goal.absent, scores, values, weights)
            some, some_weights = values[:n], weights[:n]
        if not merged:
            summarize(some, some_weights, block.single, zero_records, zero_rows, out)
            leave_out(repeated[:n_repeated], out)
        if weighed:
            coarse, fine = powers(out["top"], _rate(out), unit)
            zeros = zero_records * power(out["top"], coarse, fine) if zero_records > 0 else 0
            masses[t]["total"] = zeros + mass(
                some, some_weights, block.single, out["top"], coarse, fine, values
            )
            masses[t]["agreeing"] = mass(
                alike[:n_alike], alike_weights[:n_alike], False, out["best"], coarse, fine, alike
            )
        if not sparse:
            scores[:] = 0


@inner
def _rate(summary):  # type: ignore[no-untyped-def]
    """log2(e) / σ; 0 where all scores are equal, which makes the distribution uniform."""
    if summary["runner_up"] < 0:
        return 0.0
    spread = sigma(
        summary["records"], summary["total"], summary["square_high"], summary["square_low"]
    )
    return _LOG2E / spread


@inner
def _find_agreeing(t, own, block, aux, goal, scores, alike, weights):  # type: ignore[no-untyped-def]
    """List the scores of candidates that agree with the target's truth; return how many."""
    n, user, ends, rated = 0, aux.user[t], block.by_row.indptr, 0
    dense = len(block.by_row.levels) > 0 and not goal.own_only
    if dense:  # of a shard users may be others than those of the truth
        rated = goal.truth.indptr[user + 1] - goal.truth.indptr[user]
    first, last = (own, own + 1) if goal.own_only else (0, len(block.sizes))
    for row in range(max(first, 0), last):
        if dense and not of_like_length(ends[row + 1] - ends[row], rated, goal.theta):
            continue
        if is_candidate(row, t, block, aux) and (
            goal.own_only or agrees(row, block.by_row, user, goal.truth, goal.contents, goal.theta)
        ):
            alike[n] = scores[row]
            weights[n] = block.copies[row] if goal.own_only else block.sizes[row]
            n += 1
    return n
