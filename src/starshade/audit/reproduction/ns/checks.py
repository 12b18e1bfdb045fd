"""Does success rise with what is known, and fall with error? Reported, never asserted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

from starshade.attack.knowledge import Knowledge
from starshade.audit.reproduction.figures import Figure, Point, Series
from starshade.audit.reproduction.ns.plan import BITS, SUCCESS, TOP1

__all__ = ["Check", "check_figures"]

_CHECKED = (SUCCESS, TOP1, BITS)


@dataclass(frozen=True)
class Check:
    """One line that should rise (bits: fall) with what is known, or one pair with error."""

    figure: str
    # what grows: the known cells along a line, or the error between two lines
    against: Literal["known", "error"]
    what: str  # the line, or the two lines, and the measure
    # no step, between neighbouring points or over several, goes the wrong way by more than the
    # intervals allow: no later interval lies wholly on the wrong side of an earlier one
    holds: bool
    strictly: bool  # no step goes the wrong way at all
    broken: tuple[str, ...]  # the steps that go the wrong way at all


def check_figures(figures: tuple[Figure, ...]) -> tuple[Check, ...]:
    """Check every line along its points, and every two lines that differ in one error alone.

    An error is the number of wrong cells, their kind, or how far off ratings or days may be.
    Lines are also compared across figures, where only the error differs.
    """
    lines = [
        (figure, series)
        for figure in figures
        for series in figure.series
        if series.measure in _CHECKED and series.points and series.points[0].knowledge
    ]
    known = [
        _check(
            figure.number, "known", series.full_name, series, list(combinations(series.points, 2))
        )
        for figure, series in lines
        if len(series.points) > 1
    ]
    return (*known, *_by_error(lines))


def _by_error(lines: list[tuple[Figure, Series]]) -> Iterator[Check]:
    seen = set()
    for (figure, one), (other_figure, other) in combinations(lines, 2):
        if one.measure != other.measure:
            continue
        for first, second in ((one, other), (other, one)):
            steps = [
                (a, b)
                for a in first.points
                for b in second.points
                if a.knowledge and b.knowledge and _one_error_more(a.knowledge, b.knowledge)
            ]
            compared = tuple((a.knowledge, b.knowledge, first.measure) for a, b in steps)
            if steps and compared not in seen:  # the same line stands in several figures
                seen.add(compared)
                numbers = dict.fromkeys((figure.number, other_figure.number))
                names = f"{first.full_name} → {second.full_name}"
                flipped = [(b, a) for a, b in steps]
                yield _check(", ".join(numbers), "error", names, first, flipped)


def _one_error_more(easier: Knowledge, harder: Knowledge) -> bool:
    """Tell whether the second differs from the first in one error alone, a greater one."""
    if harder.wrong > easier.wrong:
        same_kind = easier.wrong == 0 or easier.wrong_kind == harder.wrong_kind
        return same_kind and _same(easier, harder, "wrong", "wrong_kind")
    if harder.wrong_kind == "item" and easier.wrong_kind == "value" and easier.wrong:
        return _same(easier, harder, "wrong_kind")
    if harder.rating_error > easier.rating_error:
        return _same(easier, harder, "rating_error")
    days = [float("inf") if k.day_error is None else k.day_error for k in (easier, harder)]
    return days[1] > days[0] and _same(easier, harder, "day_error")


def _same(one: Knowledge, other: Knowledge, *but: str) -> bool:
    changes: dict[str, Any] = {name: getattr(other, name) for name in but}
    return replace(one, **changes) == other


def _check(
    figure: str,
    against: Literal["known", "error"],
    name: str,
    series: Series,
    steps: list[tuple[Point, Point]],
) -> Check:
    """Check steps from a point to one at which the adversary should do at least as well."""
    down = series.measure == BITS
    wrong = [(a, b) for a, b in steps if (b.y > a.y if down else b.y < a.y)]
    plainly = [(a, b) for a, b in wrong if (b.lowest > a.highest if down else b.highest < a.lowest)]
    return Check(
        figure,
        against,
        f"{name}: {series.measure}",
        not plainly,
        not wrong,
        tuple(f"{a.label} {a.y:.4g} → {b.label} {b.y:.4g}" for a, b in wrong),
    )
