"""What an attack must remember of a block of scores, and how two blocks become one, exactly.

Scores are whole numbers (of 2^-20, see `scoreboard`), so their sums do not depend on order. A
row stands for one or more identical records, and rows may be equal too: each distinct row is one
*profile*. Every figure is kept for records and for profiles: the eccentricity of a record counts
copies, that of a profile does not. Squares need up to 93 bits; they are kept in two limbs,
``high * 2**32 + low``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = [
    "SUMMARY",
    "leave_out",
    "mass",
    "mass_unit",
    "merge",
    "power",
    "sigma",
    "sigmas",
    "summarize",
]

#: top, runner_up and the two scores of the target are -1 where there is none
SUMMARY = np.dtype(
    [
        ("records", np.int64),
        ("profiles", np.int64),
        ("top", np.int64),  # highest score
        ("runner_up", np.int64),  # highest score below the top
        ("top_records", np.int64),  # records that share the top
        ("top_profiles", np.int64),
        ("total", np.int64),  # sum of scores over records
        ("square_high", np.int64),
        ("square_low", np.int64),
        ("profile_total", np.int64),  # the same over profiles
        ("profile_square_high", np.int64),
        ("profile_square_low", np.int64),
        ("own", np.int64),  # score of the target's own row
        ("best", np.int64),  # highest score of a row that agrees with the target's true one
    ]
)
_SUMS = tuple(
    name
    for name in SUMMARY.names or ()
    if "total" in name or "square" in name or name in ("records", "profiles")
)
_MASK = 0xFFFFFFFF
_LN2 = math.log(2.0)
_E3, _E4, _E5, _E6, _E7, _E8, _E9 = (1 / math.factorial(n) for n in range(3, 10))


@njit(cache=True, nogil=True)
def summarize(values, weights, single, zero_records, zero_rows, out):  # type: ignore[no-untyped-def]
    """Fill one SUMMARY with the scores of a block; leaves `own` and `best` alone.

    Every row is taken for a profile; `leave_out` corrects that.

    Parameters
    ----------
    values : ndarray of int32, shape (n,)
        Scores, none negative.
    weights : ndarray of int64, shape (n,)
        Records of each row; not read if `single`.
    single : bool
        Every row is one record.
    zero_records, zero_rows : int
        Further records and rows, not listed, whose score is 0.
    out : record of SUMMARY
    """
    top = np.int32(0) if zero_rows > 0 else np.int32(-1)
    total = np.int64(0)
    high = np.uint64(0)
    low = np.uint64(0)
    for i in range(len(values)):
        v = values[i]
        top = max(top, v)
        total += v
        square = np.uint64(v) * np.uint64(v)
        high += square >> np.uint64(32)
        low += square & np.uint64(_MASK)
    runner_up = np.int32(0) if zero_rows > 0 and top > 0 else np.int32(-1)
    top_rows = np.int64(zero_rows) if top == 0 else np.int64(0)
    for i in range(len(values)):
        v = values[i]
        top_rows += v == top
        runner_up = max(runner_up, v if v < top else np.int32(-1))
    out["top"] = top
    out["runner_up"] = runner_up
    if single:
        out["records"] = len(values) + zero_rows
        out["top_records"] = top_rows
        out["total"] = total
        out["square_high"] = np.int64(high)
        out["square_low"] = np.int64(low)
    else:
        _summarize_records(values, weights, zero_records, top, out)
    out["profiles"] = len(values) + zero_rows
    out["top_profiles"] = top_rows
    out["profile_total"] = total
    out["profile_square_high"] = np.int64(high)
    out["profile_square_low"] = np.int64(low)


@njit(cache=True, nogil=True)
def _summarize_records(values, weights, zero_records, top, out):  # type: ignore[no-untyped-def]
    """Sum up again, each row counted as often as it has records."""
    records = np.int64(zero_records)
    top_records = np.int64(zero_records) if top == 0 else np.int64(0)
    total = np.int64(0)
    high = np.int64(0)
    low = np.int64(0)
    for i in range(len(values)):
        v = np.int64(values[i])
        w = weights[i]
        records += w
        top_records += w if v == top else 0
        total += v * w
        square = v * v
        high += (square >> 32) * w
        low += (square & _MASK) * w
    out["records"] = records
    out["top_records"] = top_records
    out["total"] = total
    out["square_high"] = high
    out["square_low"] = low


@njit(cache=True, nogil=True)
def leave_out(repeated, out):  # type: ignore[no-untyped-def]
    """Take rows that repeat an earlier one, given by their scores, out of the profiles again."""
    for i in range(len(repeated)):
        v = np.int64(repeated[i])
        out["profiles"] -= 1
        out["top_profiles"] -= v == out["top"]
        out["profile_total"] -= v
        out["profile_square_high"] -= (v * v) >> 32
        out["profile_square_low"] -= (v * v) & _MASK


def merge(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Join the summaries of two blocks of rows, target by target; exact, in any order.

    Parameters
    ----------
    a, b : ndarray of SUMMARY, shape (targets,)
    """
    out = np.empty_like(a)
    for name in _SUMS:
        out[name] = a[name] + b[name]
    top = np.maximum(a["top"], b["top"])
    out["top"] = top
    for name in ("top_records", "top_profiles"):
        out[name] = np.where(a["top"] == top, a[name], 0) + np.where(b["top"] == top, b[name], 0)
    below = [np.where(side[n] < top, side[n], -1) for side in (a, b) for n in ("top", "runner_up")]
    out["runner_up"] = np.max(below, axis=0)
    for name in ("own", "best"):
        out[name] = np.maximum(a[name], b[name])
    return out


