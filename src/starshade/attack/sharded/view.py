"""A shard as the attacker sees it: what equals another row is known of all shards."""

from __future__ import annotations

import numpy as np

from starshade.attack.view import View
from starshade.engine.job import Tables
from starshade.ratings.table import Ratings
from starshade.release.cells import cells_of


def view_of_shard(shard: Ratings, first: int, tables: Tables) -> View:
    """Show the rows of a shard; what equals another row is known of all shards."""
    rows = np.arange(shard.n_users)
    copies = np.ones(shard.n_users, dtype=np.int64)
    here = slice(*np.searchsorted(tables["alike"], [first, first + shard.n_users]))
    copies[tables["alike"][here] - first] = tables["copies"][here]
    again = slice(*np.searchsorted(tables["repeats"], [first, first + shard.n_users]))
    view = View(
        original=shard,
        cells=cells_of(shard),
        postings=shard.by_item,
        row_of_user=rows,
        item_of=np.arange(shard.n_items, dtype=np.int32),
        credit="linked",
        ungeneralized=True,
    )
    # what the cached properties would compute, of all shards
    view.__dict__.update(repeats=tables["repeats"][again] - first, copies=copies)
    return view
