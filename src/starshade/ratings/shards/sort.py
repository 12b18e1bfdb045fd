"""`build` for more rows than memory holds: the same table, shard by shard."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.errors import InputError
from starshade.kernels.csr import transpose
from starshade.progress import task
from starshade.ratings.levels import level_table, places_of
from starshade.ratings.readers.faults import suspected
from starshade.ratings.rows.duplicates import (
    Merged,
    Wrong,
    merge,
    namer,
    off_the_steps,
    refuse_repeated,
    repeated_rows,
    told,
    widened,
)
from starshade.ratings.rows.laying import Laid, lay, row_numbers
from starshade.ratings.scale import Scale
from starshade.ratings.settings import OnDuplicate
from starshade.ratings.shards.manifest import ShardEntry, folder_of
from starshade.ratings.shards.runs import Runs, spill
from starshade.ratings.shards.shards import Shards
from starshade.ratings.shards.write import add_shard, finish, written
from starshade.ratings.staging import Batch
from starshade.ratings.store import table_of
from starshade.ratings.table import Ratings, ReadReport
from starshade.ratings.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class _Coding:
    """What the codes of cells stand for."""

    scale: Scale
    levels: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Found:
    """What was found in shards: levels that cells have, means, and rows that are wrong."""

    used: NDArray[np.bool_]
    means: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    merged: int = 0
    repeated: Wrong = field(default_factory=Wrong)
    off: Wrong = field(default_factory=Wrong)
    is_off: bool = False

    def __add__(self, other: _Found) -> _Found:
        return _Found(
            self.used | other.used,
            np.unique(np.concatenate([self.means, other.means])),
            self.merged + other.merged,
            self.repeated + other.repeated,
            self.off + other.off,
            self.is_off or other.is_off,
        )

    def recodes(self, coding: _Coding) -> bool:
        """Tell whether what a code stands for is known only when all shards were looked at."""
        return self.is_off or (self.merged > 0 and coding.scale.step is None)


@dataclass(frozen=True, eq=False)
class _Looked:
    """One shard, sorted: its cells, or what was made of cells that repeat."""

    users: Vocabulary
    laid: Laid
    merged: Merged | None
    found: _Found


@dataclass(frozen=True, eq=False)
class Sorted:
    """Ratings that lie in runs on disk; what `build` would make of them goes into shards.

    `runs`: by user. `scale`: declared, or None. `report`: what the reader has to say already, of
    its notes the first `said` before the rows were read.
    """

    runs: Runs
    scale: Scale | None
    on_duplicate: OnDuplicate
    locate: Callable[[int], str]
    report: ReadReport
    said: int
    show_values: bool
    item_names: tuple[str, ...] | None = None
    attributes: Any = None
    lineage: str = field(default_factory=partial(secrets.token_hex, 16))

    @property
    def items(self) -> Vocabulary:
        """All items."""
        return self.runs.items

    @property
    def users(self) -> Vocabulary:
        """All users."""
        return self.runs.users

    @property
    def n_users(self) -> int:
        """Users, those without a rating included."""
        return len(self.users)

    @property
    def n_rows(self) -> int:
        """Rows read, repeated ones included."""
        return self.runs.n_rows

    def annotate(self, **beside: Any) -> Sorted:
        """Return the same rows with another report, attributes, item_names or lineage."""
        assert beside.keys() <= {"report", "attributes", "item_names", "lineage"}
        return replace(self, **beside)

    def write(
        self, folder: Path, shards: int, done: Path | None = None
    ) -> tuple[Ratings, list[ShardEntry]]:
        """Write about so many shards, and what they have in common, into the folder of a store.

        `done`: a folder in which is written down what is finished, and looked for first. Returns
        the last shard, with the report on all, and what the manifest says of each.
        """
        cuts = self.runs.cuts(shards)
        read_on = self._read_on
        entries, found = self._write(folder, cuts, read_on, None, done)
        if found.repeated:
            raise refuse_repeated(found.repeated, self.locate)
        if found.off:
            raise off_the_steps(found.off, read_on.scale, self.locate)
        coding = read_on
        if found.recodes(read_on):
            scale = widened(read_on.scale, off=found.is_off)
            held = np.concatenate([read_on.levels[found.used], found.means])
            coding = _Coding(scale, level_table(held, scale)[0])
            entries, _ = self._write(folder, cuts, coding, found)
        report = self._told(read_on, coding, found)
        last = entries[-1]
        manifest = written(last, folder)
        beside = self.items, self.item_names
        like = table_of(folder / last.folder, manifest, *beside, named="").annotate(report=report)
        finish(folder, like, report, self.lineage, entries)
        return like, entries

    @cached_property
    def _read_on(self) -> _Coding:
        distinct = self.runs.distinct
        scale = Scale.infer(distinct) if self.scale is None else self.scale
        return _Coding(scale, level_table(distinct, scale)[0])

    def _told(self, read_on: _Coding, coding: _Coding, found: _Found) -> ReadReport:
        report = self.report
        before = told(report.notes[: self.said], read_on.scale, coding.scale)
        suspects: tuple[str, ...] = ()
        if self.scale is None:
            held = np.concatenate([read_on.levels[found.used], found.means])
            present = np.zeros(len(coding.levels), dtype=np.bool_)
            present[places_of(held, coding.levels, coding.scale)] = True
            suspects = suspected(coding.levels, [present])
        return replace(
            report,
            scale_inferred=report.scale_inferred or self.scale is None,
            merged_duplicates=report.merged_duplicates + found.merged,
            notes=(*before, *report.notes[self.said :], *suspects),
        )

    def _write(
        self,
        folder: Path,
        cuts: NDArray[np.int64],
        coding: _Coding,
        known: _Found | None,
        done: Path | None = None,
    ) -> tuple[list[ShardEntry], _Found]:
        """Write every shard, as long as that is of use.

        `known`: what was found in all of them, where that is known. `done`: see `write`.
        """
        entries: list[ShardEntry] = []
        found, first = known, 0
        with task("writing the shards", len(cuts) - 1) as step:
            for number in range(len(cuts) - 1):
                before = None if done is None else _written_before(folder, done, number)
                if before is None:
                    looked = self._look(cuts[number], cuts[number + 1])
                    users, own = len(looked.users), looked.found
                else:
                    entries.append(before[0])
                    users, own = before[0].users, before[1]
                if known is None:
                    found = own if found is None else found + own
                assert found is not None
                if before is None and not (
                    known is None and (found.repeated or found.recodes(coding))
                ):
                    table = self._table(looked, coding, found.used, first)
                    shutil.rmtree(folder / folder_of(number), ignore_errors=True)
                    entries.append(add_shard(folder, table, number, first, self.lineage))
                    if done is not None:
                        _note_down(done, entries[-1], own)
                first += users
                step(1)
        assert found is not None
        return entries, found

    def _look(self, start: NDArray[np.int64], stop: NDArray[np.int64]) -> _Looked:
        """Sort one shard."""
        staged, users = self.runs.part(start, stop)
        read_on = self._read_on
        n_levels = len(read_on.levels)
        ranks = np.arange(len(users), dtype=np.int32), self.runs.item_rank
        level_of = places_of(self.runs.distinct, read_on.levels, read_on.scale)
        laid = lay(staged, ranks, level_of, n_levels)
        used = np.bincount(laid.cells.codes, minlength=n_levels) > 0
        if laid.same is None:
            return _Looked(users, laid, None, _Found(used))
        rows = partial(row_numbers, staged, ranks)
        if self.on_duplicate == "error":
            name = namer(laid.cells, users, self.items) if self.show_values else None
            wrong = repeated_rows(laid.same, rows(), self.locate, name)
            return _Looked(users, laid, None, _Found(used, repeated=wrong))
        merged = merge(laid.cells, laid.same, self.on_duplicate, read_on.levels)
        off = merged.off(read_on.scale)
        refused = off.any() and self.scale is not None
        found = _Found(
            merged.used(n_levels),
            np.unique(merged.means),
            int(laid.same.sum()),
            off=merged.wrong(off, rows()) if refused else Wrong(),
            is_off=bool(off.any()),
        )
        return _Looked(users, laid, merged, found)

    def _table(
        self, looked: _Looked, coding: _Coding, used: NDArray[np.bool_], first: int
    ) -> Ratings:
        cells, by_user, n = looked.laid.cells, looked.laid.by_user, len(looked.users)
        if looked.merged is not None or coding is not self._read_on:
            merged = Merged.of(cells) if looked.merged is None else looked.merged
            cells = merged.recoded(used, self._read_on.levels, coding.levels, coding.scale)
            by_user = None
        if by_user is None:
            indptr, columns, codes, days = transpose(
                cells.indptr, cells.users, cells.codes, cells.days, n
            )
        else:
            indptr, (columns, codes, days) = by_user
        table = Ratings(
            scale=coding.scale,
            users=looked.users,
            items=self.items,
            indptr=indptr,
            columns=columns,
            codes=codes,
            levels=coding.levels,
            days=days,
            first_day=self.runs.first_day or 0,
            attributes=None if self.attributes is None else self.attributes.slice(first, n),
            item_names=self.item_names,
        )
        table.__dict__["by_item"] = cells  # what the cached property would compute
        return table


def _note_down(done: Path, entry: ShardEntry, found: _Found) -> None:
    """Write down that a shard is finished; of what was found, all that one in order can have."""
    said = {
        "entry": entry.model_dump(mode="json"),
        "used": np.flatnonzero(found.used).tolist(),
        "levels": len(found.used),
        "means": found.means.tolist(),
        "merged": found.merged,
    }
    part = done / f"{entry.folder}.part"
    part.write_text(json.dumps(said), encoding="utf-8")
    part.replace(done / f"{entry.folder}.json")


def _written_before(folder: Path, done: Path, number: int) -> tuple[ShardEntry, _Found] | None:
    """Return a shard that is finished, if it still is what was written."""
    with suppress(OSError, ValueError, KeyError, TypeError, InputError):
        said = json.loads((done / f"{folder_of(number)}.json").read_text(encoding="utf-8"))
        entry = ShardEntry(**said["entry"])
        written(entry, folder)
        used = np.zeros(said["levels"], dtype=np.bool_)
        used[said["used"]] = True
        return entry, _Found(used, np.array(said["means"], dtype=np.float64), said["merged"])
    return None


def sort(
    folder: Path,
    batches: Iterable[Batch],
    *,
    scale: Scale | None,
    on_duplicate: OnDuplicate,
    locate: Callable[[int], str],
    report: ReadReport,
    show_values: bool,
    tables: Sequence[Shards | Ratings] = (),
    after: Sequence[Shards] = (),
) -> Sorted:
    """Validate rows and sort them into runs; as `starshade.ratings.build.build`.

    `folder`: for the runs; made anew where a reader starts again from the top. `tables`: go before
    the rows that are read, and `after`, to which all of it is added, before these.
    """
    shutil.rmtree(folder, ignore_errors=True)

    def located(row: int) -> str:
        return locate(row) if row >= 0 else "a rating in the store"

    runs = spill(batches, scale, located, folder, [*after, *tables])
    return Sorted(runs, scale, on_duplicate, located, report, len(report.notes), show_values)
