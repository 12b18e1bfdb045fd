"""`Release`: what is published, and (in memory only) the private facts that never are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
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
    from starshade.release.manifest import Manifest


@dataclass(frozen=True, eq=False)
class Link:
    """Which record each original user became.

    `users`: original ids of the released users, canonical order. `record` (n_users,): record number
    of each, 0…n−1; a permutation.
    """

    users: Vocabulary
    record: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Private:
    """Facts that only the owner may hold; they go to a receipt file, and only when asked.

    `config`: everything needed, with the input, to make the same release byte for byte. `source`:
    where the ratings came from. `digest`: SHA-256 over the canonical input table. `ratings`:
    SHA-256 over the released users' ratings of the released items, by which a receipt knows them
    again (`starshade.release.folder.receipt.ratings_digest`); empty on one just made. `original`:
    the very table that was anonymized (chosen items, users left); not written anywhere. The
    verifier needs it to check every original cell against its generalized one. `exact`: what the
    release tells in bands, in figures. `groups`: layout "record": who was put together, by record
    number; written nowhere. It tells the verifier where to look first.
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


@dataclass(frozen=True, eq=False)
class Release:
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
        """Released users."""
        return self.classes.n_records

    @property
    def exact(self) -> Exact | None:
        """What the manifest tells in bands, in figures; None without the owner's private facts."""
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
    def to_csv(self, path: Where) -> None:
        """Write one row per record and cell, members spelled out; meant for small releases.

        Raises
        ------
        OutputError
            The file exists or cannot be written.
        """
        from starshade.release.show import write_csv

        write_csv(self, path)

    def to_scipy(self) -> tuple[csr_matrix, NDArray[np.int64]]:
        """Return the rows as a SciPy CSR matrix of ratings, and the records each stands for.

        A null has no entry. Meant for releases whose cells are single numbers (layouts "profile"
        and "record").

        Raises
        ------
        ConfigError
            A cell has several members, or the matrix needs more memory than may be used.
        """
        from starshade.release.show import sparse_rows

        return sparse_rows(self)

    def plot(self) -> Chart:
        """Draw how many records share a class of which size."""
        from starshade.release.show import release_chart

        return release_chart(self)

    def _repr_html_(self) -> str:
        from starshade.release.show import release_html

        return release_html(self)

    def __repr__(self) -> str:
        return (
            f"Release({self.manifest.method}, {self.n_records:,} records in "
            f"{self.classes.n_groups:,} classes x {self.classes.n_items:,} items)"
        )
