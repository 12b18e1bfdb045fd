"""Recipes: how finely a personal attribute is released at most, in one line.

``prefix:3``
    a text by its first three characters: 55401 is 554**; upward 55***, 5****, all.
``bands:10``
    a number by its band, from multiples of the width: 34 is 30-39; upward 20-39, 0-39 and so on
    in twice the width, where that joins anybody, all.
``month``, ``year``
    a date by its month or year: 1984-05-01 is 1984-05, or 1984; upward the year, the decade, all.
    ``month:dmy`` and ``month:mdy`` say how 1/5/1984 is meant.
``rare:5``
    a value that five people or more have as it is, all others as other; upward all. Should fewer
    than five be other, the rarest of those that stay join them, of equal number the first by code
    point.

What an attribute's values are called is read here once, for methods and the verifier alike: from
then on the first name is the value, and the names above it are its hierarchy. Null stays null.
As lists name what occurs, a name that fewer than k people have is not told: these people are
called by the next name above it, if k people are then, and so on. Should fewer than k be left for
the last one, *, then those of the rarest other names join them, of equal number the first by code
point. With ``rare`` they are other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, localcontext
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from starshade.errors import ConfigError
from starshade.naming import named
from starshade.release.attributes import plain_attributes

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = "prefix:3, bands:10, month, year or rare:5"
OTHER = "other"

_SHAPE = re.compile(r"(prefix|bands|rare|month|year)(?::(.*))?", re.DOTALL)
_WHOLE = re.compile(r"[1-9][0-9]{0,8}")
_NEEDED = {
    "prefix": (_WHOLE, "the number of characters to keep, as in prefix:3"),
    "bands": (re.compile(r"(?=.*[1-9])[0-9]{1,12}(\.[0-9]{1,12})?"), "a width, as in bands:10"),
    "rare": (re.compile(r"(?!1$)" + _WHOLE.pattern), "two people or more, as in rare:5"),
    "month": (
        re.compile("(dmy|mdy)?"),
        "nothing more, or the order of the parts, as in month:dmy",
    ),
    "year": (re.compile(""), "nothing more"),
}

#: the first name of each value, and the names above it
Levels = Mapping[float | str, tuple[str, ...]]
#: each first name, and those above it
Rows = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Recipe:
    """One recipe: its kind, and what stands behind the colon.

    >>> Recipe("bands", "10").levels("age", {34.0: 1, 61.0: 1})[34.0]
    ('30-39', '0-79', '*')
    """

    kind: str
    detail: str = ""

    def to_text(self) -> str:
        """Return how it is written."""
        return f"{self.kind}:{self.detail}" if self.detail else self.kind

    def levels(self, name: str, people: Mapping[float | str, int], k: int = 0) -> Levels:
        """Return what each value of an attribute is called, in the order of the names.

        Parameters
        ----------
        name : str
            The attribute, for messages.
        people : mapping of float or str to int
            How many have each value: floats alone, or texts alone.
        k : int, optional
            How many people a first name must have.

        Raises
        ------
        ConfigError
            Values that the recipe cannot read: how many, never which.
        """
        if self.kind == "rare":
            return _without_rare(people, max(int(self.detail), k))
        if self.kind == "prefix":
            levels = _prefixes(name, people, int(self.detail))
        elif self.kind == "bands":
            levels = _bands(name, people, Fraction(self.detail))
        else:
            levels = _dates(name, people, self.kind, self.detail)
        return _shared(levels, people, k)


def recipe_of(text: str) -> Recipe | None:
    """Read a recipe; None where the text is none, and therefore a file's path.

    >>> recipe_of("prefix:3"), recipe_of("zip.csv")
    (Recipe(kind='prefix', detail='3'), None)
    """
    found = _SHAPE.fullmatch(text)
    if found is None:
        return None
    kind, detail = found[1], found[2] or ""
    shape, needed = _NEEDED[kind]
    if not shape.fullmatch(detail) or text.endswith(":"):
        raise ConfigError(
            f"{named('attribute_hierarchies', 'NAME=RECIPE')}: {kind} takes {needed}",
            advice=f"Recipes are {KINDS}; a file of this name is ./{kind}.",
        )
    return Recipe(kind, detail)


def coarsened(
    people: pa.Table, recipes: Mapping[str, Recipe], k: int
) -> tuple[pa.Table, dict[str, Rows]]:
    """Return a table with attributes as coarse as recipes need, and what joins them.

    Parameters
    ----------
    people : pyarrow.Table
        A row for each person.
    recipes : mapping of str to Recipe
        By names of columns.
    k : int
        How many people a value must have to be released.
    """
    import pyarrow as pa

    rows: dict[str, Rows] = {}
    for name, recipe in recipes.items():
        plain = plain_attributes(people.select([name]))
        assert plain is not None
        values = plain.column(0).to_pylist()
        levels = recipe.levels(name, Counter(value for value in values if value is not None), k)
        rows[name] = tuple({names[0]: names[1:] for names in levels.values()}.items())
        told = [None if value is None else levels[value][0] for value in values]
        place = people.column_names.index(name)
        people = people.set_column(place, name, pa.array(told, pa.string()))
    return people, rows


def _refused(name: str, what: str, advice: str) -> ConfigError:
    return ConfigError(f"attribute {name!r}: {what}", advice=advice)


def _are_numbers(values: Iterable[float | str]) -> bool:
    return any(isinstance(value, float) for value in values)


def _prefixes(name: str, people: Mapping[float | str, int], length: int) -> Levels:
    texts = {value: _text(value) for value in people}
    lengths = {len(text) for text in texts.values()}
    digits = all(text.isdigit() for text in texts.values())
    if _are_numbers(people) and (not digits or len(lengths) > 1):
        shorter = sum(len(text) < max(lengths) for text in texts.values())
        why = f"{shorter:,} of {len(texts):,} are shorter than the longest" * digits
        raise _refused(
            name,
            "prefix needs text, and these are numbers, which lose leading zeros: "
            f"{why or 'some are not whole numbers from 0'}",
            "Keep the column as text, with its zeros (strings in Parquet and data frames; a column "
            "named zip or similar stays text), or use bands:10.",
        )
    width = max(lengths, default=0) or 1
    return {
        value: (*(text[:n].ljust(width, "*") for n in range(length, 0, -1)), "*" * width)
        for value, text in sorted(texts.items(), key=lambda entry: entry[1])
    }


def _bands(name: str, people: Mapping[float | str, int], width: Fraction) -> Levels:
    if people and not _are_numbers(people):
        raise _refused(
            name,
            f"bands need numbers, and these {len(people):,} values are texts",
            "One text makes the whole column text: write missing values as null (null_values), or "
            "use prefix:1 or rare:5.",
        )
    numbers = sorted(float(value) for value in people)
    whole = width.denominator == 1 and all(number.is_integer() for number in numbers)
    index = {number: floor(Fraction(number) / width) for number in numbers}
    told: dict[float | str, list[str]] = {number: [] for number in numbers}
    parts, by = 0, 0
    while parts != 1 and not (parts == 2 and {i >> by for i in index.values()} == {-1, 0}):
        left = len({i >> by for i in index.values()})
        if left != parts:  # a level that joins nobody says nothing
            for number, i in index.items():
                told[number].append(_band(i >> by, width * 2**by, whole))
        parts, by = left, by + 1
        if not parts:
            break
    return {number: (*names, "*") for number, names in told.items()}


def _band(index: int, width: Fraction, whole: bool) -> str:
    low, high = index * width, (index + 1) * width
    if not whole:
        return f"{_decimal(low)} to <{_decimal(high)}"
    if width == 1:
        return str(low)
    return f"{low}-{high - 1}" if low >= 0 else f"{low} to {high - 1}"


def _decimal(value: Fraction) -> str:
    with localcontext(prec=1000):
        return format(Decimal(value.numerator) / value.denominator, "f")


def _without_rare(people: Mapping[float | str, int], least: int) -> Levels:
    texts = {_text(value): number for value, number in people.items()}
    rare = _too_few(texts, least, OTHER)
    called = {value: OTHER if _text(value) in rare else _text(value) for value in people}
    return {value: (name, "*") for value, name in sorted(called.items(), key=lambda e: e[1])}


def _shared(levels: Levels, people: Mapping[float | str, int], k: int) -> Levels:
    """Call everybody by the first of their names that k people are called by, else by the last."""
    depth = len(next(iter(levels.values()), ("*",)))
    height = dict.fromkeys(levels, 0)
    for level in range(depth - 1):
        called = _called(levels, height, people)
        for value, names in levels.items():
            if height[value] == level and called[names[level]] < k:
                height[value] += 1
    called, top = _called(levels, height, people), next(iter(levels.values()), ("*",))[-1]
    few = _too_few(called, k, top)
    for value, names in levels.items():
        if names[height[value]] in few:
            height[value] = depth - 1
    return {v: (names[height[v]],) * height[v] + names[height[v] :] for v, names in levels.items()}


def _called(
    levels: Levels, height: Mapping[float | str, int], people: Mapping[float | str, int]
) -> Counter[str]:
    called: Counter[str] = Counter()
    for value, number in people.items():
        called[levels[value][height[value]]] += number
    return called


def _too_few(people: Mapping[str, int], least: int, joined: str) -> set[str]:
    """Return the names of fewer people, and the rarest others until they are enough together."""
    few = {name for name, number in people.items() if number < least}
    few |= {joined} & people.keys() if few else set()
    together = sum(people[name] for name in few)
    for name in sorted(people.keys() - few, key=lambda name: (people[name], name)):
        if not 0 < together < least:
            break
        few.add(name)
        together += people[name]
    return few


def _text(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return str(int(value)) if value.is_integer() else str(value)


_YEAR_FIRST = re.compile(
    r"([0-9]{4})(?:([-/.])([0-9]{1,2})(?:\2([0-9]{1,2})"
    r"(?:[T ][0-9]{2}:[0-9]{2}[0-9:.,]*(?: ?(?:Z|UTC|[+-][0-9:]+))?)?)?)?"
)
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4})")


def _dates(name: str, people: Mapping[float | str, int], kind: str, order: str) -> Levels:
    parts = 2 if kind == "month" else 1
    if _are_numbers(people):
        raise _refused(
            name,
            f"{kind} needs dates, and these are numbers",
            "Write dates as YYYY-MM-DD; for years as numbers use bands:1 or bands:10.",
        )
    told: dict[float | str, tuple[str, ...]] = {}
    unclear = 0
    for value in people:
        read = _months(str(value).strip())
        read = read[1:] if order == "mdy" else read[:1] if order else read
        known = {each[:parts] for each in read if each[parts - 1]}
        unclear += len(known) > 1
        if len(known) == 1:
            told[value] = _steps(*known.pop())
    if unclear:
        raise _refused(
            name,
            f"{unclear:,} of {len(people):,} values are ambiguous dates",
            "State the order of day and month: month:dmy or month:mdy.",
        )
    if lost := len(people) - len(told):
        raise _refused(
            name,
            f"{lost:,} of {len(people):,} values cannot be read as a {kind}",
            "Write dates as YYYY-MM-DD (also 1984/5/1, 1.5.1984 and 1/5/1984), and missing values "
            "as null.",
        )
    return dict(sorted(told.items(), key=lambda entry: entry[1][0]))


def _steps(year: int, month: int = 0) -> tuple[str, ...]:
    first = year // 10 * 10
    own = (f"{year:04}-{month:02}",) if month else ()
    return (*own, f"{year:04}", f"{first:04}-{first + 9:04}", "*")


def _months(text: str) -> list[tuple[int, int]]:
    """Return year and month as if the day, then as if the month came first; (0, 0): none.

    A month of 0 is not said.
    """
    if found := _YEAR_FIRST.fullmatch(text):
        year, month, day = int(found[1]), int(found[3] or 0), int(found[4] or 1)
        read = _month(year, month, day) if found[3] else (year, 0)
        return [read, read]
    if found := _YEAR_LAST.fullmatch(text):
        year, first, second = int(found[4]), int(found[1]), int(found[3])
        if found[2] == ".":  # the day is always first
            return [_month(year, second, first)] * 2
        return [_month(year, second, first), _month(year, first, second)]
    return [(0, 0), (0, 0)]


def _month(year: int, month: int, day: int) -> tuple[int, int]:
    try:
        return date(year, month, day).year, month
    except ValueError:
        return (0, 0)
