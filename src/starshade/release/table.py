"""`Release`: what is published, and (in memory only) the private facts that never are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.errors import ConfigError
from starshade.naming import aside
from starshade.progress import note
from starshade.ratings.frames import Framed
from starshade.ratings.places.place import Where
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.band import Exact
from starshade.release.cells import Cells
from starshade.release.profiles import Profiles

if TYPE_CHECKING:
    import pyarrow as pa
    from scipy.sparse import csr_matrix

    from starshade.chart import Chart
    from starshade.ratings.shards.kept import KeptShards
    from starshade.release.manifest import Manifest


@dataclass(frozen=True, eq=False)
class Link:
    """Which record each original user became.

    `users`: original ids of the released users, canonical order. `record` (n_users,): record number
    of each, no two alike; those of 0…n-1 that nobody has are invented (`Chain`).
    """

    users: Vocabulary
    record: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Chain:
    """What a key file records of earlier releases, and which users share a class in all of them.

    `after`: SHA-256 of the ``release.json`` of the one before (empty: it was never saved); None
    for a first release. `group` (n_users,): the kept group of each linked user, numbered over all
    releases. `gone`, `gone_group`: people of earlier releases who are in this one no more, by
    original id, and their groups. `invented` (records that are nobody's,): the group of each.
    `forgotten`: the groups of people who were forgotten since, first of those who have a record
    here (`Private.forgotten`, in that order). `earlier`: how many numbers of groups the releases
    before had: those of newcomers follow; None: an earlier version wrote the key file, which does
    not say it.
    """

    after: str | None
    group: NDArray[np.int64]
    gone: Vocabulary
    gone_group: NDArray[np.int64]
    invented: NDArray[np.int64]
    forgotten: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    earlier: int | None = None

    @property
    def n_groups(self) -> int:
        """One more than the largest number of a group."""
        people = np.concatenate([self.group, self.gone_group, self.forgotten])
        return int(people.max(initial=-1)) + 1


class Part(NamedTuple):
    """Some of the original users, and what became of them and of their items.

    `item` (n_items,): where each of their items is among the released ones, else -1. `record`
    (n_users,): the record of each, else -1. Users are in canonical order, part after part.
    """

    ratings: Ratings
    item: NDArray[np.int64]
    record: NDArray[np.int64]


class Divided(Protocol):
    """A table that was anonymized, in parts, and the link."""

    @property
    def table(self) -> KeptShards:
        """The table."""

    def __call__(self) -> Iterator[Part]:
        """Open one part after the other: what is mapped is in memory as long as it is open."""


@dataclass(frozen=True, eq=False)
class Private:
    """Facts for the owner alone; they are written to the private key file only.

    `config`: everything needed, with the input, to make the same release byte for byte. `source`:
    where the ratings came from. `digest`: SHA-256 over the canonical input table. `ratings`:
    SHA-256 over the released users' ratings of the released items, by which a receipt knows them
    again (`starshade.release.folder.digest.ratings_digest`). Both empty on one just made.
    `original`: the very table that was anonymized (chosen items, users left); not written anywhere.
    The verifier needs it to check every original cell against its generalized one. `exact`: what
    the release tells in bands, in figures. `groups`: layout "record": who was put together, by
    record number; written nowhere. It tells the verifier where to look first. `release`: SHA-256 of
    the ``release.json``; empty on one just made. `chain`: of a release that continues an earlier
    one. `forgotten`: record numbers of people who were taken out of the receipt since
    (`starshade.release.folder.forget`): nobody's now, as if they had been invented. `divided`: of a
    release that is made shard by shard: opens what others have in `original` and `link`, which then
    is empty. `partitions`: how it was made: how many of its people (in canonical order) come before
    the end of each partition; of one table, the number of all. None: an earlier version wrote the
    key file, which does not say it.
    """

    link: Link
    seed: int
    config: dict[str, Any]
    source: str = ""
    digest: str = ""
    ratings: str = ""
    original: Ratings | None = None
    exact: Exact = field(default_factory=Exact)
    groups: NDArray[np.int64] | None = None
    release: str = ""
    chain: Chain | None = None
    forgotten: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    divided: Divided | None = None
    partitions: tuple[int, ...] | None = None

    @property
    def has_truth(self) -> bool:
        """Whether the table that was anonymized is at hand."""
        return self.original is not None or self.divided is not None

    def parts(self) -> Iterator[Part]:
        """Open the table that was anonymized, and the link; none where it is not at hand."""
        if self.divided is not None:
            yield from self.divided()
        elif self.original is not None:
            yield Part(self.original, np.arange(self.original.n_items), self.link.record)

    def links(self) -> Iterator[Link]:
        """Yield the link, part by part."""
        if self.divided is None:
            yield self.link
            return
        for part in self.divided():
            users = np.flatnonzero(part.record >= 0)
            yield Link(part.ratings.users.take(users), part.record[users])

    @property
    def nobodys(self) -> int:
        """Dummy records: added to pad classes, or of erased users."""
        return len(self.forgotten) + (0 if self.chain is None else len(self.chain.invented))


@dataclass(frozen=True, eq=False)
class Release(Framed):
    """A release, just made or read back.

    Attributes
    ----------
    manifest : Manifest
        What ``release.json`` says.
    classes : Cells or Profiles
        Released cells; layout "generalized": a row per class, sorted by content; "record": a
        row per record; "profile": `Profiles`, a row per class. See `cells`.
    attributes : pyarrow.Table or None
        Released personal attributes, one row per record; records of class 0 first.
    item_names : tuple of str or None
    private : Private or None
        Present on a release just made; None once it has been read back.
    groups : ndarray of int64, shape (n_records,), or None
        Layout "record" only: the group that each record was put in.
    """

    manifest: Manifest
    classes: Cells | Profiles
    attributes: pa.Table | None = None
    item_names: tuple[str, ...] | None = None
    private: Private | None = None
    groups: NDArray[np.int64] | None = None

    @property
    def n_records(self) -> int:
        """Released records."""
        return self.classes.n_records

    @property
    def items(self) -> Vocabulary:
        """The keys of the released items, in the order of ``items.parquet`` and of every column."""
        return self.classes.items

    @property
    def n_people(self) -> int | None:
        """Records of people; None where that takes the private key file."""
        if self.private is not None:
            return self.n_records - self.private.nobodys
        return self.n_records if self.manifest.dummy_records in (None, "none") else None

    @property
    def exact(self) -> Exact | None:
        """Exact figures of the bands in the manifest; None without the private facts."""
        return None if self.private is None else self.private.exact

    @property
    def class_of_record(self) -> NDArray[np.int64]:
        """The row of `classes` that each record belongs to, shape (n_records,)."""
        return np.repeat(np.arange(self.classes.n_groups), self.classes.sizes)

    @property
    def scale(self) -> Scale:
        """Scale of the ratings; what cells say may lie between its steps (layout "profile")."""
        return self.manifest.scale.to_scale()

    def cells(self, items: NDArray[np.integer] | None = None) -> Cells:
        """Return the released cells, of all items or of these indices.

        Raises
        ------
        ConfigError
            Layout "profile", and they need more memory than may be used.
        """
        kept = self.classes if items is None else self.classes.keep_items(items)
        return kept.cells() if isinstance(kept, Profiles) else kept

    @typed
    def save(self, path: Where, *, private: Where | None = None) -> None:
        """Write the release folder: all of it, verified, or nothing.

        Parameters
        ----------
        path : path
            A folder that does not exist yet.
        private : path, optional
            Where the owner's receipt goes (mode 0600); never inside the release.

        Raises
        ------
        OutputError
            The folder exists, a place cannot be written to, or `private` lies inside it.
        InternalError
            What was written does not pass the independent verifier.
        """
        from starshade.release.folder.write import write_release

        write_release(self, path, private)

    @typed
    def to_csv(self, path: Where) -> int:
        """Write the rows of `to_arrow` as text, block by block.

        A text that a spreadsheet would run as a formula, or that begins with an apostrophe, gets
        one in front.

        Returns
        -------
        int
            How many different texts were made harmless so.

        Raises
        ------
        OutputError
            The file exists or cannot be written.
        """
        from starshade.release.readable.write import write_readable

        return write_readable(self, path, "csv")[1]

    def to_scipy(self) -> tuple[csr_matrix, NDArray[np.int64]]:
        """Return the rows as a SciPy CSR matrix of ratings, and the number of records of each.

        A null has no entry; column j is the item ``items[j]``. Meant for releases whose cells are
        single numbers (layouts "profile" and "record").

        Raises
        ------
        ConfigError
            A cell has several members, or the matrix needs more memory than may be used.
        """
        from starshade.release.show import sparse_rows

        return sparse_rows(self)

    def to_csr(self) -> tuple[csr_matrix, csr_matrix]:
        """Return expected ratings and their weights as SciPy CSR matrices, classes × items.

        By the convention that all that a cell may be is equally likely, null being one of it, and
        every value of a range: the expected rating is the mean of the ratings in the cell, and the
        weight is the chance that there is one times the records of the class. So all weights
        together are the ratings to be expected in the table. Where a cell is one rating for sure
        (layouts "profile" and "record"), it is this rating and the records. A null has no entry.
        Row g is class g (layout "record": record g), column j the item ``items[j]``.

        Raises
        ------
        ConfigError
            The matrices need more memory than may be used.
        """
        from starshade.release.readable.matrix import expected_matrices

        return expected_matrices(self)

    def _rows(self) -> pa.RecordBatchReader:
        from starshade.release.readable.rows import rows_of

        if self.manifest.audience == "query":
            note("not for publication: this release may only be used behind the query service")
        return rows_of(self)

    def plot(self) -> Chart:
        """Draw the share of records by class size."""
        from starshade.release.show import release_chart

        return release_chart(self)

    def _repr_html_(self) -> str:
        from starshade.release.readable.describe import describe_release

        return describe_release(self)._repr_html_()

    def __repr__(self) -> str:
        return (
            f"Release({self.manifest.method}, {self.n_records:,} records in "
            f"{self.classes.n_groups:,} classes x {self.classes.n_items:,} items)"
        )


def chain_of(release: Release) -> Chain:
    """Return the chain of a release; of one that was made alone, its classes are the groups.

    Raises
    ------
    ConfigError
        There is no private key file.
    """
    if release.private is None:
        raise ConfigError(
            "the earlier release can be continued only with its private key file",
            advice=f"Give the key file that was written with it{aside('after_private')}.",
        )
    if release.private.chain is not None:
        return release.private.chain
    none, row = np.empty(0, dtype=np.int64), release.class_of_record.astype(np.int64)
    group, forgotten = row[release.private.link.record], row[release.private.forgotten]
    return Chain(None, group, Vocabulary(none), none, none, forgotten, earlier=0)
