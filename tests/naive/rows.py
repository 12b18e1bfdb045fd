"""The fingerprint of a row, number by number."""

from __future__ import annotations

_ALL = 2**64 - 1


def mix(x: int) -> int:
    """SplitMix64's finalizer (Steele, Lea & Flood 2014), in whole numbers."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & _ALL
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & _ALL
    return x ^ (x >> 31)


def keyed_row(start: int, cells: list[tuple[int, int]]) -> int:
    """Hash a row: its columns and what is in them, one after the other."""
    found = mix(start)
    for cell in cells:
        for part in cell:
            found = mix(found ^ part)
    return found
