"""The rows of a release, block by block, as text and numbers instead of masks and levels.

=============  =================================================================================
layout         columns
=============  =================================================================================
generalized    ``class``, ``size``, ``item``, ``name``, ``lowest``, ``highest``, ``values``,
               ``null_possible``: a row per class and item of which it says more than null
profile        ``class``, ``size``, ``item``, ``name``, ``rating``: a row per class and item
record         ``record``, ``class``, ``item``, ``name``, ``rating``: a row per record and item
=============  =================================================================================

``size`` is the records of the class, each of which has this row. What is not listed is null.
``name`` is there if the release names its items. ``lowest`` and ``highest`` are of ratings: null
does not count, and both are null where no rating is possible. Personal attributes are of records
and would be told again for every item: they are rows of their own (`people_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.frames import ROWS
from starshade.ratings.write import ids_of, shortest_decimal
from starshade.release.cells import Cells, Symbols
from starshade.release.profiles import Profiles

if TYPE_CHECKING:
    import pyarrow as pa

    from starshade.release.table import Release

Texts = Callable[[list[str]], list[str]]
#: rows of `Release.classes` and items of a block, and a code for what each cell says
Block = tuple[NDArray[np.int64], NDArray[np.integer], NDArray[Any]]


def rows_of(release: Release, texts: Texts = list) -> pa.RecordBatchReader:
    """Return the rows, block by block; every text passes `texts`."""
    import pyarrow as pa

    classes, layout = release.classes, release.manifest.layout
    keys = ids_of(classes.items)
    if pa.types.is_string(keys.type):
        keys = pa.array(texts(keys.to_pylist()), pa.string())
    of_item = {"item": keys}
    if release.item_names:
        of_item["name"] = _categories(texts(list(release.item_names)))
    if isinstance(classes, Profiles):
        said = {"rating": pa.array(classes.ratings)}
    else:
        symbols = classes.symbols
        single = {"rating": pa.array(symbols.bounds[1])}
        said = single if layout == "record" else _contents(symbols, texts)
    numbers = np.arange(classes.n_groups)
    of_row = {"class": pa.array(numbers), "size": pa.array(classes.sizes)}
    if layout == "record":
        groups = numbers if release.groups is None else release.groups
        of_row = {"record": pa.array(numbers), "class": pa.array(groups)}
    columns = {**of_row, **of_item, **said}
    schema = pa.schema([(name, column.type) for name, column in columns.items()])

    def batches() -> Iterator[pa.RecordBatch]:
        for places in blocks_of(classes):
            arrays = [
                column.take(pa.array(place))
                for of, place in zip((of_row, of_item, said), places, strict=True)
                for column in of.values()
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def blocks_of(classes: Cells | Profiles) -> Iterator[Block]:
    """Yield rows, items and contents; a code into `Cells.symbols` or `Profiles.ratings`."""
    yield from _of_profiles(classes) if isinstance(classes, Profiles) else _of_cells(classes)


def _of_cells(cells: Cells) -> Iterator[Block]:
    n = len(cells.codes)
    for start in range(0, n, ROWS):
        here = slice(start, min(start + ROWS, n))
        row = np.searchsorted(cells.indptr, np.arange(here.start, here.stop), side="right") - 1
        yield row, cells.columns[here], cells.codes[here]


def _of_profiles(profiles: Profiles) -> Iterator[Block]:
    for rows in profiles.blocks(ROWS):
        levels = profiles.levels[rows]
        row, item = np.nonzero(levels)
        yield row + rows.start, item, levels[row, item] - 1


def _contents(symbols: Symbols, texts: Texts) -> dict[str, pa.Array]:
    """Return the content of each symbol, column by column."""
    import pyarrow as pa

    lowest, highest = rating_bounds(symbols)
    words = [in_words(symbols, s) for s in range(len(symbols))]
    return {
        "lowest": pa.array(lowest, mask=np.isnan(lowest)),
        "highest": pa.array(highest, mask=np.isnan(highest)),
        "values": _categories(texts(words)),
        "null_possible": pa.array(symbols.null),
    }


def rating_bounds(symbols: Symbols) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and greatest rating of each symbol, NaN where it has none, shape (n,)."""
    lowest, highest = symbols.low.copy(), symbols.high.copy()
    filled = np.flatnonzero(symbols.n_members > 0)
    lowest[filled] = symbols.members[symbols.offsets[filled]]
    highest[filled] = symbols.members[symbols.offsets[filled + 1] - 1]
    lowest = np.maximum(lowest, symbols.scale.minimum)  # below it, a range stands for null
    for bound in (lowest, highest):
        bound[~symbols.has_rating] = np.nan
    return lowest, np.maximum(lowest, highest)


def in_words(symbols: Symbols, s: int) -> str:
    """Say what a cell may be.

    >>> from starshade.ratings.scale import Scale
    >>> cells = Symbols.sets(Scale(1, 5, 1), [np.array([3.0, 4.0]), np.array([5.0])], [True, False])
    >>> in_words(cells, 0), in_words(cells, 1)
    ('3 or 4 or not rated', '5')
    """
    members = symbols.members[symbols.offsets[s] : symbols.offsets[s + 1]]
    values = [shortest_decimal(value) for value in members.tolist()]
    if symbols.is_range[s] and symbols.has_rating[s]:
        start = max(symbols.low[s], symbols.scale.minimum)
        ends = (start, max(start, symbols.high[s]))
        low, high = (shortest_decimal(float(end)) for end in ends)
        values = [low if symbols.is_single[s] else f"{low} to {high}"]
    return " or ".join(values + ["not rated"] * bool(symbols.null[s]))


def _categories(texts: list[str]) -> pa.DictionaryArray:
    import pyarrow as pa

    return pa.array(texts, pa.string()).dictionary_encode()


def people_of(release: Release, texts: Texts = list) -> tuple[list[str], list[list[Any]]]:
    """Return names and columns of a row per record: its number, class and personal attributes.

    A range is ``20 to below 30``, a list ``a or b``, and null in them ``not known``; an attribute
    that is released as it was is empty where it is null. Every text passes `texts`.
    """
    group = release.class_of_record if release.groups is None else release.groups
    names, columns = ["record", "class"], [list(range(release.n_records)), group.tolist()]
    if release.attributes is not None:
        names += texts(release.attributes.column_names)
        columns += [_attribute(column.to_pylist(), texts) for column in release.attributes.columns]
    return names, columns


def _attribute(values: list[Any], texts: Texts) -> list[Any]:
    said = [_attribute_in_words(value) for value in values]
    passed = iter(texts([each for each in said if isinstance(each, str)]))
    return [next(passed) if isinstance(each, str) else each for each in said]


def _attribute_in_words(value: Any) -> Any:
    if isinstance(value, list):
        return " or ".join("not known" if one is None else one for one in value)
    if not isinstance(value, dict):
        return value
    words = ["not known"] * bool(value["null"])
    if value["low"] is not None:
        low, high = (shortest_decimal(value[end]) for end in ("low", "high"))
        if np.isinf(value["high"]):
            words.insert(0, "any number" if np.isinf(value["low"]) else f"{low} or more")
        else:
            words.insert(0, f"below {high}" if np.isinf(value["low"]) else f"{low} to below {high}")
    return " or ".join(words)
