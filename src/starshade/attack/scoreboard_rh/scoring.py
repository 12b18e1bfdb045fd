"""From a view and known facts to whole-number scores: the arrays of the kernel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Known, refuse_too_little
from starshade.attack.settings import AuxiliaryAttackSettings, ScoreboardRHSettings
from starshade.attack.view import NO_DAYS, View, below, contents_of, rows_of, truth_of
from starshade.kernels.arrays import Array, Ints, fixed
from starshade.kernels.attack.postings import NO_DAY, windows_of
from starshade.kernels.attack.scoreboard import (
    Aux,
    Block,
    Goal,
    Tables,
    attack,
    fraction_bits,
    holds,
)
from starshade.progress import task
from starshade.ratings.scale import Scale
from starshade.ratings.table import ByItem
from starshade.release.cells import Cells, Symbols

_BATCH = 4096  # targets between two signs of progress
_TABLE = 2**22  # entries of the largest similarity table
_MANY = 2**16  # more contents than this are priced one by one, where each is one rating


@dataclass(frozen=True)
class Pricing:
    """Weights of similarities (NS §5): ρ0 in ratings, d0 in days."""

    rho0: float
    d0: float

    @classmethod
    def of(cls, settings: ScoreboardRHSettings | AuxiliaryAttackSettings, view: View) -> Pricing:
        """Price as is set; on a scale of one single rating every rating is right."""
        return cls.on(settings, view.cells.symbols.scale)

    @classmethod
    def on(cls, settings: ScoreboardRHSettings | AuxiliaryAttackSettings, scale: Scale) -> Pricing:
        """Price as is set, on a scale."""
        width = scale.width
        rho0 = 0.375 * width or math.inf if settings.rho0 is None else settings.rho0
        return cls(rho0, settings.d0)

    @property
    def config(self) -> dict[str, float | None]:
        """The ρ0 that it comes to, as a result tells it."""
        return {"rho0": self.rho0 if math.isfinite(self.rho0) else None}


def score_all(
    view: View, known: Known, pricing: Pricing, *, theta: float, absent: bool
) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Attack every target.

    Returns `summaries, masses` (targets,). `postings`: cells looked at.
    """
    refuse_too_little(view, known, own_only=_own_only(view, theta))
    block: Block | None = None
    goal = goal_of(view, theta, absent=absent)
    parts = []
    postings = 0
    label = "attacking without the target's record" if absent else "attacking"
    with task(label, len(known)) as step:
        for part in batches(known, view):
            aux, tables = prepare(view, part, pricing, absent=absent)
            block = (
                block_of(view, items=aux.item) if block is None else holding(block, view, aux.item)
            )
            parts.append(attack(block, aux, tables, goal))
            lengths = block.cuts[:, -1] - block.cuts[:, 0]
            postings += int(lengths[aux.item[aux.item >= 0]].sum())
            step(len(part))
    return (
        np.concatenate([summaries for summaries, _ in parts]),
        np.concatenate([masses for _, masses in parts]),
        postings,
    )


def block_of(
    view: View, start: int = 0, stop: int | None = None, *, items: NDArray[np.int32] | None = None
) -> Block:
    """Lay out the rows start…stop-1 (default: all) for the kernel.

    `items`: what is known is on these; default: all, which of profiles is more than is laid out
    at once where they are many.
    """
    rows = view.cells
    items = np.arange(rows.n_items, dtype=np.int32) if items is None else items
    stop = rows.n_groups if stop is None else stop
    held = None
    if (start, stop) != (0, rows.n_groups):
        rows = rows.keep_rows(np.arange(start, stop))
        held = rows.held(items)
    repeats = view.repeats[(view.repeats >= start) & (view.repeats < stop)] - start
    support = rows.lengths.astype(np.int32)
    longest = rows.n_items + 1
    records = np.bincount(support, weights=rows.sizes, minlength=longest)
    return Block(
        start,
        *_listed(view.held(items) if held is None else held, rows.n_groups),
        fixed(rows.sizes),
        fixed(view.copies[start:stop]),
        fixed(repeats),
        fixed(support),
        fixed(below(np.bincount(support, minlength=longest))),
        fixed(below(records)),
        bool((rows.sizes == 1).all()),
        rows_of(rows),
    )


def holding(block: Block | None, view: View, items: NDArray[np.int32]) -> Block:
    """Lay out all rows; what is known is on these items. `block`: as they are laid out already."""
    if block is None:
        return block_of(view, items=items)
    if isinstance(view.cells, Cells):
        return block
    cuts, local, codes, days, last_day = _listed(view.held(items), len(block.sizes))
    return block._replace(cuts=cuts, local=local, codes=codes, days=days, last_day=last_day)


