"""The verifier's own reading of the readable tables, each cell of which the exact files must say.

Cells are decoded anew from masks, ranges, lists or levels, some rows at a time, and written out
anew: every number is the same double, every text the same, and CSV the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ReleaseError
from starshade.files.parquet import open_texts
from starshade.release.verify.profiles import blocks_of
from starshade.release.verify.rows import (
    Cell,
    Failed,
    Written,
    batches_of,
    contents_of,
    is_plain,
    read_mask,
    read_real,
)

if TYPE_CHECKING:
    import pyarrow as pa

READABLE = frozenset({"table.parquet", "table.csv", "records.csv"})
_ONE = 1e-9  # so narrow a range is one rating
_RUNS = "=+-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212"
_UNSEEN_RANGES = (
    "0-20 7f-a0 ad-ad 34f-34f 61c-61c 115f-1160 1680-1680 17b4-17b5 180b-180f "
    "2000-200f 2028-202f 205f-206f 2800-2800 3000-3000 3164-3164 fe00-fe0f feff-feff ffa0-ffa0 "
    "fff0-fff8 1bca0-1bca3 1d173-1d17a e0000-e0fff"
)  # white space, and what Unicode calls default ignorable
_ENDS = ([int(end, 16) for end in part.split("-")] for part in _UNSEEN_RANGES.split())
_UNSEEN = "".join(chr(point) for low, high in _ENDS for point in range(low, high + 1))
_TYPES = {
    **dict.fromkeys(("record", "class", "size"), "int64"),
    **dict.fromkeys(("lowest", "highest", "rating"), "double"),
    **dict.fromkeys(("name", "values"), "string"),
    "null_possible": "bool",
}


@dataclass(frozen=True)
class _May:
    """What a cell may be: its least and greatest rating, whether null, and all of it in words."""

    lowest: float
    highest: float
    null: bool
    words: str


@dataclass(frozen=True, eq=False)
class _Said:
    """Some rows by the exact files; `code`: what each cell may be, a place in `may`."""

    keys: dict[str, NDArray[np.int64]]
    item: NDArray[np.int64]
    code: NDArray[np.int64]
    may: list[_May]


def check_readable(written: Written, facts: dict[str, Any]) -> dict[str, int]:
    """Check that the readable tables that are there say what the exact files say, in their order.

    CSV has one spelling: a file is compared byte by byte with what must stand in it. Returns: name
    of each table → rows.
    """
    names, folder, rows = _names_of(written), written.folder, dict[str, int]()
    if (folder / "table.parquet").exists():
        rows["table.parquet"] = _check_rows(folder / "table.parquet", written, facts, names)
    if (folder / "table.csv").exists():
        lines = _lines(written, facts, names)
        rows["table.csv"] = _check_lines(folder / "table.csv", lines)
    if (folder / "records.csv").exists():
        rows["records.csv"] = _check_lines(folder / "records.csv", _people(written))
    return rows


def _columns_of(facts: dict[str, Any], names: list[str | None]) -> list[str]:
    """Return the columns of the table; those behind the second are about cells."""
    columns = ["record", "class"] if facts["layout"] == "record" else ["class", "size"]
    columns += ["item", *["name"] * any(name is not None for name in names)]
    many = facts["layout"] == "generalized"
    return columns + (["lowest", "highest", "values", "null_possible"] if many else ["rating"])


def _check_rows(
    place: Path, written: Written, facts: dict[str, Any], names: list[str | None]
) -> int:
    """Check ``table.parquet``, value by value; return how many rows it has."""
    columns, n = _columns_of(facts, names), 0
    rows = _Rows(_read(place, columns, written))
    for said in _exact(written, facts):
        table, n = rows.take(len(said.item)), n + len(said.item)
        if table.num_rows < len(said.item):
            raise _wrong(place, "rows are missing")
        for key, values in said.keys.items():
            if not np.array_equal(table.column(key).to_numpy(), values):
                raise _wrong(place, f"other rows, or another order ({key})")
        for column in columns[2:]:
            if column in ("item", "name"):
                of = said.item
                wanted = written.items if column == "item" else [name or "" for name in names]
            else:
                of, wanted = said.code, [_value(column, may) for may in said.may]
            if _differs(table.column(column), of, wanted):
                other = "other rows, or another order" if column == "item" else "another value"
                raise _wrong(place, f"{other} ({column})")
    if rows.take(1).num_rows:
        raise _wrong(place, "more rows")
    return n


def _value(column: str, may: _May) -> Any:
    told = {"values": may.words, "null_possible": may.null, "highest": may.highest}
    return told.get(column, may.lowest)


def _lines(written: Written, facts: dict[str, Any], names: list[str | None]) -> Iterator[bytes]:
    """Yield the lines of ``table.csv``: every text is quoted, and no number."""
    columns = _columns_of(facts, names)
    yield _line(f'"{column}"' for column in columns)
    numbered = all(is_plain(key) for key in written.items)
    items = [key if numbered else _in_quotes(_harmless(key)) for key in written.items]
    if "name" in columns:
        shown = (_in_quotes(_harmless(name or "")) for name in names)
        items = [f"{item},{name}" for item, name in zip(items, shown, strict=True)]
    many = facts["layout"] == "generalized"
    for said in _exact(written, facts):
        cells = _numbers([may.lowest for may in said.may])
        if many:
            highest = _numbers([may.highest for may in said.may])
            cells = [
                f"{low},{high},{_in_quotes(_harmless(may.words))},{str(may.null).lower()}"
                for low, high, may in zip(cells, highest, said.may, strict=True)
            ]
        keys = (values.tolist() for values in said.keys.values())
        rows = zip(*keys, said.item.tolist(), said.code.tolist(), strict=True)
        for first, second, item, code in rows:
            yield f"{first},{second},{items[item]},{cells[code]}\n".encode()


def _numbers(values: list[float]) -> list[str]:
    """Spell numbers as Arrow does, which writes the table."""
    import pyarrow as pa

    return list(pa.array(values, pa.float64()).cast(pa.string()).to_pylist())


def _check_lines(place: Path, lines: Iterator[bytes]) -> int:
    """Check a file line by line; return how many rows stand under its head."""
    rows, number = -1, 1
    try:
        with place.open("rb") as file:
            for line in lines:
                rows += 1
                found = file.read(len(line))
                if found != line:
                    what = "another row, value or spelling"
                    raise _wrong(place, f"{what if found else 'rows are missing'} (line {number})")
                number += line.count(b"\n")
            if file.read(1):
                raise _wrong(place, f"more rows (line {number})")
    except OSError:
        raise _wrong(place, "it cannot be read") from None
    return rows


def _differs(column: pa.ChunkedArray, of: NDArray[np.int64], wanted: Sequence[Any]) -> bool:
    """Tell whether some row says another value than its own in `wanted`; a pair is asked once."""
    coded = column.combine_chunks().dictionary_encode()
    found = coded.dictionary.to_pylist()
    pairs = np.unique(of * max(len(found), 1) + coded.indices.to_numpy())
    at, place = np.divmod(pairs, max(len(found), 1))
    # written out, -0 is not 0; a key is the same as number and as text
    return any(
        str(wanted[a]) != str(found[p]) for a, p in zip(at.tolist(), place.tolist(), strict=True)
    )


class _Rows:
    """Rows that come in batches, taken as many at a time as are asked for."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        import pyarrow as pa

        self._batches = batches
        self._held = pa.Table.from_batches([next(batches)])  # the first is there, if empty

    def take(self, n: int) -> pa.Table:
        import pyarrow as pa

        held, batches = self._held.num_rows, self._held.to_batches()
        while held < n and (batch := next(self._batches, None)) is not None:
            batches.append(batch)
            held += batch.num_rows
        whole = pa.Table.from_batches(batches, schema=self._held.schema)
        self._held = whole.slice(n)
        return whole.slice(0, n)


