"""The verifier's own count of (b, l)-diversity: how many classes show what was rated together."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.release.verify.claims import Judged
from starshade.release.verify.profiles import Shown

if TYPE_CHECKING:
    from starshade.ratings.table import Ratings

__all__ = ["judge_diversity"]

_MOST_WORDS = 2 * 10**9  # bytes of bit rows that are compared for pairs
_MOST_SETS = 2 * 10**6  # of three items and more


def judge_diversity(claim: dict[str, Any], shown: Shown, original: Ratings | None) -> Judged:
    """Count the fewest classes that show a set of 1…b items which somebody rated together.

    From the files alone the single items are counted, of those that some class shows; with the
    original, which tells what was rated, all sets. Where the classes show nearly everything, the
    single items prove it for every set: b items are missing together in at most the sum of the
    classes that each is missing in. Where sets of some sizes could not be counted,
    ``sizes_counted`` says so.
    """
    b, l = claim["parameters"]["b"], claim["parameters"]["l"]  # noqa: E741 - as the paper
    times = shown.times[shown.times > 0]
    if original is not None:
        times = shown.times[np.bincount(original.columns, minlength=original.n_items) > 0]
    fewest = int(times.min(initial=l))
    sizes = 1
    if shown.classes - b * (shown.classes - fewest) >= l:
        sizes = b
    elif original is not None and shown.bits is not None:
        if b >= 2 and original.n_items**2 * shown.bits.shape[1] // 2 <= _MOST_WORDS:
            fewest, sizes = min(fewest, _fewest_of_pairs(shown.bits, original)), 2
        for size in range(3, b + 1):
            rated_sets = sum(comb(n, size) for n in np.diff(original.indptr).tolist())
            if sizes < size - 1 or rated_sets > _MOST_SETS:
                break
            fewest, sizes = min(fewest, _fewest_of_sets(shown.bits, original, size)), size
    counted: dict[str, float | int] = {"fewest_groups": min(fewest, l)}
    if sizes < b:
        counted["sizes_counted"] = sizes
    return Judged(counted, fewest >= l)


def _fewest_of_pairs(bits: NDArray[np.uint8], original: Ratings) -> int:
    users = np.repeat(np.arange(original.n_users), np.diff(original.indptr))
    by_item = np.argsort(original.columns, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(original.columns, minlength=len(bits)))])
    fewest: int = 8 * bits.shape[1]
    for item in range(len(bits)):
        raters = users[by_item[ends[item] : ends[item + 1]]]
        together = np.zeros(len(bits), dtype=np.bool_)
        for user in raters.tolist():
            together[original.columns[original.indptr[user] : original.indptr[user + 1]]] = True
        together[: item + 1] = False
        if together.any():
            both = np.bitwise_count(bits[together] & bits[item]).sum(axis=1, dtype=np.int64)
            fewest = min(fewest, int(both.min()))
    return fewest


def _fewest_of_sets(bits: NDArray[np.uint8], original: Ratings, size: int) -> int:
    fewest: int = 8 * bits.shape[1]
    seen = set[tuple[int, ...]]()
    for user in range(original.n_users):
        rated = original.columns[original.indptr[user] : original.indptr[user + 1]].tolist()
        for chosen in combinations(sorted(rated), size):
            if chosen not in seen:
                seen.add(chosen)
                all_ = np.bitwise_and.reduce(bits[list(chosen)], axis=0)
                fewest = min(fewest, int(np.bitwise_count(all_).sum()))
    return fewest
