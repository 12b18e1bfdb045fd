"""What the text of a query may hold, looked at before it is parsed.

The parser is written for all of SQL and calls itself for every parenthesis; it only ever sees short
texts, of a bounded depth, made of the few kinds of words that a query can need.
"""

from __future__ import annotations

from typing import Any

from starshade.errors import ConfigError
from starshade.query.statement import shown

MOST_BYTES = 10_000
DEEPEST = 20  # parentheses, NOT and minus signs within one another
MOST_CONDITIONS = 200

_ALLOWED = frozenset(
    (
        *("SELECT", "FROM", "WHERE", "GROUP_BY", "AND", "OR", "NOT", "IN", "BETWEEN", "IS", "NULL"),
        *("EQ", "NEQ", "LT", "LTE", "GT", "GTE", "DASH", "STAR", "COMMA", "L_PAREN", "R_PAREN"),
        *("IDENTIFIER", "VAR", "NUMBER"),
    )
)
_ADVICE = (
    "Allowed: one SELECT of COUNT, SUM, AVG, MIN or MAX over personal attributes; WHERE on items; "
    "GROUP BY one item. Operators: =, <>, <, <=, >, >=, BETWEEN, IN, IS NULL, AND, OR, NOT."
)
_QUOTE = 'Put names with blanks, signs or SQL keywords in double quotes: "Joy Ride".'
_WHY = {
    "STRING": "text in single quotes: ratings are numbers, names need double quotes",
    "SEMICOLON": "a second statement",
    "DOT": "a name with several parts",
    "COMMENT": "a comment",
    **dict.fromkeys(("PLACEHOLDER", "COLON", "PARAMETER"), "a parameter"),
    **dict.fromkeys(("PLUS", "SLASH", "DIV", "MOD"), "arithmetic"),
}


def check_text(sql: str) -> None:
    """Refuse a text that is too long, too deeply nested, or has unknown words."""
    if not isinstance(sql, str):
        raise ConfigError(f"a query of type {type(sql).__name__}: must be text")
    # characters first: encoding 10 MB to count its bytes would be work
    if len(sql) > MOST_BYTES or len(sql.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise ConfigError(f"the query is longer than {MOST_BYTES:,} bytes", advice=_ADVICE)
    tokens = _tokens(sql)
    if tokens and tokens[-1].token_type.name == "SEMICOLON":
        tokens.pop()
    if not tokens:
        raise ConfigError("the query is empty", advice=_ADVICE)
    if tokens[0].token_type.name != "SELECT":
        raise ConfigError(f"{_shown(tokens[0])}: a query must begin with SELECT", advice=_ADVICE)
    for i, token in enumerate(tokens):
        if not _begins_a_number(tokens, i):
            _check_token(token, first=i == 0)
    _check_commas(tokens)
    _check_size(tokens)


def _tokens(sql: str) -> list[Any]:
    from sqlglot import tokenize
    from sqlglot.errors import TokenError

    try:
        return list(tokenize(sql))
    except TokenError:
        raise ConfigError(
            "the query cannot be read: a quote or a comment is not closed", advice=_QUOTE
        ) from None


def _check_token(token: Any, *, first: bool) -> None:
    kind = token.token_type.name
    if token.comments:
        raise ConfigError("a comment is not allowed in a query", advice="Remove it.")
    if kind == "SELECT" and not first:
        raise ConfigError(
            "SELECT within SELECT: subqueries are not supported", advice=f"{_ADVICE} {_QUOTE}"
        )
    if kind in _ALLOWED:
        return
    why = f" ({_WHY[kind]})" if kind in _WHY else ""
    advice = f"{_ADVICE} {_QUOTE}" if token.text[:1].isalpha() or kind == "UNKNOWN" else _ADVICE
    raise ConfigError(f"{_shown(token)}{why}: not allowed in a query", advice=advice)


def _begins_a_number(tokens: list[Any], i: int) -> bool:
    """Return whether a token is the point of .5: right before a number, after no name or number."""
    if tokens[i].token_type.name != "DOT" or not 0 < i < len(tokens) - 1:
        return False
    before, after = tokens[i - 1].token_type.name, tokens[i + 1]
    glued = after.token_type.name == "NUMBER" and after.start == tokens[i].end + 1
    return glued and before not in ("IDENTIFIER", "VAR", "NUMBER", "R_PAREN", "DOT")


def _check_commas(tokens: list[Any]) -> None:
    """Refuse a comma without an entry on both sides; the parser would ignore it."""
    kinds = [token.token_type.name for token in tokens]
    for before, kind, after in zip(["", *kinds[:-1]], kinds, [*kinds[1:], ""], strict=True):
        ends = after in ("COMMA", "R_PAREN", "FROM", "WHERE", "GROUP_BY", "")
        if kind == "COMMA" and (ends or before in ("SELECT", "L_PAREN", "GROUP_BY")):
            raise ConfigError("an extra comma: nothing before or after it", advice="Remove it.")


def _check_size(tokens: list[Any]) -> None:
    opened, run, conditions = 0, 0, 1
    for token in tokens:
        kind = token.token_type.name
        opened += (kind == "L_PAREN") - (kind == "R_PAREN")
        # NOT NOT NOT, and NOT (NOT (…: signs before a parenthesis stay open with it
        run = run + 1 if kind in ("NOT", "DASH") else run if kind == "L_PAREN" else 0
        conditions += kind in ("AND", "OR")
        if opened + run > DEEPEST:
            raise ConfigError(
                f"the query is nested more than {DEEPEST} deep (parentheses, NOT, minus signs)",
                advice="Remove redundant parentheses.",
            )
    if conditions > MOST_CONDITIONS:
        raise ConfigError(
            f"the query has more than {MOST_CONDITIONS} conditions",
            advice="Use IN and BETWEEN, or several queries.",
        )


def _shown(token: Any) -> str:
    quoted = token.token_type.name == "STRING"
    text = shown(f"'{token.text}'" if quoted else token.text.upper())
    return text if len(text) <= 40 else f"{text[:40]}…"
