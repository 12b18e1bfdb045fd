"""k-anonymity of cells (Riyana & Natwichai 2018, Def. 9; SPEC §2.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from starshade.privacy.parameters import check_data, check_k, check_records
from starshade.privacy.verdict import Verdict
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells, cells_of
from starshade.release.table import Release

__all__ = ["KAnonymity"]

_SHOWN = 5  # classes named in a verdict
_BLOCK = 65_536  # rows digested together


@dataclass(frozen=True)
class KAnonymity:
    """Every record equals at least k-1 others on every item.

    Equal means: the same content in every cell, a null (or a null that is possible) included;
    on ratings with dates also the same days. Personal attributes count when they were released
    as quasi-identifiers (``attributes: generalized``); exact ones, which only a query service
    may hold, are outside this model.

    Parameters
    ----------
    k : int
        2 or more.

    Raises
    ------
    ConfigError
        k is no whole number, or below 2.

    Examples
    --------
    >>> from starshade.ratings.scale import Scale
    >>> KAnonymity(1)
    Traceback (most recent call last):
    ...
    starshade.errors.ConfigError: k = 1: must be 2 or more
    A record is always equal to itself; ask for 2 at least.
    """

    k: int

    def __post_init__(self) -> None:
        check_k(self.k)

    def check(self, data: Release | Ratings) -> Verdict:
        """Count, from the cells alone, how many records look alike.

        Parameters
        ----------
        data : Release or Ratings

        Returns
        -------
        Verdict
            `worst` holds ``{"row", "size"}``: the first row of a class, counted from 0 (on a
            release of layout "generalized" the class number), and its records.

        Raises
        ------
        ConfigError
            k is above the number of records.
        """
        start = perf_counter()
        check_data(data)
        cells = cells_of(data) if isinstance(data, Ratings) else data.cells()
        records = cells.n_records
        check_records(self.k, records)
        row, size = _classes(cells, _quasi_identifiers(data))
        failing = size < self.k
        order = np.lexsort([row, size])[: min(_SHOWN, int(failing.sum()))]
        return Verdict(
            model="k-anonymity",
            parameters={"k": int(self.k)},
            satisfied=not failing.any(),
            records=records,
            failing_records=int(size[failing].sum()),
            smallest_group=int(size.min()),
            worst=tuple({"row": int(row[c]), "size": int(size[c])} for c in order),
            numbered=isinstance(data, Release) and data.manifest.layout == "generalized",
            seconds=perf_counter() - start,
        )


def _classes(
    cells: Cells, quasi_identifiers: list[bytes] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first row and the number of records of each class."""
    found: dict[bytes, list[int]] = {}
    record = 0
    for row, (content, size) in enumerate(zip(_contents(cells), cells.sizes.tolist(), strict=True)):
        if quasi_identifiers is None:
            found.setdefault(content, [row, 0])[1] += size
        else:
            for own in quasi_identifiers[record : record + size]:
                found.setdefault(content + own, [row, 0])[1] += 1
        record += size
    pairs = np.array(list(found.values()), dtype=np.int64)
    return pairs[:, 0], pairs[:, 1]


def _contents(cells: Cells) -> Iterator[bytes]:
    """Yield a digest of each row: equal exactly when every cell says the same.

    The digest (128 bits) does not depend on how the table numbers its symbols, nor on whether a
    cell that is null alone is written or left out.
    """
    number, says_nothing = _symbol_numbers(cells)
    for block in range(0, cells.n_groups, _BLOCK):
        ends = cells.indptr[block : block + _BLOCK + 1]
        here = slice(int(ends[0]), int(ends[-1]))
        codes = cells.codes[here]
        told = ~says_nothing[codes]
        before = np.concatenate([[0], np.cumsum(told)])
        parts = [cells.columns[here][told], number[codes[told]]]
        if cells.days is not None:
            parts.append(cells.days[here][told].astype(np.int32))
        raw = np.stack(parts, axis=1)
        for first, last in pairwise(before[ends - ends[0]].tolist()):
            yield blake2b(raw[first:last].tobytes(), digest_size=16).digest()


def _symbol_numbers(cells: Cells) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Give symbols of equal content one number; tell which are null alone."""
    symbols = cells.symbols
    scale = symbols.scale
    if scale.step is None:
        members = symbols.members
    else:  # equal levels are equal whatever the float dust
        members = np.round((symbols.members - scale.minimum) / scale.step)
    seen: dict[tuple[object, ...], int] = {}
    number = np.empty(len(symbols), dtype=np.int32)
    for s, (first, last) in enumerate(pairwise(symbols.offsets.tolist())):
        content: tuple[object, ...] = (bool(symbols.null[s]), *members[first:last].tolist())
        if symbols.is_range[s]:
            low, high = float(symbols.low[s]), float(symbols.high[s])
            # a range of one point says no more than a set of one rating
            content = (False, high) if low == high else ("range", low, high)
        number[s] = seen.setdefault(content, len(seen))
    return number, symbols.null & ~symbols.has_rating


def _quasi_identifiers(data: Release | Ratings) -> list[bytes] | None:
    """Return what the released quasi-identifiers of each record say; None without any."""
    if isinstance(data, Ratings) or data.manifest.attributes != "generalized":
        return None
    if data.attributes is None:
        return None
    columns = [data.attributes.column(c).to_pylist() for c in data.manifest.attribute_columns]
    return [repr(values).encode() for values in zip(*columns, strict=True)]
