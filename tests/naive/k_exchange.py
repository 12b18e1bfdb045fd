"""k-exchange in plain Python, written for reading.

Rows are lists of whole numbers on the grid (`on_grid`), in the seeded order; on a `Weighed` table
single-valued cells cost, too. The random numbers
are the package's counter-based ones: the same key must give the same draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, lcm, log, sqrt

import numpy as np

from starshade.kernels import fingerprint

Rows = Sequence[Sequence[int]]
Groups = list[list[int]]
MASK = 2**64 - 1


class Weighed(list[list[int]]):
    """Rows of which a step of a range costs `step`, and a single-valued cell `single`."""

    step: int
    single: int
    rated: Sequence[Sequence[bool]]  # which cells are ratings; further columns have none
    plain: Rows  # the rows as they were


def weighed(rows: Rows, unit: int, weight: float, rated: Sequence[Sequence[bool]]) -> Weighed:
    """Weigh with `weight` units, to 1/1,000 of one or finer; columns without null begin with 1."""
    full = [all(column) for column in zip(*rated, strict=True)]
    out = Weighed([v + one for v, one in zip(row, full, strict=True)] for row in rows)
    out.step, out.rated, out.plain = ceil(1000 / unit), rated, rows
    out.single = round(weight * unit * out.step)
    return out


def plain(rows: Rows) -> Rows:
    return rows.plain if isinstance(rows, Weighed) else rows


def number(key: int, counter: int) -> int:
    return int(fingerprint.number(np.uint64(key), np.uint64(counter)))


def mix(key: int) -> int:
    return int(fingerprint.mix(np.uint64(key & MASK)))


def below(key: int, counter: int, n: int) -> int:
    return (number(key, counter) >> 32) * n >> 32


def on_grid(matrix: Sequence[Sequence[float]], real: bool) -> tuple[list[list[int]], int]:
    """Every column from 0 to the unit: the ranges' least common multiple, at most 16,383."""
    columns = list(zip(*matrix, strict=True))
    ranges = [max(column) - min(column) for column in columns]
    whole = all(v == int(v) for row in matrix for v in row) and not real
    unit = lcm(*(int(r) for r in ranges if r)) if whole else 16_383
    unit = min(unit, 16_383)
    placed = [
        [round((v - min(column)) * unit / r) if r else 0 for v in column]
        for column, r in zip(columns, ranges, strict=True)
    ]
    return [list(row) for row in zip(*placed, strict=True)], unit


def distance(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))


def width(rows: Rows, members: Sequence[int]) -> int:
    return sum(max(c) - min(c) for c in zip(*(rows[i] for i in members), strict=True))


def price(rows: Rows, members: Sequence[int]) -> int:
    """What each member of a group pays."""
    if not isinstance(rows, Weighed):
        return width(rows, members)
    single = [
        len({rows[i][j] for i in members}) == 1 and all(rows.rated[i][j] for i in members)
        for j in range(len(rows[0]))
    ]
    return rows.step * width(rows, members) + rows.single * sum(single)


def cost(rows: Rows, groups: Iterable[list[int]]) -> int:
    return sum(len(group) * price(rows, group) for group in groups if group)


