"""Parse the text of the Netflix Prize: a line ``movie:``, then lines ``user,rating,YYYY-MM-DD``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from starshade.kernels.arrays import Bytes, Floats, Int32s, Ints
from starshade.kernels.text.plain import read_date, read_integer, read_number

_LF, _CR, _COMMA, _COLON = 10, 13, 44, 58
_ONE = np.uint64(1)
_ID_DIGITS = np.uint64(18)
_REMEMBERED = 5  # lines that are something else
_SHORTEST = len("1,1,2000-01-01\n")


class Parsed(NamedTuple):
    """What a block of lines holds.

    `days` (n,): since 1970-01-01. `headless`: the first rows, whose movie stands in an earlier
    block. `last_movie`: of the last ``movie:`` line; −1: there was none. `wrong`: lines that are
    something else; no row comes from them.
    """

    users: Ints
    movies: Ints
    ratings: Floats
    days: Int32s
    headless: int
    last_movie: int
    wrong: int
    wrong_at: Ints


def parse(text: Bytes) -> Parsed:
    """Parse whole lines; blank ones are passed over."""
    room = len(text) // _SHORTEST + 1
    users = np.empty(room, np.int64)
    movies = np.empty(room, np.int64)
    ratings = np.empty(room, np.float64)
    days = np.empty(room, np.int32)
    wrong_at = np.zeros(_REMEMBERED, np.int64)
    with np.errstate(over="ignore"):  # interpreted, a number of too many digits would warn
        rows, headless, movie, wrong = _parse(text, users, movies, ratings, days, wrong_at)
    columns = users[:rows], movies[:rows], ratings[:rows], days[:rows]
    return Parsed(*columns, headless, movie, wrong, wrong_at[:wrong])


@njit(cache=True, nogil=True)
def _parse(text, users, movies, ratings, days, wrong_at):  # type: ignore[no-untyped-def]
    size = np.uint64(len(text))
    p = np.uint64(0)
    movie = np.int64(-1)
    row = 0
    headless = 0
    wrong = 0
    while p < size:
        line = p
        if text[p] == _LF or (text[p] == _CR and text[p + _ONE] == _LF):
            p += _ONE if text[p] == _LF else np.uint64(2)
            continue
        value, p, right = read_integer(text, p, _ID_DIGITS)
        is_head = text[p] == _COLON
        if is_head:
            p += _ONE
        elif right and text[p] == _COMMA:
            users[row] = value
            movies[row] = movie
            ratings[row], p, right = read_number(text, p + _ONE)
            if right and text[p] == _COMMA:
                day, p, right = read_date(text, p + _ONE)
                days[row] = np.int32(day)
            else:
                right = False
        else:
            right = False
        if text[p] == _CR:
            p += _ONE
        if right and text[p] == _LF:
            if is_head:
                movie = value
            else:
                row += 1
                headless += 1 if movie < 0 else 0
            p += _ONE
            continue
        if wrong < len(wrong_at):
            wrong_at[wrong] = np.int64(line)
        wrong += 1
        p = line
        while text[p] != _LF:
            p += _ONE
        p += _ONE
    return row, headless, movie, wrong
