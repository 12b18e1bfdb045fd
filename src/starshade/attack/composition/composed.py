"""Counts of a composition of several releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.attack.composition.cells import Together, cells_together
from starshade.attack.composition.contents import Changes
from starshade.attack.composition.kept import crowds
from starshade.attack.composition.people import Joint, Part, link_of
from starshade.attack.view import look, roles_of
from starshade.errors import ConfigError
from starshade.naming import aside
from starshade.plain import counted
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import union
from starshade.release.profiles import Profiles
from starshade.release.table import Link, Release


@dataclass(frozen=True)
class Counts:
    """Counts of the people in one release, or in any of several.

    `people`, `classes`, `smallest`: people, their (joint) classes, the size of the smallest.
    `people_unique`, `people_below_k`: people in a class of one, and in a class of fewer than k
    (None: no k is claimed). `cells`, `cells_certain`, `people_certain`: pairs of person and item
    with a possible rating, pairs with one possible rating, and people who have such a pair; None
    where no cell holds true ratings.
    """

    people: int
    classes: int
    smallest: int
    people_unique: int
    people_below_k: int | None
    people_certain: int | None
    cells: int | None
    cells_certain: int | None


@dataclass(frozen=True, eq=False)
class Composed:
    """A composition of several releases of the same people.

    `parts`: the releases, oldest first. `joint`: the joint classes. `together`: their cells; None
    where no release has cells that hold what is true. `crowds` (joint classes,): among how many the
    people of each hide (`starshade.attack.composition.kept`). `k`: a joint class is counted below.
    `counts`, `each`: of all together, and of each release alone. `in_all`: people who are in every
    release. `items`, `common_items`: in any, and in every release. `changes`: as they were taken to
    be.
    """

    parts: tuple[Part, ...]
    joint: Joint
    together: Together | None
    crowds: NDArray[np.int64]
    k: int | None
    counts: Counts
    each: tuple[Counts, ...]
    in_all: int
    items: int
    common_items: int
    changes: Changes

    @property
    def by_absence(self) -> tuple[int, int | None]:
        """Size of the smallest class by classes and absences, and people below k.

        For an adversary who knows who is missing from which release: each set of absences counts
        separately, and dummy records do not count.
        """
        sizes, k = self.joint.sizes, self.k
        return int(sizes.min()), None if k is None else int(sizes[sizes < k].sum())


def composition_of(
    releases: Sequence[Release],
    original: Ratings,
    changes: Changes = "none",
    *,
    link: Link | None = None,
    k: int | None = None,
) -> Composed:
    """Count the composition of several releases of the same people.

    People are known by their original ids; who is where is known from the releases' links.

    Parameters
    ----------
    releases : sequence of Release
        Each with its private key file, in order of publication.
    original : Ratings
        The ratings of the last release.
    changes : {"none", "added", "revised"}
        Changes between two releases: none; ratings were added; ratings were added and others
        revised. Ratings are never withdrawn.
    link : Link, optional
        Link of the last release; None: the one that it carries.
    k : int, optional
        Joint classes smaller than k are counted; None: the smallest claimed k.

    Raises
    ------
    ConfigError
        A release without a link, a link or ratings that do not belong to it, one that continues a
        release which does not stand before it, ratings that changed otherwise than `changes` says,
        or too little memory.
    """
    *earlier, newest = releases
    _refuse_broken_chain(releases)
    link = link_of(newest, link)
    links = [link_of(release) for release in earlier]
    _refuse_foreign(newest, original, link)
    if changes == "none":
        _refuse_changed(earlier, original, links)
    parts = (*map(Part.of, earlier), Part.of(newest, link))
    joint, scale, together = Joint.of(parts), newest.scale, None
    if k is None:
        k = min((part.k for part in parts if part.k is not None), default=None)
    if any(part.tells(scale) for part in parts):
        together = cells_together(parts, joint, scale, changes)
        _refuse_impossible(together, joint, changes)
    items = union([part.items for part in parts])
    common = np.all([part.items.indices(items) >= 0 for part in parts], axis=0)
    return Composed(
        parts=parts,
        joint=joint,
        together=together,
        crowds=(crowd := crowds(parts, joint)),
        k=k,
        counts=_of_all(joint, crowd, together, k),
        each=tuple(_of_one(part, k, part.tells(scale)) for part in parts),
        in_all=int(joint.sizes[(joint.classes >= 0).all(axis=1)].sum()),
        items=len(items),
        common_items=int(common.sum()),
        changes=changes,
    )


def chain_break(releases: Sequence[Release]) -> int | None:
    """Return the place of the first that continues a release which does not stand before it."""
    own = [each.private for each in releases]
    names = [None if each is None else each.release for each in own]
    after = [None if each is None or each.chain is None else each.chain.after for each in own]
    return next(
        (j for j, last in enumerate(after) if last is not None and last not in names[:j]), None
    )


def _refuse_broken_chain(releases: Sequence[Release]) -> None:
    """Refuse some releases of a chain without those that they continue, or in another order."""
    j = chain_break(releases)
    if j is not None:
        raise ConfigError(
            f"earlier releases: number {j + 1} of {len(releases)} continues a release that is not "
            "listed before it; composition needs the whole chain",
            advice="Name every release of the chain, the oldest first, each with its private key "
            f"file{aside('earlier')}.",
            setting="earlier",
        )


def _refuse_foreign(release: Release, original: Ratings, link: Link) -> None:
    """Refuse a link that does not belong to the ratings."""
    see = roles_of if isinstance(release.classes, Profiles) else look
    see(release, original, link)


def _refuse_changed(releases: Sequence[Release], original: Ratings, links: Sequence[Link]) -> None:
    """Refuse earlier releases that were made of other ratings than the last one."""
    for release, link in zip(releases, links, strict=True):
        try:
            _refuse_foreign(release, original, link)
        except ConfigError as error:
            raise ConfigError(
                f"an earlier release, if ratings did not change: {error.message}",
                advice="Give the private key file that belongs to it, or state how ratings changed"
                f"{aside('changes', 'revised')}.",
            ) from None


def _refuse_impossible(together: Together, joint: Joint, changes: Changes) -> None:
    people = int(joint.sizes[together.impossible].sum())
    if not people:
        return
    what = "did not change" if changes == "none" else f"were only {changes}"
    raise ConfigError(
        f"the cells of {counted(people, 'person', 'people')} contradict each other if ratings "
        f"{what} between the releases",
        advice="State how they changed"
        f"{aside('changes', 'revised')}, or give the private key files of these releases.",
    )


def _of_all(
    joint: Joint, crowd: NDArray[np.int64], together: Together | None, k: int | None
) -> Counts:
    cells = pinned = with_one = None
    if together is not None:
        cells = int((np.diff(together.cells.indptr) * joint.sizes).sum())
        pinned = int((together.pinned * joint.sizes).sum())
        with_one = int(joint.sizes[together.pinned > 0].sum())
    return Counts(
        people=len(joint.of_person),
        classes=len(joint.sizes),
        smallest=int(crowd.min()),
        people_unique=int(joint.sizes[crowd < 2].sum()),
        people_below_k=None if k is None else int(joint.sizes[crowd < k].sum()),
        people_certain=with_one,
        cells=cells,
        cells_certain=pinned,
    )


def _of_one(part: Part, k: int | None, tells: bool) -> Counts:
    """Count a single release."""
    sizes, pinned = part.sizes, np.zeros(len(part.sizes), dtype=np.int64)
    cells = part.cells if tells else None
    if cells is not None:
        row = np.repeat(np.arange(cells.n_groups), np.diff(cells.indptr))
        single = cells.symbols.is_single[cells.codes]
        pinned = np.bincount(row[single], minlength=cells.n_groups)
    return Counts(
        people=len(part.users),
        classes=len(sizes),
        smallest=int(sizes.min()),
        people_unique=int(sizes[sizes < 2].sum()),
        people_below_k=None if k is None else int(sizes[sizes < k].sum()),
        people_certain=None if cells is None else int(sizes[pinned > 0].sum()),
        cells=None if cells is None else int((np.diff(cells.indptr) * sizes).sum()),
        cells_certain=None if cells is None else int((pinned * sizes).sum()),
    )
