"""The verifier's own reading of generalized personal attributes, and their check by the truth.

A quasi-identifier says the same of every record of a class: a range and whether null is possible,
or the list of what occurs. Nothing here is shared with what builds and reads releases.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.release.verify_rows import Failed, Written

if TYPE_CHECKING:
    import pyarrow as pa

    from starshade.ratings.table import Ratings

__all__ = ["check_quasi", "declared", "read_quasi"]

_RANGE = "struct<low: double, high: double, null: bool>"
_LISTS = ("list<element: string>", "list<item: string>")
_NULL = float("-inf")  # below every number

#: what a class says of one attribute: (low, high, null) or a pair (is text, text) for each value
Said = tuple[Any, ...]


def declared(facts: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the quasi-identifiers and sensitive attributes that ``release.json`` names."""
    names = [facts.get("quasi_identifiers", []), facts.get("sensitive_attributes", [])]
    if any(not isinstance(n, list) or any(type(name) is not str for name in n) for n in names):
        raise Failed("release.json", "names of personal attributes that are none")
    quasi, sensitive = names
    if facts["attributes"] != "generalized":
        if quasi or sensitive:
            raise Failed("release.json", "quasi-identifiers of a release that has none")
        return [], []
    both = [*quasi, *sensitive]
    if not both or len(set(both)) < len(both) or both != facts["attribute_columns"]:
        raise Failed("forbidden column", "personal attributes other than those declared")
    if facts["layout"] != "generalized":
        raise Failed("release.json", "generalized attributes of records that differ")
    return quasi, sensitive


def read_quasi(written: Written, quasi: list[str], sensitive: list[str]) -> list[Said]:
    """Read what each class says of the quasi-identifiers, in a form that compares as it is sorted.

    Returns
    -------
    list, one entry per class
        Of each quasi-identifier what it says; empty without any.
    """
    table = written.attributes
    if (quasi or sensitive) and table.column_names != [*quasi, *sensitive]:
        raise Failed("forbidden column", "personal attributes other than those declared")
    for name in sensitive:
        if str(table.schema.field(name).type) not in ("double", "string"):
            raise Failed("columns", "a sensitive attribute that is neither number nor text")
    first = np.flatnonzero(np.diff(written.group_of_record, prepend=-1))
    columns = []
    for name in quasi:
        column = table.column(name)
        if not column.equals(column.take(first[written.group_of_record])):
            raise Failed("quasi-identifiers", "records of a class differ")
        kind = str(column.type)
        if kind != _RANGE and kind not in _LISTS:
            raise Failed("columns", f"a quasi-identifier of type {kind}")
        read = _range if kind == _RANGE else _values
        columns.append([read(said) for said in column.take(first).to_pylist()])
    return list(zip(*columns, strict=True)) if columns else [()] * len(first)


def _range(said: dict[str, Any] | None) -> Said:
    """Read (low, high, null); a class of nulls alone is below all others."""
    if said is None or said["null"] is None:
        raise Failed("quasi-identifiers", "a record that says nothing")
    low, high, null = said["low"], said["high"], said["null"]
    if low is None and high is None and null:
        return (_NULL, _NULL, True)
    if low is None or high is None or not _NULL < low <= high < -_NULL:
        raise Failed("quasi-identifiers", "a range without ends")
    return (low, high, null)


def _values(said: list[str | None] | None) -> Said:
    """Read the values as pairs that compare: null, then texts by code point."""
    pairs = tuple((value is not None, value or "") for value in said or ())
    if not pairs or any(not a < b for a, b in pairwise(pairs)):
        raise Failed("quasi-identifiers", "a list of values that is empty or not sorted")
    return pairs


def check_quasi(
    written: Written,
    said: list[Said],
    quasi: list[str],
    original: Ratings,
    record: NDArray[np.int64],
) -> None:
    """Check that everybody's own attribute is inside what their class says.

    A null that is said to be possible must be some member's.

    Parameters
    ----------
    written : Written
    said : list
        As `read_quasi` returns it.
    quasi : list of str
    original : Ratings
    record : ndarray of int64, shape (users,)
        The record of each user.
    """
    class_of_user = written.group_of_record[record]
    people = original.attributes
    for place, name in enumerate(quasi):
        if people is None or name not in people.column_names:
            raise Failed("forbidden column", "an attribute that the original lacks")
        told = [entry[place] for entry in said]
        if str(written.attributes.schema.field(name).type) == _RANGE:
            _check_ranges(told, people.column(name), class_of_user)
        else:
            _check_values(told, people.column(name), class_of_user)


def _check_ranges(told: list[Said], column: pa.ChunkedArray, owner: NDArray[np.int64]) -> None:
    try:
        own = np.array([np.nan if v is None else float(v) for v in column.to_pylist()])
    except (TypeError, ValueError):
        raise Failed("truth", "a range for an attribute that is no number") from None
    low, high = (np.array([entry[end] for entry in told], dtype=np.float64) for end in (0, 1))
    possible = np.array([entry[2] for entry in told], dtype=np.bool_)
    missing = np.isnan(own)
    there = owner[~missing]
    if ((own[~missing] < low[there]) | (own[~missing] > high[there])).any():
        raise Failed("truth", "a personal attribute outside its range")
    some = np.bincount(owner[missing], minlength=len(told)) > 0
    if (some != possible).any():
        raise Failed("truth", "a missing attribute that is not told, or told of nobody")


def _check_values(told: list[Said], column: pa.ChunkedArray, owner: NDArray[np.int64]) -> None:
    pairs = zip(owner.tolist(), column.to_pylist(), strict=True)
    own = {(c, v is not None, v or "") for c, v in pairs}
    possible = {(c, *pair) for c, entry in enumerate(told) for pair in entry}
    if own - possible:
        raise Failed("truth", "a personal attribute outside its list of values")
    if any(not known for _, known, _ in possible - own):
        raise Failed("truth", "a missing attribute that is told of nobody")
