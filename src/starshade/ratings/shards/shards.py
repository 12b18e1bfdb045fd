"""`Shards`: a sharded store, opened; its shards one by one, as `Ratings`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade import budget
from starshade.arguments import typed
from starshade.errors import ConfigError, InputError, OutputError
from starshade.files.side import STORE_MANIFEST, read_side
from starshade.naming import aside
from starshade.progress import announced, task
from starshade.ratings.levels import code_type
from starshade.ratings.places.atomic import mark_of, sweep_beside
from starshade.ratings.places.checked import AGAIN, check_files, load
from starshade.ratings.readers.beside import attach_names
from starshade.ratings.rows.laying import Cells
from starshade.ratings.scale import Scale
from starshade.ratings.settings import OnDuplicate
from starshade.ratings.shards.manifest import (
    MANIFEST,
    PER_RATING,
    ShardEntry,
    ShardsManifest,
    checksum_of,
)
from starshade.ratings.store import MANIFEST as OF_SHARD
from starshade.ratings.store import (
    Manifest,
    in_words,
    load_items,
    refuse_no_table,
    refuse_other_levels,
    refuse_unlike,
    stored_report,
    table_of,
)
from starshade.ratings.table import ByItem, Ratings, ReadReport
from starshade.ratings.vocabulary import Vocabulary

_AS_IT_WAS = f"Restore the folder from a copy, or: {AGAIN[0].lower()}{AGAIN[1:]}"


@dataclass(frozen=True, eq=False)
class Shards:
    """A partitioned store: what all partitions share, and each partition on demand.

    The ids of the users are in the partitions only.

    Attributes
    ----------
    path : Path
        The folder.
    items : Vocabulary
    item_names : tuple of str or None
    levels : ndarray of float64, shape (n_levels,)
        As in `Ratings`, the same in every shard.
    named : str
        What it is called where it is told what was read; empty: by its path.
    """

    path: Path
    manifest: ShardsManifest
    items: Vocabulary
    item_names: tuple[str, ...] | None
    levels: NDArray[np.float64]
    named: str = ""
    _checked: dict[str, str] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.manifest.shards)

    def __repr__(self) -> str:
        return (
            f"Shards({len(self):,} of {self.n_users:,} users x {self.n_items:,} items, "
            f"{self.n_ratings:,} ratings, scale {self.scale})"
        )

    @property
    def scale(self) -> Scale:
        """Of the ratings."""
        return Scale(*self.manifest.scale)

    @property
    def n_users(self) -> int:
        """Users of all partitions."""
        return self.manifest.users

    @property
    def n_items(self) -> int:
        """Items, those without a rating included."""
        return self.manifest.items

    @property
    def n_ratings(self) -> int:
        """Ratings of all partitions."""
        return self.manifest.ratings

    @property
    def has_days(self) -> bool:
        """Whether any rating may carry a day."""
        return self.manifest.dated

    def without_days(self) -> Shards:
        """Return the store as one without dates; an opened partition still has its days."""
        return replace(self, manifest=self.manifest.model_copy(update={"dated": False}))

    @property
    def first_day(self) -> int:
        """Day number (since 1970-01-01) that 0 stands for in the days."""
        return self.manifest.first_day

    @property
    def lineage(self) -> str:
        """Random id of the data set."""
        return self.manifest.lineage

    @property
    def report(self) -> ReadReport:
        """What reading found and decided."""
        return stored_report(self.manifest.report, self.named or str(self.path))

    @property
    def first_users(self) -> list[int]:
        """The number of each partition's first user among all."""
        return [entry.first_user for entry in self.manifest.shards]

    @property
    def keys(self) -> list[str]:
        """Keys of the partitions: another content has another key."""
        return [entry.checksum for entry in self.manifest.shards]

    def bytes_of(self, number: int) -> int:
        """Return the largest number of bytes of memory that work on a partition takes."""
        return PER_RATING * self.manifest.shards[number].ratings

    @typed
    def shard(self, number: int) -> Ratings:
        """Open a partition, memory-mapped; its user 0 is number ``first_users[number]`` among all.

        Raises
        ------
        InputError
            It is missing or damaged, or is not the partition that was written.
        """
        entry = self.manifest.shards[number]
        folder = self.path / entry.folder
        if not (folder / OF_SHARD).is_file():
            part = f", except {OF_SHARD}" if folder.is_dir() else ""
            raise InputError(f"{folder}: this partition is missing{part}", advice=_AS_IT_WAS)
        with in_words(folder):
            text = read_side(folder / OF_SHARD, STORE_MANIFEST)
            if checksum_of(text) != entry.checksum:
                raise self._stranger(folder, text)
            manifest = Manifest.from_json(text, str(folder))
            mark = mark_of(str(folder))
            if self._checked.get(entry.folder) != mark:
                check_files(folder, manifest.files)
            table = table_of(folder, manifest, self.items, self.item_names, named=str(folder))
            if self._checked.get(entry.folder) != mark:
                self._refuse_other(entry, table)
                self._checked[entry.folder] = mark
            return table

    def _refuse_other(self, entry: ShardEntry, table: Ratings) -> None:
        """Raise ValueError where a shard is no table, or not one of this store."""
        refuse_no_table(table)
        held = table.n_users, table.n_ratings, table.scale, table.first_day
        if held != (entry.users, entry.ratings, self.scale, self.first_day):
            raise ValueError("a partition of another store")
        if not np.array_equal(table.levels, self.levels):
            raise ValueError("levels of another store")
        if self.has_days and not table.has_days:
            raise ValueError("no days")

    def attributes(self) -> Any:
        """Return the personal attributes of all users, as `Ratings` has them, or None."""
        if not self.manifest.attributes:
            return None
        return _joined([self.shard(number).attributes for number in range(len(self))])

    def sorted_by(self, make: Callable[..., Any], on_duplicate: OnDuplicate) -> Any:
        """Return the result of `starshade.ratings.shards.sort.sort` for the same table.

        `on_duplicate`: where it is added to another one.
        """
        made = make(
            iter(()),
            scale=self.scale,
            on_duplicate=on_duplicate,
            locate=str,
            report=self.report,
            show_values=False,
            tables=[self],
        )
        made = made.annotate(attributes=self.attributes(), lineage=self.lineage)
        if self.item_names is None:
            return made
        return attach_names(made, dict(zip(self.items, self.item_names, strict=True)))

    def _stranger(self, folder: Path, text: bytes) -> InputError:
        """Say what lies where a shard should."""
        found = Manifest.from_json(text, str(folder))
        twice = [e.folder for e in self.manifest.shards if e.checksum == checksum_of(text)]
        what = "changed after the store was opened or written"
        if twice:
            what = f"is a copy of {twice[0]} and lacks its own users"
        elif found.lineage != self.lineage:
            what = "belongs to another store"
        return InputError(f"{folder}: this partition {what}", advice=_AS_IT_WAS)


