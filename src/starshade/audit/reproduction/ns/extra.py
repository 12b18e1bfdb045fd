"""What the number of ratings and the first day take away from false matches (§5)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge, Known
from starshade.audit.reproduction.ns.bench import Bench, Runs
from starshade.audit.reproduction.ns.scorer import Narrow
from starshade.ratings.table import UNKNOWN_DAY, Ratings

_REACH = 14  # days by which the first day may be off


def first_days(ratings: Ratings) -> NDArray[np.int64]:
    """Return each user's first known day; UNKNOWN_DAY where there is none."""
    assert ratings.days is not None
    out = np.full(ratings.n_users, UNKNOWN_DAY, np.int64)
    some = np.flatnonzero(ratings.user_support)
    if len(some):  # the rows between have no cell, so that each begins where the last ended
        out[some] = np.minimum.reduceat(ratings.days, ratings.indptr[some])
    return out


def takes_away(bench: Bench, knowledge: Knowledge, *, after: bool = False) -> dict[str, Runs]:
    """Attack people whose records were taken out, with more and more known of them.

    The rest narrows who is scored; `after`: it is asked of the record that stands out.
    """
    told = replace(knowledge, about_count=True)
    support = bench.ratings.user_support

    def by_number(known: Known, run: int) -> Narrow:
        least, most = known.supports
        return lambda t: (support >= least[t]) & (support <= most[t])

    def by_day(known: Known, run: int) -> Narrow:
        first = first_days(bench.ratings)
        off = np.random.default_rng(bench.seed_of(run)).integers(-_REACH, _REACH + 1, len(known))
        said = first[known.users] + off
        return lambda t: np.abs(first - said[t]) <= _REACH

    def by_both(known: Known, run: int) -> Narrow:
        number, day = by_number(known, run), by_day(known, run)
        return lambda t: number(t) & day(t)

    ways = {
        "no further knowledge": None,
        "number of ratings ±50 %": ("number", by_number),
        "first day ±14": ("first day", by_day),
        "both": ("both", by_both),
    }
    reading = bench.reading()
    return {
        name: bench.lettered(
            told, reading, absent=True, narrow=narrow, after=after and narrow is not None
        )
        for name, narrow in ways.items()
    }
