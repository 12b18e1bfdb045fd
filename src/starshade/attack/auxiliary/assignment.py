"""A whole list at once: each name at most one record, each record at most one name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, csgraph_from_dense, shortest_path

from starshade import budget
from starshade.attack.auxiliary.compared import Compared, Errors
from starshade.errors import ConfigError
from starshade.naming import aside
from starshade.progress import task

Floats = NDArray[np.float64]
_UNIT = 2.0**24  # sums of whole numbers are exact: a tie is a tie
_BYTES = 40  # of each name and record that are weighed at once


@dataclass(frozen=True)
class Placed:
    """A name's row; -1: none is likelier than that they have no record.

    `lead`: by how much, in natural logarithms, the best list surpasses the best one in which this
    name is elsewhere. `chance`: of the row, all other names being where they are.
    """

    row: int = -1
    lead: float = 0.0
    chance: float = 0.0


def place(names: Sequence[Compared], errors: Errors, records: int) -> tuple[Placed, ...]:
    """Find the likeliest list, every name placed once and every record taken once at most."""
    one = np.log(errors.there / records) - np.log(1 - errors.there)
    gains = [np.round(np.maximum(name.logs(errors) + one, -1e6) * _UNIT) for name in names]
    edges = [_edges(gain, len(names)) for gain in gains]
    who = np.repeat(np.arange(len(names)), [len(edge) for edge in edges])
    rows = np.concatenate([n.rows[e] for n, e in zip(names, edges, strict=True)])
    worth = np.concatenate([g[e] for g, e in zip(gains, edges, strict=True)])
    sizes = np.concatenate([n.sizes[e] for n, e in zip(names, edges, strict=True)])
    _, column = np.unique(rows, return_inverse=True)
    n = len(names) + (int(column.max()) + 1 if len(column) else 0)
    graph = coo_array((np.ones(len(who)), (who, len(names) + column)), shape=(n, n))
    _, part = connected_components(graph, directed=False)
    found, taken = [Placed()] * len(names), dict[int, int]()
    held = sum(name.parts.nbytes for name in names)
    order = np.argsort(part[who], kind="stable")
    pieces = np.split(order, np.flatnonzero(np.diff(part[who][order])) + 1) if len(order) else []
    with task("matching the list", len(pieces)) as step:
        for piece in pieces:
            for name, row, lead in _solve(
                who[piece], rows[piece], worth[piece], sizes[piece], held
            ):
                found[name] = Placed(row, lead)
                taken[row] = taken.get(row, 0) + 1
            step(1)
    return tuple(
        each if each.row < 0 else Placed(each.row, each.lead, _chance(name, gain, one, each, taken))
        for each, name, gain in zip(found, names, gains, strict=True)
    )


def _edges(gain: Floats, names: int) -> NDArray[np.int64]:
    """Return the rows that a name may need: the others can take all but two, one is the next."""
    best = np.argsort(-gain, kind="stable")[: names + 1]
    return np.asarray(best[gain[best] > 0])


def _solve(
    who: NDArray[np.int64],
    rows: NDArray[np.int64],
    worth: Floats,
    sizes: NDArray[np.int64],
    held: int,
) -> list[tuple[int, int, float]]:
    """Place names that may want one another's records; who is placed, where, and the lead."""
    names, person = np.unique(who, return_inverse=True)
    places, at, place = np.unique(rows, return_index=True, return_inverse=True)
    copies = np.minimum(sizes[at], len(names))
    n, width = len(names), int(copies.sum())
    needed = _BYTES * n * (n + width)
    if needed > budget.left(held):
        raise ConfigError(
            f"{n:,} names may want one another's records: to match them at once takes "
            f"{budget.amount(needed)} more memory, {budget.amount(max(0, budget.left(held)))} may "
            "be used",
            advice=f"Match fewer names at once, or allow more memory{aside('memory')}.",
        )
    of_place = np.full((n, len(places)), -1.0)  # less than being nowhere
    of_place[person, place] = worth
    of = np.repeat(np.arange(len(places)), copies)
    table = np.concatenate([of_place[:, of], np.zeros((n, n))], 1)
    of = np.concatenate([of, np.full(n, -1)])
    _, mine = linear_sum_assignment(table, maximize=True)
    leads = _leads(table, of, mine) / _UNIT
    return [
        (int(names[p]), int(places[of[mine[p]]]), float(leads[p]))
        for p in range(n)
        if of[mine[p]] >= 0
    ]


def _leads(table: Floats, of: NDArray[np.int64], mine: NDArray[np.int64]) -> Floats:
    """Return what each name's being elsewhere costs at least.

    Somebody takes another's place, who takes a third's, until the first one's own is taken or
    stays empty: a shortest circle. The last node are the places that nobody has.
    """
    n = len(mine)
    own, free = table[np.arange(n), mine], np.ones(table.shape[1], np.bool_)
    free[mine] = False
    steps = np.full((n + 1, n + 1), np.inf)
    steps[n, :n] = 0.0
    swaps = own[:, None] - table[:, mine]
    steps[:n, :n] = np.where(table[:, mine] >= 0, swaps, np.inf)
    steps[:n, n] = own - table[:, free].max(1)
    np.fill_diagonal(steps, np.inf)
    back = shortest_path(csgraph_from_dense(steps, null_value=np.inf), method="J")
    elsewhere = np.where(of[mine][:, None] != of[mine][None, :], steps[:n, :n], np.inf)
    away = np.where(of[free] != of[mine][:, None], table[:, free], -np.inf).max(1)
    circles = np.minimum((elsewhere + back[:n, :n].T).min(1), own - away + back[n, :n])
    return np.asarray(np.maximum(circles, 0.0))


def _chance(name: Compared, gain: Floats, one: float, own: Placed, taken: dict[int, int]) -> float:
    others = np.array([taken.get(row, 0) - (row == own.row) for row in name.rows.tolist()])
    left = np.maximum(name.sizes - others, 0)
    logs = np.where(left > 0, gain / _UNIT + np.log(np.maximum(left, 1)), -np.inf)
    total = np.logaddexp.reduce(np.concatenate([logs, [name.rest + one, 0.0]]))
    return float(np.exp(logs[name.rows == own.row][0] - total))
