"""Quasi-identifiers as a part of the groups: as columns to group on, and generalized.

**As columns.** Each quasi-identifier is one column beside the items, in the items' unit: from
its least to its greatest value it counts like an item from null to the best rating. A numeric
one is laid out in proportion. A categorical one is laid out evenly by the code points of its
values, or in the order of its hierarchy if it has one (`hierarchy/attribute.py`). So the parts
of a zip code that are written first count most; and every method, those that cut ranges
included, can work on it (a column for each value would weigh an attribute by the number of its
values). Where the order of names means nothing, it still decides who is near whom.
A null takes the place below all values: one step below, as with ratings.

**Generalized.** A numeric one becomes a range around a group's values, from edge to edge of bands
that k people share (`band_edges`), and whether a null is among them; a categorical one the set of
its values, null first; with a hierarchy all values that share their name on the first level where
they have one that k people share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from starshade.anonymize.hierarchy.attribute import AttributeHierarchy
from starshade.errors import ConfigError
from starshade.kernels.arrays import Array, Floats, Ints
from starshade.naming import aside
from starshade.progress import note
from starshade.ratings.table import Ratings
from starshade.release.attributes import plain_attributes, ranks

if TYPE_CHECKING:
    import pyarrow as pa


_FINEST = 1024  # parts of a step: sums of such fractions are exact, in whichever order
Hierarchies = Mapping[str, AttributeHierarchy]


def quasi_columns(
    ratings: Ratings, names: Sequence[str], hierarchies: Hierarchies = MappingProxyType({})
) -> Array:
    """Return quasi-identifiers as numbers in the unit of `Points.dense`.

    Returns (n_users, len(names)): not negative; of type int64 where all are whole numbers of steps,
    else float64.
    """
    out, scale = np.zeros((ratings.n_users, len(names))), ratings.scale
    plain = _plain(ratings, names)
    if scale.step is not None:
        whole, step = float(len(scale.levels)), 1.0
    else:
        whole, step = scale.maximum - scale.null_level, scale.minimum - scale.null_level
    step = min(step, whole / 2)  # on a scale of one level
    for j, (name, rank) in enumerate(zip(plain.column_names, ranks(plain), strict=True)):
        if name in hierarchies:
            rank = _in_order_of(hierarchies[name], plain.column(name), rank, name)
        share = _shares(plain.column(name), rank)
        lift = step if (rank == 0).any() else 0.0
        places = np.where(rank == 0, 0.0, lift + share * (whole - lift))
        out[:, j] = np.rint(places * _FINEST) / _FINEST
    return out.astype(np.int64) if (out == np.rint(out)).all() else out


def _shares(column: pa.ChunkedArray, rank: Ints) -> Floats:
    """Return where each value lies between the least (0) and the greatest (1); null anywhere."""
    if str(column.type) == "double":
        # halves: the range of two floats may be no float
        values = np.where(rank > 0, column.fill_null(0.0).to_numpy(), np.nan) / 2
    else:
        values = np.where(rank > 0, rank, np.nan)
    if not (rank > 0).any():
        return values
    low, high = np.nanmin(values), np.nanmax(values)
    return np.asarray((values - low) / (high - low if high > low else 1.0))


def _in_order_of(
    hierarchy: AttributeHierarchy, column: pa.ChunkedArray, rank: Ints, name: str
) -> Ints:
    """Return ranks in the order of a hierarchy instead of that of code points."""
    if str(column.type) == "double":
        raise ConfigError(
            f"attribute {name!r}: a hierarchy applies to texts, and these are numbers",
            advice="Numbers are generalized to ranges: remove the hierarchy, or give bands:10.",
        )
    place = {value: i for i, value in enumerate(hierarchy.values)}
    values = _values(column, rank).to_pylist()
    lacking = sum(value not in place for value in values[1:])
    if lacking:
        raise ConfigError(
            f"attribute {name!r}: its hierarchy lacks {lacking:,} of {len(values) - 1:,} values",
            advice="Give each value of the data a line.",
        )
    order = np.argsort([place[value] for value in values[1:]])
    ranked = np.zeros(len(values), dtype=np.int64)
    ranked[1 + order] = 1 + np.arange(len(order))
    return ranked[rank]


def generalized_attributes(
    ratings: Ratings,
    groups: Ints,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    k: int,
    hierarchies: Hierarchies = MappingProxyType({}),
) -> pa.Table:
    """Generalize the quasi-identifiers of each group; leave sensitive attributes as they are."""
    import pyarrow as pa

    plain = _plain(ratings, [*quasi, *sensitive])
    for place, (name, rank) in enumerate(zip(quasi, ranks(plain.select(list(quasi))), strict=True)):
        column = plain.column(name)
        if str(column.type) == "double":
            joint = _ranges(column, rank, groups, k)
        else:
            values = _values(column, rank)
            joint = _sets(values, rank, groups)
            if name in hierarchies:
                people, join = Counter(column.drop_null().to_pylist()), hierarchies[name].join
                joined = (list(join(members, people, k)) for members in joint.to_pylist())
                joint = pa.array(joined, type=joint.type)
            else:
                _note_lists(name, len(values) - 1, joint)
        plain = plain.set_column(place, name, joint.take(pa.array(groups)))
    return plain


def _note_lists(name: str, n_values: int, lists: pa.ListArray) -> None:
    """Say it when lists name values as they are that few people have: fewer than one group each."""
    if n_values > len(lists):
        note(
            f"attribute {name!r} has {n_values:,} different values, more than there are classes. "
            f"A class lists {len(lists.flatten()) / len(lists):.1f} on average, unchanged; a "
            "recipe or a hierarchy joins them into larger sets"
            + aside("attribute_hierarchies", f"{name}=RECIPE")
        )


def _plain(ratings: Ratings, names: Sequence[str]) -> pa.Table:
    import pyarrow as pa

    table = ratings.attributes
    plain = plain_attributes(None if table is None else table.select(list(names)))
    return pa.table({}) if plain is None else plain


def _values(column: pa.ChunkedArray, rank: Ints) -> pa.Array:
    """Return what each rank stands for, that of rank 0 being null."""
    import pyarrow as pa

    used, first = np.unique(rank, return_index=True)
    values = column.take(pa.array(first[used > 0])).to_pylist()
    return pa.array([None, *values], type=column.type)


def _ranges(column: pa.ChunkedArray, rank: Ints, groups: Ints, k: int) -> pa.Array:
    import pyarrow as pa

    n_groups = int(groups.max()) + 1
    known, own = column.fill_null(0.0).to_numpy()[rank > 0], groups[rank > 0]
    edges = band_edges(known, k)
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    band = np.searchsorted(edges, known, side="right")
    low, high = np.full(n_groups, len(edges)), np.full(n_groups, -1)
    np.minimum.at(low, own, band)
    np.maximum.at(high, own, band)
    alone = high < 0  # nulls
    null = np.bincount(groups[rank == 0], minlength=n_groups) > 0
    fields = [pa.array(ends[low], mask=alone), pa.array(ends[high + 1], mask=alone), pa.array(null)]
    return pa.StructArray.from_arrays(fields, names=["low", "high", "null"])


def _sets(values: pa.Array, rank: Ints, groups: Ints) -> pa.Array:
    import pyarrow as pa

    distinct = np.unique(groups * len(values) + rank)
    members = values.take(pa.array(distinct % len(values)))
    counts = np.bincount(distinct // len(values))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), members)


_BANDS = 20  # at most so many steps between the k-th lowest and the k-th highest value


def band_edges(values: Floats, k: int) -> Floats:
    """Return the edges of bands with at least k of some values in each.

    A band holds its lower edge and not its upper one; the first has no lower, the last no upper.

    Returns float64: ascending; empty where one band holds all. The step is the least of 1, 2 or 5
    times a power of ten that is at least a twentieth of the way from the k-th lowest to the k-th
    highest value, and at least 1 unless k values have a fraction. Going up, an edge is kept where k
    values lie between it and the one kept before, and k above.

    >>> band_edges(np.array([7.0, 23, 24, 31, 38, 39, 62, 104]), 2).tolist()
    [24.0, 32.0, 40.0]
    """
    n, ordered = len(values), np.sort(values)
    if n < 2 * k or not ordered[k - 1] < ordered[n - k]:
        return np.empty(0)
    low, high = Fraction(float(ordered[k - 1])), Fraction(float(ordered[n - k]))
    step = _nice((high - low) / _BANDS)
    if np.count_nonzero(ordered != np.floor(ordered)) < k:
        step = max(step, Fraction(1))
    kept, below = [], 0
    for j in range(floor(low / step) + 1, floor(high / step) + 1):
        edge = float(j * step)
        under = int(np.searchsorted(ordered, edge))
        if under - below >= k:  # and above, up to the k-th highest, as many lie
            kept.append(edge)
            below = under
    return np.array(kept, dtype=np.float64)


def _nice(width: Fraction) -> Fraction:
    power = Fraction(1)
    while power >= width:
        power /= 10
    while 10 * power < width:
        power *= 10
    return next(m * power for m in (1, 2, 5, 10) if m * power >= width)
