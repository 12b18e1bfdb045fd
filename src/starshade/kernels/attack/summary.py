"""What an attack must remember of a block of scores, and how two blocks become one, exactly.

Scores are whole numbers (of 2^-20, see `scoreboard`), so their sums do not depend on order. A
row stands for one or more identical records, and rows may be equal too: each distinct row is one
*profile*. Every figure is kept for records and for profiles: the eccentricity of a record counts
copies, that of a profile does not. Squares need up to 93 bits; they are kept in two limbs,
``high * 2**32 + low`` with 0 <= low < 2**32, so that equal sums look equal.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from starshade.kernels.arrays import Array, Floats, inner

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
_RUN = 4096  # rows summed up at once, while they are in the nearest cache
_WIDE = 1 << 25  # the squares of a run of lower scores fit 62 bits
_FINE = 11  # bits of a score's distance that are looked up in the finer table


@njit(cache=True, nogil=True)
def summarize(values, weights, single, zero_records, zero_rows, out):  # type: ignore[no-untyped-def]
    """Fill one SUMMARY with the scores of a block; leaves `own` and `best` alone.

    Every row is taken for a profile; `leave_out` corrects that.

    `zero_records`, `zero_rows`: further records and rows, not listed, whose score is 0.
    """
    top = np.int32(0) if zero_rows > 0 else np.int32(-1)
    total, high, low = np.int64(0), np.int64(0), np.int64(0)
    peaks = np.empty((len(values) + _RUN - 1) // _RUN, np.int32)
    for i in range(len(peaks)):
        run = values[i * _RUN : (i + 1) * _RUN]
        peaks[i], some, high_part, low_part = _add_up(run)
        top = max(top, peaks[i])
        total += some
        high += high_part
        low += low_part
    runner_up, top_rows = _look_below(values, peaks, top)
    if zero_rows > 0:
        runner_up = max(runner_up, np.int32(0) if top > 0 else np.int32(-1))
        top_rows += zero_rows if top == 0 else 0
    out["top"] = top
    out["runner_up"] = runner_up
    out["profiles"] = len(values) + zero_rows
    out["top_profiles"] = top_rows
    out["profile_total"] = total
    out["profile_square_high"] = high + (low >> 32)
    out["profile_square_low"] = low & _MASK
    if single:
        out["records"] = out["profiles"]
        out["top_records"] = top_rows
        out["total"] = total
        out["square_high"] = out["profile_square_high"]
        out["square_low"] = out["profile_square_low"]
    else:
        _summarize_records(values, weights, zero_records, top, out)


@inner
def _add_up(run):  # type: ignore[no-untyped-def]
    """Return the highest of at most _RUN scores, their sum and that of their squares."""
    peak = np.int32(-1)
    for i in range(len(run)):
        peak = max(peak, run[i])
    total, high, low = np.int64(0), np.int64(0), np.int64(0)
    if peak < _WIDE:
        for i in range(len(run)):
            v = np.int64(run[i])
            total += v
            low += v * v
        return peak, total, low >> 32, low & _MASK
    for i in range(len(run)):
        v = np.int64(run[i])
        total += v
        high += (v * v) >> 32
        low += (v * v) & _MASK
    return peak, total, high, low


@inner
def _look_below(values, peaks, top):  # type: ignore[no-untyped-def]
    """Return the highest score below the top (-1: none), and how many rows are at the top."""
    runner_up = np.int32(-1)
    at_top = np.int64(0)
    for i in range(len(peaks)):
        if peaks[i] < top:
            runner_up = max(runner_up, peaks[i])
            continue
        run = values[i * _RUN : (i + 1) * _RUN]
        for k in range(len(run)):
            at_top += run[k] == top
            runner_up = max(runner_up, run[k] if run[k] < top else np.int32(-1))
    return runner_up, at_top


@inner
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
    out["square_high"] = high + (low >> 32)
    out["square_low"] = low & _MASK


@njit(cache=True, nogil=True)
def leave_out(repeated, out):  # type: ignore[no-untyped-def]
    """Take rows that repeat an earlier one, given by their scores, out of the profiles again."""
    for i in range(len(repeated)):
        v = np.int64(repeated[i])
        out["profiles"] -= 1
        out["top_profiles"] -= v == out["top"]
        out["profile_total"] -= v
        low = out["profile_square_low"] - ((v * v) & _MASK)
        out["profile_square_high"] += (low >> 32) - ((v * v) >> 32)
        out["profile_square_low"] = low & _MASK


def merge(a: Array, b: Array) -> Array:
    """Join the summaries of two blocks of rows, target by target; exact, in any order."""
    out = np.empty_like(a)
    for name in _SUMS:
        out[name] = a[name] + b[name]
    for pre in ("", "profile_"):
        out[f"{pre}square_high"] += out[f"{pre}square_low"] >> 32
        out[f"{pre}square_low"] &= _MASK
    top = np.maximum(a["top"], b["top"])
    out["top"] = top
    for name in ("top_records", "top_profiles"):
        out[name] = np.where(a["top"] == top, a[name], 0) + np.where(b["top"] == top, b[name], 0)
    below = [np.where(side[n] < top, side[n], -1) for side in (a, b) for n in ("top", "runner_up")]
    out["runner_up"] = np.max(below, axis=0)
    for name in ("own", "best"):
        out[name] = np.maximum(a[name], b[name])
    return out


@inner
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


def sigmas(summaries: Array, *, profiles: bool = False) -> Floats:
    """SD of the scores of all records (or all profiles), in units of the scores, per target."""
    pre = "profile_" if profiles else ""
    sides = [summaries[f"{pre}{name}"] for name in ("total", "square_high", "square_low")]
    counts = summaries["profiles" if profiles else "records"]
    spread = _sigmas(*(np.ascontiguousarray(side) for side in (counts, *sides)))
    return np.where(summaries["runner_up"] < 0, 0.0, spread)


def mass_unit(records: int) -> float:
    """Return the whole units of 1.0, a power of two, so that `records` times that fit 62 bits."""
    return math.ldexp(1.0, 62 - int(records).bit_length())


@njit(cache=True, nogil=True)
def powers(top, rate, unit):  # type: ignore[no-untyped-def]
    """Tables whose product is unit · 2^(-d · rate), for distances d = 0…top below a score.

    Two look-ups and a product take a third of the time of a polynomial for 2^x, and are as good
    as the arithmetic: each table grows from its first entry by doubling, so an entry is off by
    as many roundings as its number has bits.

    Returns `coarse` (float64 (top // 2048 + 1,)): in whole units.
    """
    coarse = np.empty((max(top, 0) >> _FINE) + 1, np.float64)
    fine = np.empty(1 << _FINE, np.float64)
    _fill(coarse, unit, rate * (1 << _FINE))
    _fill(fine, 1.0, rate)
    return coarse, fine


@inner
def _fill(table, first, rate):  # type: ignore[no-untyped-def]
    table[0] = first
    n = 1
    while n < len(table):
        factor = 2.0 ** (-n * rate)
        half, rest = table[:n], table[n : 2 * n]
        for i in range(len(rest)):
            rest[i] = half[i] * factor
        n *= 2


@njit(cache=True, nogil=True)
def power(distance, coarse, fine):  # type: ignore[no-untyped-def]
    """2^(-distance · rate) in whole units, to the nearest."""
    d = np.uint32(distance)
    e = coarse[d >> np.uint32(_FINE)] * fine[d & np.uint32((1 << _FINE) - 1)]
    return np.int64(e + 0.5)


@njit(cache=True, nogil=True)
def mass(values, weights, single, reference, coarse, fine, room):  # type: ignore[no-untyped-def]
    """Σ weight · 2^((value - reference) · rate) in whole units: the same in any order.

    `reference`: at most the `top` of the tables. `room`: at least as long as `values`,
    or `values` themselves; overwritten.
    """
    out, zero_records = np.int64(0), np.int64(0)
    top = np.int32(reference)
    for first in range(0, len(values), _RUN):
        # most rows hold nothing that is known: they are counted, without a look-up for each
        run = values[first : first + _RUN]
        if single:
            n = 0
            for i in range(len(run)):
                room[n] = run[i]
                n += run[i] != 0
            zero_records += len(run) - n
            for i in range(n):
                out += power(top - room[i], coarse, fine)
        else:
            for i in range(len(run)):
                if run[i] != 0:
                    out += power(top - run[i], coarse, fine) * weights[first + i]
                else:
                    zero_records += weights[first + i]
    if zero_records > 0:
        out += power(np.int64(top), coarse, fine) * zero_records
    return out
