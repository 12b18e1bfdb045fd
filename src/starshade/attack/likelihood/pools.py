"""Pools of candidates: the target's record and others, drawn by the seed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from starshade.attack.view import View
from starshade.kernels.arrays import Array, fixed
from starshade.kernels.attack.posterior import POOLED, Pools
from starshade.kernels.attack.summary import mass_unit
from starshade.rng import generator

_FIRST = (100, 300)


def pool_sizes(records: int) -> tuple[int, ...]:
    """Return the numbers of candidates: 100, 300, 1,000 and powers of ten, below all records.

    >>> pool_sizes(943), pool_sizes(20_000), pool_sizes(100)
    ((100, 300), (100, 300, 1000, 10000), ())
    """
    sizes, size = list(_FIRST), 1000
    while size < records:
        sizes.append(size)
        size *= 10
    return tuple(each for each in sizes if each < records)


def places_of(sizes: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Put units of so many records on a circle, in an order drawn by the seed; say where each is.

    >>> sorted(places_of(np.array([2, 1, 3]), 0).tolist())[0]
    0
    """
    order = generator(seed, "pools").permutation(len(sizes))
    out = np.empty(len(sizes), dtype=np.int64)
    out[order] = np.cumsum(sizes[order]) - sizes[order]
    return out


def pools_of(view: View, users: NDArray[np.int64], seed: int) -> Pools | None:
    """Draw pools for some users; None where nobody says which record is theirs.

    Of a release equal records enter a pool together, since nothing tells them apart.
    """
    if view.credit != "linked":
        return None
    cells = view.cells
    unit = np.arange(cells.n_groups)
    if not view.ungeneralized:
        unit = np.unique(cells.first_equal, return_inverse=True)[1]
    records = np.bincount(unit, weights=cells.sizes).astype(np.int64)
    place = places_of(records, seed)[unit]
    return empty_pools(place, place[view.row_of_user[users]], cells.n_records)


def empty_pools(place: NDArray[np.int64], own: NDArray[np.int64], records: int) -> Pools:
    """Return pools that are yet to be filled; `place`, `own`: see `Pools`."""
    sizes = np.array(pool_sizes(records), dtype=np.int64)
    found = np.zeros((len(own), len(sizes)), dtype=POOLED)
    none = Pools.none()
    return Pools(place, own, fixed(sizes), records, none.chance, none.power, found)


def posteriors_of(
    pooled: Array | None, found: Array, records: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the posterior of the likeliest record in each pool, and the credit of naming it.

    Each of shape (targets, pools + 1), the last pool being all records; posterior 0: no record can
    have led to what is known. Of records that are equally likely each has the same posterior.

    `pooled`: POOLED, shape (targets, pools); None: there are no pools. `found`: FOUND.
    """
    whole = np.zeros((len(found), 1), dtype=POOLED)
    for name, source in (("tied", "tied"), ("right", "right_tied"), ("mass", "mass")):
        whole[name][:, 0] = found[source]
    every = whole if pooled is None else np.hstack([pooled, whole])
    some = every["tied"] > 0
    mass = np.where(some, every["mass"], 1) / mass_unit(records)
    credit = np.where(every["right"], 1 / np.maximum(every["tied"], 1), 0.0)
    return np.where(some, 1 / mass, 0.0), credit