def _listed(held: ByItem, n_rows: int) -> tuple[Ints, Array, Array, Array, int]:
    days = NO_DAYS if held.days is None else held.days
    cuts, local = windows_of(held.indptr, held.users, n_rows)
    return fixed(cuts), fixed(local), fixed(held.codes), fixed(days), int(days.max(initial=0))


def goal_of(view: View, theta: float, *, absent: bool) -> Goal:
    """Lay out the truth for the kernel."""
    own_only = _own_only(view, theta)
    return Goal(
        truth_of(view.truth()),
        contents_of(view.cells.symbols),
        float(theta),
        own_only,
        absent,
    )


def _own_only(view: View, theta: float) -> bool:
    """Tell whether no row but the target's own (and its copies) can agree with its truth."""
    return view.ungeneralized and theta == 1.0


def prepare(
    view: View, known: Known, pricing: Pricing, *, absent: bool = False
) -> tuple[Aux, Tables]:
    """Say where each known cell is looked up and what it is worth there.

    With `absent`, an item's support is that of the data without the target's record.
    """
    item = view.places(known.items)
    own = view.row_of_user[known.users]
    support = view.support[item]
    if absent:
        rated = view.cells.symbols.has_rating
        support = support - holds(rows_of(view.cells), rated, own, item)
    return laid_out(view.cells.symbols, known, pricing, item, support, own, view.cells.days)


def laid_out(
    symbols: Symbols,
    known: Known,
    pricing: Pricing,
    item: NDArray[np.int32],
    support: NDArray[np.int64],
    own: NDArray[np.int64],
    days: NDArray[np.uint16] | None,
) -> tuple[Aux, Tables]:
    """Say what known cells are worth, of items with these supports; `own`: the targets' rows."""
    unit = 2.0 ** fraction_bits(known.items.shape[1])
    sim, tables = _tables(symbols, known, pricing, unit, dated=days is not None)
    return (
        Aux(
            item,
            1 / np.log(np.maximum(support, 2)),
            sim,
            known.ratings,
            known.days,
            own,
            known.users,
            *known.supports,
        ),
        tables,
    )


def _tables(
    symbols: Symbols, known: Known, pricing: Pricing, unit: float, *, dated: bool
) -> tuple[NDArray[np.int32], Tables]:
    rated = ~np.isnan(known.ratings)
    one_by_one = _one_by_one(symbols)
    values = np.unique(known.ratings[rated])
    listed = np.empty(0) if one_by_one else values
    similarity = np.concatenate(
        [
            symbols.similarity(listed, pricing.rho0),
            symbols.similarity(np.zeros(1), math.inf),  # neither rating nor day known: 1
            np.zeros((1, len(symbols))),  # a day known, but no rating: no term
        ]
    )
    undated = (known.days == NO_DAY) | (not dated)
    sim = np.where(undated, len(listed), len(listed) + 1)
    sim[rated] = -1 if one_by_one else np.searchsorted(values, known.ratings[rated])
    # a day further away than this is worth less than half a unit
    reach = math.floor(min(pricing.d0 * math.log(2 * unit / math.log(2)), 65_535))
    decay = np.exp(-np.arange(reach + 1) / pricing.d0)
    levels = symbols.members if one_by_one else np.empty(0)
    return sim.astype(np.int32), Tables(
        fixed(similarity), fixed(levels), pricing.rho0, fixed(decay), unit
    )


def table_bytes(symbols: Symbols, n_ratings: int) -> int:
    """Return the bytes taken, at most, while so many different ratings are made one table."""
    if _one_by_one(symbols):
        return 0
    return 8 * (n_ratings + 2) * (3 * len(symbols.members) + 3 * len(symbols))


def batches(known: Known, view: View) -> Iterator[Known]:
    """Cut the targets so that a table of their ratings stays small."""
    size, symbols = _BATCH, view.cells.symbols
    if not _one_by_one(symbols) and len(np.unique(known.ratings)) * len(symbols) > _TABLE:
        size = min(_BATCH, max(1, _TABLE // (len(symbols) * known.items.shape[1])))
    for targets in view.batches(known.items, size):
        yield known.take(targets)


def _one_by_one(symbols: Symbols) -> bool:
    """Tell whether contents are single ratings, too many for a table."""
    if len(symbols) <= _MANY:
        return False
    return bool((symbols.n_members == 1).all() and not symbols.null.any())