@announced("opening the store")
def open_shards(path: str | Path) -> Shards:
    """Open a partitioned store; partitions are opened and checked one by one, on demand.

    Raises
    ------
    InputError
        It is damaged, of another format, or not a partitioned store.
    """
    path = Path(path)
    with suppress(OSError, OutputError):  # as by a conversion that was killed at its very end
        sweep_beside(path)
    with in_words(path):
        manifest = ShardsManifest.from_json(read_side(path / MANIFEST, STORE_MANIFEST), str(path))
        _refuse_gaps(path, manifest)
        check_files(path, manifest.files)
        items, names = load_items(path, manifest.files)
        refuse_unlike(items)
        if len(items) != manifest.items or len(names or items) != len(items):
            raise ValueError("items of another store")
        store = Shards(path, manifest, items, names, load(path, "levels"))
        refuse_other_levels(store.levels, store.scale)
        assert store.report is not None  # whatever it says, it can be read
        return store


def _refuse_gaps(path: Path, manifest: ShardsManifest) -> None:
    entries: tuple[ShardEntry, ...] = manifest.shards
    if len({entry.folder for entry in entries}) < len(entries):
        raise InputError(f"{path}: its manifest names a partition twice", advice=AGAIN)
    known = {entry.folder for entry in entries}
    for folder in sorted(path.glob("shard-*")):
        if folder.name not in known:
            raise InputError(
                f"{folder}: does not belong to this store",
                advice="Remove it from the folder. To add ratings, use `starshade data convert "
                "RATINGS --append STORE --out NEW`.",
            )
    at = 0
    for entry in entries:
        if entry.first_user != at:
            raise ValueError("users between the partitions")
        at += entry.users
    if at != manifest.users or sum(e.ratings for e in entries) != manifest.ratings:
        raise ValueError("counts of another store")


