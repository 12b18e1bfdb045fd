"""Holding out, one rating after another."""

from __future__ import annotations

from starshade.ratings.table import Ratings
from starshade.rng import stream_key

_MASK = 2**64 - 1


def mix(x: int) -> int:
    """SplitMix64's finalizer on Python's whole numbers."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def fingerprint(text: str) -> int:
    """FNV-1a of the id's text, mixed."""
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001B3) & _MASK
    return mix(h)


def held_out(ratings: Ratings, share: float, seed: int) -> set[tuple[int, int]]:
    """Return the (row, column) of each rating that is set aside."""
    key = mix(stream_key(seed, "holdout"))
    numbers = {}
    for u in range(ratings.n_users):
        user = mix(key ^ fingerprint(ratings.users[u]))
        for p in range(ratings.indptr[u], ratings.indptr[u + 1]):
            i = int(ratings.columns[p])
            numbers[u, i] = mix(user ^ fingerprint(ratings.items[i]))
    return set(sorted(numbers, key=numbers.__getitem__)[: round(share * len(numbers))])
