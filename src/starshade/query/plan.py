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
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from operator import and_, or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.query.prepared import Names
from starshade.query.regions import NEVER, PERHAPS, SURELY, Located, Regions
from starshade.query.statement import Comparison, Condition, Junction, Name, tests_of
from starshade.release.cells import Symbols

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
                f"WHERE: the same items repeat in too many branches (more than {MOST_STEPS} cases)",
                advice="Name each item once, with IN or BETWEEN, or split the query.",
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


Floats = NDArray[np.float64]
States = NDArray[np.uint8]
_Judged = tuple[Floats, States]

_BLOCK = 1 << 15  # classes at a time: what is in between stays in the cache


def evaluate(
    plan: Plan, n_classes: int, symbols: Symbols, column: Callable[[int], NDArray[Any]]
) -> _Judged:
    """Work out how likely it is that a record of each class satisfies.

    `column`: item index → the symbol of each class, ``len(symbols)`` where it is null alone.
    Returns `share` (float64 (n_classes,)): exactly 0 where the status is NEVER, exactly 1 where it
    is SURELY. `status` (uint8 (n_classes,)).
    """
    if isinstance(plan.root, bool):
        state = SURELY if plan.root else NEVER
        return np.full(n_classes, float(plan.root)), np.full(n_classes, state, np.uint8)
    work = _Work(symbols, plan.regions, column)
    work.prepare(plan.root)
    share, status = np.empty(n_classes), np.empty(n_classes, np.uint8)
    for first in range(0, n_classes, _BLOCK):
        rows = slice(first, min(first + _BLOCK, n_classes))
        share[rows], status[rows] = work.judge(plan.root, rows)
    share[status == NEVER], share[status == SURELY] = 0.0, 1.0
    return share, status


class _Work:
    """The tables of one evaluation: each set of regions is judged once per symbol."""

    def __init__(
        self,
        symbols: Symbols,
        regions: dict[int, Regions],
        column: Callable[[int], NDArray[Any]],
    ) -> None:
        self._symbols, self._regions, self._column = symbols, regions, column
        self._located: dict[int, Located] = {}
        self._tables: dict[tuple[int, int], _Judged] = {}
        self._columns: dict[int, NDArray[Any]] = {}

    def prepare(self, step: Step) -> None:
        """Judge every set that the plan needs."""
        if isinstance(step, Product):
            for part in step.parts:
                self.prepare(part)
        elif isinstance(step, Leaf):
            self._prepare(step.item, step.regions)
        else:
            self._prepare(step.item, _union(step.cases))
            for case, rest in step.cases:
                self._prepare(step.item, case)
                if rest is not None:
                    self.prepare(rest)

    def _prepare(self, item: int, regions: int) -> None:
        if (item, regions) not in self._tables:
            if item not in self._located:
                self._located[item] = self._regions[item].locate(self._symbols)
                self._columns[item] = self._column(item)
            self._tables[item, regions] = self._located[item].judge(regions)

    def judge(self, step: Step, rows: slice) -> _Judged:
        """Return share and status of a block of classes."""
        if isinstance(step, Leaf):
            return self._leaf(step.item, step.regions, rows)
        if isinstance(step, Product):
            all_of = step.operator == "and"
            share, status = self.judge(step.parts[0], rows)
            missed = 1.0 - share
            for part in step.parts[1:]:
                next_share, next_status = self.judge(part, rows)
                if all_of:
                    share = share * next_share
                    status = np.minimum(status, next_status)
                else:
                    missed = missed * (1.0 - next_share)
                    status = np.maximum(status, next_status)
            return (share if all_of else 1.0 - missed), status
        return self._cases(step.item, step.cases, rows)

    def _leaf(self, item: int, regions: int, rows: slice) -> _Judged:
        share, status = self._tables[item, regions]
        codes = self._columns[item][rows]
        return share[codes], status[codes]

    def _cases(self, item: int, cases: tuple[tuple[int, Step | None], ...], rows: slice) -> _Judged:
        """Weigh what is left in each case; cases that are not listed are false."""
        n = rows.stop - rows.start
        share, some = np.zeros(n), np.zeros(n, np.bool_)
        doubtful = self._leaf(item, _union(cases), rows)[1] < SURELY
        for case, rest in cases:
            chance, state = self._leaf(item, case, rows)
            if rest is None:
                share, some = share + chance, some | (state > NEVER)
                continue
            then, after = self.judge(rest, rows)
            share = share + chance * then
            some |= (state > NEVER) & (after > NEVER)
            doubtful |= (state > NEVER) & (after < SURELY)
        status = np.where(some, np.where(doubtful, PERHAPS, SURELY), NEVER).astype(np.uint8)
        return np.minimum(share, 1.0), status


def _union(cases: tuple[tuple[int, Step | None], ...]) -> int:
    return reduce(or_, (case for case, _ in cases), 0)