def _read(place: Path, columns: list[str], written: Written) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table, after an empty batch; columns and types must be as they are."""
    import pyarrow as pa

    types = _TYPES | {"item": "int64" if all(map(is_plain, written.items)) else "string"}
    try:
        with place.open("rb") as file:
            stored, schema = open_texts(file, place.name, ReleaseError)
            told = [(field.name, str(field.type)) for field in schema]
            if told != [(name, types[name]) for name in columns] or stored.metadata.metadata:
                raise _wrong(place, "other columns, or extra metadata")
            yield pa.RecordBatch.from_pylist([], schema=stored.schema_arrow)
            for batch in stored.iter_batches(2**16):
                if any(column.null_count for column in batch.columns):
                    raise _wrong(place, "an empty cell")
                yield batch
    except (OSError, pa.ArrowException):
        raise _wrong(place, "it cannot be read") from None


def _exact(written: Written, facts: dict[str, Any]) -> Iterator[_Said]:
    """Yield what the exact files say, some rows at a time."""
    sizes = np.bincount(written.group_of_record)
    if facts["layout"] == "profile":
        step = facts["profile_step"]
        levels_of = np.round(written.minimum + step * np.arange(255), 9).tolist()
        may = [_May(each, each, False, "") for each in levels_of]
        for group, size, _, levels in blocks_of(written):
            row, item = np.nonzero(levels)
            keys = {"class": group[row], "size": size[row]}
            yield _Said(keys, item, levels[row, item].astype(np.int64) - 1, may)
        return
    for batch in batches_of(written.folder / "cells.parquet"):
        group = batch.column("group").to_numpy().astype(np.int64)
        keys = {"class": group, "size": sizes[group]}
        if facts["layout"] == "record":
            record = batch.column("record").to_numpy().astype(np.int64)
            keys = {"record": record, "class": group}
        code, may = _decoded(batch, written)
        yield _Said(keys, written.positions(batch.column("item")), code, may)


def _decoded(batch: pa.RecordBatch, written: Written) -> tuple[NDArray[np.int64], list[_May]]:
    if written.step is not None:
        coded, read = batch.column("members").dictionary_encode(), read_mask(written)
        cells = [read(mask) for mask in coded.dictionary.to_pylist()]
        return coded.indices.to_numpy().astype(np.int64), [_may(c, written) for c in cells]
    of, read = dict[Cell, int](), read_real(written)
    columns = [batch.column(name).to_pylist() for name in contents_of(written)]
    code = [of.setdefault(read(*row), len(of)) for row in zip(*columns, strict=True)]
    return np.array(code, dtype=np.int64), [_may(cell, written) for cell in of]


def _may(cell: Cell, written: Written) -> _May:
    """Turn what `read_mask` and `read_real` return into ratings."""
    if cell[0] == 1.0:
        null, low = bool(cell[3]), max(cell[1], written.minimum)
        high = max(low, cell[2])
        one = not null and cell[2] - cell[1] <= _ONE
        told = [_decimal(low) if one else f"{_decimal(low)} to {_decimal(high)}"]
    else:
        null = math.isinf(cell[1])
        numbers = cell[2 if null else 1 :]
        if written.step is not None:
            of_level = np.array(numbers) - 1
            numbers = tuple(np.round(written.minimum + written.step * of_level, 9).tolist())
        told = list(map(_decimal, numbers))
        low = max(numbers[0], written.minimum)
        high = max(low, numbers[-1])
    return _May(low, high, null, " or ".join([*told, *["not rated"] * null]))


def _names_of(written: Written) -> list[str | None]:
    import pyarrow.parquet as pq

    with (written.folder / "items.parquet").open("rb") as file:
        return list(pq.ParquetFile(file).read(columns=["name"]).column("name").to_pylist())


def _people(written: Written) -> Iterator[bytes]:
    """Yield the lines of ``records.csv``: a text is quoted where it must be."""
    people = written.attributes
    yield _line(map(_quoted, ["record", "class", *map(_harmless, people.column_names)]))
    columns = [[_in_words(value) for value in column.to_pylist()] for column in people.columns]
    for n, row in enumerate(zip(written.group_of_record.tolist(), *columns, strict=True)):
        yield _line([str(n), str(row[0]), *map(_quoted, row[1:])])


def _line(fields: Iterable[str]) -> bytes:
    return f"{','.join(fields)}\n".encode()


def _in_quotes(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _quoted(text: str) -> str:
    return _in_quotes(text) if text[:1] == "\ufeff" or set(text) & set(',"\r\n') else text


def _in_words(value: Any) -> str:
    """Spell a personal attribute as it must stand in ``records.csv``."""
    if value is None:
        return ""
    if isinstance(value, float):
        return _decimal(value)
    if isinstance(value, str):
        return _harmless(value)
    if isinstance(value, list):
        return _harmless(" or ".join("not known" if one is None else one for one in value))
    words = [] if value["low"] is None else [_range_in_words(value["low"], value["high"])]
    return _harmless(" or ".join([*words, *(["not known"] if value["null"] else [])]))


def _range_in_words(low: float, high: float) -> str:
    if low == -math.inf and high == math.inf:
        return "any number"
    if low == -math.inf:
        return f"below {_decimal(high)}"
    return f"{_decimal(low)} or more" if high == math.inf else (
        f"{_decimal(low)} to below {_decimal(high)}"
    )  # fmt: skip


def _decimal(value: float) -> str:
    return str(round(value)) if abs(value) < 1e15 and value == round(value) else repr(value)


def _harmless(text: str) -> str:
    """Put an apostrophe in front of what a spreadsheet may run, and of what begins with one."""
    start = text.lstrip(_UNSEEN)[:1]
    runs = text[:1] in ("'", "\t", "\r", "\n") or (start and start in _RUNS)
    return f"'{text}" if runs else text


def _wrong(place: Path, what: str) -> Failed:
    return Failed("readable table", f"{place.name} contradicts the exact files: {what}")
