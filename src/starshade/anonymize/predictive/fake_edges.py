"""Simple profiles made (b, l)-diverse: fake edges at the members' mean padded value (PA §5.1)."""

from __future__ import annotations

from functools import partial

import numpy as np

from starshade.anonymize.predictive.diversity_repair import repair_diversity
from starshade.anonymize.predictive.homogenize import join_equal
from starshade.kernels.arrays import Bytes, Floats, Ints
from starshade.recommend.padded import Padded
from starshade.release.profile.profiles import quantize

__all__ = ["diverse_profiles"]


def diverse_profiles(
    padded: Padded,
    groups: Ints,
    levels: Bytes,
    step: float,
    *,
    b: int,
    l: int,  # noqa: E741 - the paper's name
    min_raters: int = 1,
    seed: int,
) -> tuple[Ints, Bytes]:
    """Let every set of at most b items that somebody rated together be shown by l profiles.

    Profiles that became equal count as one, so the sets are looked at anew until nothing is
    lacking.
    """
    table = padded.ratings
    while True:
        groups, levels = join_equal(table, groups, levels, step, min_raters)
        sizes = np.bincount(groups).astype(np.int64)
        fakes = repair_diversity(
            levels,
            (table.indptr, table.columns),
            sizes,
            partial(_spreads, padded, groups, sizes),
            b=b,
            l=l,
            seed=seed,
        )
        if not len(fakes.group):
            return groups, levels
        for item in np.unique(fakes.item):
            here = fakes.group[fakes.item == item]
            means = _moments(padded, groups, sizes, int(item))[0][here]
            levels[here, item] = quantize(means, table.scale, step)


def _moments(padded: Padded, groups: Ints, sizes: Ints, item: int) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of an item's padded values in each group."""
    parts, turned = padded.parts, padded.ratings.by_item
    values = np.full(padded.n_users, parts.base[item])
    for j, loading in enumerate(parts.loadings[item]):
        values += loading * parts.phi[:, j]
    raters = slice(turned.indptr[item], turned.indptr[item + 1])
    values[turned.users[raters]] = parts.levels[turned.codes[raters]]
    means = np.bincount(groups, values, len(sizes)) / sizes
    squares = np.bincount(groups, (values - means[groups]) ** 2, len(sizes)) / sizes
    return means, np.sqrt(squares)


def _spreads(padded: Padded, groups: Ints, sizes: Ints, item: int) -> Floats:
    return _moments(padded, groups, sizes, item)[1]
