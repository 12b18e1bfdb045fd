"""Values of personal attributes that fewer than k people have: refused, or blanked.

A null is a value of its own. Where values are told as bands or by a hierarchy, no single one is
told, and all that may be rare is to have a value, or to have none.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from starshade.anonymize.settings import RareValues
from starshade.errors import UnmetError
from starshade.kernels.arrays import Bools, Ints
from starshade.naming import aside, named
from starshade.plain import counted
from starshade.progress import note
from starshade.ratings.table import Ratings
from starshade.release.attributes import plain_attributes, ranks

if TYPE_CHECKING:
    import pyarrow as pa


def without_rare_values(
    ratings: Ratings,
    k: int,
    how: RareValues,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    hierarchies: Collection[str] = (),
) -> Ratings:
    """Return a table in whose released attributes every value is that of k people or more.

    `how` ({"refuse", "blank"}): with "blank" rare values become null; if that leaves fewer than k
    nulls, so do the rarest of the others, of equal number the lowest, until there are k.
    """
    names = [*quasi, *sensitive]
    if ratings.attributes is None or not names:
        return ratings
    plain = plain_attributes(ratings.attributes.select(names))
    assert plain is not None
    sentences = []
    for place, (name, rank) in enumerate(zip(names, ranks(plain), strict=True)):
        column = plain.column(place)
        joined = name in quasi and (name in hierarchies or str(column.type) == "double")
        rare = _rare(np.minimum(rank, 1) if joined else rank, k)
        if not rare.any():
            continue
        if how == "refuse":
            sentences.append(_sentence(name, np.minimum(rank, 1) if joined else rank, rare, k))
            continue
        blank = _blanked(rank, k, joined=joined)
        plain = plain.set_column(place, name, _without(name, column, blank[rank] | (rank == 0)))
        people = int(blank[rank].sum())
        note(
            f"attribute {name!r}: {counted(int(blank.sum()), 'value')} of "
            f"{counted(people, 'person', 'people')} blanked, so that each value, and null, "
            f"occurs for at least k = {k} people or not at all"
        )
    if sentences:
        raise UnmetError("; ".join(sentences), advice=_advice())
    return ratings.annotate(attributes=plain)


def _advice() -> str:
    return (
        f"Blank them{aside('rare_values', 'blank')}, join the values of a quasi-identifier by a "
        f"recipe or a hierarchy{aside('attribute_hierarchies', 'NAME=RECIPE')}, or leave the "
        f"attribute out{_named_by()}."
    )


def _named_by() -> str:
    others = f"and {named('sensitive_attributes')} name those that are released"
    return aside("quasi_identifiers", rest=others)


def _rare(rank: Ints, k: int) -> Bools:
    counts = np.bincount(rank)
    return np.asarray((counts > 0) & (counts < k))


def _sentence(name: str, rank: Ints, rare: Bools, k: int) -> str:
    people = counted(int(rare[rank].sum()), "person", "people")
    null = ", including null" if rare[0] else ""
    values = counted(int(rare.sum()), "value")
    return f"attribute {name!r}: {values} that fewer than k = {k} people have ({people}{null})"


def _blanked(rank: Ints, k: int, *, joined: bool) -> Bools:
    """Tell which values become null, so that null is k people's or nobody's."""
    counts = np.bincount(rank)
    gone = np.zeros(len(counts), dtype=np.bool_) if joined else _rare(rank, k)
    gone[0] = False
    nulls = int(counts[0] + counts[gone].sum())
    for value in np.argsort(counts, kind="stable").tolist():
        if value and counts[value] and not gone[value] and 0 < nulls < k:
            gone[value] = True
            nulls += int(counts[value])
    if 0 < len(rank) - nulls < k:  # to have a value at all would be rare
        gone[1:] = True
    return gone


def _without(name: str, column: pa.ChunkedArray, null: Bools) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    if null.all():
        raise UnmetError(
            f"attribute {name!r}: blanking the values of fewer than k people leaves no value",
            advice=f"Leave the attribute out{_named_by()}, or choose a smaller k.",
        )
    return pc.if_else(pa.array(null), pa.scalar(None, column.type), column)
