"""Evidence that ratings belong to a release: users, cells, changes, checksums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.kernels.arrays import places_in
from starshade.kernels.csr import keep_columns, keep_rows
from starshade.plain import counted
from starshade.ratings.scale import SLACK
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.folder.digest import ratings_digest
from starshade.release.table import Link, Release

# neither ever changes, and every attack on one beside the other asks
_fitting: WeakKeyDictionary[Release, WeakSet[Ratings]] = WeakKeyDictionary()


def refuse_unknown_users(release: Release, original: Ratings) -> None:
    """Refuse ratings that a release cannot have been made of; checked once per pair."""
    if release.manifest.layout == "profile":
        return  # means of ratings are nobody's
    fitting = _fitting.setdefault(release, WeakSet())
    if original not in fitting:
        _refuse_unknown_users(release, original)
        fitting.add(original)


def _refuse_unknown_users(release: Release, original: Ratings) -> None:
    common = release.classes.items.indices(original.items)  # place of each item, or -1
    if not (common >= 0).any():
        raise not_made_of("the release and the ratings share no item")
    if release.manifest.layout == "record":
        _refuse_unknown_records(release, original, common)
    else:
        refuse_misfits(release, original, common)


def refuse_changed_link(release: Release, original: Ratings, moved: Changes) -> None:
    """Refuse a link whose changes contradict what the release states."""
    unmoved = never_moved(release)
    changed = int((np.abs(moved.true - moved.shown)[unmoved[moved.item]] > SLACK).sum())
    changed += int(unmoved[moved.suppressed].sum() + unmoved[moved.invented].sum())
    stated = None if release.exact is None else release.exact.imputed_cells
    whole = moved.records == release.n_records and bool(
        (original.items.indices(release.classes.items) >= 0).all()
    )
    odd = whole and stated is not None and abs(moved.invented_share - stated) > SLACK
    if changed or odd:
        reason = (
            f"{changed:,} ratings differ where the method changes none"
            if changed
            else f"{moved.invented_share:.2%} of the released ratings are imputed, the key file "
            f"states {stated:.2%}"
        )
        raise ConfigError(
            f"{reason}: link and ratings do not belong together",
            advice="Give the ratings that the release was made from, with their original ids.",
        )


def refuse_another_making(release: Release, ends: Sequence[int] | None = None) -> None:
    """Refuse to compare a release with shadow releases that are made in another way than it was.

    A release of several partitions differs from one of the same ratings as one table, so that a
    difference to a shadow release would not be due to who is left out.

    Parameters
    ----------
    release : Release
        With its private key file; without, whoever attacks says how it was made.
    ends : sequence of int, optional
        How many of its people come before the end of each partition of what shadow releases are to
        be made of; None: it is one table.
    """
    if release.private is None:
        return
    made, whole = release.private.partitions, ends is None or len(ends) == 1
    if made is not None and (made == tuple(ends or ()) or (whole and len(made) == 1)):
        return
    if made is None:
        raise ConfigError(
            "the private key file, written by an earlier version, does not state whether the "
            "release was made of one table or of partitions",
            advice="Make the release and its key file with this version.",
        )
    many = 1 if ends is None else len(ends)
    given = "one table" if whole else counted(many, "partition")
    if len(made) == 1:
        raise ConfigError(
            f"the release was made of one table; shadow releases of {given} are not comparable",
            advice="Audit the file that the store was written from.",
        )
    cut = ", cut elsewhere," * (many == len(made))
    raise ConfigError(
        f"the release was made of {counted(len(made), 'partition')}; shadow releases of "
        f"{given}{cut} are not comparable",
        advice="Audit the store that it was made of.",
    )


def never_moved(release: Release) -> NDArray[np.bool_]:
    """Tell on which items every released rating is the true one, shape (n_items,).

    All of them where the method invents nothing, and those that a claim names as sensitive.
    """
    if release.manifest.imputed_cells is None:
        return np.ones(release.classes.n_items, dtype=np.bool_)
    named = set(release.manifest.sensitive_items)
    return np.array([key in named for key in release.classes.items], dtype=np.bool_)


def _refuse_unknown_records(release: Release, original: Ratings, common: NDArray[np.int64]) -> None:
    """Refuse ratings without enough users, or in which records have no user on unmoved items.

    On items that no rating was moved on, each record says exactly what its user's ratings say:
    as many users must say so as records do. How other ratings were moved is not told, and only
    the link can show that they fit (`refuse_changed_link`).
    """
    classes = release.cells()
    there = np.zeros(classes.n_items, dtype=np.bool_)
    there[common[common >= 0]] = True
    # where items are missing, so may be those who rated no other
    if there.all() and original.n_users < (release.n_people or 0):
        raise not_made_of(
            f"{original.n_users:,} users in the ratings, {release.n_records:,} records in the "
            "release: it was not made of them"
        )
    unmoved = there & never_moved(release)
    members = classes.symbols.members[classes.symbols.offsets[:-1]]
    on = (common >= 0) & unmoved[common]
    users = _digests(
        original.indptr, common[original.columns], original.values(), on[original.columns]
    )
    records = _digests(
        classes.indptr, classes.columns, members[classes.codes], unmoved[classes.columns]
    )
    says = np.diff(np.append(0, np.cumsum(unmoved[classes.columns]))[classes.indptr]) > 0
    strange = _without_a_match(records[says], users)
    if strange > (0 if release.private is None else release.private.nobodys):
        raise not_made_of(
            f"{strange:,} of {release.n_records:,} records match no user on items that the method "
            "does not change: the release was not made of them"
        )


def _digests(
    indptr: NDArray[np.int64],
    items: NDArray[np.integer],
    ratings: NDArray[np.float64],
    counted: NDArray[np.bool_],
) -> NDArray[np.uint64]:
    """Return a number per row that says which ratings it has on counted cells.

    Equal rows have equal numbers; different ones by chance, with a probability of 2⁻⁶⁴ each.
    """
    cell = items.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    cell += np.rint(ratings / SLACK).astype(np.int64).view(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        cell ^= cell >> np.uint64(shift)
        cell *= np.uint64(factor)
    cell[~counted] = 0
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(cell, dtype=np.uint64)])
    return np.asarray(sums[indptr[1:]] - sums[indptr[:-1]])


def _without_a_match(records: NDArray[np.uint64], users: NDArray[np.uint64]) -> int:
    what, count = np.unique(records, return_counts=True)
    known, available = np.unique(users, return_counts=True)
    place = np.minimum(np.searchsorted(known, what), max(len(known) - 1, 0))
    there = np.where(known[place] == what, available[place], 0) if len(known) else 0
    return int(np.maximum(count - there, 0).sum())


_LOOKED_UP = 100  # users who are looked up
_CELLS = 1 << 20  # of the release, looked at at once


def refuse_misfits(release: Release, original: Ratings, common: NDArray[np.int64]) -> None:
    """Refuse ratings of users who fit no class; up to 100, evenly spread, are looked up.

    `common` says where each item of the original is among the released ones, -1: it is not.
    """
    user = np.repeat(np.arange(original.n_users), original.user_support)
    rated = np.flatnonzero(np.bincount(user[common[original.columns] >= 0]))
    users = rated[np.unique(np.linspace(0, len(rated) - 1, min(_LOOKED_UP, len(rated)), dtype=int))]
    certain = _certain_cells(release, common)
    strangers = sum(
        not _fits_some_class(release, original, user, common, certain.copy()) for user in users
    )
    # a table with more users than the release has may hold some who were not released
    all_are_in = len(rated) <= (release.n_people or 0)
    if strangers and (all_are_in or strangers == len(users)):
        raise not_made_of(
            f"{strangers} of {len(users)} sampled users of the ratings fit no class of the "
            "release: it was not made of them"
        )


def _certain_cells(release: Release, common: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count each class's cells without a null member, on items that both have."""
    classes = release.cells()
    of_both = np.zeros(classes.n_items, dtype=np.bool_)
    of_both[common[common >= 0]] = True
    row = np.repeat(np.arange(classes.n_groups), np.diff(classes.indptr))
    counted = ~classes.symbols.null[classes.codes] & of_both[classes.columns]
    return np.bincount(row[counted], minlength=classes.n_groups)


