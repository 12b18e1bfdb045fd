"""From conditions to a plan: how the chance of a class is put together from chances of items.

Items of one record are taken as independent, so an AND of conditions on different items
is the product of their chances, an OR one minus the product of what is left. Conditions on the
same item are no independent events: within one AND (or OR) they are merged into one set; where an
item stands in several branches, as A in (A = 5 AND B = 1) OR (A = 1 AND C = 2), the plan splits
into the cases of that item which the conditions tell apart, and works out the rest of the condition
within each case. That is exact, and costs a step for every case of a case; more than 500 steps
are refused.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import reduce
from operator import and_, or_

from starshade.errors import ConfigError
from starshade.query.names import Names
from starshade.query.regions import Regions
from starshade.query.statement import Comparison, Condition, Junction, Name, tests_of

__all__ = ["MOST_STEPS", "Cases", "Leaf", "Plan", "Product", "Step", "make_plan"]

MOST_STEPS = 500


@dataclass(frozen=True)
class Leaf:
    """The item lies in a set of its regions."""

    item: int
    regions: int


@dataclass(frozen=True)
class Product:
    """AND or OR of steps that have no item in common."""

    operator: str
    parts: tuple[Step, ...]


@dataclass(frozen=True)
class Cases:
    """Sets of regions of one item, disjoint, and what is left to be true in each.

    ``None`` in the place of a step: nothing is left, the condition is true. Cases in which it
    is false are not listed.
    """

    item: int
    cases: tuple[tuple[int, Step | None], ...]


Step = Leaf | Product | Cases


@dataclass(frozen=True)
class Plan:
    """What to compute for each class.

    `root`: a bool where the condition does not depend on the data. `regions`: item index → how its
    ratings are cut.
    """

    root: Step | bool
    regions: dict[int, Regions]


def make_plan(condition: Condition | None, names: Names) -> Plan:
    """Plan a condition."""
    if condition is None:
        return Plan(True, {})
    items = {name: names.item(name) for name in {test.name for test in tests_of(condition)}}
    by_item: dict[int, list[Comparison]] = {}
    for test in tests_of(condition):
        by_item.setdefault(items[test.name], []).append(test)
    regions = {item: Regions.of(tests) for item, tests in by_item.items()}
    formula = _simplify(_formula(condition, items, regions), regions)
    root = formula if isinstance(formula, bool) else _Planner(regions).step(formula)
    return Plan(root, regions)


@dataclass(frozen=True)
class _Branch:
    """AND or OR before it is known which parts share items."""

    operator: str
    parts: tuple[_Formula, ...]


_Formula = Leaf | _Branch


def _formula(condition: Condition, items: dict[Name, int], regions: dict[int, Regions]) -> _Formula:
    if isinstance(condition, Junction):
        parts = tuple(_formula(part, items, regions) for part in condition.parts)
        return _Branch(condition.operator, parts)
    item = items[condition.name]
    return Leaf(item, regions[item].true_in(condition))


def _simplify(
    formula: _Formula, regions: dict[int, Regions], known: tuple[int, int] | None = None
) -> _Formula | bool:
    """Merge conditions on one item, take out what is always true or false, flatten.

    `known`: an item, and a set of regions in which it is known to lie.
    """
    if isinstance(formula, Leaf):
        everything = regions[formula.item].everything
        if known is not None and known[0] == formula.item:
            return bool(known[1] & formula.regions)  # cases lie wholly inside or outside
        return formula if 0 < formula.regions < everything else formula.regions > 0
    all_of = formula.operator == "and"
    leaves: dict[int, list[int]] = {}
    parts: list[_Formula] = []
    todo = list(reversed(formula.parts))
    while todo:
        part = _simplify(todo.pop(), regions, known)
        if isinstance(part, bool):
            if part != all_of:
                return part
        elif isinstance(part, Leaf):
            leaves.setdefault(part.item, []).append(part.regions)
        elif part.operator == formula.operator:
            todo += reversed(part.parts)
        else:
            parts.append(part)
    for item, sets in leaves.items():
        merged = reduce(and_ if all_of else or_, sets)
        if merged == (0 if all_of else regions[item].everything):
            return not all_of
        parts.append(Leaf(item, merged))
    distinct = tuple(dict.fromkeys(parts))
    if not distinct:
        return all_of
    return distinct[0] if len(distinct) == 1 else _Branch(formula.operator, distinct)


@dataclass
class _Planner:
    regions: dict[int, Regions]
    steps: int = field(default=0)

    def step(self, formula: _Formula) -> Step:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise ConfigError(
                f"WHERE: the same items stand in so many branches that more than {MOST_STEPS} "
                "cases would have to be told apart",
                advice="Name each item once where you can, with IN or BETWEEN, or ask in parts.",
            )
        if isinstance(formula, Leaf):
            return formula
        components = _components(formula.parts)
        if len(components) == 1:
            return self._split(formula)
        parts = []
        for component in components:
            part = component[0] if len(component) == 1 else _Branch(formula.operator, component)
            parts.append(self.step(part))
        return Product(formula.operator, tuple(parts))

    def _split(self, formula: _Branch) -> Step:
        leaves = _leaves(formula)
        counts = Counter(leaf.item for leaf in leaves)
        item = min(counts, key=lambda i: (-counts[i], i))
        sets = sorted({leaf.regions for leaf in leaves if leaf.item == item})
        rest: dict[_Formula | bool, int] = {}
        for case in _cases(sets, self.regions[item].everything):
            left = _simplify(formula, self.regions, (item, case))
            rest[left] = rest.get(left, 0) | case  # cases that leave the same are one
        return Cases(
            item,
            tuple(
                (case, None if left is True else self.step(left))
                for left, case in rest.items()
                if not (isinstance(left, bool) and not left)
            ),
        )


def _leaves(formula: _Formula) -> list[Leaf]:
    if isinstance(formula, Leaf):
        return [formula]
    return [leaf for part in formula.parts for leaf in _leaves(part)]


def _cases(sets: list[int], everything: int) -> list[int]:
    """Cut everything into the parts that the sets tell apart."""
    cases = [everything]
    for chosen in sets:
        cases = [c for case in cases for c in (case & chosen, case & ~chosen) if c]
    return cases


def _components(parts: tuple[_Formula, ...]) -> list[tuple[_Formula, ...]]:
    """Put parts together that have an item in common, directly or through others."""
    components: list[tuple[set[int], list[_Formula]]] = []
    for part in parts:
        items, members = {leaf.item for leaf in _leaves(part)}, [part]
        apart = []
        for other_items, others in components:
            if items & other_items:
                items, members = items | other_items, others + members
            else:
                apart.append((other_items, others))
        components = [*apart, (items, members)]
    return [tuple(members) for _, members in components]
