"""Which item of the data an item elsewhere is: a file with one pair a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from starshade.arguments import typed
from starshade.errors import ConfigError, InputError
from starshade.naming import named
from starshade.progress import note
from starshade.ratings.readers.beside import Beside, open_beside
from starshade.ratings.readers.columns import IdColumn
from starshade.ratings.readers.faults import Fault, Faults, quoted
from starshade.ratings.readers.recognise.aliases import ALIASES, PUBLIC, listing, normalized
from starshade.scratch import scratch_folder

_WHAT = "pairs of items"
_HEADS = {"aux", "auxitem", "auxid", "auxiliary", "public", "publicitem", "publicid", "from"}
_HEADS |= {"source", "to", "target", "data", "dataitem"}
_TWICE = Fault(
    "items that an earlier line maps to another item of the data",
    "Keep one line for each item of the other source.",
)


@typed
def read_item_mapping(
    source: Any,
    *,
    aux_col: str | None = None,
    data_col: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    show_values: bool = False,
) -> dict[str, str]:
    """Read a mapping: the other source's item first, then the item of the data.

    Several of the other source's items may be one item of the data, not the reverse.

    Parameters
    ----------
    source : path or Arrow-capable frame
        Two columns, as CSV, TSV or Parquet; more only where `aux_col` and `data_col` name them.
    aux_col, data_col : str, optional
        The columns, by name or (without a header) by number from 1; both or neither.
    delimiter, header, show_values : optional
        As in `read_ratings`. Without `header` the first line is one if it holds a usual name
        such as item, title, aux or imdbId; a note says what was decided.

    Returns
    -------
    dict of str to str

    Raises
    ------
    InputError
        No pair, columns that are not two, an item without id or mapped twice, a file that
        cannot be read; the line is named.
    ConfigError
        One column named and the other not.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_item_mapping(pa.table({"aux": ["tt0076759"], "item": [50]}))
    {'tt0076759': '50'}
    """
    given = [name for name in (aux_col, data_col) if name is not None]
    if len(given) == 1 or "" in given or len(set(given)) < len(given):
        raise ConfigError(
            "item mapping: name both columns (the other source's item and the "
            "data's item), or neither"
        )
    known = _HEADS.union(*PUBLIC["item"], ALIASES["name"])
    known |= {normalized(name) for name in given if not name.isdigit()}
    with scratch_folder() as folder:
        opened = open_beside(
            source, folder, known=known, what=_WHAT, delimiter=delimiter, header=header
        )
        columns = _columns(opened, given)
        pairs = _read(opened, columns, show_values)
    named = "" if opened.named else "no header; "
    note(f"{opened.where}: {len(pairs):,} items; {named}{columns[0]} is {columns[1]} in the data")
    return pairs


def _columns(opened: Beside, given: Sequence[str]) -> Sequence[str]:
    columns = opened.source.columns
    names = (
        f"the columns are {listing(columns)}" if opened.named else f"it has {len(columns)} columns"
    )
    for name in given:
        if name not in columns:
            raise InputError(f"{opened.where}: no column {name!r}; {names}")
    if not given and len(columns) != 2:
        raise InputError(
            f"{opened.where}: {len(columns)} columns instead of two (the other source's item, "
            f"the data's item){(f'; {names}' if opened.named else '')}",
            advice=f"Name the two columns ({named('aux.aux_col')}, {named('aux.data_col')}), "
            "remove the others, or name the delimiter.",
        )
    return given or columns


def _read(opened: Beside, columns: Sequence[str], show_values: bool) -> dict[str, str]:
    faults = Faults(opened.source.locate)
    theirs, ours = (IdColumn("item", faults, show_values=show_values) for _ in range(2))
    pairs: dict[str, str] = {}
    read = 0
    for block in opened.source.batches(columns):
        rows = np.arange(read, read + len(block))
        read += len(block)
        keys, values = theirs.take(block.column(0), rows), ours.take(block.column(1), rows)
        if faults:
            continue
        texts = [(str(a), str(b)) for a, b in zip(keys.tolist(), values.tolist(), strict=True)]
        again = [i for i, (a, b) in enumerate(texts) if pairs.setdefault(a, b) != b]
        texts_again = [quoted(texts[i][0]) if show_values else "again" for i in again]
        faults.add(_TWICE, rows[again], lambda k, texts_again=texts_again: texts_again[k])  # type: ignore[misc]
    faults.refuse()
    if not pairs:
        raise InputError(f"{opened.where}: it contains no {_WHAT}")
    return pairs
