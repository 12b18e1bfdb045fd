"""A shard as the attacker sees it: what equals another row is known of all shards.

Or, of some people of all shards, what their rows come to together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.shadows.seen import STEPS, Facts, Seen, Wanted, Weighed
from starshade.attack.sharded.half import InHalf
from starshade.attack.view import View, view_of
from starshade.engine.job import Engine, Job, Tables
from starshade.ratings.shards.counts import Counts
from starshade.ratings.shards.kept import AnyShards
from starshade.ratings.table import Ratings
from starshade.release.cells import cells_of

#: how what comes of the rows of one shard joins that of others
_MERGED: dict[str, np.ufunc] = {
    "greatest": np.maximum,
    "most": np.maximum,
    "compared": np.maximum,  # the same of all
    "rows": np.add,
    "shown": np.add,
}


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


@dataclass(frozen=True, eq=False)
class SeenShards(Seen):
    """Ratings in shards as they are, of some people.

    `view`: of those who are asked about, for what they have in common with all: items and ratings.
    """

    shards: AnyShards
    engine: Engine
    chosen: InHalf

    @cached_property
    def counted(self) -> Counts:
        """What is counted of them."""
        return reduce(
            Counts.__add__, (Counts(**part) for part in self._run(Job("counting", _count)))
        )

    @property
    def records(self) -> int:
        """Records of all rows."""
        return self.counted.n_users

    def counts_of(self, first: int, last: int) -> NDArray[np.int64]:
        """Count records by item and content; nulls, of which nothing is asked, are not counted."""
        job = Job("counting ratings of items", _count_levels, {"first": first, "last": last})
        return sum((part["counts"] for part in self._run(job)), np.zeros((1, 1), dtype=np.int64))

    def weighed(self, facts: Facts, wanted: Wanted) -> Weighed:
        """Weigh all rows."""
        out = Weighed.by_nothing(len(facts), len(wanted.items), len(self.shares))
        tables = {**vars(facts), "wanted.people": wanted.people, "wanted.items": wanted.items}
        for step, name in zip(STEPS, ("comparing people", "weighing"), strict=True):
            job = Job(name, _weigh, {"step": step, "records": self.records}, threaded=True)
            for part in self._run(job, tables):
                for column, found in part.items():
                    own = getattr(out, column)
                    _MERGED[column](own, found, out=own)
            tables |= {"greatest": out.greatest, "most": out.most}
        return out

    def _run(self, job: Job, tables: Tables | None = None) -> Iterator[Tables]:
        settings = {**job.settings, "half": asdict(self.chosen)}
        yield from self.engine.run(replace(job, settings=settings), self.shards, tables or {})


def _left(shard: Ratings, settings: Mapping[str, Any]) -> Ratings:
    return shard.keep_users(np.flatnonzero(InHalf(**settings["half"])(shard)))


def _count(shard: Ratings, _first: int, settings: Mapping[str, Any], _tables: Tables) -> Tables:
    return vars(Counts.of(_left(shard, settings)))


def _count_levels(
    shard: Ratings, _first: int, settings: Mapping[str, Any], _tables: Tables
) -> Tables:
    left, first, last = _left(shard, settings), settings["first"], settings["last"]
    shape = last - first, len(left.levels) + 1
    here = (left.columns >= first) & (left.columns < last)
    cells = (left.columns[here] - first) * np.int64(shape[1]) + left.codes[here] + 1
    return {"counts": np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)}


def _weigh(shard: Ratings, _first: int, settings: Mapping[str, Any], tables: Tables) -> Tables:
    left = _left(shard, settings)
    rows = np.arange(left.n_users)
    seen = Seen(view_of(left, cells_of(left), rows, "linked", ungeneralized=True), None)
    facts = Facts(**{each.name: tables[each.name] for each in fields(Facts)})
    wanted = Wanted(tables["wanted.people"], tables["wanted.items"])
    out = Weighed.by_nothing(len(facts), len(wanted.items), len(seen.shares))
    step = settings["step"]
    if step == "odds":
        out = out._replace(greatest=tables["greatest"], most=tables["most"])
    seen.weigh(facts, wanted, out, settings["records"], [step])
    names = ("rows", "shown") if step == "odds" else ("greatest", "most", "compared")
    return {name: getattr(out, name) for name in names}
