"""From text to a `Statement`: sqlglot parses, a whitelist of nodes decides, nothing is run."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal, NoReturn, get_args

from starshade.errors import ConfigError
from starshade.query.limits import check_text
from starshade.query.statement import (
    Aggregate,
    Comparison,
    Condition,
    Function,
    Junction,
    Name,
    Statement,
    shown,
)

Node = Any  # of sqlglot's tree

_FUNCTIONS: dict[str, Function] = {name: name for name in get_args(Function)}
_FUNCTIONS["AVERAGE"] = "AVG"  # as Riyana & Natwichai write it
_CLAUSES = {"joins": "JOIN, or a second table", "from_": "FROM", "where": "WHERE"}


def parse(sql: str) -> Statement:
    """Read one SELECT.

    `sql`: at most 10,000 bytes (`starshade.query.limits`).

    >>> statement = parse("SELECT AVG(Age) WHERE NOT Egomaniac = 5")
    >>> str(statement.aggregates[0]), statement.condition.negated
    ('AVG(Age)', True)
    """
    check_text(sql)
    from sqlglot import exp, parse_one
    from sqlglot.errors import ParseError

    try:
        tree = parse_one(sql)
    except (ParseError, RecursionError) as error:
        errors = getattr(error, "errors", None) or [{}]
        where = errors[0].get("col")
        place = "" if where is None else f" near column {where}"
        raise ConfigError(
            f"the query cannot be read{place}",
            advice='Example: SELECT AVG(Age) FROM t WHERE "Joy Ride" >= 4 AND Egomaniac IS NULL. '
            "Put names that are SQL keywords in double quotes.",
        ) from None
    if not isinstance(tree, exp.Select):
        _refuse(type(tree).__name__.upper(), "only one SELECT is allowed")
    _only(tree, {"kind", "expressions", "from_", "where", "group"})
    _check_from(tree.args.get("from_"))
    group_by = _group_by(tree.args.get("group"))
    where = tree.args.get("where")
    return Statement(
        aggregates=_aggregates(tree.expressions, group_by),
        condition=None if where is None else _condition(where.this, False),
        group_by=group_by,
    )


def _check_from(node: Node) -> None:
    """Allow any single table name; there is only one table."""
    from sqlglot import exp

    if node is None:
        return
    table = node.this
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        _refuse("FROM", "only a single table name is allowed")
    _only(table, {"this"}, "FROM", "only a single table name is allowed")


def _group_by(node: Node) -> Name | None:
    if node is None:
        return None
    _only(node, {"expressions"}, "GROUP BY")
    if len(node.expressions) != 1:
        _refuse("GROUP BY", "only one item is allowed")
    return _name(node.expressions[0], "GROUP BY")


def _aggregates(nodes: Iterable[Node], group_by: Name | None) -> tuple[Aggregate, ...]:
    from sqlglot import exp

    aggregates = []
    for node in nodes:
        if isinstance(node, exp.Column):
            name = _name(node, "SELECT")
            if group_by is not None and name.text == group_by.text:
                continue  # each group shows its value
            _refuse(
                f"SELECT {name}",
                "single values are never shown; use COUNT, SUM, AVG, MIN or MAX",
            )
        aggregates.append(_aggregate(node))
    if not aggregates:
        _refuse("SELECT", "an aggregate is missing")
    if len(set(aggregates)) < len(aggregates):
        _refuse("SELECT", "an aggregate repeats")
    return tuple(aggregates)


def _aggregate(node: Node) -> Aggregate:
    from sqlglot import exp

    written = node.name if isinstance(node, exp.Anonymous) else node.key
    function = _FUNCTIONS.get(str(written).upper())
    if function is None:
        _refuse(_described(node), "only COUNT, SUM, AVG, MIN and MAX are allowed")
    clause, why = f"{function}()", "it takes one personal attribute"
    if isinstance(node, exp.Anonymous):
        _only(node, {"this", "expressions"})
        argument = node.expressions[0] if len(node.expressions) == 1 else None
    else:
        _only(node, {"this", "big_int"}, clause, why)
        argument = node.this
    if argument is None:
        _refuse(clause, why)
    if isinstance(argument, exp.Star) and function == "COUNT":
        _only(argument, set())
        return Aggregate("COUNT")
    return Aggregate(function, _name(argument, clause))


def _condition(node: Node, negated: bool) -> Condition:
    """Convert a condition, NOT moved down to the comparisons (De Morgan, Kleene's logic)."""
    from sqlglot import exp

    if isinstance(node, exp.Paren):
        return _condition(node.this, negated)
    if isinstance(node, exp.Not):
        return _condition(node.this, not negated)
    if isinstance(node, (exp.And, exp.Or)):
        joins_all = isinstance(node, exp.And) != negated
        operator: Literal["and", "or"] = "and" if joins_all else "or"
        parts = tuple(_condition(part, negated) for part in node.flatten(unnest=False))
        return Junction(operator, parts)
    return _test(node, negated)


def _test(node: Node, negated: bool) -> Comparison:
    from sqlglot import exp

    clause = _clause(node)
    if isinstance(node, exp.Is):
        if not isinstance(node.expression, exp.Null):
            _refuse(clause, "IS takes NULL or NOT NULL")
        return Comparison(_name(node.this, clause), "null", (), negated)
    if isinstance(node, exp.Between):
        _only(node, {"this", "low", "high"}, clause)
        ends = (_number(node.args["low"], clause), _number(node.args["high"], clause))
        return Comparison(_name(node.this, clause), "between", ends, negated)
    if isinstance(node, exp.In):
        _only(node, {"this", "expressions"}, clause, "only a list of numbers is allowed")
        listed = tuple(_number(entry, clause) for entry in node.expressions)
        if not listed:
            _refuse(clause, "the list is empty")
        return Comparison(_name(node.this, clause), "in", listed, negated)
    return _comparison(node, clause, negated)


def _comparison(node: Node, clause: str, negated: bool) -> Comparison:
    from sqlglot import exp

    #: the operator, whether it is negated, and the same with the sides exchanged
    forms: dict[type, tuple[tuple[Literal["in", "<", "<="], bool], ...]] = {
        exp.EQ: (("in", False), ("in", False)),
        exp.NEQ: (("in", True), ("in", True)),
        exp.LT: (("<", False), ("<=", True)),
        exp.LTE: (("<=", False), ("<", True)),
        exp.GT: (("<=", True), ("<", False)),
        exp.GTE: (("<", True), ("<=", False)),
    }
    if type(node) not in forms:
        _refuse(clause, "a condition must compare an item with numbers")
    left, right = node.this, node.expression
    mirrored = not isinstance(left, exp.Column)
    if mirrored:
        left, right = right, left
    operator, turned = forms[type(node)][mirrored]
    constant = _number(right, clause)
    return Comparison(_name(left, clause), operator, (constant,), negated != turned)


def _name(node: Node, clause: str) -> Name:
    from sqlglot import exp

    if not isinstance(node, exp.Column):
        _refuse(
            clause,
            f"{_described(node)} instead of the name of a column "
            "(put names with blanks or signs, and numeric keys, in double quotes)",
        )
    _only(node, {"this"}, clause, "a name with several parts")
    identifier = node.this
    if not isinstance(identifier, exp.Identifier) or not identifier.name:
        _refuse(clause, "the name of a column is missing")
    return Name(identifier.name, bool(identifier.args.get("quoted")))


def _number(node: Node, clause: str) -> float:
    from sqlglot import exp

    sign = 1.0
    while isinstance(node, (exp.Neg, exp.Paren)):
        sign = -sign if isinstance(node, exp.Neg) else sign
        node = node.this
    if isinstance(node, exp.Null):
        _refuse(clause, "NULL cannot be compared; write IS NULL or IS NOT NULL")
    if isinstance(node, exp.Column):
        _refuse(clause, "a column instead of a number (conditions take no text)")
    if not isinstance(node, exp.Literal) or node.is_string:
        _refuse(clause, f"{_described(node)} instead of a number")
    try:
        value = float(node.name)
    except ValueError:
        value = math.inf
    if not math.isfinite(value):
        _refuse(clause, "the number is out of range for a rating")
    return sign * value


def _only(
    node: Node, allowed: set[str], clause: str = "", why: str = "not allowed in a query"
) -> None:
    """Refuse a node with parts that the whitelist lacks."""
    for key, value in node.args.items():
        if key not in allowed and value not in (None, False, []):
            clause_name = _CLAUSES.get(key, key.replace("_", " ").strip().upper())
            _refuse(clause or clause_name, why)


_SIGNS = {"EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_ARITHMETIC = {"ADD", "SUB", "MUL", "DIV", "MOD", "NEG", "DPIPE"}


def _clause(node: Node) -> str:
    from sqlglot import exp

    described = _described(node)
    for side in (node.args.get("this"), node.args.get("expression")):
        if isinstance(side, exp.Column) and isinstance(node, (exp.Predicate, exp.Between, exp.In)):
            text = side.name if len(side.name) <= 40 else f"{side.name[:40]}…"
            return f"{Name(text, bool(side.this.args.get('quoted')))} {described} …"
    return described


def _described(node: Node) -> str:
    from sqlglot import exp

    kind = node.key.upper()
    if kind in _ARITHMETIC:
        return "arithmetic"
    if isinstance(node, exp.Func):
        name = node.name if isinstance(node, exp.Anonymous) else kind
        return f"the function {shown(str(name).upper()[:40])}"
    named = {**_SIGNS, "PAREN": "a parenthesis", "LITERAL": "a constant"}
    return shown(named.get(kind, str(kind)))


def _refuse(clause: str, why: str) -> NoReturn:
    raise ConfigError(
        f"{clause}: {why}",
        advice="Nothing was run. Allowed are aggregates of personal attributes under conditions on "
        'items: SELECT AVG(age) WHERE "some item" >= 4.',
    )
