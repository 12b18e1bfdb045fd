"""Releasing again by its definition: who is kept with whom, what cells must hold, who hides.

A release is, by original id, who is in which class and which kept group; what each class's cells
hold per item (a set of ratings and None, or ``(low, high, null)``; an item that is not there says
nothing); and how many records that are nobody's were put to each group.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from tests.naive.composition import Content, Value, holds

NOTHING: Content = frozenset([None])
Row = dict[str, Value]


@dataclass
class Told:
    """One of several releases; `cells` None: it says nothing true of single people."""

    of: dict[str, tuple[int, int]]  # class, kept group
    cells: list[dict[str, Content]] | None
    means: bool = False
    nobodys: Counter[int] = field(default_factory=Counter)


@dataclass
class Next:
    """Who is released again: kept groups, newcomers (or nobody), invented records by group."""

    groups: dict[int, set[str]]
    newcomers: set[str]
    invented: Counter[int]
    withheld: set[str]


def released_again(
    ever: dict[str, int], last: set[int], present: set[str], k: int, shortfall: str
) -> Next:
    """Say who is in the next release.

    `ever`: everybody who was in any release, and their group. `last`: the groups of which somebody
    was in the last one. A group goes on if it was in the last release and k of its people are
    there, or with "dummies" at least half of k; then records fill it up to k. Newcomers are
    released if there are k of them.
    """
    there = defaultdict(set)
    for person in present & ever.keys():
        there[ever[person]].add(person)
    least = k if shortfall == "withhold" else k / 2
    groups = {g: people for g, people in there.items() if g in last and len(people) >= least}
    newcomers = present - ever.keys()
    newcomers = newcomers if len(newcomers) >= k else set()
    return Next(
        groups,
        newcomers,
        Counter({g: k - len(people) for g, people in groups.items() if len(people) < k}),
        present - newcomers - set().union(*groups.values()),
    )


def must_hold(rows: Iterable[Row], before: Content | None, item: str) -> set[Value]:
    """Collect what a cell of a kept group has to allow; `before`: where somebody ever left it."""
    values = {row.get(item) for row in rows}
    if isinstance(before, frozenset):
        return values | before
    if before is not None:
        low, high, null = before
        return values | {low, high} | ({None} if null else set())
    return values


def allows(after: Content, before: Content) -> bool:
    """Tell whether a cell allows all that another does; a range lies in ranges alone."""
    if isinstance(before, frozenset):
        return all(holds(after, value) for value in before)
    low, high, null = before
    if isinstance(after, frozenset):
        return False
    return holds(after, low) and holds(after, high) and (after[2] or not null)


def class_allows(after: Told, now: int, before: Told, was: int) -> bool:
    """Tell the same of two classes, on the items that both releases have."""
    if after.cells is None or before.cells is None:
        return True
    common = after.cells[now].keys() & before.cells[was].keys()
    return all(allows(after.cells[now][i], before.cells[was][i]) for i in common)


Key = Callable[[tuple[int, int]], Hashable]


def hidden_sets(told: list[Told], key: Key) -> dict[str, set[str]]:
    """Find, of each person, those from whom they cannot be told.

    A *cohort* first came in one release, into one class; where most of it are is its *main* class
    of a release. Somebody is *free* who is in main classes alone, and of whom nothing was said,
    when they were last there, that a main class of a release without them does not allow; where
    that is means of ratings, it tells who is missing. The free of a cohort are together; all others
    are with those who are nowhere else than they are.
    """
    people = sorted({person for each in told for person in each.of})
    history = {p: [key(t.of[p]) if p in t.of else None for t in told] for p in people}
    came = {p: next((j, c) for j, c in enumerate(history[p]) if c is not None) for p in people}

    def main(p: str, j: int) -> Hashable | None:
        places = [history[q][j] for q in people if came[q] == came[p]]
        counts = Counter(place for place in places if place is not None)
        return min(counts, key=lambda place: (-counts[place], place), default=None)

    def free(p: str) -> bool:
        for j, each in enumerate(told):
            where = main(p, j)
            if p in each.of:
                if history[p][j] != where:
                    return False
            elif where is not None:
                i = max(i for i in range(j) if p in told[i].of)
                if each.means:
                    return False
                now = next(c for c, g in each.of.values() if key((c, g)) == where)
                if each.means or not class_allows(each, now, told[i], told[i].of[p][0]):
                    return False
        return True

    unbound = {p for p in people if free(p)}
    return {
        p: {q for q in unbound if came[q] == came[p]}
        if p in unbound
        else {q for q in people if history[q] == history[p]}
        for p in people
    }


def fewest(told: list[Told], sets: dict[str, set[str]]) -> dict[str, int]:
    """Count the fewest records among which each person is, over the releases with theirs."""
    out = {}
    for person, like in sets.items():
        counts = []
        for each in (t for t in told if person in t.of):
            number = len(like & each.of.keys())
            for group, nobodys in each.nobodys.items():
                members = {q for q, (_, g) in each.of.items() if g == group}
                number += nobodys if members and members <= like else 0
            counts.append(number)
        out[person] = min(counts)
    return out


def crowds(told: list[Told]) -> dict[str, int]:
    """Count among how many each person hides: in their classes, or in their kept groups."""
    in_class = fewest(told, hidden_sets(told, lambda place: place[0]))
    in_group = fewest(told, hidden_sets(told, lambda place: place))
    joint = {p: tuple(t.of[p][0] if p in t.of else None for t in told) for p in in_class}
    least: dict[Hashable, int] = {}
    for person, number in in_group.items():
        least[joint[person]] = min(number, least.get(joint[person], number))
    return {p: max(number, least[joint[p]]) for p, number in in_class.items()}
