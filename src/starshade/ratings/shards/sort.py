"""`build` for more rows than memory holds: the same table, shard by shard."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.engine.job import Engine, Job, Tables
from starshade.engine.journal import Journal
from starshade.engine.seal import digest_of_folder
from starshade.kernels.csr import transpose
from starshade.ratings.levels import level_table, places_of
from starshade.ratings.readers.faults import remark, suspected
from starshade.ratings.readers.formats.shapes import LongTable
from starshade.ratings.readers.open import Opened
from starshade.ratings.rows.duplicates import (
    Merged,
    merge,
    namer,
    off_the_steps,
    refuse_repeated,
    repeated_rows,
    told,
    widened,
)
from starshade.ratings.rows.found import Coding, Found
from starshade.ratings.rows.laying import Laid, lay, row_numbers
from starshade.ratings.rows.wrong import Wrong
from starshade.ratings.scale import Scale
from starshade.ratings.settings import OnDuplicate
from starshade.ratings.shards.apart import runs_apart
from starshade.ratings.shards.manifest import ShardEntry, folder_of
from starshade.ratings.shards.runs import Runs, runs_of
from starshade.ratings.shards.shards import Shards
from starshade.ratings.shards.write import add_shard, finish, written
from starshade.ratings.staging import Batch
from starshade.ratings.store import table_of
from starshade.ratings.table import Ratings, ReadReport
from starshade.ratings.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class _Looked:
    """One shard, sorted: its cells, or what was made of cells that repeat."""

    users: Vocabulary
    laid: Laid
    merged: Merged | None
    found: Found


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
        self, folder: Path, shards: int, beside: Path, finished: Journal, engine: Engine
    ) -> tuple[Ratings, list[ShardEntry]]:
        """Write about so many shards, and what they have in common, into the folder of a store.

        `beside`: a folder for what is not in its place yet. `finished`: where the shards that are
        written are noted, and looked for first. Returns the last shard, with the report on all, and
        what the manifest says of each.
        """
        cuts = self.runs.cuts(shards)
        read_on = self.read_on
        firsts = [0] * len(cuts) if self.attributes is None else self.runs.first_users(cuts)
        pieces = Pieces(self, folder, beside, cuts, firsts, read_on, None)
        entries, found = pieces.write(engine, finished)
        if found.repeated:
            raise refuse_repeated(found.repeated, self.locate, self.users)
        if found.off:
            raise off_the_steps(found.off, read_on.scale, self.on_duplicate, self.locate)
        coding = read_on
        if found.recodes(read_on):
            held = np.concatenate([read_on.levels[found.used], found.means])
            scale = widened(read_on.scale, self.on_duplicate, held, off=found.is_off)
            coding = Coding(scale, level_table(held, scale)[0])
            entries, _ = replace(pieces, coding=coding, known=found).write(engine, Journal(None))
        report = self._told(read_on, coding, found)
        last = entries[-1]
        manifest = written(last, folder)
        known = self.items, self.item_names
        like = table_of(folder / last.folder, manifest, *known, named="").annotate(report=report)
        finish(folder, like, report, self.lineage, entries)
        return like, entries

    @cached_property
    def read_on(self) -> Coding:
        """What codes of rows stand for."""
        distinct = self.runs.distinct
        scale = Scale.infer(distinct) if self.scale is None else self.scale
        return Coding(scale, level_table(distinct, scale)[0])

    def _told(self, read_on: Coding, coding: Coding, found: Found) -> ReadReport:
        report = self.report
        scales = read_on.scale, coding.scale
        before = told(report.notes[: self.said], *scales, self.on_duplicate, found.tied)
        suspects: tuple[str, ...] = ()
        if self.scale is None:
            held = np.concatenate([read_on.levels[found.used], found.means])
            counts = np.zeros(len(coding.levels), dtype=np.int64)
            times = np.concatenate([found.counts[found.used], np.ones_like(found.means, int)])
            np.add.at(counts, places_of(held, coding.levels, coding.scale), times)
            suspects = suspected(coding.levels, [counts])
            if not suspects:
                noted = remark(coding.levels, counts, coding.scale)
                suspects = (noted,) if noted else ()
        return replace(
            report,
            scale_inferred=report.scale_inferred or self.scale is None,
            merged_duplicates=report.merged_duplicates + found.merged,
            notes=(*before, *report.notes[self.said :], *suspects),
        )

    def look(self, start: NDArray[np.int64], stop: NDArray[np.int64]) -> _Looked:
        """Sort one shard."""
        staged, users = self.runs.part(start, stop)
        read_on = self.read_on
        n_levels = len(read_on.levels)
        ranks = np.arange(len(users), dtype=np.int32), self.runs.item_rank
        level_of = places_of(self.runs.distinct, read_on.levels, read_on.scale)
        laid = lay(staged, ranks, level_of, n_levels)
        counts = np.bincount(laid.cells.codes, minlength=n_levels)
        if laid.same is None:
            return _Looked(users, laid, None, Found(counts))
        rows = partial(row_numbers, staged, ranks)
        if self.on_duplicate == "error":
            name = namer(laid.cells, users, self.items) if self.show_values else None
            wrong = repeated_rows(laid.same, rows(), self.locate, name)
            return _Looked(users, laid, None, Found(counts, repeated=wrong))
        merged = merge(laid.cells, laid.same, self.on_duplicate, read_on.levels)
        off = merged.off(read_on.scale)
        refused = off.any() and self.scale is not None
        found = Found(
            merged.counts(n_levels),
            np.unique(merged.means),
            int(laid.same.sum()),
            off=merged.wrong(off, rows()) if refused else Wrong(),
            is_off=bool(off.any()),
            tied=merged.tied,
        )
        return _Looked(users, laid, merged, found)

    def table(
        self, looked: _Looked, coding: Coding, used: NDArray[np.bool_], first: int
    ) -> Ratings:
        """Make a table of a shard that was looked at; `first`: its first user's number."""
        cells, by_user, n = looked.laid.cells, looked.laid.by_user, len(looked.users)
        if looked.merged is not None or coding is not self.read_on:
            merged = Merged.of(cells) if looked.merged is None else looked.merged
            cells = merged.recoded(used, self.read_on.levels, coding.levels, coding.scale)
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


