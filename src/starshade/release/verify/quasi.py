"""The verifier's own reading of generalized personal attributes, and their check by the truth.

A quasi-identifier is the same for every record of a class: a range and whether null is possible,
or the list of values. A range runs between edges of bands that k people share, the nearest ones
that hold its members. A list holds the members' values exactly; with a hierarchy in the settings,
all values of a name that k people share. With a recipe (`starshade.release.personal.recipe`), a
member's value is its first name.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.release.personal.recipe import coarsened, recipe_of
from starshade.release.verify.rare import claimed_k
from starshade.release.verify.rows import Failed, Written

if TYPE_CHECKING:
    import pyarrow as pa

    from starshade.release.table import Private

_RANGE = "struct<low: double, high: double, null: bool>"
_LISTS = ("list<element: string>", "list<item: string>")
_BANDS = 20

#: what a class states of one attribute: (is range, low, high, null), a range of nulls alone being
#: none, or a pair (is text, text) for each value
Stated = tuple[Any, ...]


def declared(facts: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the quasi-identifiers and sensitive attributes that ``release.json`` names."""
    names = [facts.get("quasi_identifiers", []), facts.get("sensitive_attributes", [])]
    if any(not isinstance(n, list) or any(type(name) is not str for name in n) for n in names):
        raise Failed("release.json", "names of personal attributes are not a list of texts")
    quasi, sensitive = names
    if facts["attributes"] != "generalized":
        if quasi or sensitive:
            raise Failed("release.json", "quasi-identifiers in a release without any")
        return [], []
    both = [*quasi, *sensitive]
    if not both or len(set(both)) < len(both) or both != facts["attribute_columns"]:
        raise Failed("forbidden column", "personal attributes other than those declared")
    if facts["layout"] != "generalized":
        raise Failed("release.json", "generalized attributes on this layout")
    return quasi, sensitive


def read_quasi(written: Written, quasi: list[str], sensitive: list[str]) -> list[Stated]:
    """Read the quasi-identifiers of each class, in a form that compares as it is sorted.

    Returns: the content of each quasi-identifier; empty without any.
    """
    table = written.attributes
    if (quasi or sensitive) and table.column_names != [*quasi, *sensitive]:
        raise Failed("forbidden column", "personal attributes other than those declared")
    for name in sensitive:
        if str(table.schema.field(name).type) not in ("double", "string"):
            raise Failed("columns", "a sensitive attribute is neither number nor text")
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
        columns.append([read(content) for content in column.take(first).to_pylist()])
    return list(zip(*columns, strict=True)) if columns else [()] * len(first)


def _range(content: dict[str, Any] | None) -> Stated:
    """Read (is range, low, high, null); a class of nulls alone is below all others."""
    if content is None or content["null"] is None:
        raise Failed("quasi-identifiers", "a record without content")
    low, high, null = content["low"], content["high"], content["null"]
    if low is None and high is None and null:
        return (False, 0.0, 0.0, True)
    if low is None or high is None or not low < high:
        raise Failed("quasi-identifiers", "a range without ends")
    return (True, low, high, null)


def _values(content: list[str | None] | None) -> Stated:
    """Read the values as pairs that compare: null, then texts by code point."""
    pairs = tuple((value is not None, value or "") for value in content or ())
    if not pairs or any(not a < b for a, b in pairwise(pairs)):
        raise Failed("quasi-identifiers", "a list of values is empty or not sorted")
    return pairs


def check_quasi(
    written: Written,
    stated: list[Stated],
    facts: dict[str, Any],
    truth: Private,
) -> None:
    """Check that each class states its members' attributes correctly, and no more.

    `stated`: as `read_quasi` returns it. `facts`: ``release.json``, checked by `declared`.
    `truth`: with its `original`.
    """
    assert truth.original is not None
    class_of_user = written.group_of_record[truth.link.record]
    people, joined = truth.original.attributes, _joined(facts, truth)
    for place, name in enumerate(facts.get("quasi_identifiers", [])):
        if people is None or name not in people.column_names:
            raise Failed("forbidden column", "an attribute is not in the original")
        entries, k = [entry[place] for entry in stated], claimed_k(facts)
        if str(written.attributes.schema.field(name).type) == _RANGE:
            _check_ranges(entries, people.column(name), class_of_user, k)
        else:
            _check_values(entries, people.column(name), class_of_user, joined.get(name), k)


def after_recipes(truth: Private, facts: dict[str, Any]) -> Private:
    """Return the people as the owner's recipes coarsen them, and what joins them."""
    told, original = truth.config.get("attribute_hierarchies", {}), truth.original
    texts = {name: text for name, text in dict(told).items() if isinstance(text, str)}
    if not texts or original is None or original.attributes is None:
        return truth
    recipes = {name: recipe for name, text in texts.items() if (recipe := recipe_of(text))}
    if recipes.keys() < texts.keys() or not texts.keys() <= set(original.attributes.column_names):
        raise Failed("config", "a recipe is invalid, or its attribute is not in the original")
    try:
        people, rows = coarsened(original.attributes, recipes, claimed_k(facts))
    except ConfigError:
        raise Failed("config", "a recipe cannot read its attribute") from None
    lines = {name: [(value, *names) for value, names in each] for name, each in rows.items()}
    config = {**truth.config, "attribute_hierarchies": {**told, **lines}}
    return replace(truth, original=original.annotate(attributes=people), config=config)


