"""Databases as sources of rows: SQLite by the standard library, PostgreSQL by ADBC.

One SELECT is read, in a transaction that may not write: it sees the data as they were at one
moment. What a database says of values is not passed on, as it may name people.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from starshade.errors import ConfigError, InputError, StarshadeError
from starshade.files.side import irregular
from starshade.naming import called, named
from starshade.ratings.readers.addresses.address import (
    POSTGRES,
    hidden,
    is_address,
    is_table,
    path_of,
    refuse_unclear,
    scheme_of,
    without_secrets,
)
from starshade.ratings.readers.recognise.aliases import refuse_repeated

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 1 << 16
_BYTES = 1 << 23  # of a block from PostgreSQL, about
_SQLITE = b"SQLite format 3\0"
_SQLITE_OPERATIONS = 100_000  # of SQLite, between two looks
_LEADING = re.compile(r"(\s+|--[^\n]*(\n|$)|/\*.*?\*/)*", re.DOTALL)
_READS = re.compile(r"\(*\s*(select|with|values|table)\b", re.IGNORECASE)


def open_database(source: Any, query: str | None) -> SqliteSource | PostgresSource | None:
    """Open what an address of a database or an SQLite file means; None where it is neither.

    `query`: a SELECT statement or the name of a table; None: the only table there is.
    """
    if is_address(source):
        scheme = scheme_of(source)
        if scheme in POSTGRES:
            return PostgresSource(source, query)
        if scheme == "sqlite":
            return SqliteSource(Path(source.partition("://")[2].removeprefix("/")), query, source)
    elif isinstance(source, (str, Path)) and _is_sqlite(Path(path_of(source))):
        return SqliteSource(Path(path_of(source)), query, str(source))
    if query is not None:
        what = hidden(source) if isinstance(source, (str, Path)) else "a table in memory"
        raise ConfigError(
            f"{called('query')}: applies to databases; this is not one: {what}",
            advice="Remove it, or give sqlite:///FILE or postgresql://HOST/DATABASE.",
            setting="query",
        )
    return None


def _is_sqlite(path: Path) -> bool:
    try:
        if irregular(path):  # reading it may wait for ever
            return False
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except (OSError, ValueError):
        return False


def is_ordered(query: str | None) -> bool:
    """Tell whether a query says in which order its rows come."""
    return re.search(r"\border\s+by\b", query or "", re.IGNORECASE) is not None


def _statement(query: str) -> str:
    """Return the SELECT that is meant; refuse any other statement."""
    query = query.strip()
    if is_table(query):
        quoted = ".".join(f'"{part}"' for part in query.split("."))
        return f"SELECT * FROM {quoted}"
    if not _READS.match(query, _LEADING.match(query).end()):  # type: ignore[union-attr]
        raise ConfigError(
            f"{called('query')}: neither a SELECT statement nor the name of a table",
            advice="For example 'SELECT user_id, item_id, rating FROM ratings'.",
            setting="query",
        )
    return query.rstrip("; \t\n")


def _several(shown: str, tables: Sequence[str]) -> InputError:
    if not tables:
        return InputError(f"{shown}: it contains no table")
    some = ", ".join(tables[:10]) + (", …" if len(tables) > 10 else "")
    return InputError(
        f"{shown}: several tables: {some}",
        advice=f"Name one, or select from them: {named('query', 'TABLE')}.",
        setting="query",
    )


class _Rows:
    """The rows of a query: `where` says what they are rows of."""

    columns: tuple[str, ...]

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.where = "the query's result"

    def locate(self, row: int) -> str:
        """Name the row (from 1)."""
        return f"{self.shown}, row {row + 1} of {self.where}"


class SqliteSource(_Rows):
    """What a query or a table of an SQLite database has."""

    format: ClassVar[str] = "sqlite"

    def __init__(self, path: Path, query: str | None, shown: str) -> None:
        super().__init__(hidden(shown))
        if not path.is_file():
            raise InputError(f"{self.shown}: no such file", advice="Check the path.")
        if not _is_sqlite(path):
            raise InputError(f"{self.shown}: not an SQLite database", advice="Check the path.")
        statement = None if query is None else _statement(query)
        self._cursor: sqlite3.Cursor | None = None
        with self._trying():
            self._connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None
            )
        try:
            with self._trying():
                self._connection.execute("PRAGMA query_only = 1")
                # Python looks for a Ctrl-C meanwhile
                self._connection.set_progress_handler(lambda: 0, _SQLITE_OPERATIONS)
                if statement is None:
                    query, statement = self._only_table()
                self._cursor = self._connection.execute(statement)
                described = self._cursor.description
            self.columns = tuple(column[0] for column in described or ())
            if query is not None and is_table(query):
                self.where = f"the table {query.strip()}"
            refuse_repeated(self.columns, self.shown)
        except BaseException:
            self.close()
            raise

    def _only_table(self) -> tuple[str, str]:
        found = self._connection.execute(
            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
        ).fetchall()
        tables = [str(name) for (name,) in found]
        if len(tables) != 1:
            raise _several(self.shown, tables)
        quoted = tables[0].replace('"', '""')
        return tables[0], f'SELECT * FROM "{quoted}"'

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield these columns; see `Source.batches`."""
        import pyarrow as pa

        places = [self.columns.index(name) for name in columns]
        read = 0
        while self._cursor is not None:
            with self._trying():
                rows = self._cursor.fetchmany(_ROWS)
            if not rows:
                return
            arrays = [self._column([row[place] for row in rows], place, read) for place in places]
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))
            read += len(rows)

    def _column(self, values: list[Any], place: int, first: int) -> pa.Array:
        """Return values of one type; SQLite's columns may hold several."""
        import pyarrow as pa

        kinds = {type(value) for value in values} - {type(None)}
        if kinds == {int, str}:
            return pa.array([value if value is None else str(value) for value in values])
        try:
            if kinds <= {int, float} or len(kinds) == 1:
                return pa.array(values, None if kinds else pa.null())
        except (pa.ArrowException, OverflowError):
            pass
        kind = next(type(value) for value in values if value is not None)
        other = next(
            (i for i, value in enumerate(values) if value is not None and type(value) is not kind),
            0,
        )
        raise InputError(
            f"{self.locate(first + other)}: column {self.columns[place]!r} contains values of "
            "several types",
            advice=f"Convert them to one type in the query: CAST({self.columns[place]} AS TEXT).",
        )

    def close(self) -> None:
        """Let go of the database, and of its lock."""
        if self._cursor is not None:
            self._cursor.close()
        self._connection.close()

    @contextmanager
    def _trying(self) -> Iterator[None]:
        try:
            yield
        except StarshadeError:
            raise
        except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
            if str(error) == "interrupted":
                raise KeyboardInterrupt from None
            reason = str(error).partition(" with text ")[0]  # after which a value stands
            raise InputError(
                f"{self.shown}: {reason}",
                advice="Correct the query, or check the database.",
                setting="query",
            ) from None


