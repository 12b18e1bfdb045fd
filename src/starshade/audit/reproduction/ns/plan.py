"""What the adversary knows along each line of NS's Figs 4-6 and 8-12."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from starshade.attack.knowledge import Knowledge
from starshade.audit.reproduction.figures import Mark

# what is shown of a setting
SUCCESS = "confident and correct"
TOP1 = "best guess correct"
NOT_FOUND = "no answer when absent"
OMEGA = "the lesser of both (ω)"
BITS = "all targets"
BITS_OF_OTHERS = "targets that do not stand out"

#: figures whose knowledge includes days
DATED = ("4", "5", "6", "9", "10", "12")
_TITLES = {
    "4": "Exact ratings and approximate dates",
    "5": "As Fig. 4, the target possibly absent",
    "6": "Entropy: exact ratings, approximate dates",
    "8": "Exact ratings, no dates, less popular items",
    "9": "Approximate ratings (±{star}) and dates (±14 days), less popular items",
    "10": "Wrong items: ratings ±{star}, dates ±14 days",
    "11": "Entropy: exact ratings, no dates, less popular items",
    "12": "Approximate number of ratings known: ratings ±{star}, dates ±14 days",
}
NUMBERS = tuple(_TITLES)
_KNOWN = (2, 4, 6, 8)


@dataclass(frozen=True)
class Line:
    """One line: the number of mistakes stays, the number of known cells rises."""

    name: str
    knowledge: Knowledge

    @property
    def mistakes(self) -> str:
        """The number of wrong cells as text."""
        wrong = self.knowledge.wrong
        if not wrong:
            return "all right"
        item = "item" if wrong == 1 else "items"
        return f"{wrong} wrong {item}" if self.knowledge.wrong_kind == "item" else f"{wrong} wrong"

    @property
    def settings(self) -> tuple[Knowledge, ...]:
        """The knowledge at each point; at least two cells are right."""
        least = self.knowledge.wrong + 2 if self.knowledge.wrong else 0
        return tuple(replace(self.knowledge, known=m) for m in _KNOWN if m >= least)


def title_of(figure: str, star: float) -> str:
    """Return a figure's title; `star` is the equivalent of ±1 on 1-5 on this scale."""
    return _TITLES[figure].format(star=f"{star:g}")


def lines_of(figure: str, star: float) -> tuple[Line, ...]:
    """Return the lines of a figure (4-12, not 7); `star`: what ±1 on 1-5 comes to on this scale."""
    return tuple(_LINES[figure](star))


def label_of(knowledge: Knowledge) -> str:
    """Name a point as the paper does: "6 of 8" are right."""
    return f"{knowledge.known - knowledge.wrong} of {knowledge.known}"


def _by_days(star: float) -> Iterator[Line]:
    for days in (3, 14):
        for wrong in (0, 2):
            yield _line(f"days ±{days}", wrong, day_error=days)


def _off_top_undated(star: float) -> Iterator[Line]:
    for top in (100, 500):
        for wrong in (0, 2):
            yield _line(f"not in top {top}", wrong, outside_top=top, day_error=None)


def _off_top_dated(star: float) -> Iterator[Line]:
    for top in (0, 100, 500):
        for wrong in (0, 2):
            name = f"not in top {top}" if top else "any items"
            yield _line(name, wrong, rating_error=star, outside_top=top)


def _mistaken_items(star: float) -> Iterator[Line]:
    yield _line("any items", 0, rating_error=star)
    for wrong in (1, 2):
        yield _line("any items", wrong, wrong_kind="item", rating_error=star)


def _about_how_many(star: float) -> Iterator[Line]:
    for about in (False, True):
        for wrong in (0, 2):
            name = "number known ±50 %" if about else "number not known"
            yield _line(name, wrong, rating_error=star, about_count=about)


def _line(name: str, wrong: int, **beside: Any) -> Line:
    return Line(name, Knowledge(known=8, wrong=wrong, **{"day_error": 14, **beside}))


_LINES = {
    "4": _by_days,
    "5": _by_days,
    "6": _by_days,
    "8": _off_top_undated,
    "9": _off_top_dated,
    "10": _mistaken_items,
    "11": _off_top_undated,
    "12": _about_how_many,
}


NETFLIX_BITS = 19  # §5, "with no auxiliary information, this number is 19 bits"

#: §5, table: % of subscribers who rated ≥ 1, 5, 10 movies not in the X most rated
OFF_TOP = {
    100: {1: 1.00, 5: 0.97, 10: 0.93},
    500: {1: 0.99, 5: 0.90, 10: 0.80},
    1000: {1: 0.97, 5: 0.83, 10: 0.70},
}

_BEST_GUESS = (SUCCESS, TOP1)
_MARKS = {
    "4": (
        Mark(8, 0.99, "6 of 8, ±14 days: 99 %", _BEST_GUESS),
        Mark(2, 0.68, "2 of 2, ±3 days: 68 %", _BEST_GUESS),
    ),
    "6": (Mark(2, 3, "2 of 2, ±3 days: about 3 bits", (BITS_OF_OTHERS,)),),
    "8": (Mark(8, 0.84, "6 of 8, not in top 500: 84 %", _BEST_GUESS),),
}


def marks_of(figure: str) -> tuple[Mark, ...]:
    """Return the paper's numbers for a figure; often there are none."""
    return _MARKS.get(figure, ())