def _fits_some_class(
    release: Release,
    original: Ratings,
    user: int,
    common: NDArray[np.int64],
    refusing: NDArray[np.int64],
) -> bool:
    """Tell whether one class holds all ratings of a user, and null where they have none.

    `refusing` comes in as the number of cells of each class that say "rated", and is left as
    those on items where the user has no rating.
    """
    classes, by_item = release.cells(), release.cells().by_item
    cells = slice(original.indptr[user], original.indptr[user + 1])
    items = common[original.columns[cells]]
    ratings = original.levels[original.codes[cells]][items >= 0]
    levels, level = np.unique(ratings, return_inverse=True)
    holds = classes.symbols.contains(levels)
    certain = ~classes.symbols.null
    holding = np.zeros(classes.n_groups, dtype=np.int64)
    rated = items[items >= 0]
    n_pieces = 1 + int(np.diff(by_item.indptr)[rated].sum()) // _CELLS
    for piece in np.array_split(np.arange(len(rated)), n_pieces):
        starts, rows, codes, _ = keep_rows(
            by_item.indptr, by_item.users, by_item.codes, None, rated[piece]
        )
        of_cell = np.repeat(level[piece], np.diff(starts))
        holding += np.bincount(rows[holds[of_cell, codes]], minlength=classes.n_groups)
        refusing -= np.bincount(rows[certain[codes]], minlength=classes.n_groups)
    return bool(((holding == len(ratings)) & (refusing == 0)).any())