def _joined(facts: dict[str, Any], truth: Private) -> dict[str, list[Sequence[str]]]:
    """Return the hierarchies that the settings name, a list of names for each value."""
    named = facts["config"].get("attribute_hierarchies", [])
    lines = truth.config.get("attribute_hierarchies", {})
    try:
        return {
            name: [line if isinstance(line, tuple) else line.split(";") for line in lines[name]]
            for name in named
        }
    except (AttributeError, KeyError, TypeError):
        raise Failed("config", "the owner has no hierarchy of an attribute") from None


def _check_ranges(
    entries: list[Stated], column: pa.ChunkedArray, owner: NDArray[np.int64], k: int
) -> None:
    try:
        own = np.array([np.nan if v is None else float(v) for v in column.to_pylist()])
    except (TypeError, ValueError):
        raise Failed("truth", "a range for an attribute that is not a number") from None
    missing = np.isnan(own)
    there, values = owner[~missing], own[~missing]
    low, high = (np.array([entry[end] for entry in entries], dtype=np.float64) for end in (1, 2))
    if ((values < low[there]) | (values >= high[there])).any():
        raise Failed("truth", "a personal attribute outside its range")
    edges = [-np.inf, *_edges(values.tolist(), k), np.inf]
    members_of: list[list[float]] = [[] for _ in entries]
    for c, value in zip(there.tolist(), values.tolist(), strict=True):
        members_of[c].append(value)
    for entry, members in zip(entries, members_of, strict=True):
        if entry[0] != bool(members):
            raise Failed("truth", "a range that holds no value of its class")
        if members and entry[1] != edges[bisect_right(edges, min(members)) - 1]:
            raise Failed("truth", "a range does not start at the nearest edge that k people share")
        if members and entry[2] != edges[bisect_right(edges, max(members))]:
            raise Failed("truth", "a range does not end at the nearest edge that k people share")
    possible = np.array([entry[3] for entry in entries], dtype=np.bool_)
    some = np.bincount(owner[missing], minlength=len(entries)) > 0
    if (some != possible).any():
        raise Failed(
            "truth", "a missing attribute is not stated, or is stated though no member lacks it"
        )


def _edges(values: list[float], k: int) -> list[float]:
    """Return the edges of bands of k values or more, in exact arithmetic."""
    ordered = sorted(map(Fraction, values))
    if len(ordered) < 2 * k or ordered[k - 1] == ordered[-k]:
        return []
    low, high = ordered[k - 1], ordered[-k]
    whole = sum(value.denominator > 1 for value in ordered) < k
    powers = (Fraction(10) ** e for e in range(0 if whole else -340, 310))
    steps = (m * power for power in powers for m in (1, 2, 5))
    step = next(s for s in steps if s * _BANDS >= high - low)
    edges, last, j = [], 0, low // step + 1
    while j * step <= high:
        edge = float(j * step)
        below = bisect_left(ordered, edge)
        if below - last >= k and len(ordered) - below >= k:
            edges.append(edge)
            last = below
        j += 1
    return edges


def _check_values(
    entries: list[Stated],
    column: pa.ChunkedArray,
    owner: NDArray[np.int64],
    hierarchy: list[Sequence[str]] | None,
    k: int,
) -> None:
    people = Counter(value for value in column.to_pylist() if value is not None)
    own: list[set[tuple[bool, str]]] = [set() for _ in entries]
    for c, value in zip(owner.tolist(), column.to_pylist(), strict=True):
        own[c].add((value is not None, value or ""))
    for entry, members in zip(map(set, entries), own, strict=True):
        if members - entry:
            raise Failed("truth", "a personal attribute outside its list of values")
        if (False, "") in entry - members:
            raise Failed("truth", "a missing attribute is stated, but no member lacks it")
        if entry != (members if hierarchy is None else _node(members, hierarchy, people, k)):
            raise Failed("truth", "a list with a value that no member has")


def _node(
    members: set[tuple[bool, str]], hierarchy: list[Sequence[str]], people: Counter[str], k: int
) -> set[tuple[bool, str]]:
    """Return members and all values of the first name that they share and that k people have."""
    values = {value for known, value in members if known}
    null = {(False, "")} & members
    for level in range(min(map(len, hierarchy), default=0)):
        names = {line[level] for line in hierarchy if line[0] in values}
        joined = {line[0] for line in hierarchy if line[level] in names}
        if len(names) == 1 and sum(people[value] for value in joined) >= k:
            return null | {(True, value) for value in joined}
    return members
