"""The verifier's own reading of the written files: shapes, order, what each class shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.progress import task

if TYPE_CHECKING:
    import pyarrow as pa

Cell = tuple[float, ...]
_NULL = float("-inf")  # below every rating, and finite numbers are all that a scale has
_SLACK = 1e-9
_BATCH = 2**16
_TYPES: dict[str, str | tuple[str, ...]] = {
    "record": "int32",
    "group": "int32",
    "size": "int32",
    "profile": "fixed_size_binary",
    "item": "string",
    "name": "string",
    "members": "fixed_size_binary",
    "low": "double",
    "high": "double",
    "values": ("list<element: double", "list<item: double"),
    "null": "bool",
}


class Failed(Exception):  # noqa: N818 - never leaves the verifier
    """A check failed."""

    def __init__(self, check: str, detail: str) -> None:
        super().__init__(f"{check}: {detail}")


@dataclass(frozen=True, eq=False)
class Written:
    """The content of the files, cells excepted.

    `n_levels`: 0 on a real scale. `group_of_record` (records,). `attributes`: released personal
    attributes by record; without columns where there are none.
    """

    folder: Path
    minimum: float
    maximum: float
    step: float | None
    n_levels: int
    items: tuple[str, ...]
    group_of_record: NDArray[np.int64]
    attributes: pa.Table

    @property
    def is_fine(self) -> bool:
        """Whether the scale is real-valued and no point, or has more than 20 levels."""
        return self.maximum > self.minimum if self.step is None else self.n_levels > 20

    @cached_property
    def position(self) -> dict[str, int]:
        """Where each item is among the items."""
        return {key: i for i, key in enumerate(self.items)}

    def positions(self, keys: pa.Array) -> NDArray[np.int64]:
        """Return where the item of each row is, -1 for one that is not listed."""
        coded = keys.dictionary_encode()
        at = [self.position.get(key, -1) for key in coded.dictionary.to_pylist()]
        return np.asarray(np.array(at, dtype=np.int64)[coded.indices.to_numpy()])


def read_written(folder: Path, scale: dict[str, Any], quasi: list[str]) -> Written:
    """Read records and items, and check what does not need the cells.

    `quasi` names the personal attributes that are equal within a class.
    """
    records = _table(folder, "records.parquet", ("record", "group"), more=True)
    record = records.column("record").to_numpy()
    group = records.column("group").to_numpy().astype(np.int64)
    if not np.array_equal(record, np.arange(len(record))):
        raise Failed("record order", "ids are not 0, 1, 2, …")
    if len(group) and (group[0] != 0 or not np.isin(np.diff(group), (0, 1)).all()):
        raise Failed("record order", "records do not follow their classes")
    attributes = records.drop_columns(["record", "group"])
    if not set(quasi) <= set(attributes.column_names):
        raise Failed("forbidden column", "personal attributes other than those declared")
    _check_attribute_order(attributes.drop_columns(quasi), group)
    items = _table(folder, "items.parquet", ("item", "name")).column("item").to_pylist()
    if any(_key_of(a) >= _key_of(b) for a, b in pairwise(items)):
        raise Failed("item order", "keys are not in canonical order")
    step, minimum, maximum = scale["step"], scale["minimum"], scale["maximum"]
    n_levels = 0 if step is None else round((maximum - minimum) / step) + 1
    return Written(folder, minimum, maximum, step, n_levels, tuple(items), group, attributes)


def walk_classes(
    written: Written, sizes: NDArray[np.int64], beside: list[tuple[Any, ...]], hierarchy: Any
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Walk the classes in file order; check that their contents ascend strictly.

    `sizes`: of the classes, according to the records. `beside`: what each class says beside its
    cells; classes of equal cells ascend by it. `hierarchy`: as ``release.json`` names it. Returns
    (n_classes,): whether a class has a cell with one single member that is a rating, one that
    lists exact ratings of its members, and one without null.
    """
    n_classes = len(sizes)
    single, listed, certain = (np.zeros(n_classes, np.bool_) for _ in range(3))
    lists = _lister(written, hierarchy)
    previous: tuple[list[tuple[int, Cell]], tuple[Any, ...]] | None = None
    for group, row in _all_rows(written, n_classes):
        if previous is not None and not previous < (row, beside[group]):
            raise Failed("class order", "two classes are equal or not sorted by content")
        previous = (row, beside[group])
        for _, cell in row:
            listed[group] |= lists(cell, int(sizes[group]))
            is_range = cell[0] == 1.0
            nulls = cell[3] if is_range else cell[1] == _NULL
            if not nulls:
                certain[group] = True
                one = cell[2] - cell[1] <= _SLACK if is_range else len(cell) == 2
                single[group] |= one
    return single, listed, certain


