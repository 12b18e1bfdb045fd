"""Predictions of a biased low-rank model, added up in one order.

The sum of a prediction begins with the mean, the user's and the item's bias, and takes the
factors in order. No linear algebra library: its order would depend on the number of threads.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

__all__ = ["predict_pairs", "predict_rows"]

_PAIRS = 1 << 14  # that a thread takes at a time
_ITEMS = 2048  # of a row, that stay in the nearest cache


@njit(cache=True, nogil=True, parallel=True)
def predict_pairs(users, items, mean, user_bias, item_bias, user_factors, item_factors):  # type: ignore[no-untyped-def]
    """Predict pairs."""
    out = np.empty(len(users))
    for chunk in prange((len(users) + _PAIRS - 1) // _PAIRS):
        for p in range(chunk * _PAIRS, min(len(users), (chunk + 1) * _PAIRS)):
            u, i = users[p], items[p]
            total = mean + user_bias[u] + item_bias[i]
            for k in range(user_factors.shape[1]):
                total += user_factors[u, k] * item_factors[i, k]
            out[p] = total
    return out


@njit(cache=True, nogil=True, parallel=True)
def predict_rows(users, mean, user_bias, item_bias, user_factors, item_columns):  # type: ignore[no-untyped-def]
    """Predict whole rows; the items' factors come column by column."""
    n_items = len(item_bias)
    out = np.empty((len(users), n_items))
    for row in prange(len(users)):
        u = users[row]
        for first in range(0, n_items, _ITEMS):
            last = min(n_items, first + _ITEMS)
            part = out[row, first:last]
            bias = item_bias[first:last]
            for i in range(last - first):
                part[i] = mean + user_bias[u] + bias[i]
            for k in range(user_factors.shape[1]):
                weight = user_factors[u, k]
                column = item_columns[k, first:last]
                for i in range(last - first):
                    part[i] += weight * column[i]
    return out