class PostgresSource(_Rows):
    """What a query or a table of a PostgreSQL database has."""

    format: ClassVar[str] = "postgresql"

    def __init__(self, address: str, query: str | None) -> None:
        super().__init__(hidden(address))
        refuse_unclear(address)
        self._address = address
        statement = None if query is None else _statement(query)
        self._library = _adbc(self.shown)
        with self._connecting():
            self._connection = self._library.connect(address)
        try:
            self._cursor = self._connection.cursor()
            with self._asking():
                # one moment for all that is read, and nothing is written
                self._cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                if statement is None:
                    query, statement = self._only_table()
                self._cursor.adbc_statement.set_options(
                    **{"adbc.postgresql.batch_size_hint_bytes": str(_BYTES)}
                )
                self._cursor.execute(statement)
                self._reader = self._cursor.fetch_record_batch()
            if query is not None and is_table(query):
                self.where = f"the table {query.strip()}"
            self.columns = tuple(self._reader.schema.names)
            refuse_repeated(self.columns, self.shown)
        except BaseException:
            self.close()
            raise

    def _only_table(self) -> tuple[str, str]:
        self._cursor.execute(
            "SELECT table_schema::text, table_name::text FROM information_schema.tables "
            "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2"
        )
        found = [(schema, name) for schema, name in self._cursor.fetchall()]
        tables = [name if schema == "public" else f"{schema}.{name}" for schema, name in found]
        if len(tables) != 1:
            raise _several(self.shown, tables)
        quoted = ".".join('"' + part.replace('"', '""') + '"' for part in found[0])
        return tables[0], f"SELECT * FROM {quoted}"

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield these columns; see `Source.batches`."""
        import pyarrow as pa

        places = [self._reader.schema.get_field_index(name) for name in columns]
        while True:
            try:
                batch = self._reader.read_next_batch()
            except StopIteration:
                return
            except (pa.ArrowException, OSError, self._library.Error) as error:
                raise InputError(
                    f"{self.shown}: reading stopped before the end: {_said(str(error))}",
                    advice="Nothing was kept. Read it again, or correct the query.",
                ) from None
            arrays = [_plain(batch.column(place)) for place in places]
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))

    def close(self) -> None:
        """Let go of the database."""
        with suppress(self._library.Error, OSError):  # a lost connection cannot be closed either
            self._connection.close()

    @contextmanager
    def _connecting(self) -> Iterator[None]:
        try:
            yield
        except (self._library.Error, OSError) as error:
            said = without_secrets(str(error), self._address)
            found = re.search(r"FATAL:\s+(.*)|(could not .*)|port \d+ failed: (.*)", said)
            reason = next(filter(None, found.groups()), "") if found else "no such server"
            raise InputError(
                f"{self.shown}: no connection: {reason.strip()}",
                advice="Check the address and that the server runs. A password belongs in "
                "PGPASSWORD or ~/.pgpass.",
            ) from None

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            yield
        except (self._library.Error, OSError) as error:
            state = getattr(error, "sqlstate", None) or ""
            # what is wrong with the query itself names its columns and tables, no values
            is_ours = state.startswith(("42", "25", "3F", "0A"))
            said = without_secrets(str(error), self._address)
            raise InputError(
                f"{self.shown}: {_line(said) if is_ours else _said(said)}",
                advice="Correct the query, or request permission to read.",
                setting="query",
            ) from None


def _adbc(shown: str) -> Any:
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise ConfigError(
            f"{shown}: PostgreSQL needs the extra postgres, which is not installed",
            advice="pip install 'starshade[postgres]'",
        ) from None
    return dbapi


def _line(text: str) -> str:
    """Return what PostgreSQL says, less the query."""
    found = re.search(r"(?:ERROR|FATAL):\s+(.*)", text) or re.search(r"failed: (.*)", text)
    return found[1].strip() if found else "PostgreSQL refuses the query"


def _said(text: str) -> str:
    """Return what PostgreSQL says as far as it repeats no value."""
    line = _line(text)
    return re.split(r"[:\s]*[\"'(]", line)[0] if line else line


def _plain(array: pa.Array) -> pa.Array:
    """Return numerics as their decimal texts and UUIDs as theirs; other types as they are."""
    import pyarrow as pa

    kind = array.type
    if not isinstance(kind, pa.BaseExtensionType):
        return array
    if pa.types.is_string(kind.storage_type):
        return array.storage
    if kind.extension_name != "arrow.uuid":
        return array
    encoded = array.storage.dictionary_encode()
    texts = [str(UUID(bytes=value)) for value in encoded.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(encoded.indices, pa.array(texts, pa.string()))
