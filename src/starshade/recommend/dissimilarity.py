"""How unlike two rows are (PA §4.2, §7.4): five measures on rows written out."""

from __future__ import annotations

from typing import get_args

import numpy as np

from starshade.kernels.arrays import Floats
from starshade.kernels.padded.dissimilarity import ABSOLUTE, FAR, SIMILAR, SQUARED, mean_over_common
from starshade.ratings.scale import SLACK, Scale
from starshade.recommend.settings import Dissimilarity

__all__ = ["DISSIMILARITIES", "Dissimilarity", "dissimilarities"]

#: names, the default first
DISSIMILARITIES: tuple[str, ...] = get_args(Dissimilarity)

_WITHIN = {"closeness-0.5": 0.5, "closeness-1.0": 1.0}  # ratings, not shares of the scale
_KIND = {"weighted-sq": SIMILAR, "weighted": ABSOLUTE, "euclidean": SQUARED}


def dissimilarities(
    rows: Floats,
    others: Floats,
    name: Dissimilarity,
    scale: Scale,
    *,
    weights: Floats | None = None,
) -> Floats:
    """Compare each row with each of the others, on the items that both have.

    With n common items and d the difference of two ratings as a share of the scale's width:

    - ``weighted-sq``: 1 − (1/n) Σ (1 − d)², what PA §4.2 calls "sim";
    - ``closeness-0.5``, ``closeness-1.0``: 1 − the share of items whose ratings differ by at most
      so much (in ratings, within 1e-9);
    - ``weighted``: (1/n) Σ d;
    - ``euclidean``: √((1/n) Σ d²). On rows without nulls it orders as the Euclidean distance does.

    `rows`, `others`: NaN is null. `weights` (n,): of the items, none negative: sums and counts over
    items become weighted ones. Returns (a, b): in [0, 1] where both are on the scale; 1 for two
    rows without a common item.

    >>> x, y = np.array([[1.0, 5.0, np.nan]]), np.array([[2.0, 5.0, 3.0]])
    >>> dissimilarities(x, y, "weighted-sq", Scale(1, 5, 1)).tolist()
    [[0.21875]]
    """
    if weights is None:
        weights = np.ones(rows.shape[1])
    if name in _WITHIN:
        return mean_over_common(rows, others, FAR, 1.0, _WITHIN[name] + SLACK, weights)
    width = scale.width or 1.0  # a scale of one level: all ratings are equal
    result = mean_over_common(rows, others, _KIND[name], width, 0.0, weights)
    return np.sqrt(result) if name == "euclidean" else result
