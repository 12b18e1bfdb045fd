"""Hierarchies of categorical attributes, from ARX's CSV: a value, then its name on each level.

::

    55401;5540*;55***;*
    55402;5540*;55***;*
    55125;5512*;55***;*

One line for each value, fields separated by ``;``; UTF-8. Values that share a name on a level
share it on every later one, and all share the last. A group is said to have all values of the
first level on which its members have one name that k people share. Null needs no line: whether
there is one in a group is said beside its values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from starshade.arguments import typed
from starshade.errors import ConfigError
from starshade.files.side import ATTRIBUTE_HIERARCHY, read_side_text
from starshade.release.personal.recipe import KINDS


@dataclass(frozen=True)
class AttributeHierarchy:
    """The values of a categorical attribute and their names on each level.

    Build one with `read_attribute_hierarchy` or `parse_attribute_hierarchy`.

    Attributes
    ----------
    rows : tuple of (value, names)
        A value, and its name on each level above itself.
    """

    rows: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def values(self) -> tuple[str, ...]:
        """All values; those of one name are adjacent, else in the order of the file."""
        place = {value: i for i, (value, _) in enumerate(self.rows)}
        first: dict[tuple[int, str], int] = {}
        for value, names in self.rows:
            for level, name in enumerate(names):
                first.setdefault((level, name), place[value])
        key = {
            value: (*reversed([first[at] for at in enumerate(names)]), place[value])
            for value, names in self.rows
        }
        return tuple(sorted(key, key=key.__getitem__))

    def join(
        self,
        members: Iterable[str | None],
        people: Mapping[str, int] = MappingProxyType({}),
        k: int = 0,
    ) -> tuple[str | None, ...]:
        """Return the text of joined values: null first, others by code point.

        Parameters
        ----------
        members : iterable of str or None
            All texts among `values`.
        people : mapping of str to int, optional
            How many of all people have each value.
        k : int, optional
            Values that fewer people have, all together, are joined further.
        """
        names, null = dict(self.rows), False
        joint = set()
        for member in members:
            if member is None:
                null = True
            else:
                joint.add(member)
        if len(joint) > 1 or sum(people.get(value, 0) for value in joint) < k:
            for level in range(len(self.rows[0][1]) if joint else 0):
                called = {names[value][level] for value in joint}
                joined = {value for value, own in self.rows if own[level] in called}
                if len(called) == 1 and sum(people.get(value, 0) for value in joined) >= k:
                    joint = joined
                    break
        return (*((None,) if null else ()), *sorted(joint))

    def to_text(self) -> list[str]:
        """Return the lines of an equivalent file."""
        return [";".join([value, *names]) for value, names in self.rows]


@typed
def read_attribute_hierarchy(path: str | Path) -> AttributeHierarchy:
    """Read a hierarchy file."""
    kind = replace(
        ATTRIBUTE_HIERARCHY, advice=f"Recipes are {KINDS}; any other text is the path of a file."
    )
    return parse_attribute_hierarchy(read_side_text(path, kind), f"hierarchy file {path}")


def parse_attribute_hierarchy(text: str, place: str = "hierarchy") -> AttributeHierarchy:
    r"""Read the text of a file; `place` is what messages call it.

    >>> towns = parse_attribute_hierarchy("Ulm;south;*\nMunich;south;*\nKiel;north;*")
    >>> towns.join(["Ulm", "Munich"])
    ('Munich', 'Ulm')
    >>> towns.join(["Kiel", "Ulm"])
    ('Kiel', 'Munich', 'Ulm')
    """
    rows: dict[str, tuple[str, ...]] = {}
    upper: dict[tuple[int, str], tuple[str, ...]] = {}
    for n, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        value, *names = (field.strip().strip('"') for field in line.split(";"))
        where, width = f"{place}, line {n}", len(next(iter(rows.values()), names))
        if not names or len(names) != width:
            raise ConfigError(
                f"{where}: {len(names) + 1} columns; {max(width, 1) + 1} are needed",
                advice="Each line is a value and its name on every level, separated by ;.",
            )
        if not value:
            raise ConfigError(
                f"{where}: an empty value",
                advice="Remove the line: null is listed separately from the values.",
            )
        if value in rows:
            raise ConfigError(f"{where}: its value occurs a second time")
        for level, name in enumerate(names):
            if upper.setdefault((level, name), tuple(names[level:])) != tuple(names[level:]):
                raise ConfigError(
                    f"{where}: values with one name on level {level + 1} have "
                    "different names on a later level",
                    advice="Values that are joined stay joined on all later levels.",
                )
        rows[value] = tuple(names)
    if not rows:
        raise ConfigError(f"{place}: it contains no value")
    if len({names[-1] for names in rows.values()}) > 1:
        raise ConfigError(
            f"{place}: the last level has more than one name",
            advice="Add a level on which all values share one, e.g. *.",
        )
    return AttributeHierarchy(tuple(rows.items()))