@dataclass(frozen=True, eq=False)
class Changes:
    """What became of the ratings of the linked users, on the items that both tables have.

    `records`: linked users. `true`, `shown` (cells in both,): ratings before and after. `item`
    (cells in both,): released item of each. `suppressed`, `invented`: released items of true
    ratings without a released one, and the other way round.
    """

    records: int
    true: NDArray[np.float64]
    shown: NDArray[np.float64]
    item: NDArray[np.int32]
    suppressed: NDArray[np.int32]
    invented: NDArray[np.int32]

    @property
    def invented_share(self) -> float:
        """Share of the released ratings that are invented."""
        return len(self.invented) / max(len(self.shown) + len(self.invented), 1)


def changed_cells(release: Release, original: Ratings, link: Link) -> Changes:
    """Compare a release of layout "record" with the ratings that it was made of, or with more.

    `link`: users whom `original` lacks are left out.
    """
    classes = release.cells()
    user = original.users.indices(link.users)
    there = np.flatnonzero(user >= 0)
    item_of = classes.items.indices(original.items)
    both = item_of >= 0
    indptr, columns, codes, _ = keep_columns(
        original.indptr, original.columns, original.codes, None, both
    )
    items = item_of[both][columns].astype(np.int32)
    true = keep_rows(indptr, items, original.levels[codes], None, user[there])
    members = classes.symbols.members[classes.symbols.offsets[:-1]]
    common = np.zeros(classes.n_items, dtype=np.bool_)
    common[item_of[both]] = True
    kept = common[classes.columns]
    before = np.concatenate([[0], np.cumsum(kept)])
    shown = keep_rows(
        before[classes.indptr],
        classes.columns[kept],
        members[classes.codes[kept]],
        None,
        link.record[there],
    )
    place = places_in(true[0], true[1], shown[0], shown[1], classes.n_items)
    linked = place >= 0
    gone = np.ones(len(true[1]), dtype=np.bool_)
    gone[place[linked]] = False
    return Changes(
        records=len(there),
        true=true[2][place[linked]],
        shown=shown[2][linked],
        item=shown[1][linked],
        suppressed=true[1][gone],
        invented=shown[1][~linked],
    )


# a table never changes, and every attack on a release comes by here
_matched: WeakKeyDictionary[Ratings, set[str]] = WeakKeyDictionary()


def not_made_of(reason: str) -> ConfigError:
    """Return the error that a release was not made of the ratings given, or of more than them."""
    return ConfigError(
        reason,
        advice="Give the ratings that the release was made from, read with the same options.",
    )


def refuse_other_ratings(release: Release, original: Ratings, also: Ratings | None = None) -> None:
    """Refuse ratings other than those of the key file; checked once per table.

    A mean is nobody's rating, so on layout "profile" the released cells themselves refute little.
    What is found of `original` is found of `also`, which is part of it or the other way round.
    """
    private = release.private
    tables = [original] if also is None else [original, also]
    if private is None or not private.ratings:
        return
    if any(private.ratings in _matched.get(table, ()) for table in tables):
        return
    part = _released(original, release.classes.items, private.link.users)
    if ratings_digest(part) != private.ratings:
        raise other_ratings()
    for table in (*tables, part):
        _matched.setdefault(table, set()).add(private.ratings)


def refuse_strangers(release: Release, items: Vocabulary, released: int) -> None:
    """Refuse ratings that lack people or items of the release."""
    people = release.n_people or 0  # of a release without its receipt there is no link
    unknown = int((items.indices(release.classes.items) < 0).sum())
    for count, of, what in (
        (people - released, people, "people"),
        (unknown, release.classes.n_items, "items"),
    ):
        if count:
            raise not_made_of(
                f"{count:,} of the {of:,} {what} in the release are not in the original ratings: "
                "it was not made of them"
            )


def refuse_foreign_link(release: Release, link: Link) -> None:
    """Refuse a link of another number of records."""
    if release.n_people not in (None, len(link.record)):
        raise ConfigError(
            f"the key file links {len(link.record):,} records, the release has "
            f"{release.n_people:,}: they do not belong together"
        )


def other_ratings() -> ConfigError:
    """Return the error that these ratings are not those of the key file."""
    return not_made_of(
        "the release was made of other ratings: users and items are those of the key file, the "
        "ratings are not"
    )


def _released(original: Ratings, items: Vocabulary, users: Vocabulary) -> Ratings:
    if users == original.users and items == original.items:
        return original
    columns, rows = _places(original.items, items, "items"), _places(original.users, users, "users")
    part = original if items == original.items else original.keep_items(columns)
    rows = rows if part.users == original.users else part.users.indices(users)
    return part.keep_users(rows[rows >= 0])


def _places(among: Vocabulary, ids: Vocabulary, what: str) -> NDArray[np.int64]:
    places = among.indices(ids)
    lacking = int((places < 0).sum())
    if lacking:
        raise not_made_of(
            f"{lacking:,} of the {len(ids):,} released {what} are not in these ratings, so they "
            "cannot be compared with the key file"
        )
    return places
