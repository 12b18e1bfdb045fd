"""Joint classes: the people of the same class in every release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.kernels.fingerprint import first_equal_row
from starshade.naming import aside
from starshade.ratings.scale import Scale
from starshade.ratings.vocabulary import Vocabulary, union
from starshade.release import MEANS
from starshade.release.cells import Cells
from starshade.release.match.match import never_moved, refuse_foreign_link
from starshade.release.table import Link, Release


@dataclass(frozen=True, eq=False)
class Part:
    """One of several releases.

    `users`: who is in it, by original id. `class_of_user` (n_users,). `sizes` (n_classes,):
    records. `means`: whether cells are means of ratings, so that what is missing from one can be
    subtracted. `group_of_user` (n_users,): who was kept together over releases (else their class),
    and `nobodys` (n_groups,): dummy records in each. `items`: as released. `cells`: of its
    classes, on the items where a cell holds the true rating of everybody in it; None where there
    are none.
    """

    users: Vocabulary
    class_of_user: NDArray[np.int64]
    sizes: NDArray[np.int64]
    means: bool
    group_of_user: NDArray[np.int64]
    nobodys: NDArray[np.int64]
    items: Vocabulary
    cells: Cells | None
    k: int | None  # as claimed

    @classmethod
    def of(cls, release: Release, link: Link | None = None) -> Part:
        """Return a release with its link; None: the one that it carries.

        On layout "record" equal records are a class, and only cells that were never moved hold;
        a mean or a prediction (layout "profile") never does.
        """
        link = link_of(release, link)
        classes, row = release.classes, release.class_of_record
        cells = None if not isinstance(classes, Cells) else classes
        if cells is not None and release.manifest.layout == "record":
            cells, row = _equal_records(cells, never_moved(release))
        own = release.private if release.private and release.private.link is link else None
        group, nobodys = row[link.record], row[:0] if own is None else row[own.forgotten]
        if own is not None and own.chain is not None:
            group, forgotten = own.chain.group, own.chain.forgotten[: len(own.forgotten)]
            nobodys = np.concatenate([own.chain.invented, forgotten])
        return cls(
            users=link.users,
            class_of_user=row[link.record],
            sizes=np.bincount(row).astype(np.int64),
            means=release.manifest.profile in MEANS,
            group_of_user=group,
            nobodys=np.bincount(nobodys, minlength=int(group.max(initial=-1)) + 1),
            items=classes.items,
            cells=cells,
            k=release.manifest.claimed_k,
        )

    def tells(self, scale: Scale) -> bool:
        """Whether it has cells that hold true ratings of this scale."""
        return self.cells is not None and self.cells.symbols.scale == scale


def link_of(release: Release, link: Link | None = None) -> Link:
    """Return the link from people to records; ConfigError where there is none."""
    if link is None and release.private is not None:
        link = release.private.link
    if link is None:
        raise ConfigError(
            "composition is not computable: it needs the private key file of every release",
            advice=f"Give the private key files of this release{aside('private')} and of the "
            f"earlier ones{aside('earlier_private')}.",
        )
    refuse_foreign_link(release, link)
    return link


def _equal_records(
    records: Cells, true: NDArray[np.bool_]
) -> tuple[Cells | None, NDArray[np.int64]]:
    """Return a row per class of equal records, on some items, and the class of each record."""
    first = first_equal_row(records.indptr, records.columns, records.codes, None)
    rows, number = np.unique(first, return_inverse=True)
    if not true.any():
        return None, number
    cells = records.keep_rows(rows).keep_items(np.flatnonzero(true))
    return replace(cells, sizes=np.bincount(number).astype(np.int64)), number


@dataclass(frozen=True, eq=False)
class Joint:
    """Joint classes: people of the same class, or absent, in every release.

    `people`: who is in any of them, by original id. `of_person` (n_people,). `classes` (joint
    classes, releases): the class in each, -1 for absent. `sizes` (joint classes,): people.
    """

    people: Vocabulary
    of_person: NDArray[np.int64]
    classes: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, parts: Sequence[Part]) -> Joint:
        """Find them."""
        people = union([part.users for part in parts])
        of_person = np.zeros(len(people), dtype=np.int64)
        classes = np.full((len(people), len(parts)), -1, dtype=np.int64)
        for j, part in enumerate(parts):
            classes[people.indices(part.users), j] = part.class_of_user
            key = of_person * (len(part.sizes) + 1) + classes[:, j] + 1
            of_person = np.unique(key, return_inverse=True)[1]
        _, someone, sizes = np.unique(of_person, return_index=True, return_counts=True)
        return cls(people, of_person, classes[someone], sizes.astype(np.int64))
