"""How many items were rated, where rows leave it open: an integral over a record's chances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.kernels.arrays import fixed
from starshade.kernels.rated import add_up_logs

Floats = NDArray[np.float64]
Nodes = tuple[Floats, Floats]
RowsOfCells = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]
_NODES = 20  # of an integral, in each part of it


@dataclass(frozen=True, eq=False)
class Unsure:
    """What is told of rows of which it is not certain how many items were rated.

    See `starshade.kernels.attack.likelihood.Counts`.
    """

    nodes: Floats
    weights: Floats
    pattern: NDArray[np.int64]
    product: Floats
    kind: NDArray[Any]
    logs: Floats
    expected: Floats

    @classmethod
    def none(cls) -> Unsure:
        """Return that it is certain of all."""
        few, pattern = np.empty(0), np.empty(0, np.int64)
        none = few.reshape(0, 0)
        return cls(few, few, pattern, none, pattern, none, few)

    @classmethod
    def of(cls, share: Floats, popular: Floats, cells: RowsOfCells, nodes: Nodes) -> Unsure:
        """Tell it of rows of cells, each row a pattern of its own.

        A cell is a rating with the chance of its content's `share` times how `popular` its item is.
        """
        of_item, which = np.unique(popular, return_inverse=True)
        chance, place = np.unique(np.outer(share, of_item), return_inverse=True)
        logs = np.log1p(np.outer(chance, nodes[0] - 1))
        indptr, columns, codes = cells
        told = add_up_logs(
            (fixed(indptr), fixed(columns), fixed(codes)),
            fixed(place.reshape(len(share), len(of_item)).astype(np.int32)),
            fixed(which.astype(np.int32)),
            fixed(chance),
            fixed(logs),
        )
        kind, product, expected = told
        return cls(*nodes, np.arange(len(indptr) - 1), product, kind, logs, expected)


def nodes_of(items: int, known: int) -> Nodes:
    """Return where an integral over [0, 1] of ``Counts`` is looked at, and the weights.

    Of few items exactly (Gauss & Legendre). Of many the integrand falls as fast as e^(-n (1 - t)):
    the nearer to 1, the denser.
    """
    degree = items // 2 + 1
    few = _NODES + known // 2
    if degree <= 2 * few:
        nodes, weights = np.polynomial.legendre.leggauss(max(1, degree))
        return (nodes + 1) / 2, weights / 2
    nodes, weights = np.polynomial.legendre.leggauss(few)
    ends = np.append(0.0, 2.0 ** np.arange(-math.ceil(math.log2(items)), 1))
    low, wide = ends[:-1, None], np.diff(ends)[:, None]
    return 1 - (low + wide * (nodes + 1) / 2).ravel(), (wide * weights / 2).ravel()
