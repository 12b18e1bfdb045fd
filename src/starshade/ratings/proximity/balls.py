"""Balls of ε-proximate records: sizes, sums, members (SR Def. 2; SPEC §2.1)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.proximity.space import Space

__all__ = ["Search", "ball_members", "ball_sizes", "ball_sums"]

Search = Literal["tree", "slicing", "pairwise"]


def ball_sizes(
    space: Space,
    *,
    rows: NDArray[np.integer] | None = None,
    stop_at: int | None = None,
    search: Search = "tree",
) -> NDArray[np.int64]:
    """Count the records in each ball, the record itself included.

    Parameters
    ----------
    space : Space
    rows : ndarray of int, optional
        Whose balls; None: everybody's, in row order.
    stop_at : int, optional
        Enough is enough: a ball of this many or more may be reported as `stop_at`.
    search : {"tree", "slicing", "pairwise"}
        How neighbours are found; the answer is the same.

    Returns
    -------
    ndarray of int64, shape (len(rows),)
    """
    chosen = np.arange(space.n_records) if rows is None else np.asarray(rows)
    sizes = np.array([near(space, int(r)).sum() for r in chosen], dtype=np.int64)
    return sizes if stop_at is None else np.minimum(sizes, stop_at)


def ball_sums(space: Space, columns: NDArray[Any], *, search: Search = "tree") -> NDArray[Any]:
    """Sum a record's numbers over each ball.

    Parameters
    ----------
    space : Space
    columns : ndarray of int64, uint64 or float64, shape (n_records, q)
        Integers wrap around at 64 bits (which sums of hashes want); the caller sees to it that
        counts do not.
    search : {"tree", "slicing", "pairwise"}

    Returns
    -------
    ndarray of the same type, shape (n_records, q)
    """
    if not space.n_records:
        return columns.copy()
    return np.stack([columns[near(space, r)].sum(axis=0) for r in range(space.n_records)])


def ball_members(
    space: Space, rows: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return who is in the balls of these rows: CSR ``indptr, members``, members ascending.

    The caller knows that they fit into memory (`ball_sizes`).
    """
    found = [np.flatnonzero(near(space, int(r))) for r in rows]
    indptr = np.concatenate([[0], np.cumsum([len(f) for f in found])]).astype(np.int64)
    return indptr, np.concatenate([np.empty(0, np.int64), *found]).astype(np.int64)


def near(space: Space, row: int) -> NDArray[np.bool_]:
    """Tell which records are proximate to one."""
    rule, own, codes = space.rule, space.codes[row], space.codes
    rated = (codes >= rule.low[own]) & (codes <= rule.high[own])
    return np.asarray(np.where(codes == 0, rule.null[own], rated).all(axis=1))
