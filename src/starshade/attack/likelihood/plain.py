"""The plain adversary: fixed weights instead of an error model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Known
from starshade.attack.likelihood.informed import means_of, share_rated
from starshade.attack.likelihood.sought import Sought
from starshade.attack.view import View, below
from starshade.kernels.arrays import Array, fixed
from starshade.kernels.attack.plain_likelihood import Facts, Weights, weigh
from starshade.kernels.attack.postings import NO_DAY
from starshade.progress import task
from starshade.ratings.scale import SLACK
from starshade.ratings.shards.counts import Counts
from starshade.ratings.table import UNKNOWN_DAY
from starshade.release.cells import Cells
from starshade.release.columns import Columns

Floats = NDArray[np.float64]
#: chance that a fact is right but for a rating that is d fifths of the scale away; the rest, that
#: the item was not rated
FOUND_AWAY = np.array([0.70, 0.12, 0.03, 0.02, 0.01])
NOT_RATED = 0.12
NEAR, IS_NEAR = 30, 0.9  # days, and the chance that a rating's day is that near
_BINS = 20  # of a scale without steps
_BATCH = 4096  # targets between two signs of progress


def weigh_plainly(
    view: View, known: Known, goal: Sought | None = None, everybody: Counts | None = None
) -> Array:
    """Weigh every row for every target; see `starshade.kernels.attack.posterior.FOUND`.

    Fellegi & Sunter's weights, on ratings after Torres & Olivares (definitions, "likelihood").
    `everybody`: what is counted of all whom facts may be about; None: the users of the original.
    """
    counted = Counts.of(view.original) if everybody is None else everybody
    goal = goal or Sought(view)
    cells, parts = goal.cells, []
    share, rated = share_rated(cells.symbols), rated_of(cells)
    unrated = view.original.n_items - rated
    unrated[unrated < SLACK] = 0.0
    with task("attacking", len(known)) as step:
        for targets in view.batches(known.items, _BATCH):
            part = known.take(targets)
            values, kind = np.unique(part.ratings, return_inverse=True)
            weights = Weights(*map(fixed, (chances(view, values), share, rated, unrated)))
            facts = _facts(view, counted, part, kind.reshape(part.items.shape))
            held = goal.held(facts.item)
            parts.append(weigh(held, weights, facts, goal.of(part.users, targets)))
            step(len(part))
    return np.concatenate(parts)


def rated_of(cells: Cells | Columns) -> Floats:
    """Return how many items each row rated, on average."""
    if isinstance(cells, Columns):
        return cells.lengths.astype(np.float64)
    row = np.repeat(np.arange(cells.n_groups), np.diff(cells.indptr))
    share = share_rated(cells.symbols)[cells.codes]
    return np.bincount(row, share, minlength=cells.n_groups).astype(np.float64)


def chances(view: View, ratings: Floats, found: Floats = FOUND_AWAY) -> Floats:
    """Return the chance of ratings (NaN: not known) from each content, shape (ratings, n).

    `found` (5,): chance that a rating is so many fifths of the scale away.
    """
    symbols, scale = view.cells.symbols, view.original.scale
    if scale.step is None:
        values = scale.minimum + (np.arange(_BINS) + 0.5) * scale.width / _BINS
    else:
        values = scale.levels
    truths = np.append(symbols.members, (symbols.low + symbols.high) / 2)  # of ranges their middle
    fifth = (scale.width + (scale.step or 0.0)) / 5 or 1.0

    def away(of: Floats) -> NDArray[np.int64]:
        far = np.floor(np.abs(of[:, None] - truths) / fifth + 0.5 + SLACK)
        return np.asarray(np.minimum(np.nan_to_num(far), len(found) - 1), dtype=np.int64)

    among = away(values)
    many = np.stack([(among == d).sum(axis=0) for d in range(len(found))])
    d = away(ratings)
    each = found[d] / np.maximum(np.take_along_axis(many, d, axis=0), 1)
    each[np.isnan(ratings)] = found.sum()
    out = means_of(symbols, each[:, : len(symbols.members)])
    ranges = symbols.is_range
    out[:, ranges] = each[:, len(symbols.members) :][:, ranges] * share_rated(symbols)[ranges]
    return out


def _facts(view: View, everybody: Counts, known: Known, kind: NDArray[np.int64]) -> Facts:
    levels, counts = view.original.levels, everybody.levels
    code = np.minimum(np.searchsorted(levels, known.ratings - SLACK), max(0, len(levels) - 1))
    there = np.abs(levels[code] - known.ratings) <= SLACK
    # a rating that nobody gave is as rare as half of one
    often = np.where(there, np.maximum(counts[code], 0.5), 0.5) / max(1, counts.sum())
    blind = NOT_RATED * np.where(np.isnan(known.ratings), 1.0, often)
    under = below(everybody.days[:UNKNOWN_DAY])
    dated = (known.days != NO_DAY) & (view.cells.days is not None) & bool(under[-1])
    day = np.where(dated, known.days, 0).astype(np.int64)
    first, last = (np.clip(day + by, 0, UNKNOWN_DAY) for by in (-NEAR, NEAR + 1))
    least = 0.5 / max(1, under[-1])  # no share of the days is nothing, or all
    near = np.clip((under[last] - under[first]) / max(1, under[-1]), least, 1 - least)
    return Facts(
        fixed(view.places(known.items)),
        fixed(kind),
        fixed(blind),
        fixed(day - NEAR),
        fixed(day + NEAR),
        fixed(IS_NEAR / near),
        fixed((1 - IS_NEAR) / (1 - near)),
        fixed(dated),
    )
