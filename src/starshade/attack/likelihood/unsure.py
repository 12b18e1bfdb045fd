"""How many items were rated, where rows leave it open: an integral over a record's chances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
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
    def of(
        cls,
        chance: Floats,
        row: NDArray[np.int64],
        pattern: NDArray[np.int64],
        nodes: tuple[Floats, Floats],
    ) -> Unsure:
        """Tell it of cells, each a rating with a `chance`, of the patterns that `row` says."""
        n = len(pattern)
        different, kind = np.unique(chance, return_inverse=True)
        logs = np.log1p(np.outer(different, nodes[0] - 1))
        product = np.stack([np.bincount(row, each[kind], minlength=n) for each in logs.T], 1)
        expected = np.asarray(np.bincount(row, chance, minlength=n), dtype=np.float64)
        return cls(*nodes, pattern, np.asarray(product, np.float64), kind, logs, expected)


def nodes_of(items: int, known: int) -> tuple[Floats, Floats]:
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
