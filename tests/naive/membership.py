"""Membership by its definition: row by row, fact by fact, pair by pair.

A row is a dict ``item key -> content`` as `tests.naive.released_rows` reads it, a fact is an item
key and a rating (None: not known).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from scipy.stats import beta

from starshade.ratings.table import Ratings
from starshade.release.table import Release
from tests.naive.released_rows import rows_of

NEVER = 1e-5
Fact = tuple[str, float | None]
Content = tuple[Any, ...]


@dataclass(frozen=True)
class Shadow:
    """What an adversary sees: rows, how many records each stands for, items, the scale's values."""

    rows: list[dict[str, Content]]
    sizes: list[int]
    items: set[str]
    levels: list[float]
    minimum: float
    spread: float | None = None  # rows are profiles

    def law(self, row: int, item: str) -> dict[float | None, float]:
        """Chances of ratings, and of none, from a row's cell: each of its values alike."""
        content = self.rows[row].get(item, ("set", [], True))
        if content[0] == "range":
            low, high = max(content[1], self.minimum), content[2]
            inside = [v for v in self.levels if low - 1e-9 <= v <= high + 1e-9]
            width = content[2] - content[1]
            share = (high - low) / width if width > 1e-9 else 1.0
            return {v: share / len(inside) for v in inside} | {None: 1 - share}
        values = [*content[1], *([None] if content[2] else [])]
        if self.spread is not None and content[1]:
            away = [((v - values[0]) / self.spread) ** 2 / 2 for v in self.levels]
            near = [math.exp(min(away) - each) for each in away]  # all may be far
            return {v: n / sum(near) for v, n in zip(self.levels, near, strict=True)}
        return dict.fromkeys(values, 1 / len(values))

    def chance(self, row: int, fact: Fact) -> float:
        """Chance of a known rating; of one that is not known, that there is one."""
        law = self.law(row, fact[0])
        return sum(
            chance
            for value, chance in law.items()
            if value is not None and (fact[1] is None or abs(value - fact[1]) < 1e-9)
        )

    def log(self, row: int, facts: Sequence[Fact]) -> float:
        """Sum of the logarithms of the chances of the facts that can be compared."""
        return sum(
            math.log(max(NEVER, self.chance(row, fact))) for fact in facts if fact[0] in self.items
        )

    def fit(self, facts: Sequence[Fact]) -> float | None:
        """Logarithm of their chance from any record, by fact; None: nothing can be compared."""
        compared = sum(item in self.items for item, _ in facts)
        if not compared:
            return None
        logs = [self.log(row, facts) for row in range(len(self.rows))]
        best = max(logs)
        near = [size * math.exp(log - best) for log, size in zip(logs, self.sizes, strict=True)]
        return (best + math.log(sum(near) / sum(self.sizes))) / compared


def shadow_of(data: Ratings | Release, made_of: Ratings, spread: float | None) -> Shadow:
    """Read a release, or ratings."""
    if isinstance(data, Ratings):
        keys, sizes = list(data.items), [1] * data.n_users
        rows: list[dict[int, Content]] = [
            {i: ("set", [v], False) for i, v in enumerate(row) if not math.isnan(v)}
            for row in data.dense().tolist()
        ]
    else:
        keys, sizes = list(data.classes.items), data.classes.sizes.tolist()
        rows = rows_of(data)
    scale = made_of.scale
    stepped = spread is not None and scale.step is not None
    levels = scale.levels if stepped else made_of.levels
    named = [{keys[i]: content for i, content in row.items()} for row in rows]
    return Shadow(named, sizes, set(keys), levels.tolist(), scale.minimum, spread)


def paired(release: Shadow, reference: Shadow, facts: Sequence[Fact]) -> float:
    """How much better somebody fits a release than one without them; 0 if one cannot be compared.

    The paired design: a release, and a reference of the same people without this one.
    """
    inside, outside = release.fit(facts), reference.fit(facts)
    return 0.0 if inside is None or outside is None else inside - outside


