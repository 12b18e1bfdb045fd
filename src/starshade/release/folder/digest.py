"""Fingerprints of tables: SHA-256 over canonical columns."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from starshade.ratings.shards.kept import AnyShards, KeptShards
from starshade.ratings.table import UNKNOWN_DAY, Ratings

_DECIMALS = 8  # ratings are told apart from 1e-9 on: a table read anew says the same
_BLOCK = 2**22
_Parts = Callable[[], Iterable[Ratings]]
# a table never changes, and every attack on it says its digest
_digests: WeakKeyDictionary[Ratings | AnyShards, str] = WeakKeyDictionary()


def digest_of(ratings: Ratings) -> str:
    """Return the SHA-256 over the canonical columns of a table; computed once per table.

    Scale, ids, row bounds, item indices, ratings, days and personal attributes count; how the
    table was read, its codes' width and its lineage do not.
    """
    if ratings not in _digests:
        _digests[ratings] = _digest(ratings, lambda: (ratings,))
    return _digests[ratings]


def digest_of_shards(shards: AnyShards) -> str:
    """Return the digest of the table that the shards are, without gathering it; once per store."""
    if shards not in _digests:
        _digests[shards] = _digest(shards, parts_of(shards))
    return _digests[shards]


def ratings_digest(ratings: Ratings | KeptShards) -> str:
    """Return the SHA-256 over users, items and ratings of a released part.

    Ids of users and items, row bounds, item indices and the ratings count, these to 8 decimals.
    Days, personal attributes, scale, levels that nobody gave and the lineage do not: they need
    not be read, or are published otherwise.
    """
    parts = parts_of(ratings)
    digest = hashlib.sha256(b"starshade released ratings 1\n")
    add(digest, ratings.items.integers)
    add_texts(digest, ratings.items.texts)
    _add_users(digest, parts)
    _add_parts(digest, ratings.n_users + 1, _bounds(parts))
    used = np.zeros(len(ratings.levels), dtype=np.bool_)
    for _, codes, _ in _blocks(parts):
        used[codes] = True
    given = np.round(ratings.levels, _DECIMALS) + 0.0  # -0.0 is 0.0
    distinct = np.unique(given[used])
    rank = np.searchsorted(distinct, given).astype(np.uint8 if len(distinct) < 256 else np.uint32)
    add(digest, distinct)
    for columns, codes, _ in _blocks(parts):
        add(digest, columns)
        add(digest, rank[codes])
    return digest.hexdigest()


def digest_of_any(data: Ratings | AnyShards) -> str:
    """Return the digest of a table, wherever it is held."""
    return digest_of(data) if isinstance(data, Ratings) else digest_of_shards(data)


def parts_of(ratings: Ratings | AnyShards) -> _Parts:
    """Return what opens the parts of a table, in order."""
    if isinstance(ratings, Ratings):
        return lambda: (ratings,)
    return lambda: (ratings.shard(i) for i in range(len(ratings)))


def _digest(of: Ratings | AnyShards, parts: _Parts) -> str:
    """Go through parts of a table, in order, once for each of its columns."""
    digest = hashlib.sha256(f"starshade ratings 1\n{of.scale}\n".encode())
    _add_users(digest, parts)
    add(digest, of.items.integers)
    add_texts(digest, of.items.texts)
    _add_parts(digest, of.n_users + 1, _bounds(parts))
    for columns, codes, days in _blocks(parts):
        add(digest, columns)
        add(digest, of.levels[codes])
        if days is not None:
            add(digest, np.where(days == UNKNOWN_DAY, -1, days.astype(np.int64) + of.first_day))
    for name in next(iter(_attributes(parts)), ()):
        columns_of = (part.attributes.column(name) for part in parts() if part.attributes)
        values = ("-" if v is None else f"={v}" for c in columns_of for v in c.to_pylist())
        add_texts(digest, _after(name, values))
    return digest.hexdigest()


def _add_users(digest: hashlib._Hash, parts: _Parts) -> None:
    _add_parts(digest, sum(len(part.users.integers) for part in parts()), _integers(parts))
    add_texts(digest, (text for part in parts() for text in part.users.texts))


def _integers(parts: _Parts) -> Iterator[NDArray[np.int64]]:
    for part in parts():
        yield part.users.integers


def _bounds(parts: _Parts) -> Iterator[NDArray[np.int64]]:
    yield np.zeros(1, dtype=np.int64)
    at = 0
    for part in parts():
        yield part.indptr[1:].astype(np.int64) + at
        at += part.n_ratings


def _blocks(parts: _Parts) -> Iterator[tuple[Any, Any, Any]]:
    """Give the cells in blocks of one size, wherever parts end."""
    held: list[tuple[Any, Any, Any]] = []
    room = _BLOCK
    for part in parts():
        at = 0
        while at < part.n_ratings:
            here = slice(at, min(at + room, part.n_ratings))
            days = None if part.days is None else part.days[here]
            held.append((part.columns[here].astype(np.int32), part.codes[here], days))
            room -= here.stop - at
            at = here.stop
            if not room:
                yield _joined(held)
                held, room = [], _BLOCK
    if held:
        yield _joined(held)


def _joined(held: list[tuple[Any, Any, Any]]) -> tuple[Any, Any, Any]:
    if len(held) == 1:
        return held[0]
    columns, codes, days = zip(*held, strict=True)
    return (
        np.concatenate(columns),
        np.concatenate(codes),
        (None if days[0] is None else np.concatenate(days)),
    )


def _attributes(parts: _Parts) -> Iterator[list[str]]:
    for part in parts():
        yield [] if part.attributes is None else part.attributes.column_names


def _after(name: str, values: Iterable[str]) -> Iterator[str]:
    yield name
    yield from values


def add(digest: hashlib._Hash, values: NDArray[Any]) -> None:
    """Add an array of numbers, little-endian, with its length before it."""
    _add_parts(digest, len(values), (values,))


def _add_parts(digest: hashlib._Hash, length: int, parts: Iterable[NDArray[Any]]) -> None:
    digest.update(length.to_bytes(8, "little"))
    for values in parts:
        digest.update(values.astype(values.dtype.newbyteorder("<")).tobytes())


def add_texts(digest: hashlib._Hash, texts: Iterable[str]) -> None:
    """Add texts, each with its length before it, and an end."""
    for text in texts:
        raw = text.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "little") + raw)
    digest.update(b"\xff" * 8)
