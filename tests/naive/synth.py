"""One synthetic user at a time, with lists and sets (`kernels.synth.synth`).

The random numbers are the package's counter-based ones, and the alias tables are given: the
same stream must give the same user.
"""

from __future__ import annotations

import math

import numpy as np

from starshade.kernels.fingerprint import below, uniform


def _uniform(key, counter):
    return uniform(np.uint64(key), np.uint64(counter))


def picks(key, count, shares, shelves, alias):
    """Return the items that a user picks, ascending.

    shelves: per shelf a list of (item, weight). alias: per shelf a list of (chance to keep,
    place on the same shelf to go to otherwise). shares: of each shelf, cumulative.
    """
    n_places = sum(len(shelf) for shelf in shelves)
    found = []
    counter = 0
    while len(found) < count and counter < 24 * n_places:
        g = next(g for g, share in enumerate(shares) if _uniform(key, counter) < share)
        place = int(below(np.uint64(key), np.uint64(counter + 1), len(shelves[g])))
        keep, other = alias[g][place]
        if _uniform(key, counter + 2) >= keep:
            place = other
        item = shelves[g][place][0]
        if item not in found:
            found.append(item)
        counter += 3
    if len(found) < count:
        found += race(key, 24 * n_places, count - len(found), shares, shelves, found)
    return sorted(found)


def race(key, counter, count, shares, shelves, found):
    """Return the `count` items, none of them found before, whose clocks ring first."""
    rings = []
    number = 0
    for g, shelf in enumerate(shelves):
        share = shares[g] - (shares[g - 1] if g else 0.0)
        total = sum(weight for _, weight in shelf)
        for item, weight in shelf:
            chance = max(share * weight / total, 1e-290)
            rings.append((-math.log1p(-_uniform(key, counter + number)) / chance, item))
            number += 1
    order = []
    for _, item in sorted(rings):
        if item not in found and item not in order:
            order.append(item)
    return order[:count]


def opinion(key, i, quality, leniency, liking, noise):
    """Return what a user thinks of the i-th item."""
    x = _uniform(key, i) + 2.0**-54
    return quality + leniency + liking + noise * math.log(x / (1 - x))


def stars(opinion, cuts):
    """Return the code of an opinion: how many cuts it reaches."""
    return sum(opinion >= cut for cut in cuts)


def dates(key, n, arrival, bouts, last_day, gap, gap_spread, opening, size_spread):
    """Return the days of a user's n ratings."""

    def normal(counter):
        radius = math.sqrt(-2 * math.log1p(-_uniform(key, counter)))
        return radius * math.cos(2 * math.pi * _uniform(key, counter + 1))

    days, sizes = [arrival], [opening * math.exp(size_spread * normal(0))]
    for b in range(1, bouts):
        day = days[-1] + math.ceil(gap * math.exp(gap_spread * normal(4 * b)))
        if day > last_day:
            break
        days.append(day)
        sizes.append(math.exp(size_spread * normal(4 * b + 2)))
    out = []
    for i in range(n):
        x = _uniform(key, 4 * bouts + i) * math.fsum(sizes)
        b = 0
        while b < len(days) - 1 and x >= math.fsum(sizes[: b + 1]):
            b += 1
        out.append(days[b])
    return out


def place_unrated(key, rows, n_items):
    """Return the rows with every item in at least one of them; rows: sorted lists of items."""
    rows = [list(row) for row in rows]
    cells = [(r, i) for r, row in enumerate(rows) for i in range(len(row))]
    counter = 0
    for item in range(n_items):
        if any(item in row for row in rows):
            continue
        while True:
            r, i = cells[int(below(np.uint64(key), np.uint64(counter), len(cells)))]
            counter += 1
            if sum(rows[r][i] in row for row in rows) > 1:
                break
        rows[r][i] = item
        rows[r].sort()
    return rows
