"""How far a person's fit to a release lies from what it is with and without them (LiRA).

Carlini et al. (2022), *Membership inference attacks from first principles*, with one mean for
releases that hold the person, one for those that do not, and a spread for each person.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_LEAST = 1e-6  # spread of who fits all releases alike
_EQUAL = 1e-12  # fits that differ by less differ by rounding


class Scored(NamedTuple):
    """Scores of people by target release: entries (target, person) of those that count.

    `target`, `person`, `member` (entries,): `person` is a place among the people asked about.
    `offline`: (s − μ_out)/σ; `online`: ((s − μ_out)² − (s − μ_in)²)/2σ², None of one shadow alone.
    """

    target: NDArray[np.int64]
    person: NDArray[np.int64]
    member: NDArray[np.bool_]
    offline: Floats
    online: Floats | None


def scored(fit: Floats, status: NDArray[np.int8]) -> Scored:
    """Score each person against each release, the others being its shadows.

    Parameters
    ----------
    fit : ndarray of float64, shape (releases, people)
        How well what is known of a person fits each release.
    status : ndarray of int8, shape (releases, people)
        1: a member, 0: not in the half, -1: neither.

    Returns
    -------
    Scored
        Of people who are a member or an outsider of the target, and have at least one shadow with
        and one without them; of one shadow alone, those who are not in it.
    """
    parts = [_of_target(t, fit, status) for t in range(len(fit))]
    target = np.repeat(np.arange(len(fit)), [len(each.person) for each in parts])
    person, member, offline = (
        np.concatenate([getattr(each, name) for each in parts])
        for name in ("person", "member", "offline")
    )
    online = None
    if len(fit) > 2:
        online = np.concatenate([each.online for each in parts if each.online is not None])
    return Scored(target, person, member, offline, online)


def _of_target(t: int, fit: Floats, status: NDArray[np.int8]) -> Scored:
    others = np.arange(len(fit)) != t
    shadows, was = fit[others], status[others]
    inside, outside = was == 1, was == 0
    n_in, n_out = inside.sum(0), outside.sum(0)
    counts = (status[t] >= 0) & (n_out > 0)
    if len(shadows) > 1:
        counts &= n_in > 0
    who = np.flatnonzero(counts)
    inside, outside, shadows = inside[:, who], outside[:, who], shadows[:, who]
    mean_out, square_out = _moments(shadows, outside)
    away = _apart(fit[t, who], mean_out)
    member = status[t, who] == 1
    if len(shadows) == 1:
        return Scored(who * 0 + t, who, member, away, None)
    mean_in, square_in = _moments(shadows, inside)
    deviation = _spread(square_in + square_out, (n_in + n_out)[who] - 2)
    near = _apart(fit[t, who], mean_in)
    online = (away**2 - near**2) / (2 * deviation**2)
    return Scored(who * 0 + t, who, member, away / deviation, online)


def _moments(values: Floats, which: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the mean of some values of each column, and the sum of squares about it."""
    count = np.maximum(which.sum(0), 1)
    mean = np.where(which, values, 0.0).sum(0) / count
    return mean, np.where(which, _apart(values, mean) ** 2, 0.0).sum(0)


def _apart(values: Floats, mean: Floats) -> Floats:
    """Return differences; 0 where they are nothing but rounding."""
    away = values - mean
    return np.where(np.abs(away) <= _EQUAL * np.maximum(1.0, np.abs(mean)), 0.0, away)


def _spread(squares: Floats, freedom: NDArray[np.int64]) -> Floats:
    """Return σ of each person: half their own variance, half the median over people.

    Who has no degree of freedom has the median. Where that is 0, any difference is a large one.
    """
    own = squares / np.maximum(freedom, 1)
    some = freedom > 0
    middle = float(np.median(own[some])) if some.any() else 0.0
    variance = np.where(some, (own + middle) / 2, middle)
    return np.maximum(np.sqrt(variance), _LEAST)
