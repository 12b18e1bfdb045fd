"""Personal attributes that are as good as a name.

Most people have a value that is theirs alone, or some values look like e-mail addresses, telephone
numbers or urls, which name people however many have each. Such a text hides nobody among k: whoever
reads it need know no rating. A number becomes a range, and a hierarchy joins values, so that
neither is told as it is; the addresses that a hierarchy joins are told all the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from starshade.plain import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from starshade.release.table import Release

MOST = 0.5  # of the people may have a value that is theirs alone
SOME = 0.05  # of the texts look like addresses: then the others are none by accident

# each takes time linear in the length of a text: no two matches are tried over the same characters
_EMAIL = re.compile(r"[^\s@]@[^\s@]+\.[^\s@.]")
_URL = re.compile(r"(?i)\bwww\.\S+\.\S|^[\w-]+(\.[\w-]+)*\.[a-z]{2,}/\S")
_EMERHCS = re.compile(r"(?i)\S//:[a-z0-9+.-]*[a-z]\b")  # of a text read backwards
_DIALLED = re.compile(r"[+(]?[0-9][0-9 ()./\u00a0\u2010-\u2015-]*[0-9]")
_THOUSANDS = re.compile(r"[0-9]{1,3}([ .\u00a0][0-9]{3})+")


@dataclass(frozen=True)
class Shared:
    """How the values of a text attribute are shared out.

    `values`: different ones, null aside. `people`: who have one. `alone`: whose value nobody else
    has; of a release, at least so many.
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
            f"{counted(self.people, 'person', 'people')}, {self.alone:,} unique to one person"
        )


def shared_by(column: pa.ChunkedArray) -> Shared:
    """Count the values of a text attribute, a row a person."""
    import pyarrow.compute as pc

    of_value = pc.value_counts(column.drop_null()).field("counts").to_numpy()
    return Shared(len(of_value), int(of_value.sum()), int((of_value == 1).sum()))


@dataclass(frozen=True)
class Addresses:
    """How many values of a text attribute look like addresses.

    `values`: different ones, null aside. `alike`: those that look like e-mail addresses, telephone
    numbers or urls. `people`, `reached`: who have a value, and one of those; 0 where a release does
    not tell.
    """

    values: int
    alike: int
    people: int = 0
    reached: int = 0

    @property
    def identifies(self) -> bool:
        """Whether at least one in twenty does, of the different values or of the people's."""
        negligible = self.alike < SOME * self.values and self.reached < SOME * self.people
        return self.alike > 0 and not negligible

    def __str__(self) -> str:
        return (
            f"{counted(self.values, 'different value')}, of which {self.alike:,} look like e-mail "
            "addresses, telephone numbers or URLs"
        )


def is_address(text: str) -> bool:
    """Tell whether a text looks like an e-mail address, a telephone number or a url.

    Digits alone are no telephone number: it has a +, parentheses or separators, at most 15 digits,
    and is no date, no range of two numbers and no number in groups of three.

    >>> [is_address(text) for text in ("a.b@example.org", "+49 89 1234567", "(555) 123-4567")]
    [True, True, True]
    >>> [is_address(text) for text in ("5551234567", "2020-01-31", "10000-20000", "1.000.000.000")]
    [False, False, False, False]
    """
    text = text.strip()
    found = _EMAIL.search(text) or _URL.search(text) or _EMERHCS.search(text[::-1])
    return found is not None or _is_telephone(text)


def _is_telephone(text: str) -> bool:
    groups = re.findall("[0-9]+", text)
    digits = sum(map(len, groups))
    if not 7 <= digits <= 15 or not _DIALLED.fullmatch(text) or _THOUSANDS.fullmatch(text):
        return False
    if text.startswith("+") or "(" in text:
        return True
    if len(groups) == 2:  # an area code, and the rest; else it may be from one number to another
        return len(groups[0]) > 1 and groups[0].startswith("0") and digits > 7
    return len(groups) > 2 and digits > 8  # a date has 8


def addresses_in(column: pa.ChunkedArray) -> Addresses:
    """Count the values of a text attribute that look like addresses, a row a person."""
    import pyarrow.compute as pc

    counts = pc.value_counts(column.drop_null())
    alike = np.fromiter(map(is_address, counts.field("values").to_pylist()), np.bool_, len(counts))
    people = counts.field("counts").to_numpy()
    return Addresses(len(counts), int(alike.sum()), int(people.sum()), int(people[alike].sum()))


def named_in(release: Release) -> dict[str, Shared | Addresses]:
    """Return the attributes of a release that name people, as its records alone show it.

    Where a class of s records lists n values as they are, at least 2n - s of them are one
    person's; of these, those count that no other class lists. More values than records: they
    were joined by a hierarchy, and are not told as they are.
    """
    manifest, table = release.manifest, release.attributes
    if manifest.attributes != "generalized" or table is None:
        return {}
    judged: list[tuple[str, Shared | Addresses]] = []
    for name in manifest.quasi_identifiers:
        column = table.column(name)
        if str(column.type).startswith(("list", "large_list")):
            sizes = release.classes.sizes
            shown = column.take(np.cumsum(sizes) - sizes)
            listed = (value for values in shown.to_pylist() for value in values)
            judged.append((name, _listed(shown, sizes)))
            texts = {value for value in listed if value is not None}
            judged.append((name, Addresses(len(texts), sum(map(is_address, texts)))))
    for name in manifest.sensitive_attributes:
        column = table.column(name)
        if "string" in str(column.type):
            judged += [(name, shared_by(column)), (name, addresses_in(column))]
    return {name: how for name, how in judged if how.identifies}


def _listed(column: pa.ChunkedArray, sizes: NDArray[np.int64]) -> Shared:
    """Count the values that classes list, and the people that these must be of."""
    lists = [[value for value in members if value is not None] for members in column.to_pylist()]
    every = [value for members in lists for value in members]
    values, listed = np.unique(np.array(every, dtype=np.str_), return_counts=True)
    once = set(values[listed == 1].tolist())
    alone = 0
    for members, size in zip(lists, sizes.tolist(), strict=True):
        if len(members) <= size:
            alone += max(0, sum(value in once for value in members) - (size - len(members)))
    return Shared(len(values), int(sizes.sum()), alone)
