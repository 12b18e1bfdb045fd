"""Parse plain delimited text: bytes in, columns out.

Plain means: fields separated by one fixed delimiter, no quotes, lines ended by LF or CRLF. In the
fields that are asked for: ids are canonical integers of at most 18 digits; a rating is an optional
minus and at most 15 digits with or without a decimal point, so that digits and power of ten are
both exact in a double and one division rounds as ``float(text)`` would (Clinger, PLDI 1990); a
date is whole seconds since 1970 of at most 11 digits, or YYYY-MM-DD. A line that is anything else
stops the parser, which says so and never guesses.

Places in the text are unsigned, which spares Numba the test for negative indices at every byte;
the text ends with a line feed, which is no digit and no delimiter, so no loop runs past it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from starshade.kernels.arrays import Bytes, Floats, Int32s, Ints, inner

USER, ITEM, SECONDS = 0, 1, 2  # kinds of fields: integers, by their row in the output
RATING, SKIP, ISO_DATE = -1, -2, -3

_LF, _CR, _QUOTE, _MINUS, _POINT = 10, 13, 34, 45, 46
_ONE = np.uint64(1)
_POWERS = 10.0 ** np.arange(16)
_MOST_DIGITS = 15  # of a rating
_SECONDS_A_DAY = 86_400
_MONTHS = np.array([0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])


class Lines(NamedTuple):
    """What was parsed, up to the first line that is not plain.

    `days` (n,): since 1970-01-01; meaningless where lines have no date. `blanks`: empty lines
    passed over.
    """

    users: Ints
    items: Ints
    ratings: Floats
    days: Int32s
    blanks: int
    plain: bool


def parse_lines(text: Bytes, delimiter: bytes, kinds: Ints) -> Lines:
    """Parse whole lines; the delimiter is one byte, or two for ``::``, and part of no field."""
    # each field but the last takes a delimiter, each asked-for one a digit, the line an LF
    least = (len(kinds) - 1) * len(delimiter) + int((kinds != SKIP).sum()) + 1
    room = len(text) // least + 1
    integers = np.empty((3, room), np.int64)
    ratings = np.empty(room, np.float64)
    most = np.where(kinds == SECONDS, 11, 18).astype(np.uint64)
    with np.errstate(over="ignore"):  # interpreted, a number of too many digits would warn
        rows, blanks, plain = _parse_lines(
            text, delimiter[0], delimiter[-1], np.uint64(len(delimiter)), kinds, most,
            integers, ratings,
        )  # fmt: skip
    users, items, dates = integers[:, :rows]
    if SECONDS in kinds:
        dates = dates // _SECONDS_A_DAY
    return Lines(users, items, ratings[:rows], dates.astype(np.int32), blanks, plain)


@njit(cache=True, nogil=True)
def _parse_lines(text, first, last, width, kinds, most, integers, ratings):  # type: ignore[no-untyped-def]
    """Return rows, blank lines, and whether all was plain."""
    n_columns = len(kinds)
    size = np.uint64(len(text))
    p = np.uint64(0)
    row = 0
    blanks = 0
    while p < size:
        if text[p] == _LF or (text[p] == _CR and text[p + _ONE] == _LF):
            p += _ONE if text[p] == _LF else np.uint64(2)
            blanks += 1
            continue
        for column in range(n_columns):
            kind = kinds[column]
            if kind >= 0:
                integers[kind, row], p, plain = read_integer(text, p, most[column])
            elif kind == RATING:
                ratings[row], p, plain = read_number(text, p)
            elif kind == SKIP:
                p, plain = _skip(text, p, first, last, width), True
            else:
                integers[SECONDS, row], p, plain = read_date(text, p)
            if not plain:
                return row, blanks, False
            if column < n_columns - 1:
                # what is no line feed is not the last byte, so p + 1 is inside
                if text[p] != first or (width > _ONE and text[p + _ONE] != last):
                    return row, blanks, False
                p += width
        if text[p] == _CR:
            p += _ONE
        if text[p] != _LF:
            return row, blanks, False
        p += _ONE
        row += 1
    return row, blanks, True


@inner
def read_integer(text, p, most):  # type: ignore[no-untyped-def]
    """Read a canonical integer; return it, what follows, and whether it is one."""
    start = p
    value = np.int64(0)
    digit = np.int64(text[p]) - 48
    while 0 <= digit <= 9:
        value = value * 10 + digit
        p += _ONE
        digit = np.int64(text[p]) - 48
    plain = start < p <= start + most and (text[start] != 48 or p - start == _ONE)
    return value, p, plain


@inner
def read_number(text, p):  # type: ignore[no-untyped-def]
    """Read a decimal number as float(text) would; return it, what follows, and whether it is."""
    negative = text[p] == _MINUS
    if negative:
        p += _ONE
    start = p
    value = np.int64(0)
    digit = np.int64(text[p]) - 48
    while 0 <= digit <= 9:
        value = value * 10 + digit
        p += _ONE
        digit = np.int64(text[p]) - 48
    digits = p - start
    decimals = np.uint64(0)
    if text[p] == _POINT:
        p += _ONE
        start = p
        digit = np.int64(text[p]) - 48
        while 0 <= digit <= 9:
            value = value * 10 + digit
            p += _ONE
            digit = np.int64(text[p]) - 48
        decimals = p - start
        digits += decimals
    if digits == 0 or digits > _MOST_DIGITS:
        return 0.0, p, False
    number = np.float64(value) / _POWERS[decimals]
    return -number if negative else number, p, True


@inner
def _skip(text, p, first, last, width):  # type: ignore[no-untyped-def]
    """Pass over a field that is not asked for; return what follows: no delimiter at a quote."""
    while True:
        c = text[p]
        if c == first and (width == _ONE or text[p + _ONE] == last):
            return p
        if c in (_LF, _CR, _QUOTE):
            return p
        p += _ONE


@inner
def read_date(text, p):  # type: ignore[no-untyped-def]
    """Read YYYY-MM-DD as a day since 1970; return it, what follows, and whether it is one."""
    if np.uint64(len(text)) - p < np.uint64(11):  # the date and a line feed
        return np.int64(0), p, False
    number = np.int64(0)  # YYYYMMDD
    for i in range(10):
        digit = np.int64(text[p + np.uint64(i)]) - 48
        if i in (4, 7):
            if digit != _MINUS - 48:
                return np.int64(0), p, False
        elif 0 <= digit <= 9:
            number = number * 10 + digit
        else:
            return np.int64(0), p, False
    year, month, day = number // 10_000, number // 100 % 100, number % 100
    if year < 1 or month < 1 or month > 12 or day < 1 or day > _MONTHS[month]:
        return np.int64(0), p, False
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if month == 2 and day == 29 and not leap:
        return np.int64(0), p, False
    return _day_number(year, month, day), p + np.uint64(10), True


@inner
def _day_number(year, month, day):  # type: ignore[no-untyped-def]
    """Count the days since 1970-01-01 of a date of the Gregorian calendar.

    With years that begin in March a leap day is the last of its year, and the days before a
    month are (153 m + 2) // 5.
    """
    if month <= 2:
        year -= 1
        month += 12
    days = 365 * year + year // 4 - year // 100 + year // 400
    return days + (153 * (month - 3) + 2) // 5 + day - 719_469
