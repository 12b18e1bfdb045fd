"""Personal attributes that are as good as a name: most people have a value that is theirs alone.

Such a text hides nobody among k: whoever reads it need know no rating. A number becomes a range,
and a hierarchy joins values, so that neither is told as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from starshade.plain import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from starshade.release.table import Release

__all__ = ["Shared", "named_in", "shared_by"]

MOST = 0.5  # of the people may have a value that is theirs alone


@dataclass(frozen=True)
class Shared:
    """How the values of a text attribute are shared out.

    Attributes
    ----------
    values : int
        Different ones, null aside.
    people : int
        Who have one.
    alone : int
        Whose value nobody else has; of a release, at least so many.
    """

    values: int
    people: int
    alone: int

    @property
    def identifies(self) -> bool:
        """Whether most people have a value that is theirs alone."""
        return self.alone > MOST * self.people

    def __str__(self) -> str:
        return (
            f"{counted(self.values, 'different value')} among "
            f"{counted(self.people, 'person', 'people')}, {self.alone:,} of them one person's alone"
        )


def shared_by(column: pa.ChunkedArray) -> Shared:
    """Count the values of a text attribute, a row a person."""
    import pyarrow.compute as pc

    of_value = pc.value_counts(column.drop_null()).field("counts").to_numpy()
    return Shared(len(of_value), int(of_value.sum()), int((of_value == 1).sum()))


def named_in(release: Release) -> dict[str, Shared]:
    """Return the attributes of a release that name people, as its records alone show it.

    Where a class of s records lists n values as they are, at least 2n - s of them are one
    person's; of these, those count that no other class lists. More values than records: they
    were joined by a hierarchy, and are not told as they are.
    """
    manifest, table = release.manifest, release.attributes
    if manifest.attributes != "generalized" or table is None:
        return {}
    found = {}
    for name in manifest.quasi_identifiers:
        column = table.column(name)
        if str(column.type).startswith(("list", "large_list")):
            found[name] = _listed(column.take(_first_of(release)), release.classes.sizes)
    for name in manifest.sensitive_attributes:
        if "string" in str(table.column(name).type):
            found[name] = shared_by(table.column(name))
    return {name: shared for name, shared in found.items() if shared.identifies}


def _first_of(release: Release) -> NDArray[np.int64]:
    """Return a record of each class."""
    sizes = np.asarray(release.classes.sizes, dtype=np.int64)
    return np.cumsum(sizes) - sizes


def _listed(column: pa.ChunkedArray, sizes: NDArray[np.int64]) -> Shared:
    """Count the values that classes list, and the people that these must be of."""
    lists = [[value for value in told if value is not None] for told in column.to_pylist()]
    every = [value for told in lists for value in told]
    values, listed = np.unique(np.array(every, dtype=np.str_), return_counts=True)
    once = set(values[listed == 1].tolist())
    alone = 0
    for told, size in zip(lists, np.asarray(sizes).tolist(), strict=True):
        if len(told) <= size:
            alone += max(0, sum(value in once for value in told) - (size - len(told)))
    return Shared(len(values), int(np.sum(sizes)), alone)
