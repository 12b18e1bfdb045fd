"""How a check stands to its threshold, and the verdict of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Measured:
    """One check: `of` one smallest class, or of a rate and the upper end of its interval.

    `threshold` None: printed, never limited. `rate` None: there is no figure. `few`: it rests on
    fewer shadow releases than the policy asks for; `rough`: on too few false positives.
    """

    threshold: Fraction | None
    of: int | None = None
    rate: Fraction | None = None
    high: Fraction | None = None
    applies: bool = True
    low: Fraction = Fraction(0)
    few: bool = False
    rough: bool = False


def status(check: Measured) -> str:
    """Return how it stands to its threshold."""
    if not check.applies:
        return "not applicable"
    if check.threshold is None:
        return "no threshold"
    if check.threshold == 1:
        return "accepted without limit"
    if check.of is not None:
        return "pass" if Fraction(1, check.of) <= check.threshold else "fail"
    if check.rate is None or check.high is None or check.rough:
        return "not measured"
    if check.few:
        return "fail" if check.low > check.threshold else "not measured"
    if check.rate > check.threshold:
        return "fail"
    return "not demonstrated" if check.high > check.threshold else "pass"


def verdict(statuses: Sequence[str], others: Sequence[bool]) -> str:
    """Return PASS, FAIL or INCOMPLETE; `others`: claims verify, the audience is none of queries."""
    if "fail" in statuses or "not demonstrated" in statuses or False in others:
        return "FAIL"
    if "not measured" in statuses:
        return "INCOMPLETE"
    return "PASS"


def numbers_known(ratings_of: Sequence[int], known: int) -> tuple[int, ...]:
    """Return the numbers of known ratings that are tried; `ratings_of`: released, by person."""
    people = len(ratings_of)

    def have(number: int) -> int:
        return sum(1 for each in ratings_of if each >= number)

    if have(known) * 2 >= people:
        return (known,)
    half = 1
    for number in range(2, known):
        if have(number) * 2 >= people:
            half = number
    return (known, half) if have(known) >= 30 else (half,)


def single_valued(
    classes: Sequence[int],
    columns: Sequence[Sequence[object]],
    ratings: Sequence[Sequence[object]],
) -> tuple[Fraction, Fraction]:
    """Return for how many records a sensitive column has one value in the class, or it or a rating.

    `classes`: of each record. `columns`: of each sensitive attribute the value of each record.
    `ratings`: of each item the rating of each record, None where there is none; a cell is the set
    of what its class gave.
    """
    alone = either = 0
    for record in classes:
        mates = [place for place, other in enumerate(classes) if other == record]
        one = any(len({column[place] for place in mates}) == 1 for column in columns)
        cells = [{item[place] for place in mates} for item in ratings]
        alone += one
        either += one or any(len(cell) == 1 and None not in cell for cell in cells)
    return Fraction(alone, len(classes)), Fraction(either, len(classes))