def lira(
    fits: Sequence[Sequence[float]], status: Sequence[Sequence[int]]
) -> list[tuple[int, int, bool, float, float | None]]:
    """Score each person against each release: (target, person, member, offline, online).

    `fits`, `status`: by release, then by person; 1 a member, 0 not in the half, -1 neither.
    """
    out = []
    for target in range(len(fits)):
        shadows = [t for t in range(len(fits)) if t != target]
        sides = {
            person: [
                [fits[t][person] for t in shadows if status[t][person] == which] for which in (1, 0)
            ]
            for person in range(len(fits[0]))
        }
        if len(shadows) == 1:
            for person, (_, without) in sides.items():
                if without and status[target][person] >= 0:
                    score = fits[target][person] - without[0]
                    out.append((target, person, status[target][person] == 1, score, None))
            continue
        counted = {p: each for p, each in sides.items() if all(each) and status[target][p] >= 0}
        variances = {}
        for person, each in counted.items():
            squares = sum((s - mean(side)) ** 2 for side in each for s in side)
            freedom = sum(map(len, each)) - 2
            variances[person] = squares / freedom if freedom > 0 else None
        known = [v for v in variances.values() if v is not None]
        middle = median(known) if known else 0.0
        for person, (with_them, without) in counted.items():
            own = variances[person]
            variance = middle if own is None else (own + middle) / 2
            sigma = max(math.sqrt(variance), 1e-6)
            away, near = (fits[target][person] - mean(side) for side in (without, with_them))
            online = (away**2 - near**2) / (2 * sigma**2)
            out.append((target, person, status[target][person] == 1, away / sigma, online))
    return out


def auc(scores: Sequence[float], member: Sequence[bool]) -> float:
    """Every member against every outsider; a tie is half a win."""
    pairs = [
        1.0 if a > b else 0.5 if a == b else 0.0
        for a, is_in in zip(scores, member, strict=True)
        for b, other in zip(scores, member, strict=True)
        if is_in and not other
    ]
    return sum(pairs) / len(pairs)


def found_at(alarms: float, scores: Sequence[float], member: Sequence[bool]) -> float:
    """Call people members from the highest score on until so many outsiders were called so.

    Of a run of ties that would be too many only the part is called that is not.
    """
    both = list(zip(scores, member, strict=True))
    allowed, hits = alarms * sum(not m for m in member), 0.0
    for value in sorted(set(scores), reverse=True):
        here = [m for s, m in both if s == value]
        false = sum(not m for m in here)
        part = 1.0 if false <= allowed + 1e-12 else allowed / false
        hits += part * sum(here)
        allowed -= part * false
        if part < 1:
            break
    return hits / sum(member)


def epsilon(missed: float, members: int, false: float, outsiders: int) -> float:
    """Bound ε from below by the upper ends of Clopper & Pearson's intervals.

    `missed`, `false`: shares of so many members and outsiders.
    """
    bounds = []
    for share, trials in ((missed, members), (false, outsiders)):
        hits = share * trials
        sure = hits >= trials
        bounds.append(1.0 if sure else float(beta.ppf(0.975, hits + 1, trials - hits)))
    fn, fp = bounds
    both = [
        math.log(a / b) if a > 0 and b > 0 else -math.inf for a, b in ((1 - fn, fp), (1 - fp, fn))
    ]
    return max(both)


def least_epsilon(
    scores: Sequence[float],
    member: Sequence[bool],
    persons: Sequence[int],
    targets: Sequence[int],
) -> float | None:
    """Choose the threshold of each target on the others, count all mistakes, bound ε."""
    if len(set(targets)) < 2:
        return None
    every = list(zip(scores, member, targets, strict=True))
    people = [
        len({p for p, m in zip(persons, member, strict=True) if m == w}) for w in (True, False)
    ]

    def bound(entries: Sequence[tuple[float, bool, int]], threshold: float) -> float:
        sides = [[s for s, m, _ in entries if m == which] for which in (True, False)]
        missed = sum(s < threshold for s in sides[0]) / max(1, len(sides[0]))
        false = sum(s >= threshold for s in sides[1]) / max(1, len(sides[1]))
        return epsilon(missed, people[0], false, people[1])

    missed = false = 0
    for one in sorted(set(targets)):
        others = [each for each in every if each[2] != one]
        best = max(sorted({s for s, _, _ in others}, reverse=True), key=lambda t: bound(others, t))
        missed += sum(m and s < best for s, m, t in every if t == one)
        false += sum(not m and s >= best for s, m, t in every if t == one)
    members = sum(member)
    return max(
        0.0, epsilon(missed / members, people[0], false / (len(member) - members), people[1])
    )