_BESIDE = "unplaced-"


@dataclass(frozen=True, eq=False)
class Pieces:
    """Shards to be written, as jobs go through them (`starshade.engine.job.Sharded`).

    `cuts`: see `Runs.cuts`. `first_users`: the number of each one's first user, where something is
    known of users. `known`: what was found in all of them, where that is known. `before`: what is
    to be said of those that are written, by number.
    """

    rows: Sorted
    folder: Path
    beside: Path
    cuts: NDArray[np.int64]
    first_users: list[int]
    coding: Coding
    known: Found | None
    before: Mapping[int, bytes] = field(default_factory=dict)

    @property
    def keys(self) -> list[str]:
        """The same rows have the same lineage, and are looked at twice at most."""
        again = "" if self.known is None else " again"
        return [f"{self.rows.lineage} {len(self)} {number}{again}" for number in range(len(self))]

    def __len__(self) -> int:
        return len(self.cuts) - 1

    def shard(self, number: int, /) -> tuple[Pieces, int]:
        """Return a shard to be written."""
        return self, number

    def bytes_of(self, _number: int, /) -> int:
        """Return 0: one is written after the other, and shards are cut for that."""
        return 0

    def write(self, engine: Engine, finished: Journal) -> tuple[list[ShardEntry], Found]:
        """Write every shard, as long as that is of use; returns what was found in all."""
        for left in self.beside.glob(f"{_BESIDE}*"):  # by one that was killed
            shutil.rmtree(left)
        pieces = replace(self, before=self._before(finished))
        job = Job("writing the partitions", _write_piece, threaded=True)
        entries: list[ShardEntry] = []
        found, first = Found(np.zeros(len(self.rows.read_on.levels), dtype=np.bool_)), 0
        for number, answer in enumerate(engine.run(job, pieces, {})):
            said = answer["said"].tobytes()
            entry, own, _ = _heard(said)
            found += own
            if entry is not None:
                if finished.folder is not None and number not in pieces.before:
                    finished.put(entry.folder, said)
                entries.append(entry.model_copy(update={"first_user": first}))
                first += entry.users
        return entries, found if self.known is None else self.known

    def _before(self, finished: Journal) -> dict[int, bytes]:
        """Return what is to be said of shards that still are what was written."""
        before: dict[int, bytes] = {}
        for number in range(len(self)):
            said = finished.get(folder_of(number))
            with suppress(OSError):
                if said and digest_of_folder(self.folder / folder_of(number)) == _heard(said)[2]:
                    before[number] = said
        return before

    def write_one(self, number: int, first: int) -> bytes:
        """Write a shard, unless it was written before; returns what is to be said of it."""
        if number in self.before:
            return self.before[number]
        looked = self.rows.look(self.cuts[number], self.cuts[number + 1])
        own, entry, digest = looked.found, None, ""
        if self.known is not None or not (own.repeated or own.recodes(self.coding)):
            used = (self.known or own).used
            table = self.rows.table(looked, self.coding, used, first)
            entry = self._place(table, number)
            digest = digest_of_folder(self.folder / entry.folder)
        return _said(entry, own, digest)

    def _place(self, table: Ratings, number: int) -> ShardEntry:
        """Write a shard beside its place and move it there: it may be written twice at once."""
        beside = self.beside / f"{_BESIDE}{secrets.token_hex(8)}"
        beside.mkdir(mode=0o700)
        try:
            entry = add_shard(beside, table, number, 0, self.rows.lineage)
            place = self.folder / entry.folder
            shutil.rmtree(place, ignore_errors=True)
            try:
                (beside / entry.folder).rename(place)
            except OSError:  # another that writes the same was quicker
                if not place.exists():
                    raise
        finally:
            shutil.rmtree(beside, ignore_errors=True)
        return entry


