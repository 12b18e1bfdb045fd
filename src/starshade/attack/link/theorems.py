"""How sure a group's edge can make an adversary that a user rated (PA Thms 6.2, 6.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.naming import called

__all__ = ["link_existence_bound", "link_existence_exact"]

_SLACK = 1e-12  # p = 1/g is allowed, and 0.2 is not quite 1/5


def link_existence_exact(p: Any, g: Any) -> NDArray[np.float64]:
    """Return the probability that a user rated, given that one of a group of g did.

    Parameters
    ----------
    p : array_like of float
        Probability, in [0, 1], that a user rated the item, known beforehand; users rate
        independently.
    g : array_like of int
        Users in the group, at least 1.

    Returns
    -------
    ndarray of float64
        p / (1 - (1-p)^g); its limit 1/g where p = 0, which is also what Thm 6.2 has an
        adversary without prior knowledge say.

    Raises
    ------
    ConfigError
        p or g outside its range.

    Examples
    --------
    >>> round(float(link_existence_exact(0.05, 5)), 5)
    0.22102
    """
    p, g = _checked(p, g)
    with np.errstate(divide="ignore", invalid="ignore"):
        somebody = -np.expm1(g * np.log1p(-p))  # 1 - (1-p)^g, exact for small p too
        return np.asarray(np.where(p > 0, p / somebody, 1 / g))


def link_existence_bound(p: Any, g: Any) -> NDArray[np.float64]:
    """Return the bound 1/g + p/(2 - g·p) on `link_existence_exact` (PA Thm 6.3).

    Parameters
    ----------
    p, g : array_like
        As in `link_existence_exact`.

    Returns
    -------
    ndarray of float64
        NaN where p > 1/g, of which the theorem says nothing.

    Raises
    ------
    ConfigError
        p or g outside its range.

    Examples
    --------
    >>> round(float(link_existence_bound(0.2, 5)), 5)
    0.4
    """
    p, g = _checked(p, g)
    within = p * g <= 1 + _SLACK
    return np.where(within, 1 / g + p / np.where(within, 2 - g * p, 1.0), np.nan)


def _checked(p: Any, g: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    p, g = np.asarray(p, dtype=np.float64), np.asarray(g, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise ConfigError(f"{called('prior')}: a probability, from 0 to 1")
    if not (np.isfinite(g) & (g >= 1)).all():
        raise ConfigError("group size: at least 1")
    return p, g
