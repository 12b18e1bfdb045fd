"""`Query`: one SELECT, parsed once, asked of as many tables as wanted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from starshade.errors import ConfigError
from starshade.naming import named
from starshade.progress import note
from starshade.query.aggregate import (
    Answer,
    Chosen,
    count_column,
    count_records,
    extreme,
    mean,
    total,
)
from starshade.query.columns import Column
from starshade.query.parse import parse
from starshade.query.plan import evaluate, make_plan
from starshade.query.prepared import Prepared, prepared
from starshade.query.result import QueryResult
from starshade.query.settings import QuerySettings
from starshade.query.statement import (
    Aggregate,
    Comparison,
    Condition,
    Junction,
    Name,
    Statement,
    shown,
    tests_of,
)
from starshade.query.strict import strict_count, strict_mean, strict_total
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.setting import check

_Bounds = dict[str, tuple[float, float]]

MOST_GROUPS = 100  # values of a scale that GROUP BY lists
GREATEST_BOUND = 1e15  # below 2^53: sums of whole numbers stay whole
_NOTED = 5  # numbers that are not on the scale
_NOTHING = (None, None, None, None)  # no value, no bounds, no records


@dataclass(frozen=True)
class Query(QuerySettings):
    """Answer an aggregate query: conditions on items, aggregates of personal attributes.

    KL §1, §3; definitions, "answers". See the essay of `starshade.query`.

    Parameters
    ----------
    sql : str
        One SELECT of COUNT(*), COUNT, SUM, AVG (or AVERAGE), MIN, MAX over personal attributes;
        WHERE on items with =, <>, <, <=, >, >=, BETWEEN, IN, IS [NOT] NULL, AND, OR, NOT;
        GROUP BY one item. Items are named by key or by name; put names with blanks or signs in
        double quotes. At most 10,000 bytes.
    mode : {"strict", "paper"}
        ``strict``, for untrusted analysts: MIN and MAX are refused, and SUM and AVG need `bounds`.
        ``paper``, for trusted analysts: all aggregates, bounds from the values themselves. Answers
        on an original are exact in both.
    bounds : mapping of str to (float, float), or None
        Lowest and highest possible value of an attribute, between -1e15 and 1e15. The owner
        declares them, never the analyst. Used by ``strict``, and where released ranges are open.

    Raises
    ------
    ConfigError
        Unsupported SQL (the message names the clause; nothing is run), an unknown mode, or invalid
        bounds.

    Examples
    --------
    >>> query = Query("SELECT COUNT(*) WHERE Egomaniac = 5 AND Pachinko IS NULL")
    >>> [str(aggregate) for aggregate in query.statement.aggregates]
    ['COUNT(*)']
    """

    def __post_init__(self) -> None:
        check(self)
        object.__setattr__(self, "bounds", _checked(self.bounds))
        _ = self.statement  # refuse a wrong query at once

    @cached_property
    def statement(self) -> Statement:
        """The parsed query."""
        return parse(self.sql)

    def run(self, data: Release | Ratings) -> QueryResult:
        """Answer the query.

        Parameters
        ----------
        data : Release or Ratings
            A release of generalized cells that claims k-anonymity: expected value, bounds and
            guard. An original: the exact answer, without a guard.

        Returns
        -------
        QueryResult

        Raises
        ------
        ConfigError
            Unknown names (in `bounds` too), conditions on personal attributes, answers from
            items, text in SUM or AVG, values outside the bounds, numbers too large to sum, a
            release that cannot be queried.
        ReleaseError
            The release has a class smaller than the k it claims.
        """
        table = prepared(data)
        declared = self._declared(table)
        bound = [self._bind(each, table, declared) for each in self.statement.aggregates]
        condition = self.statement.condition
        if condition is not None:
            _note_strange(condition, table.cells.symbols.scale)
        if self.statement.group_by is None:
            return self._result(bound, condition, table, declared)
        groups = tuple(
            replace(self._result(bound, each, table, declared), group=value)
            for value, each in self._groups(self.statement.group_by, table)
        )
        refused = [entry.reason for entry in groups if entry.refused]
        return QueryResult(
            *_NOTHING,
            refused=bool(refused),
            reason=refused[0] if refused else None,
            aggregate=", ".join(map(str, self.statement.aggregates)),
            mode=groups[0].mode,
            groups=groups,
        )

    def _result(
        self,
        bound: list[tuple[Aggregate, Column | None]],
        condition: Condition | None,
        table: Prepared,
        declared: _Bounds,
    ) -> QueryResult:
        chosen = choose(condition, table)
        results = tuple(self._answer(*each, chosen, table, declared) for each in bound)
        refused = next((r for r in results if r.refused), None)
        first = replace(results[0], results=results)
        return first if refused is None else replace(first, refused=True, reason=refused.reason)

    def _bind(
        self, aggregate: Aggregate, table: Prepared, declared: _Bounds
    ) -> tuple[Aggregate, Column | None]:
        if aggregate.column is None:
            return aggregate, None
        name = table.names.attribute(aggregate.column, str(aggregate))
        column = table.column(name)
        if column.open_ended and name in declared:
            column = table.column(name, declared[name])
        if aggregate.function in ("SUM", "AVG") and column.kind != "number":
            raise ConfigError(
                f"{aggregate}: {shown(name)} is text, which has no sum",
                advice=f"COUNT({aggregate.column}) counts the records with a value.",
            )
        if aggregate.function in ("MIN", "MAX") and column.kind == "set":
            raise ConfigError(
                f"{aggregate}: {shown(name)} is released as sets of values, which have no order",
                advice=f"COUNT({aggregate.column}) counts the records with a value.",
            )
        return aggregate, column

    def _answer(
        self,
        aggregate: Aggregate,
        column: Column | None,
        chosen: Chosen,
        table: Prepared,
        declared: _Bounds,
    ) -> QueryResult:
        mode = "original" if table.k is None else self.mode
        if column is not None and column.open_ended and aggregate.function != "COUNT":
            name = shown(column.name)
            return _refused(
                aggregate,
                mode,
                f"The outer ranges of {name} are open to protect single values, and no bounds are "
                f"declared. {_declare(name)}",
            )
        if mode == "strict":
            answer = self._strict(aggregate, column, chosen, table, declared)
        else:
            answer = _plain(aggregate, column, chosen)
        if isinstance(answer, str):
            return _refused(aggregate, mode, answer)
        if table.k is not None and 0 < answer.records < table.k:
            return _refused(
                aggregate, mode, f"The answer would rest on fewer than k = {table.k} records."
            )
        reason = None
        if answer.value is None:
            reason = (
                "No record with a value can satisfy the condition."
                if answer.low is None and answer.high is None
                else "The condition matches single points of cells only, which have no share."
            )
        return QueryResult(
            answer.value,
            answer.low,
            answer.high,
            answer.records,
            reason=reason,
            aggregate=str(aggregate),
            mode=mode,
        )

    def _strict(
        self,
        aggregate: Aggregate,
        column: Column | None,
        chosen: Chosen,
        table: Prepared,
        declared: _Bounds,
    ) -> Answer | str:
        if column is None:
            return count_records(chosen)
        if aggregate.function in ("MIN", "MAX"):
            return (
                f"{aggregate.function} is the value of a single person; strict mode refuses it. "
                "Use COUNT, SUM or AVG, or paper mode for trusted analysts."
            )
        if not column.exact:  # its released value is the same for a whole class
            return _plain(aggregate, column, chosen)
        blocks, name = table.blocks(column.name), shown(column.name)
        if blocks.withheld:
            return f"Fewer than k = {table.k} people have a value of {name}."
        if aggregate.function == "COUNT":
            return strict_count(blocks, chosen)
        bounds = declared.get(column.name)
        if bounds is None:
            return (
                f"No bounds are declared for {name}; strict mode takes none from single people's "
                f"values. {_declare(name)}"
            )
        if blocks.least < bounds[0] or blocks.greatest > bounds[1]:
            raise ConfigError(
                f"bounds of {name}: some values lie outside {bounds[0]:g}:{bounds[1]:g}",
                advice="Declare bounds that hold for every possible value.",
            )
        made = strict_total if aggregate.function == "SUM" else strict_mean
        return made(blocks, chosen, bounds)

    def _declared(self, table: Prepared) -> _Bounds:
        """Return the declared bounds by column; checked whatever the query."""
        declared: _Bounds = {}
        for text, ends in (self.bounds or {}).items():
            name = table.names.bounded(Name(text, quoted=False))
            if table.column(name).kind != "number":
                raise ConfigError(f"bounds of {shown(name)}: it is text, which has no bounds")
            if name in declared:
                raise ConfigError(
                    f"bounds of {shown(name)}: declared twice",
                    advice="Names of bounds ignore upper and lower case.",
                )
            declared[name] = ends
        return declared

    def _groups(self, name: Name, table: Prepared) -> list[tuple[float | None, Condition]]:
        """Return the values of the item to group by, null first, and their conditions."""
        table.names.item(name, "GROUP BY")
        scale = table.cells.symbols.scale
        if scale.step is None or len(scale.levels) > MOST_GROUPS:
            raise ConfigError(
                f"GROUP BY {name}: the scale {scale} has more than {MOST_GROUPS} values",
                advice="Query ranges one by one, with BETWEEN.",
            )
        tests = {None: Comparison(name, "null")}
        tests |= {value: Comparison(name, "in", (value,)) for value in scale.levels.tolist()}
        given = self.statement.condition
        return [
            (value, test if given is None else Junction("and", (given, test)))
            for value, test in tests.items()
        ]


def _declare(name: str) -> str:
    return f"The owner can declare them: {named('bounds', f'{name}=LOW:HIGH')}."


def choose(condition: Condition | None, table: Prepared) -> Chosen:
    """Work out which classes a condition chooses, and how likely."""
    cells = table.cells
    plan = make_plan(condition, table.names)
    share, status = evaluate(plan, cells.n_groups, cells.symbols, table.codes)
    return Chosen(share, status, cells.sizes)


def _plain(aggregate: Aggregate, column: Column | None, chosen: Chosen) -> Answer:
    if column is None:
        return count_records(chosen)
    if aggregate.function == "COUNT":
        return count_column(column, chosen)
    if aggregate.function in ("MIN", "MAX"):
        return extreme(column, chosen, aggregate.function == "MAX")
    return (total if aggregate.function == "SUM" else mean)(column, chosen)


def _refused(aggregate: Aggregate, mode: str, reason: str) -> QueryResult:
    return QueryResult(*_NOTHING, refused=True, reason=reason, aggregate=str(aggregate), mode=mode)


def _note_strange(condition: Condition, scale: Scale) -> None:
    """Note the numbers that no rating can equal."""
    constants = {c for test in tests_of(condition) if test.operator == "in" for c in test.constants}
    numbers = np.array(sorted(constants), dtype=np.float64)
    strange = numbers[~scale.contains(numbers)].tolist()
    if strange:
        numbers_text = ", ".join(f"{value:.10g}" for value in strange[:_NOTED])
        more = " …" if len(strange) > _NOTED else ""
        verb = "is" if len(strange) == 1 else "are"
        note(f"{numbers_text}{more} {verb} not on the scale {scale}: no rating matches")


def _checked(bounds: Mapping[str, tuple[float, float]] | None) -> _Bounds:
    if bounds is None:
        return {}
    if not isinstance(bounds, Mapping):
        raise ConfigError(
            f"bounds of type {type(bounds).__name__}: must be a mapping of names to two numbers",
            advice='Example: bounds={"Age": (0, 120)}.',
        )
    checked = {}
    for name, ends in bounds.items():
        try:
            low, high = (float(end) for end in ends)
        except (TypeError, ValueError):
            low, high = math.nan, math.nan
        if not -GREATEST_BOUND <= low <= high <= GREATEST_BOUND:
            raise ConfigError(
                f"bounds of {name!r}: must be two numbers between {-GREATEST_BOUND:g} and "
                f"{GREATEST_BOUND:g}, the lower one first",
                advice=f"Example: {named('bounds', 'Age=0:120')}.",
            )
        checked[str(name)] = (low, high)
    return checked