def cell_bytes(shards: Shards) -> int:
    """Return the bytes that a rating takes in memory, by user and by item."""
    code = np.dtype(code_type(len(shards.levels))).itemsize
    return 2 * (4 + code + (2 if shards.has_days else 0))


def table_bytes(shards: Shards) -> int:
    """Return the bytes of memory that all shards take as one table."""
    return cell_bytes(shards) * shards.n_ratings + 64 * shards.n_users


@announced("loading the partitions")
def gather(shards: Shards) -> Ratings:
    """Return all shards as one table, in memory.

    Raises
    ------
    ConfigError
        The memory that may be used does not hold it.
    """
    needs = table_bytes(shards)
    if needs > budget.memory():
        raise ConfigError(
            f"{shards.path}: {shards.n_ratings:,} ratings in {len(shards):,} partitions take "
            f"{budget.amount(needs)} as one table; {budget.amount(budget.memory())} may be used",
            advice=f"Allow more memory{aside('memory')} if the machine has it. These work "
            "partition by partition: `starshade data describe`, `starshade attack` (most "
            "attacks on single people), `starshade check` (most models), `starshade "
            "anonymize` with predictive, `starshade measure`, `starshade audit`.",
        )
    return _gathered(shards)


def _gathered(shards: Shards) -> Ratings:
    indptr = np.zeros(shards.n_users + 1, dtype=np.int64)
    columns, codes, days = _room(shards, shards.n_ratings)
    integers: list[NDArray[np.int64]] = []
    texts: list[str] = []
    support = np.zeros(shards.n_items, dtype=np.int64)
    at = 0
    for number, first in enumerate(shards.first_users):
        part = shards.shard(number)
        here = slice(at, at + part.n_ratings)
        indptr[first + 1 : first + 1 + part.n_users] = part.indptr[1:] + at
        columns[here], codes[here] = part.columns, part.codes
        if days is not None and part.days is not None:
            days[here] = part.days
        support += np.diff(part.by_item.indptr)
        integers.append(part.users.integers)
        texts += part.users.texts
        at += part.n_ratings
    table = Ratings(
        scale=shards.scale,
        users=Vocabulary(np.concatenate(integers), texts),
        items=shards.items,
        indptr=indptr,
        columns=columns,
        codes=codes,
        levels=shards.levels,
        days=days,
        first_day=shards.first_day,
        attributes=shards.attributes(),
        item_names=shards.item_names,
        lineage=shards.lineage,
        report=shards.report,
    )
    # what the cached property would compute
    table.__dict__["by_item"] = _by_item(shards, support)
    return table


def _by_item(shards: Shards, support: NDArray[np.int64]) -> ByItem:
    """Put the shards' cells by item behind each other, item by item: users stay ascending."""
    indptr = np.concatenate([[0], np.cumsum(support)])
    users, codes, days = _room(shards, int(indptr[-1]))
    place = indptr[:-1].copy()
    with task("merging the partitions", len(shards)) as step:
        for number, first in enumerate(shards.first_users):
            part = shards.shard(number).by_item
            sizes = np.diff(part.indptr)
            at = np.repeat(place - part.indptr[:-1], sizes) + np.arange(len(part.users))
            users[at], codes[at] = part.users + np.int32(first), part.codes
            if days is not None and part.days is not None:
                days[at] = part.days
            place += sizes
            step(1)
    return ByItem(indptr, users, codes, days)


def _room(shards: Shards, n: int) -> Cells:
    code = code_type(len(shards.levels))
    days = np.empty(n, dtype=np.uint16) if shards.has_days else None
    return np.empty(n, dtype=np.int32), np.empty(n, dtype=code), days


def _joined(tables: list[Any]) -> Any:
    import pyarrow as pa

    return pa.concat_tables(tables)
