"""Released cells as ratings, where every cell is one rating or null."""

from __future__ import annotations

import numpy as np

from starshade.errors import ConfigError
from starshade.ratings.levels import code_type, level_table
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Cells

__all__ = ["single_ratings"]


def single_ratings(cells: Cells) -> Ratings:
    """Read cells as a table of ratings, a row of several records as so many users.

    `cells`: in each cell one rating, or null alone (written or left out). Returns: users are the
    records, numbered from 0.

    >>> from starshade.ratings.scale import Scale
    >>> from starshade.release.cells import cells_of
    >>> three = Ratings.from_arrays(["a", "b", "b"], ["x", "x", "y"], [1, 2, 5], scale="1:5:1")
    >>> single_ratings(cells_of(three)).values().tolist()
    [1.0, 2.0, 5.0]
    """
    symbols = cells.symbols
    used = np.flatnonzero(np.bincount(cells.codes, minlength=len(symbols)))
    silent = symbols.null & ~symbols.has_rating
    value = symbols.bounds[1]
    rated = used[~silent[used]]
    several = rated[~symbols.is_single[rated]]
    if len(several):
        share = np.isin(cells.codes, several).mean()
        raise ConfigError(
            f"the release has cells with several members ({share:.1%} of those with a rating), "
            "and this model is about records with one rating per cell",
            advice="Check such a release for k-anonymity: its records are equal within a class.",
        )
    if not symbols.scale.contains(value[rated]).all():
        raise ConfigError(
            f"the release has ratings that are not on its scale {symbols.scale}, as means and "
            "predictions are, and this model is about ratings on it",
            advice="Check such a release for review-graph or k-anonymity: its records are equal "
            "within a class.",
        )
    levels, place = level_table(value[rated], symbols.scale)
    code = np.zeros(len(symbols), dtype=code_type(len(levels)))
    code[rated] = place
    rows = np.repeat(np.arange(cells.n_groups), cells.sizes)
    records = cells if len(rows) == cells.n_groups else cells.keep_rows(rows)
    kept = ~silent[records.codes]
    before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
    return Ratings(
        scale=symbols.scale,
        users=Vocabulary(np.arange(len(rows))),
        items=cells.items,
        indptr=before[records.indptr],
        columns=records.columns[kept],
        codes=code[records.codes[kept]],
        levels=levels,
        days=None if records.days is None else records.days[kept],
        first_day=records.first_day,
    )
