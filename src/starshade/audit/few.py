"""What may be told where few people stand behind a figure: a bound, and no figure.

A count of 1 to k - 1 people is "fewer than k"; 0 may be told. A share is told where those whom it
counts, and those whom it does not, are nobody or k people at least; else a bound stands for it.
Fractions of people, as attacks credit them, are treated in the same way. With k = 1, for the owner,
everything is told.
"""

from __future__ import annotations

from math import ceil, floor

from starshade.plain import percent

__all__ = ["WITHHELD", "fewer", "hides", "in_words", "is_few", "number"]

_SLACK = 1e-9
#: why a figure is missing
WITHHELD = "withheld: fewer than {} people"


def is_few(people: float, k: int) -> bool:
    """Tell whether they are some, and fewer than `k`.

    Examples
    --------
    >>> is_few(0, 5), is_few(0.2, 5), is_few(5, 5), is_few(1, 1)
    (False, True, False, False)
    """
    return k > 1 and _SLACK < people < k - _SLACK


def hides(share: float, people: int, k: int) -> bool:
    """Tell whether a share of so many people speaks of too few of them.

    Examples
    --------
    >>> hides(0.05, 60, 5), hides(0.5, 60, 5), hides(0.95, 60, 5), hides(1, 4, 5)
    (True, False, True, True)
    """
    if k > 1 and people < k:
        return True
    return is_few(share * people, k) or is_few((1 - share) * people, k)


def in_words(share: float | None, people: int, k: int) -> str:
    """Write a share, or the bound that stands for it.

    Of fewer than 2 k people a bound leaves fewer numbers open than k - 1, so none is told.

    Examples
    --------
    >>> in_words(0.5, 60, 5), in_words(0.05, 60, 5), in_words(0.95, 60, 5), in_words(1, 4, 5)
    ('50.0%', 'less than 8.4%', 'more than 91.6%', 'withheld: fewer than 5 people')
    >>> in_words(1 / 6, 6, 5), in_words(0, 6, 5)
    ('withheld: fewer than 5 people', '0.0%')
    """
    if share is None or share != share or not hides(share, people, k):
        return percent(share)
    if people < 2 * k:
        return WITHHELD.format(k)
    if is_few(share * people, k):
        return f"less than {ceil(1000 * k / people) / 1000:.1%}"
    return f"more than {floor(1000 * (1 - k / people)) / 1000:.1%}"


def number(people: int, k: int) -> int | str:
    """Return a number of people, or that they are few.

    Examples
    --------
    >>> number(0, 5), number(3, 5), number(7, 5)
    (0, 'fewer than 5', 7)
    """
    return fewer(k) if is_few(people, k) else people


def fewer(k: int) -> str:
    """Say that they are few."""
    return f"fewer than {k}"
