"""Small changes to code, one at a time: comparisons, arithmetic, conditions, numbers, calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_OPPOSITES = (("min", "max"), ("any", "all"), ("minimum", "maximum"), ("argmin", "argmax"))
_OPPOSITE = dict(_OPPOSITES) | {b: a for a, b in _OPPOSITES}
#: arguments that guard against mistakes of ours, or change speed alone
_UNSEEN = frozenset({"strict", "encoding", "dtype", "copy", "use_threads"})
_MESSAGES = frozenset({"announce", "insist", "note"})
_NEGATED = (ast.Compare, ast.UnaryOp)  # by another change
_NOT_CODE = (ast.JoinedStr, ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Mutant:
    """One change: at `start` of a file (in bytes) the text `old` becomes `new`."""

    path: str
    line: int
    start: int
    old: str
    new: str
    before: str
    after: str

    def __str__(self) -> str:
        before, after = (shorten(text, 100) for text in (self.before, self.after))
        return f"{self.path}:{self.line}: {before} → {after}"

    def apply(self, root: Path) -> None:
        """Write the file with this change."""
        source, end = (root / self.path).read_bytes(), self.start + len(self.old.encode())
        changed = source[: self.start] + self.new.encode() + source[end:]
        (root / self.path).write_bytes(changed)


Change = tuple[Path, Any, ast.AST]


def changes_of(root: Path, path: Path) -> list[Change]:
    """Return every change to a file, in the order of its code."""
    return [(path, *change) for change in _changes(ast.parse((root / path).read_bytes()))]


def mutant_of(root: Path, change: Change) -> Mutant:
    """Return the mutant that a change to a file makes."""
    path, node, changed = change
    source, starts = (root / path).read_bytes(), [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    start = starts[node.lineno - 1] + node.col_offset
    end = starts[node.end_lineno - 1] + node.end_col_offset
    before, after = ast.unparse(node), ast.unparse(changed)
    new = f"({after})" if isinstance(node, ast.expr) else after
    return Mutant(str(path), node.lineno, start, source[start:end].decode(), new, before, after)


def _changes(node: ast.AST) -> Iterator[tuple[Any, ast.AST]]:
    """Yield nodes of code, each with what may stand in its place."""
    yield from ((node, changed) for changed in _instead_of(node))
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, _NOT_CODE):
                continue
            if getattr(child, "name", "") == "__repr__" or _only_types(child):
                continue
            condition = name in ("test", "ifs") and not isinstance(node, ast.While)
            if condition and isinstance(child, ast.expr) and not isinstance(child, _NEGATED):
                yield child, ast.UnaryOp(op=ast.Not(), operand=child)
            yield from _changes(child)


def _only_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _instead_of(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                for other in _COMPARED[type(op)]:
                    yield _with(node, ops=[*ops[:i], other(), *ops[i + 1 :]])
        case ast.BoolOp(op=op):
            yield _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _COMPUTED:
            if not any(_is_text(side) or ast.unparse(side) == "None" for side in (left, right)):
                yield _with(node, op=_COMPUTED[type(op)]())
        case ast.AugAssign(op=op, value=value) if type(op) in _COMPUTED:
            if not _is_text(value):
                yield _with(node, op=_COMPUTED[type(op)]())
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.Expr(value=ast.Call(func=func)) if ast.unparse(func) not in _MESSAGES:
            yield ast.Pass()
        case ast.Continue():
            yield ast.Break()
        case ast.Call():
            yield from _calls_instead_of(node)


def _calls_instead_of(call: ast.Call) -> Iterator[ast.Call]:
    name = getattr(call.func, "id", "") or getattr(call.func, "attr", "")
    for i, keyword in enumerate(call.keywords):
        if keyword.arg and keyword.arg not in _UNSEEN and not _is_text(keyword.value):
            yield _with(call, keywords=[*call.keywords[:i], *call.keywords[i + 1 :]])
    plain = [arg for arg in call.args[:2] if not (isinstance(arg, ast.Starred) or _is_text(arg))]
    ordered = name not in _OPPOSITE  # of these the order of arguments does not matter
    if ordered and len(plain) == 2 and ast.unparse(plain[0]) != ast.unparse(plain[1]):
        yield _with(call, args=[*plain[::-1], *call.args[2:]])
    if name in _OPPOSITE:
        where = "id" if isinstance(call.func, ast.Name) else "attr"
        yield _with(call, func=_with(call.func, **{where: _OPPOSITE[name]}))
    if name == "sorted" and not any(each.arg == "reverse" for each in call.keywords):
        backwards = ast.keyword("reverse", ast.Constant(True))
        yield _with(call, keywords=[*call.keywords, backwards])


def _with(node: Any, **changed: Any) -> Any:
    node = copy(node)
    for name, value in changed.items():
        setattr(node, name, value)
    return node


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", None), str)
