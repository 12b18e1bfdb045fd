"""Who matches m known items, and how like the target they are: what Theorems 1 to 4 speak of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.sparsity.few_facts import facts_needed, lineup_facts
from starshade.attack.view import View
from starshade.audit.reproduction.claims import Untestable
from starshade.audit.reproduction.ns.bench import Bench, Runs
from starshade.audit.reproduction.parts import Part
from starshade.ratings.table import Ratings

EPS, DELTA, LINEUP = 0.05, 0.5, 10
_SLACK = 1e-9


@dataclass(frozen=True)
class Facts:
    """How many facts each theorem asks for here."""

    printed: int  # Theorems 1, 2, 4
    lineup: int  # Theorem 3
    mended: int | None  # with coverage in place of Sim; None: no number suffices


def facts_of(bench: Bench) -> Facts:
    """Count the facts, items alone known."""
    of_items = [each for each in bench.few_facts if each.eps == EPS]  # the weakest comes first
    records = bench.ratings.n_users
    return Facts(
        facts_needed(records, EPS, DELTA),
        max(1, lineup_facts(records, LINEUP, DELTA)),
        of_items[0].proven_facts,
    )


def matched(bench: Bench, facts: int) -> Runs:
    """Match so many items of those who rated as many."""
    knowledge = Knowledge(known=facts, ratings=False, dates=False)

    def make(view: View, known: Known, run: int) -> Part:
        rows = [_one(view.original, known, t) for t in range(len(known))]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    return bench.each("matching sets of items", knowledge, None, "", make)


def _one(table: Ratings, known: Known, t: int) -> dict[str, float]:
    own = int(known.users[t])
    rows = matching(table, known.items[t])
    common, like = _common(table, own, rows)
    covered = common / table.user_support[own]
    others = rows != own
    return {
        "candidates": float(len(rows)),
        "credit": 1 / len(rows),
        "like": float((like >= 1 - EPS - DELTA - _SLACK).mean()),
        "covering": float((covered >= 1 - DELTA - _SLACK).mean()),
        "left": bool(others.any()),
        "false": float((covered[others] < 1 - DELTA - _SLACK).sum()),
        "uncovering": bool((covered[others] < 1 - DELTA - _SLACK).any()),
    }


def _common(
    table: Ratings, own: int, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return how many items rows have in common with a row, and their Sim to it."""
    truth = _items(table, own)
    common = np.array(
        [len(np.intersect1d(truth, _items(table, row), assume_unique=True)) for row in rows]
    )
    union = len(truth) + table.user_support[rows] - common
    return common, np.where(union > 0, common / np.maximum(union, 1), 1.0)


def sims(table: Ratings, own: int, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the Sim of rows to a row, counting items alone."""
    return _common(table, own, rows)[1]


def _items(table: Ratings, row: int) -> NDArray[np.int32]:
    return table.columns[table.indptr[row] : table.indptr[row + 1]]


def matching(table: Ratings, items: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the rows that rated all of these items."""
    by_item = table.by_item
    raters = sorted(
        (by_item.users[by_item.indptr[item] : by_item.indptr[item + 1]] for item in items), key=len
    )
    rows = raters[0]
    for others in raters[1:]:
        rows = np.intersect1d(rows, others, assume_unique=True)
    return rows.astype(np.int64)


def need(facts: int | None) -> int:
    """Return how many, or say that none suffice."""
    if facts is None:
        raise Untestable("too many records are covered whole by another one: no number suffices")
    return facts
