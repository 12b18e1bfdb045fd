"""Which levels look like codes for "no answer", one comparison at a time."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

#: codes that surveys use, and those of one digit above a shorter scale
HIGH = {66, 77, 88, 95, 96, 97, 98, 99, 888, 995, 996, 997, 998, 999, 9999}
LOW = {-1, -8, -9, -88, -98, -99, -999, -9999}
DIGIT = {6, 7, 8, 9}


def outlying(counts: Mapping[float, int]) -> set[float]:
    """Return the levels that look like codes; `counts`: how often each level stands."""
    left = sorted(level for level, count in counts.items() if count)
    codes: set[float] = set()
    if left and left[0] < 0:
        mirrored = {-level: counts[level] for level in left}
        codes |= {-level for level in gap_codes(mirrored)}
    left = [level for level in left if level not in codes]
    codes |= gap_codes({level: counts[level] for level in left})
    left = [level for level in left if level not in codes]
    negative = [level for level in left if level < 0]
    if negative_codes(negative, [level for level in left if level >= 0]):
        codes.update(negative)
    return codes


def gap_codes(counts: Mapping[float, int]) -> set[float]:
    """Return the largest group of at most six whole levels above a gap that are far or known."""
    levels = sorted(counts)
    for size in range(6, 0, -1):
        if size >= len(levels):
            continue
        body, group = levels[:-size], levels[-size:]
        known = all(level in HIGH for level in group)
        if any(level != int(level) for level in group) or (len(group) > len(body) and not known):
            continue
        if above_an_unused_level(body, group, counts):
            return set(group)
        steps = [1.0, *(high - low for low, high in pairwise(body))]
        if group[0] - body[-1] < 3 * max(steps):
            continue
        dense = len(body) >= 4
        largest = max(1, abs(body[0]), abs(body[-1]))
        digits = dense and body[0] >= 0 and all(level in DIGIT for level in group)
        times = sum(counts[level] for level in group)
        lone = max(steps) == 1 and min(counts[level] for level in body) >= 3
        far = group[0] >= 3 * largest and (known or (dense and (times > 1 or lone)))
        if not (digits or far):
            continue
        if not has_tail([counts[level] for level in body]) or times / size >= 3 * max(
            counts[level] for level in body[len(body) // 2 :]
        ):
            return set(group)
    return set()


def above_an_unused_level(
    body: list[float], group: list[float], counts: Mapping[float, int]
) -> bool:
    """Tell whether the body is 0 or 1 to n, n is frequent, and the group begins at n + 2."""
    start, end = int(body[0]), int(body[-1])
    if start not in (0, 1) or end - start < 3 or body != list(range(start, end + 1)):
        return False
    if group[0] != end + 2 or any(level not in DIGIT for level in group) or group[-1] not in (8, 9):
        return False
    return counts[end] >= 10 and not has_tail([counts[level] for level in body])


def has_tail(counts: list[int]) -> bool:
    """Tell whether the upper half of the levels is three times rarer than the lower."""
    half = len(counts) // 2
    return len(counts) >= 4 and 3 * sum(counts[half:]) <= sum(counts[:half])


def negative_codes(negative: list[float], rest: list[float]) -> bool:
    """Tell whether up to six whole negative levels stand below a scale of one sign."""
    if not 1 <= len(negative) <= 6 or any(level != int(level) for level in negative):
        return False
    if not rest or rest[-1] < 3:
        return False
    if len(rest) < 4 and any(level not in LOW for level in negative):
        return False
    if len(negative) == 1 or len(negative) < -negative[0]:  # no half of a scale: gaps in it
        return True
    share = 0.5 if rest[0] == 0 else 0.9
    return -negative[0] < share * rest[-1]
