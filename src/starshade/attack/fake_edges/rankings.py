"""Rankings of filled cells of `simple` profiles by how likely they are imputed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from starshade.attack.padding.padding import low_rank
from starshade.ratings.scale import Scale
from starshade.release.profiles import quantize

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_RANKS = (1, 2, 4, 8, 16)
_RIDGE = 1.0


def fitting(scale: Scale, step: float, largest: int, least: int) -> Ints | None:
    """Count the numbers of raters, from `least` up, of which a level is a quantized mean.

    Returns (largest + 1, 256): row g for groups of g members; a value that no number fits is of
    no real rating. None: on a real scale every value fits.

    >>> fitting(Scale(1, 5, 1), 0.5, 3, 1)[2, 1:10].tolist()
    [2, 1, 2, 1, 2, 1, 2, 1, 2]
    """
    if not scale.step:
        return None
    most = round(scale.width / scale.step)
    out = np.zeros((largest + 1, 256), dtype=np.int64)
    for raters in range(max(least, 1), largest + 1):
        stars = scale.minimum + scale.step * np.arange(most * raters + 1) / raters
        out[raters:, np.unique(quantize(stars, scale, step))] += 1
    return out


def rankings(
    shown: Floats,
    sizes: Ints,
    active: Ints,
    fits: Ints | None,
    l: int,  # noqa: E741
) -> Iterator[tuple[str, Floats]]:
    """Yield every ranking of cells: a name, and a score of each cell, shape of `shown`.

    `shown` (groups, items): NaN for null. `active`, `sizes` (groups,): items that each shows, and
    its members. `fits` (groups, items): as `fitting` counts. `l`: groups that must show sets of
    items; 0: none must.
    """
    filled = ~np.isnan(shown)
    values, there = low_rank(shown), low_rank(filled.astype(np.float64))
    yield "distance from the item's mean", values.score(0)
    for rank in _RANKS:
        if rank < len(values.values):
            yield f"residual of the values, rank {rank}", values.score(rank)
    for rank in _RANKS:
        if rank < len(there.values):
            yield f"residual of the filled cells, rank {rank}", there.score(rank)
    yield "the value", np.nan_to_num(shown)
    if fits is not None:
        yield "numbers of raters that fit the value", fits.astype(np.float64)
    each = filled.sum(axis=0)
    yield "classes that show the item", np.broadcast_to(each.astype(np.float64), shown.shape)
    spread = np.sqrt((values.score(0) ** 2 * filled).sum(axis=0) / np.maximum(each, 1))
    yield "spread within the item", np.broadcast_to(spread, shown.shape)
    yield "items that the class shows", np.broadcast_to(active[:, None] * 1.0, shown.shape)
    beside = filled.astype(np.float32)
    together = beside.T @ beside
    often = (beside @ np.minimum(together, _OFTEN)).astype(np.float64)
    yield "co-occurrence of its items", often / np.maximum(active, 1)[:, None]
    if l:
        critical = together == l
        np.fill_diagonal(critical, False)
        pairs = (beside @ critical.astype(np.float32)).astype(np.float64)
        yield "pairs that exactly l classes show", pairs
        yield "the same, per item of the class", pairs / np.maximum(active, 1)[:, None]


_OFTEN = 50.0  # groups, beyond which items stand together often


def places(score: Floats, among: Ints) -> Floats:
    """Return where each stands among those of its kind, in (0, 1); ties share the middle."""
    order = np.lexsort([score, among])
    kind, value = among[order], score[order]
    new_kind = np.append(True, kind[1:] != kind[:-1])
    new = new_kind | np.append(True, value[1:] != value[:-1])
    starts = np.flatnonzero(new)
    middle = (starts + np.append(starts[1:], len(order))) / 2
    first = np.flatnonzero(new_kind)
    counts = np.diff(np.append(first, len(order)))
    out = np.empty(len(order))
    run = np.cumsum(new) - 1
    out[order] = (middle[run] - np.repeat(first, counts)) / np.repeat(counts, counts)
    return out


def by_hindsight(columns: Floats, fake: NDArray[np.bool_], item: Ints) -> Floats:
    """Weigh rankings so as to fit the truth on half of the items; score the other half.

    `columns` (cells, rankings). Least squares, held back a little.
    """
    out = np.empty(len(fake))
    odd = item % 2 == 1
    wide = np.column_stack([columns - 0.5, np.ones(len(fake))])
    for here in (odd, ~odd):
        given = wide[~here]
        square = given.T @ given + _RIDGE * np.eye(given.shape[1])
        out[here] = wide[here] @ np.linalg.solve(square, given.T @ fake[~here].astype(np.float64))
    return out
