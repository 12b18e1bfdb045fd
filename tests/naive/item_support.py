"""Which items a release may hold, written from the definition, with fractions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction


def raters_needed(support: int | str | None, people: int) -> int:
    """Return the least number of raters that an item support asks for, by trying each."""
    if support is None:
        return 0
    if isinstance(support, int):
        return support
    share = Fraction(support.removesuffix("%")) / 100
    return next(n for n in range(people + 1) if n >= share * people)


def kept_items(
    rows: Sequence[Iterable[str]],
    chosen: Iterable[str],
    k: int,
    rare_items: str,
    support: int | str | None,
) -> list[str]:
    """Return the items chosen that enough people rated; `rows`: the items that each one rated."""
    people = [set(row) for row in rows if set(row)]
    least = max(k if rare_items == "drop" else 0, raters_needed(support, len(people)))
    return [item for item in chosen if sum(item in row for row in people) >= least]