def _lister(written: Written, hierarchy: Any) -> Callable[[Cell, int], bool]:
    """Return whether a cell of a class of some size lists exact ratings of its members.

    Fixed intervals list none, and must begin and end on the tenths of the scale.
    """
    fine = written.is_fine

    def lists(cell: Cell, size: int) -> bool:
        is_range = cell[0] == 1.0
        if hierarchy == "fixed-intervals":
            if not (_on_tenths(written, cell) if is_range else _whole_tenths(written, cell)):
                raise Failed("intervals", "an end is not on the grid of the scale")
            return False
        values = 0 if is_range else len(cell) - 1
        if values == size and (values <= 2 or hierarchy in (None, "ndgh")):
            return True
        if not fine or hierarchy in (None, "ndgh", "range"):
            return fine
        return cell[2] - cell[1] <= _SLACK if is_range else sum(v > _NULL for v in cell[1:]) == 1

    return lists


def _on_tenths(written: Written, cell: Cell) -> bool:
    """Whether a range ends on tenths of the scale, apart; one with null begins below it."""
    width, step = written.maximum - written.minimum, (written.maximum - written.minimum) / 10
    low, high = (max(end, written.minimum) - written.minimum for end in cell[1:3])
    near = _SLACK + 4 * math.ulp(max(abs(written.minimum), abs(written.maximum)))
    on_grid = width > 0 and all(abs(end - round(end / step) * step) <= near for end in (low, high))
    return on_grid and high - low > step / 2