def _write_piece(
    shard: tuple[Pieces, int], first: int, _settings: Mapping[str, Any], _tables: Tables
) -> Tables:
    pieces, number = shard
    return {"said": np.frombuffer(pieces.write_one(number, first), dtype=np.uint8)}


def _said(entry: ShardEntry | None, found: Found, digest: str) -> bytes:
    written_as = None if entry is None else entry.model_dump(mode="json")
    return json.dumps({"entry": written_as, "found": found.plain(), "digest": digest}).encode()


def _heard(said: bytes) -> tuple[ShardEntry | None, Found, str]:
    of = json.loads(said)
    entry = None if of["entry"] is None else ShardEntry(**of["entry"])
    return entry, Found.of_plain(of["found"]), of["digest"]


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
    engine: Engine | None = None,
) -> Sorted:
    """Validate rows and sort them into runs; as `starshade.ratings.build.build`.

    `folder`: for the runs; made anew where a reader starts again from the top. `tables`: go before
    the rows that are read, and `after`, to which all of it is added, before these. `engine`: who
    reads files that can be read apart; None: all are read in order.
    """
    shutil.rmtree(folder, ignore_errors=True)
    located, runs = partial(_located, locate), None
    before = [*after, *tables]
    table = batches.table if isinstance(batches, Opened) else None
    if engine is not None and isinstance(table, LongTable) and not before:
        runs = runs_apart(table, scale, folder, engine)
    if runs is None:
        runs = runs_of(batches, scale, located, folder, before)
    return Sorted(runs, scale, on_duplicate, located, report, len(report.notes), show_values)


def _located(locate: Callable[[int], str], row: int) -> str:
    return locate(row) if row >= 0 else "a rating in the store"
