"""The numbers that NS's text gives, with their places; the figures are pictures.

All are Netflix's: 480,189 subscribers, 17,770 movies, 100,480,507 ratings, scale 1-5, dated.
"""

from __future__ import annotations

from starshade.audit.reproduction.figures import Mark
from starshade.audit.reproduction.ns.plan import BITS_OF_OTHERS, SUCCESS, TOP1

__all__ = ["NETFLIX_BITS", "NETFLIX_RECORDS", "OFF_TOP", "marks_of"]

NETFLIX_RECORDS = 480_189  # §5
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