def cut_leaves(rows: Rows, units: Groups, block: int, most: int, key: int) -> list[list[int]]:
    """Halve the units by random cuts that follow the data; return units, leaf by leaf."""
    leaves = [list(range(len(units)))]
    level = 0
    while -(-(len(units) // block) >> level) > most:
        halves = []
        for node, leaf in enumerate(leaves):
            own = mix(mix(key + level) + node)
            one, other = (units[leaf[below(own, c, len(leaf))]] for c in (0, 1))
            away = [
                sum(rows[i][j] for i in other) - sum(rows[i][j] for i in one)
                for j in range(len(rows[0]))
            ]

            def along(unit: int, away: list[int] = away) -> int:
                members = units[unit]
                return sum(a * rows[i][j] for i in members for j, a in enumerate(away)) // len(
                    members
                )

            leaf.sort(key=along)
            middle = len(leaf) // block // 2 * block
            halves += [leaf[:middle], leaf[middle:]]
        leaves = halves
        level += 1
    return leaves


def apart(rows: Rows, records: list[int], k: int) -> dict[int, int]:
    """How far each record is from the nearest other in each eighth of a sample, added up."""
    far = max(map(max, rows)) * len(rows[0]) + 1
    sampled = min(1024, len(records) // k)
    parts = [records[p * sampled // 8 : (p + 1) * sampled // 8] for p in range(8)]
    return {
        i: sum(
            min([distance(rows[i], rows[j]) for j in part if j != i], default=far) for part in parts
        )
        for i in records
    }


def greedy(rows: Rows, records: list[int], k: int) -> Groups:
    """The first record left takes k-1 times the one that widens least; ties to who is apart."""
    away = apart(rows, records, k)
    free, groups = list(records), []
    while len(free) >= k:
        group = [free.pop(0)]
        for _ in range(k - 1):
            group.append(min(free, key=lambda i: (width(rows, [*group, i]), -away[i])))
            free.remove(group[-1])
        groups.append(group)
    for i in free:
        rises = [(len(g) + 1) * width(rows, [*g, i]) - len(g) * width(rows, g) for g in groups]
        groups[rises.index(min(rises))].append(i)
    return groups


def first_groups(rows: Rows, k: int, most: int, keys: Iterator[int]) -> Groups:
    """Greedy leaf by leaf; the wider half anew, until one leaf holds what is left."""
    free, kept = list(range(len(rows))), []
    while free:
        leaves = cut_leaves(rows, [[i] for i in free], k, most, next(keys))
        formed = [
            group for leaf in leaves for group in greedy(rows, [free[u] for u in sorted(leaf)], k)
        ]
        stay = set(range(len(formed)))
        if len(leaves) > 1:
            by_width = sorted(stay, key=lambda g: width(rows, formed[g]))
            stay = {g for g in by_width[: len(formed) // 2] if len(formed[g]) == k}
        kept += [formed[g] for g in sorted(stay)]
        gone = {i for g in stay for i in formed[g]}
        free = [i for i in free if i not in gone]
    return kept


def anneal(
    rows: Rows, records: list[int], groups: Groups, k: int, heat: float, shrink: list[float],
    per_stage: int, key: int,
) -> Groups:  # fmt: skip
    """Moves and swaps within one leaf; the groups come back in the order in which they came."""
    near = {
        i: sorted((j for j in records[:1024] if j != i), key=lambda j: distance(rows[i], rows[j]))[
            : min(8, len(records) - 1)
        ]
        for i in records
    }
    groups = [list(group) for group in groups]
    now = least = cost(rows, groups)
    best = [list(group) for group in groups]
    hot = heat * sqrt(now / len(records))
    step = 0
    for remains in shrink:
        for _ in range(per_stage):
            draw = number(key, step)
            step += 1
            more = number(draw, step)
            r = records[(draw >> 32) * len(records) >> 32]
            q = near[r][(draw & 0xFFFF) * len(near[r]) >> 16]
            a = next(g for g in groups if r in g)
            b = next(g for g in groups if q in g)
            if a is b:
                continue
            may_rise = hot * remains * -log(((more & 1023) + 0.5) / 1024)
            p = (more >> 32) * len(b) >> 32
            s = b[p]
            if s == q:
                if len(a) == k or len(b) == 2 * k - 1:
                    continue
                new_a, new_b = [i for i in a if i != r], [*b, r]
                if a[-1] != r:  # the last takes the place that became free
                    new_a = [a[-1] if i == r else i for i in a[:-1]]
            else:
                new_a = [s if i == r else i for i in a]
                new_b = [r if i == s else i for i in b]
            rise = cost(rows, [new_a, new_b]) - cost(rows, [a, b])
            if rise <= may_rise:
                a[:], b[:] = new_a, new_b
                now += rise
        if now < least:
            least, best = now, [list(group) for group in groups]
    return best


def dissolve(rows: Rows, groups: Groups, k: int) -> tuple[Groups, int]:
    """Give a group's members to others, one by one, where that costs less; the dearest first."""
    groups = [list(group) for group in groups]
    joined: set[int] = set()
    gone = 0
    for g in sorted(range(len(groups)), key=lambda g: -cost(rows, [groups[g]])):
        if g in joined or not groups[g] or not price(rows, groups[g]):
            continue
        others = [list(group) for group in groups]
        taken, room = [], cost(rows, [groups[g]])
        for i in sorted(groups[g]):
            rises = {
                b: cost(rows, [[*other, i]]) - cost(rows, [other])
                for b, other in enumerate(others)
                if b != g and k <= len(other) < 2 * k - 1
            }
            if not rises or min(rises.values()) >= room:
                break
            taken.append(min(rises, key=lambda b: (rises[b], b)))
            others[taken[-1]].append(i)
            room -= rises[taken[-1]]
        others[g] = []
        if len(taken) == len(groups[g]):
            groups, gone = others, gone + 1
            joined |= set(taken)
    return groups, gone


def small_groups(rows: Rows, groups: Groups, k: int) -> Groups:
    """Groups of 2k or more taken apart greedily; the parts come last."""
    parts = [
        part
        for group in groups
        if len(group) >= 2 * k
        for part in greedy(plain(rows), sorted(group), k)
    ]
    return [group for group in groups if len(group) < 2 * k] + parts


def start_groups(rows: Rows, k: int, most: int, keys: Iterator[int]) -> Groups:
    """Rows that occur k times or more together, greedy groups of the others."""
    copies: dict[tuple[int, ...], list[int]] = {}
    for i, row in enumerate(rows):
        copies.setdefault(tuple(row), []).append(i)
    alike = [group for group in copies.values() if len(group) >= k]
    rest = [i for i in range(len(rows)) if len(copies[tuple(rows[i])]) < k]
    if 0 < len(rest) < k:
        alike, rest = [], list(range(len(rows)))
    formed = first_groups([plain(rows)[i] for i in rest], k, most, keys) if rest else []
    return small_groups(rows, [*alike, *([rest[p] for p in group] for group in formed)], k)


def k_exchange(
    rows: Rows, k: int, most: int, turns: list, keys: Iterator[int],
    rivals: Sequence[Groups] = (), all_starts: bool = False,
) -> Groups:  # fmt: skip
    """Groups of row numbers; `turns` are `Turn`s, and `rivals` what other methods found."""
    if len(rows) < 2 * k:
        return [list(range(len(rows)))]
    best = take_turns(rows, start_groups(rows, k, most, keys), k, turns, keys)
    if not all_starts:
        rivals = sorted(rivals, key=lambda groups: cost(rows, groups))[:1]
        rivals = [groups for groups in rivals if cost(rows, groups) < cost(rows, best)]
    for rival in rivals:
        found = take_turns(rows, small_groups(rows, rival, k), k, turns, keys)
        best = min(best, found, key=lambda groups: cost(rows, groups))
    return best


def take_turns(rows: Rows, groups: Groups, k: int, turns: list, keys: Iterator[int]) -> Groups:
    for turn in turns:
        key = next(keys)
        groups = [sorted(group) for group in groups]
        for leaf in cut_leaves(rows, groups, 1, turn.leaf, key):
            if len(leaf) < 2:
                continue
            places = sorted(leaf)
            records = sorted(i for g in leaf for i in groups[g])
            # members stand in the order of the records when exchanges begin
            own = mix(key + records[0])
            steps = max(1, int(turn.effort * len(records)))
            found, gone = [groups[g] for g in places], 1
            for around in range(5):
                heat, shrink = (0.0, turn.shrink[-1:]) if around else (turn.heat, turn.shrink)
                found = [sorted(group) for group in found]
                found = anneal(rows, records, found, k, heat, list(shrink), steps, own)
                if around == 4:
                    break
                found, gone = dissolve(rows, found, k)
                if not gone:
                    break
                own = mix(own)
            for g, group in zip(places, found, strict=True):
                groups[g] = group
        groups = [group for group in groups if group]
    return groups
