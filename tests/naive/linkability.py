"""Linkability by its definition: one person at a time, one fact after the other."""

from __future__ import annotations

from collections.abc import Sequence

from tests.naive.inference import posterior
from tests.naive.membership import Fact, Shadow
from tests.naive.rows import mix


def parted(
    user: int, items: Sequence[int], prints: Sequence[int], key: int
) -> tuple[set[int], set[int]]:
    """The items of the lower half of a person's facts by their keyed numbers, and the others.

    `user`: the id's fingerprint; `prints`: those of all items.
    """
    by_number = sorted(items, key=lambda item: mix(mix(key) ^ prints[item] ^ user))
    middle = len(items) // 2
    return set(by_number[:middle]), set(by_number[middle:])


def joined(shadow: Shadow, one: Sequence[Fact], other: Sequence[Fact]) -> float:
    """How likely two adversaries name the same row, each drawing among the likeliest ones."""
    first, second = (posterior(shadow, facts, "best") for facts in (one, other))
    return sum(a * b for a, b in zip(first, second, strict=True))


def excess(status: Sequence[Sequence[int]], credit: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """The shares of members and of outsiders joined, and (r − b)/(1 − b); by release and person."""
    sides = [
        [
            c
            for row, of in zip(status, credit, strict=True)
            for s, c in zip(row, of, strict=True)
            if s == w
        ]
        for w in (1, 0)
    ]
    r, b = (sum(side) / len(side) for side in sides)
    return r, b, (r - b) / (1 - b)
