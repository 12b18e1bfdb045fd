"""Count the records that one or two facts of a person fit (definitions, "k-m")."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from starshade.kernels.arrays import Bools, Int32s, Ints, cut, fixed, place_after, run
from starshade.kernels.csr import transpose
from starshade.kernels.warm import announce


class Table(NamedTuple):
    """Facts row by row, ascending within a row, and rows fact by fact."""

    indptr: Ints
    facts: Int32s
    fact_ptr: Ints
    rows: Int32s


def facts_table(indptr: Ints, facts: Int32s, n_facts: int) -> Table:
    """Lay out rows of facts (numbers below `n_facts`), ascending within a row."""
    none = np.zeros(len(facts), np.uint8)
    fact_ptr, rows, _, _ = transpose(indptr, facts, none, None, n_facts)
    return Table(fixed(indptr), fixed(facts), fixed(fact_ptr), fixed(rows))


def pair_steps(table: Table) -> float:
    """Return how many pairs of facts stand in one row together, over all rows."""
    lengths = np.diff(table.indptr).astype(np.float64)
    return float((lengths * (lengths - 1)).sum() / 2)


class Pairs(NamedTuple):
    """What was found of pairs of facts that somebody holds together.

    fewest : shape (n_facts,); the fewest records above 0 that fit a pair whose lesser fact this is;
    `most` where there is none
    partner : shape (n_facts,); the first fact that makes such a pair, -1 where there is none
    at_risk : shape (n_people,); who holds a pair that some records fit, and fewer than k
    """

    fewest: Ints
    partner: Int32s
    at_risk: Bools


def count_pairs(told: Table, sizes: Ints, held: Table, skip: Bools, k: int) -> Pairs:
    """Count the records that pairs of facts fit.

    `told`: by record or class, of `sizes` (n_rows,) records. `held`: by person. `skip` (n_facts,):
    lesser facts that are left out.
    """
    announce("the check of k^m", _count_pairs)
    n, people = len(skip), len(held.indptr) - 1
    work = _beyond(told, n) + _beyond(held, n)
    lanes = cut(np.where(skip, 0, work) + 1, max(n, people))
    out = Pairs(
        np.full(n, sizes.sum(), np.int64),
        np.full(n, -1, np.int32),
        np.zeros((len(lanes), people), np.bool_),
    )

    def do(lane: int) -> None:
        first, last = lanes[lane]
        part = Pairs(out.fewest, out.partner, out.at_risk[lane])
        _count_pairs(first, last, told, sizes, held, skip, k, part)

    run(do, len(lanes), "counting pairs of ratings")
    return out._replace(at_risk=np.asarray(out.at_risk.any(axis=0)))


def _beyond(table: Table, n: int) -> Ints:
    """Return about how many facts stand beside each fact."""
    lengths = np.diff(table.indptr)
    beside = np.bincount(table.facts, np.repeat(lengths, lengths), n) / 2
    return np.asarray(beside.astype(np.int64))


@njit(cache=True, nogil=True)
def _count_pairs(first, last, told, sizes, held, skip, k, out):  # type: ignore[no-untyped-def]
    count = np.zeros(len(skip), np.int64)
    for f in range(first, last):
        if skip[f]:
            continue
        for p in range(told.fact_ptr[f], told.fact_ptr[f + 1]):
            row = told.rows[p]
            end = told.indptr[row + 1]
            for q in range(place_after(told.facts, told.indptr[row], end, f), end):
                count[told.facts[q]] += sizes[row]
        for p in range(held.fact_ptr[f], held.fact_ptr[f + 1]):
            person = held.rows[p]
            end = held.indptr[person + 1]
            for q in range(place_after(held.facts, held.indptr[person], end, f), end):
                fits = count[held.facts[q]]
                if fits == 0:
                    continue
                if fits < k:
                    out.at_risk[person] = True
                other = held.facts[q]
                if fits < out.fewest[f] or (fits == out.fewest[f] and other < out.partner[f]):
                    out.fewest[f] = fits
                    out.partner[f] = other
        for p in range(told.fact_ptr[f], told.fact_ptr[f + 1]):
            row = told.rows[p]
            end = told.indptr[row + 1]
            for q in range(place_after(told.facts, told.indptr[row], end, f), end):
                count[told.facts[q]] = 0
