"""The verifier's own count of values that few people have, and of what was blanked for it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from starshade.release.verify.rows import Failed, Written

if TYPE_CHECKING:
    import pyarrow as pa

    from starshade.ratings.table import Ratings

_NAMES = ("quasi_identifiers", "sensitive_attributes")


def claimed_k(facts: dict[str, Any], otherwise: int = 1) -> int:
    """Return the largest k that any claim names."""
    claimed = [claim["parameters"]["k"] for claim in facts["claims"] if "k" in claim["parameters"]]
    return max(claimed, default=otherwise)


def least_raters(facts: dict[str, Any], people: int) -> int:
    """Return how many of so many people must have rated an item, by the item support stated."""
    support = facts["config"].get("item_support", 0)
    if type(support) is int and support >= 0:
        return support
    if not isinstance(support, str) or not re.fullmatch(r"\d{1,3}(\.\d{1,12})?%", support):
        raise Failed("rare items", "item support is neither a number nor a percentage")
    return ceil(Fraction(support.removesuffix("%")) * people / 100)


def after_blanks(original: Ratings, facts: dict[str, Any]) -> Ratings:
    """Return the people as they are released, where the settings say that rare values are blanked.

    A value that fewer than k people have is null, and if fewer than k are then null, so are the
    rarest of the others. What a range or a hierarchy joins is not rare.
    """
    people = original.attributes
    if facts["config"].get("rare_values") != "blank" or people is None:
        return original
    quasi, sensitive = (facts.get(name, []) for name in _NAMES)
    for name in {*quasi, *sensitive}:
        if name in people.column_names:
            column = people.column(name)
            at_once = name in quasi and (
                name in facts["config"].get("attribute_hierarchies", []) or _is_number(column)
            )
            place = people.column_names.index(name)
            kept = _blanked(_plain(column), claimed_k(facts), joined=at_once)
            people = people.set_column(place, name, _array(kept, column))
    return original.annotate(attributes=people)


def _blanked(values: list[Any], k: int, *, joined: bool) -> list[Any]:
    left = Counter(values)
    nulls = left.pop(None, 0)
    for value, number in sorted(left.items(), key=lambda entry: (entry[1], entry[0])):
        if (number < k and not joined) or 0 < nulls < k:  # the rare ones come first
            nulls += left.pop(value)
    if 0 < sum(left.values()) < k:
        left.clear()
    return [value if value in left else None for value in values]


def few_have(
    written: Written,
    stated: Sequence[tuple[Any, ...]],
    facts: dict[str, Any],
    known: Ratings | None,
) -> dict[str, str]:
    """Say of each released attribute which of its values fewer than k people have.

    `stated`: what each class says of the quasi-identifiers (`verify_quasi.read_quasi`). `known`:
    the original as `after_blanks` returns it. Without it, what the files show for certain: each
    value that a class lists is at least one person's, so others are at most the rest's. Returns:
    name of an attribute → how many values and people, in words.
    """
    k, words = claimed_k(facts), {}
    people = None if known is None else known.attributes
    sizes = np.bincount(written.group_of_record).tolist()
    quasi, sensitive = (facts.get(name, []) for name in _NAMES)
    for place, name in enumerate(quasi):
        entries = [entry[place] for entry in stated]
        own = None if people is None else _plain(people.column(name))
        if entries and not isinstance(entries[0][0], tuple):
            counts, text = _of_ranges(entries, sizes, own), _closed(entries)
        else:
            joined = name in facts["config"].get("attribute_hierarchies", [])
            counts, text = _of_lists(entries, sizes, own, joined=joined), ""
        words[name] = _in_words(counts, k) or text
    for name in sensitive:
        values = Counter(_plain(written.attributes.column(name)))
        words[name] = _in_words(list(values.values()), k)
    return {name: text for name, text in words.items() if text}


def _of_ranges(entries: list[Any], sizes: list[int], own: list[Any] | None) -> list[int]:
    """Count those who have no value, and those who have one, at the most."""
    if own is not None:
        return [own.count(None), len(own) - own.count(None)]
    nulls = sum(size - t[0] for t, size in zip(entries, sizes, strict=True) if t[3])
    return [nulls, sum(size - t[3] for t, size in zip(entries, sizes, strict=True) if t[0])]


def _closed(entries: list[Any]) -> str:
    """Return a warning if ranges reveal the lowest or highest value, or an edge beyond it."""
    ranges = [t for t in entries if t[0]]
    if not ranges or (min(t[1] for t in ranges) == -np.inf and max(t[2] for t in ranges) == np.inf):
        return ""
    return "ranges whose outermost ends may be single people's values"


def _of_lists(
    entries: list[Any], sizes: list[int], own: list[Any] | None, *, joined: bool
) -> list[int]:
    """Count those who have what is listed, at the most."""
    if joined and own is None:
        return []
    if joined:
        assert own is not None
        counts = Counter(own)
        sets = {tuple(text for known, text in entry if known) for entry in entries}
        nulls = counts[None] if any(not entry[0][0] for entry in entries) else 0
        return [nulls, *(sum(counts[text] for text in each) for each in sets if each)]
    most: Counter[Any] = Counter()
    for entry, size in zip(entries, sizes, strict=True):
        for known, text in entry:
            most[text if known else None] += size - (len(entry) - 1)
    if own is not None:
        counts = Counter(own)
        return [counts[value] for value in most]
    return list(most.values())


def _in_words(counts: Sequence[int], k: int) -> str:
    rare = [number for number in counts if 0 < number < k]
    if not rare:
        return ""
    values = "1 value" if len(rare) == 1 else f"{len(rare):,} values"
    people = "1 person" if sum(rare) == 1 else f"{sum(rare):,} people"
    return f"{values} that fewer than k = {k} people have ({people})"


def count_alone(written: Written, sensitive: list[str]) -> float | None:
    """Return the share of records whose class and sensitive values are no other record's."""
    if not sensitive:
        return None
    columns = [_plain(written.attributes.column(name)) for name in sensitive]
    counts = Counter(zip(written.group_of_record.tolist(), *columns, strict=True))
    return sum(number == 1 for number in counts.values()) / max(sum(counts.values()), 1)


def _is_number(column: pa.ChunkedArray) -> bool:
    import pyarrow.types as types

    return bool(types.is_floating(column.type) or types.is_integer(column.type))


def _plain(column: pa.ChunkedArray) -> list[Any]:
    """Return values: numbers as floats, anything else as text, None for null."""
    if _is_number(column):
        return [None if v is None or v != v else float(v) for v in column.to_pylist()]
    return [None if v is None else str(v) for v in column.to_pylist()]


def _array(values: list[Any], like: pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa

    return pa.array(values, pa.float64() if _is_number(like) else pa.string())
