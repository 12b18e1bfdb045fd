"""Addresses of data, and what of them may be shown.

An address may hold a password. It is shown by `hidden` alone; what a library says of it goes
through `without_secrets`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TypeGuard
from urllib.parse import parse_qsl, unquote

from starshade.errors import ConfigError

#: what PyArrow's file systems read
FILE_SYSTEMS = ("s3", "gs", "gcs", "hdfs", "viewfs", "abfs", "abfss")
POSTGRES = ("postgresql", "postgres")
DATABASES = (*POSTGRES, "sqlite")
#: what to do about a password in an address that is written down
SECRETS_LIE = "Remove it, and put it in PGPASSWORD, ~/.pgpass, AWS_SECRET_ACCESS_KEY or the like."
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_WHOLE = re.compile(r"(?:([^@/?]*)@)?([^@?/]*)(/[^?]*)?(?:\?([^@]*))?", re.DOTALL)
_HOST = re.compile(r"([^:,]*|\[[0-9A-Fa-f:.]+\])(:\d*)?(,[^:,]*(:\d*)?)*")
_HARMLESS = {"region", "scheme", "endpoint_override", "sslmode", "connect_timeout"}
_HIDDEN = "***"
# one slash too few, no scheme, a query that nothing reads: no addresses, yet with the same secrets
_MEANT = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:/+)\S*@")
_USER = re.compile(r"[^\s/:@'\"]*:(?!/)\S*@")
_END = r"(?=['\":,]*(?:\s|$))"  # of an address in a sentence
_QUERY = re.compile(rf"\?([^\s?]*=\S*?){_END}")
_LONGEST = 1000  # characters of an address in a sentence
_OVERLONG = re.compile(rf"\S{{{_LONGEST + 1},}}")
_SCHEME = re.compile("[a-z0-9]{1,12}:/+")
# libpq's keyword strings: host=db password='pa 55'; its quotes may have been escaped
_KEYWORD = re.compile(
    r"((?<!\w)(?:ssl|pg)?(?:password|passwd|pwd)\s*=\s*)"
    rf"(\\*'(?:[^'\\]|\\+.)*'?|[^\s'\\]\S*?{_END}|\\\S*)",
    re.IGNORECASE | re.DOTALL,
)
_TABLE = re.compile(r"[^\W\d][\w$]*(\.[^\W\d][\w$]*)?")


def is_address(source: object) -> TypeGuard[str]:
    """Tell whether a text is an address, and no path; ``file://`` says a path.

    >>> is_address("s3://bucket/ratings.csv"), is_address("ratings.csv"), is_address("c:/r.csv")
    (True, False, False)
    """
    return isinstance(source, str) and scheme_of(source) not in ("", "file")


def path_of(source: Path | str) -> Path | str:
    """Return the path that an address of a file of this machine says; anything else as it is.

    >>> path_of("file:///data/my%20ratings.csv")
    '/data/my ratings.csv'
    """
    found = _ADDRESS.match(source) if isinstance(source, str) else None
    return unquote(found[2]) if found and found[1].lower() == "file" else source


def scheme_of(address: str) -> str:
    """Return what an address begins with, in small letters."""
    found = _ADDRESS.match(address)
    return found[1].lower() if found else ""


def hidden(source: object) -> str:
    """Return a source as it may be shown: of an address neither user, password nor key.

    An address that can be read in more than one way may have its password anywhere: only its
    beginning is shown. Of what is no address only a password by keyword is hidden.

    >>> hidden("postgresql://eve:pa55@db.example/shop?sslmode=require&password=pa55")
    'postgresql://***@db.example/shop?sslmode=require&password=***'
    >>> hidden("postgresql://eve:p@55/@db.example/shop"), hidden("ratings@home.csv")
    ('postgresql://***', 'ratings@home.csv')
    >>> hidden("host=db user=eve password=pa55"), hidden("sqlite://eve:pa55@/shop.db")
    ('host=db user=eve password=***', 'sqlite://***@/shop.db')
    """
    if not is_address(source):
        return _without_keywords(str(source))
    before, marked, query_text = source.partition("?")
    source = f"{_without_keywords(before)}{marked}{query_text}"
    scheme, parts = scheme_of(source), _parts(source)
    if parts is None:
        return f"{scheme}://{_HIDDEN}"
    user, host, path, query = parts
    path = _without_user(path) if scheme == "sqlite" and path else path
    shown = [f"{scheme}://", "" if user is None else f"{_HIDDEN}@", host, path or ""]
    if query is not None:
        shown.append(f"?{_pairs(query)}")
    return "".join(shown)


def hidden_in(text: str) -> str:
    """Return a text with every address in it as it may be shown, and what may be meant as one.

    >>> hidden_in("no such thing: s3://key:pa55@bucket/x")
    'no such thing: s3://***@bucket/x'
    >>> hidden_in("s3:/key:pa55@bucket/x: no such file"), hidden_in("s.db?key=pa55: no such file")
    ('s3:/***@bucket/x: no such file', 's.db?key=***: no such file')
    """
    text = _OVERLONG.sub(_cut, _without_keywords(text))
    parts = re.split(rf"([A-Za-z][A-Za-z0-9+.-]*://\S+?){_END}", text)
    return "".join(hidden(part) if is_address(part) else _mistyped(part) for part in parts)


def _without_keywords(text: str) -> str:
    return _KEYWORD.sub(lambda found: f"{found[1]}{_HIDDEN}", text)


def _cut(found: re.Match[str]) -> str:
    """Shorten what is overlong; it may hold a secret anywhere if it may be an address."""
    word = found[0]
    scheme = _SCHEME.match(word)
    shown = f"{scheme[0] if scheme else ''}{_HIDDEN}"
    if not re.search("[@?=]|:/", word):
        shown = word[: _LONGEST // 5]
    return f"{shown}… ({len(word):,} characters)"


def _user_in(path: str) -> tuple[int, int]:
    """Return where a user, perhaps with a password, stands in the path of an SQLite address."""
    end = path.rfind("@")
    colon = path.find(":", 0, max(end, 0))
    if colon >= 0:
        return path.rfind("/", 0, colon) + 1, end
    return (0, end) if end > 0 and "/" not in path[:end] else (0, 0)


def _without_user(path: str) -> str:
    start, end = _user_in(path)
    return f"{path[:start]}{_HIDDEN}{path[end:]}" if end else path


def _mistyped(text: str) -> str:
    """Hide what looks like user and password, or like a query, outside of addresses."""
    text = _MEANT.sub(lambda found: f"{found[1]}{_HIDDEN}@", text)
    text = _USER.sub(f"{_HIDDEN}@", text)
    return _QUERY.sub(lambda found: f"?{_pairs(found[1])}", text)


def is_table(query: str) -> bool:
    """Tell whether a query is the name of a table.

    >>> is_table("shop.ratings"), is_table("SELECT * FROM ratings")
    (True, False)
    """
    return _TABLE.fullmatch(query.strip()) is not None


def without_secrets(text: str, address: str) -> str:
    """Return what a library said of an address, without what `hidden` hides."""
    text = text.replace(address, hidden(address))
    for secret in sorted(_secrets(address), key=len, reverse=True):
        text = text.replace(secret, _HIDDEN)
    return text


def has_secret(source: object) -> bool:
    """Tell whether a source is an address that holds a password or a key.

    >>> has_secret("postgresql://eve@db/shop"), has_secret("postgresql://eve:pa55@db/shop")
    (False, True)
    >>> has_secret("host=db password=pa55")
    True
    """
    if isinstance(source, str) and _KEYWORD.search(source):
        return True
    if not is_address(source):
        return False
    parts = _parts(source)
    if parts is None:
        return True
    user, _, path, query = parts
    if scheme_of(source) == "sqlite":
        user = path and path[slice(*_user_in(path))]
    return ":" in (user or "") or _HIDDEN in _pairs(query or "")


def refuse_unclear(address: str) -> None:
    """Refuse an address of which nobody can say where its password ends."""
    if _parts(address) is None:
        raise ConfigError(
            f"{hidden(address)}: this address is ambiguous",
            advice="In a name, a password or a key write @ as %40, / as %2F and ? as %3F.",
        )


def _parts(address: str) -> tuple[str | None, str, str | None, str | None] | None:
    """Return user, host, path and query; None: a password may be anywhere in it."""
    found = _ADDRESS.match(address)
    scheme = scheme_of(address)
    if found and scheme == "sqlite":
        path, marked, query = found[2].partition("?")
        if ":" in path and "@" in query:
            return None
        return None, "", path, query if marked else None
    whole = _WHOLE.fullmatch(found[2]) if found else None
    if whole is None:
        return None
    user, host, path, query = whole.groups()
    # before a slash in a password, its user would be the host
    if not _HOST.fullmatch(host) or (scheme not in FILE_SYSTEMS and re.search("[@#]", path or "")):
        return None
    if "@" in (path or "") and (user is not None or ":" in host):
        return None
    return user, host, path, query


def _pairs(query: str) -> str:
    return "&".join(map(_pair, query.split("&")))


def _pair(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    return pair if name in _HARMLESS or not pair else f"{name}={_HIDDEN}" if equals else _HIDDEN


def _secrets(address: str) -> set[str]:
    parts = _parts(address)
    found = _ADDRESS.match(address)
    if parts is None or found is None:
        return {found[2]} if found and found[2] else set()
    user, _, path, query = parts
    if scheme_of(address) == "sqlite":
        user = path and path[slice(*_user_in(path))]
    secrets = set((user or "").split(":", 1)[1:]) | ({user} if user and ":" in user else set())
    if scheme_of(address) not in DATABASES and user:
        secrets |= set(user.split(":", 1))
    for name, value in parse_qsl(query or ""):
        if name not in _HARMLESS:
            secrets.add(value)
    return {each for secret in secrets for each in (secret, unquote(secret)) if each}
