"""A fit of low rank once more: NumPy's own decomposition, cell by cell refilled."""

from __future__ import annotations

import numpy as np


def fitted(
    shown: np.ndarray, rank: int, ends: tuple[float, float] | None, rounds: int
) -> tuple[np.ndarray, float]:
    """Return the fit after so many rounds, and the rms that it leaves on non-null cells."""
    there = ~np.isnan(shown)
    filled = shown.copy()
    for i in range(shown.shape[1]):
        column = shown[there[:, i], i]
        filled[~there[:, i], i] = column.mean() if len(column) else shown[there].mean()
    for done in range(1, rounds + 1):
        mean = filled.mean(axis=0)
        left, values, right = np.linalg.svd(filled - mean, full_matrices=False)
        fit = mean + left[:, :rank] @ np.diag(values[:rank]) @ right[:rank]
        compared = fit if ends is None else np.minimum(np.maximum(fit, ends[0]), ends[1])
        rms = np.sqrt(((shown - compared)[there] ** 2).mean())
        if done == rounds:
            return fit, float(rms)
        for c in range(shown.shape[0]):
            for i in range(shown.shape[1]):
                if not there[c, i]:
                    filled[c, i] = fit[c, i]
                elif ends is not None and shown[c, i] == ends[0]:
                    filled[c, i] = min(ends[0], fit[c, i])
                elif ends is not None and shown[c, i] == ends[1]:
                    filled[c, i] = max(ends[1], fit[c, i])
    raise AssertionError(rounds)