def _whole_tenths(written: Written, cell: Cell) -> bool:
    """Whether a set on a scale with steps holds neighbouring tenths of the levels whole."""
    steps = written.n_levels - 1
    held = [int(v) - 1 for v in cell[1:] if v > _NULL]
    tenth = [min(10 * level // steps, 9) for level in range(steps + 1)] if steps else [0]
    first, last = tenth[held[0]], tenth[held[-1]]
    return held == [level for level in range(steps + 1) if first <= tenth[level] <= last]


def _all_rows(written: Written, n_classes: int) -> Iterator[tuple[int, list[tuple[int, Cell]]]]:
    """Yield every class; those without any cell sort before all others."""
    expected, with_cells = 0, 0
    for group, row in _rows(written):
        if group >= n_classes:
            raise Failed("count", f"{n_classes} classes in the records, more in the cells")
        if group != expected and with_cells:
            raise Failed("class order", "a class without cells is not the first")
        for empty in range(expected, group):
            yield empty, []
        yield group, row
        expected, with_cells = group + 1, with_cells + 1
    if expected != n_classes and with_cells:
        raise Failed("count", f"{n_classes} classes in the records, {expected} in the cells")
    for empty in range(expected, n_classes):
        yield empty, []


def _rows(written: Written) -> Iterator[tuple[int, list[tuple[int, Cell]]]]:
    """Yield each class that has cells: its number, and (−item, content) by ascending item.

    The minus makes lists of two rows compare as the rows do: a cell against null alone wins.
    """
    read = read_real(written) if written.step is None else read_mask(written)
    names = contents_of(written)
    require_columns(written.folder, "cells.parquet", ("group", "item", *names))
    current, row, last = -1, list[tuple[int, Cell]](), -1
    for batch in batches_of(written.folder / "cells.parquet"):
        if any(batch.column(name).null_count for name in ("group", "item", names[-1])):
            raise Failed("columns", "cells.parquet: a null")
        columns = [batch.column(name).to_pylist() for name in ("group", "item", *names)]
        for group, key, *content in zip(*columns, strict=True):
            item = written.position.get(key, -1)
            if item < 0:
                raise Failed("cells", "an item is not listed")
            if group != current:
                if group < current:
                    raise Failed("cell order", "classes do not ascend")
                if current >= 0:
                    yield current, row
                current, row, last = group, [], -1
            if item <= last:
                raise Failed("cell order", "items do not ascend within a class")
            last = item
            row.append((-item, read(*content)))
    if current >= 0:
        yield current, row


def contents_of(written: Written) -> tuple[str, ...]:
    """Return the columns that say what is in a cell."""
    return ("members",) if written.step is not None else ("low", "high", "values", "null")


def batches_of(path: Path) -> Iterator[Any]:
    """Yield the rows of a Parquet file some at a time."""
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        stored = pq.ParquetFile(file)
        with task(f"counting {path.name}", stored.metadata.num_rows) as advance:
            for batch in stored.iter_batches(_BATCH):
                yield batch
                advance(batch.num_rows)


def read_mask(written: Written) -> Callable[..., Cell]:
    """Return a reader of masks: (0, members ascending with null first)."""
    known: dict[bytes, Cell] = {}

    def read(mask: bytes) -> Cell:
        cell = known.get(mask)
        if cell is None:
            bits = int.from_bytes(mask, "little")
            if bits >> (written.n_levels + 1) or bits <= 1:
                raise Failed("cells", "a mask is empty, null only or beyond the scale")
            members = [_NULL] if bits & 1 else []
            members += [float(j) for j in range(1, written.n_levels + 1) if bits >> j & 1]
            cell = known[mask] = (0.0, *members)
        return cell

    return read


def read_real(written: Written) -> Callable[..., Cell]:
    """Return a reader of (0, values ascending with null first) or (1, low, high, null)."""

    def read(low: float | None, high: float | None, values: list[float] | None, null: bool) -> Cell:
        if values is None:
            if low is None or high is None or not low <= high:
                raise Failed("cells", "a range without ends")
            if null != (low < written.minimum - _SLACK) or high < written.minimum - _SLACK:
                raise Failed("cells", "the null flag of a range is wrong")
            return (1.0, low, high, float(null))
        if not values or any(not a < b for a, b in pairwise(values)):
            raise Failed("cells", "a list of values is empty or not sorted")
        return (0.0, _NULL, *values) if null else (0.0, *values)

    return read


def _table(folder: Path, name: str, columns: tuple[str, ...], *, more: bool = False) -> pa.Table:
    import pyarrow.parquet as pq

    require_columns(folder, name, columns, more=more)
    with (folder / name).open("rb") as file:  # Python's: a name need not be UTF-8
        table = pq.ParquetFile(file).read()
    if any(table.column(c).null_count for c in columns if c != "name"):
        raise Failed("columns", f"{name}: a null")
    return table


def require_columns(
    folder: Path, name: str, columns: tuple[str, ...], *, more: bool = False
) -> None:
    """Check that a file has these columns and no notes beside them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with (folder / name).open("rb") as raw:
            file = pq.ParquetFile(raw)
            schema, notes = file.schema_arrow, file.metadata.metadata
    except (OSError, pa.ArrowException):
        raise Failed("files", f"{name} cannot be read as Parquet") from None
    names = tuple(schema.names)
    if names[: len(columns)] != columns or (len(names) > len(columns) and not more):
        raise Failed("forbidden column", f"{name} has missing or unknown columns")
    for column in columns:
        kind = str(schema.field(column).type)
        if not kind.startswith(_TYPES[column]):
            raise Failed("columns", f"{name}: {column} is of type {kind}")
    if notes:
        raise Failed("metadata", f"{name} carries extra metadata")


def _check_attribute_order(attributes: pa.Table, group: NDArray[np.int64]) -> None:
    """Within a class, records ascend by their attributes, column by column, null first."""
    if not attributes.num_columns:
        return
    columns = [
        [(v is not None, v if v is not None else 0) for v in column.to_pylist()]
        for column in attributes.columns
    ]
    rows = zip(group.tolist(), *columns, strict=True)
    if any(b < a for a, b in pairwise(rows)):
        raise Failed("record order", "records of a class are not sorted by their attributes")


def _key_of(key: str) -> tuple[int, int, str]:
    """Canonical order: integers by value, then all others by code point."""
    return (0, int(key), "") if is_plain(key) else (1, 0, key)


def is_plain(key: str) -> bool:
    """Tell whether a key is a whole number as it is written shortest."""
    return key.isascii() and key.isdigit() and str(int(key)) == key and int(key) < 2**63
