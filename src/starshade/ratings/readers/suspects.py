"""Ratings that look like no ratings: the codes that surveys write for "no answer"."""

from __future__ import annotations

import numpy as np

from starshade.naming import named
from starshade.ratings.table import Ratings

__all__ = ["suspect_codes"]

_HIGH = (88.0, 97.0, 98.0, 99.0, 888.0, 998.0, 999.0, 9999.0)
_LOW = (-1.0, -8.0, -9.0, -88.0, -98.0, -99.0, -999.0, -9999.0)
_FAR = 3  # times the highest other rating


def suspect_codes(ratings: Ratings) -> tuple[str, ...]:
    """Say in a note which ratings look like codes, where the scale was found in the data.

    A high code is at least three times the highest other rating; a low one is the only negative
    rating of a scale that goes up to 3 at least.

    Returns: one sentence, or none.
    """
    scale = ratings.scale
    if not ratings.report.scale_inferred:
        return ()
    if scale.maximum not in _HIGH and scale.minimum not in _LOW:
        return ()
    counts = np.bincount(ratings.codes, minlength=len(ratings.levels))
    present = ratings.levels[counts > 0]
    is_code = np.isin(present, (*_HIGH, *_LOW))
    rest = present[~is_code]
    if not len(rest):
        return ()
    far = present >= _FAR * max(1.0, rest.max())
    negative = (present < 0) & (rest.min() >= 0) & (rest.max() >= _FAR)
    codes = [f"{value:g}" for value in present[is_code & (far | negative)]]
    if not codes:
        return ()
    looks = "looks like a code" if len(codes) == 1 else "look like codes"
    return (
        f"{' and '.join(codes)} {looks} for 'no answer': if so, give {named('null_values', codes)}",
    )
