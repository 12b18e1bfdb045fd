"""What is changed alone to find a cause: a reading, or one property of the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from starshade.anonymize.points import dense_levels
from starshade.audit.reproduction.estimates import Untestable
from starshade.audit.reproduction.kl.lines import LIKENESS, MEMBER, Line
from starshade.audit.reproduction.kl.readings import OF_LIKENESS, OF_MEMBER, Reading
from starshade.ratings.table import Ratings
from starshade.rng import generator


def _likeness(reading: Reading) -> Line:
    return Line(LIKENESS, "k-likeness", reading.hierarchy, reading=reading)


_MEMBER_OF_SETS = Line(MEMBER, "k-member", "ndgh", reading=OF_MEMBER["k-Member released by NDGH"])
#: a reading → the line that it changes
READ = {
    "tuples-k": _likeness(OF_LIKENESS["k tuples join a nucleus"]),
    "mean": _likeness(OF_LIKENESS["the rest by the mean distance"]),
    "range": _likeness(OF_LIKENESS["the rest where ranges grow least"]),
    "furthest": _likeness(OF_LIKENESS["nuclei furthest from the last"]),
    "apart": _likeness(OF_LIKENESS["null apart from every rating"]),
    "ignored": _likeness(OF_LIKENESS["null near every rating"]),
    "members": _MEMBER_OF_SETS,
    "sets": _MEMBER_OF_SETS,
    "arbitrary": Line(
        MEMBER, "k-member", "range", reading=OF_MEMBER["k-Member from drawn records"]
    ),
}


def as_formed(line: Line) -> Line:
    """Return the line by the reading that forms the same groups, and tells them."""
    if line.reading is not None or line.method not in ("k-likeness", "k-member"):
        return line
    if line.method == "k-likeness":
        return replace(line, reading=Reading("k-likeness", hierarchy=line.hierarchy))
    own = Reading("k-member", nucleus="furthest", hierarchy=line.hierarchy)
    return replace(line, reading=own)


def change(table: Ratings, way: str, seed: int) -> Ratings | None:
    """Return the table with one property changed; None where the way changes no table."""
    rng = generator(seed, f"kl {way}")
    if way == "few":
        kept = np.sort(rng.permutation(table.n_users)[: max(2, table.n_users // 4)])
        return table.keep_users(kept)
    if way == "thinned":
        stays = np.zeros(table.n_ratings, np.bool_)
        stays[rng.permutation(table.n_ratings)[: max(2, table.n_ratings // 2)]] = True
        return _with(table, stays).drop_empty_users()
    if way == "filled":
        return _filled(table, rng)
    return None


def _with(table: Ratings, stays: np.ndarray) -> Ratings:
    ends = np.concatenate([[0], np.cumsum(stays)])[table.indptr]
    return replace(
        table,
        indptr=ends.astype(np.int64),
        columns=table.columns[stays],
        codes=table.codes[stays],
        days=None,
        first_day=0,
    )


def _filled(table: Ratings, rng: np.random.Generator) -> Ratings:
    n, m = table.n_users, table.n_items
    if table.n_ratings == n * m:
        raise Untestable("no cell is null")
    dense_levels(table, copies=4)  # refuses what does not fit
    codes = np.empty((n, m), table.codes.dtype)
    rated = np.zeros((n, m), np.bool_)
    rows = np.repeat(np.arange(n), table.user_support)
    codes[rows, table.columns], rated[rows, table.columns] = table.codes, True
    for item in range(m):
        empty = ~rated[:, item]
        codes[empty, item] = rng.choice(codes[rated[:, item], item], int(empty.sum()))
    return replace(
        table,
        indptr=np.arange(0, n * m + 1, m, dtype=np.int64),
        columns=np.tile(np.arange(m, dtype=np.int32), n),
        codes=codes.ravel(),
        days=None,
        first_day=0,
    )