@njit(cache=True, nogil=True)
def sigma(n, total, high, low):  # type: ignore[no-untyped-def]
    """Return the population SD of `n` scores from exact sums, without cancellation.

    With c = total // n and r = total - c·n the squares around c sum to
    (high·2^32 + low) - c·(total + r), an exact whole number; what is left of the mean, r / n,
    lies in [0, 1).
    """
    if n == 0:
        return 0.0
    c = total // n
    r = total - c * n
    moved = total + r
    low_left = low - c * (moved & _MASK)
    high_left = high - c * (moved >> 32) + (low_left >> 32)
    around_c = float(high_left) * 4294967296.0 + float(low_left & _MASK)
    return math.sqrt(max(around_c / n - (r / n) ** 2, 0.0))


@njit(cache=True, nogil=True)
def _sigmas(n, total, high, low):  # type: ignore[no-untyped-def]
    out = np.empty(len(n), np.float64)
    for i in range(len(n)):
        out[i] = sigma(n[i], total[i], high[i], low[i])
    return out


def sigmas(summaries: NDArray[Any], *, profiles: bool = False) -> NDArray[np.float64]:
    """SD of the scores of all records (or all profiles), in units of the scores, per target.

    Scores that are all equal give exactly 0.
    """
    pre = "profile_" if profiles else ""
    sides = [summaries[f"{pre}{name}"] for name in ("total", "square_high", "square_low")]
    counts = summaries["profiles" if profiles else "records"]
    spread = _sigmas(*(np.ascontiguousarray(side) for side in (counts, *sides)))
    return np.where(summaries["runner_up"] < 0, 0.0, spread)


def mass_unit(records: int) -> float:
    """Return the whole units of 1.0, a power of two, so that `records` times that fit 62 bits."""
    return math.ldexp(1.0, 62 - int(records).bit_length())


@njit(cache=True, nogil=True)
def power(y, unit):  # type: ignore[no-untyped-def]
    """2^y for y <= 0 in whole units, rounded down.

    2^y = 2^-w · e^x, w the whole number nearest -y, |x| <= ln 2 / 2, and e^x to the ninth
    power: below 1e-11 off. Written out, because it vectorizes and because a library's `exp`
    may round differently in a loop's tail.
    """
    y = max(y, -63.0)
    w = np.int64(0.5 - y)
    x = (y + w) * _LN2
    e = _E9
    e = e * x + _E8
    e = e * x + _E7
    e = e * x + _E6
    e = e * x + _E5
    e = e * x + _E4
    e = e * x + _E3
    e = e * x + 0.5
    e = e * x + 1.0
    e = e * x + 1.0
    return np.int64(e * unit) >> w


@njit(cache=True, nogil=True)
def mass(values, weights, single, reference, rate, unit):  # type: ignore[no-untyped-def]
    """Σ weight · 2^((value - reference) · rate) in whole units: the same in any order.

    Parameters
    ----------
    values : ndarray of int32, shape (n,)
        Scores, none above `reference`.
    weights : ndarray of int64, shape (n,)
        Not read if `single`: every weight is 1.
    single : bool
    reference : int
    rate : float
        log2(e) / σ; 0 makes every score alike.
    unit : float
        From `mass_unit`.
    """
    out = np.int64(0)
    top = np.int32(reference)
    for i in range(len(values)):
        term = power((values[i] - top) * rate, unit)
        out += term if single else term * weights[i]
    return out
