"""The part of the original ratings that a release speaks about."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError
from starshade.kernels.csr import keep_rows
from starshade.plain import counted
from starshade.ratings.levels import on_scale
from starshade.ratings.table import Ratings
from starshade.release.origin.same import refuse_other_ratings
from starshade.release.origin.strangers import refuse_strange_records
from starshade.release.table import Release

__all__ = ["refuse_strangers", "released_part", "released_users"]

_ASKED = 100  # users who are looked up
_CELLS = 1 << 20  # of the release, looked at at once
_ADVICE = "Give the ratings that the release was made from, read with the same options."


def released_part(release: Release, original: Ratings) -> Ratings:
    """Return the released items of the original, in the same order, and the users left there.

    Parameters
    ----------
    release : Release
    original : Ratings
        The table that the release was made from, or one that contains it.

    Raises
    ------
    ConfigError
        A released item is not in `original`, a rating is off the release's scale (but for
        layout "record"), or the release was made of other ratings (`refuse_strangers`).
    """
    part, scale = _same_items(release, original), release.scale
    # where ratings were moved or people left out, some may lie beyond what is published
    moved = release.manifest.layout == "record"
    if not moved or scale.contains(part.levels[np.unique(part.codes)]).all():
        part = on_scale(part, scale)
    refuse_strangers(release, part)
    return part


def released_users(release: Release, original: Ratings) -> Ratings:
    """Return the released items of the original, and the users who became its records.

    Raises
    ------
    ConfigError
        See `released_part`; the receipt's users, or what they rated, are others than those of the
        ratings, or there are more or fewer users than records and users who were left out.
    """
    part = released_part(release, original)
    deleted = release.manifest.users_deleted
    kept = part
    if release.private is not None and release.private.link.users != part.users:
        place = part.users.indices(release.private.link.users)
        if not deleted or (place < 0).any():
            raise ConfigError(
                "the receipt's users are not those who rated the released items in these ratings",
                advice=_ADVICE,
            )
        kept = part.keep_users(place)
    if part.n_users != release.n_records + deleted:
        left_out = f" and left out {counted(deleted, 'user')}" if deleted else ""
        raise ConfigError(
            f"{counted(part.n_users, 'user')} rated the released items in these "
            "ratings, but the release "
            f"has {counted(release.n_records, 'record')}{left_out}: it was not made of them",
            advice=_ADVICE,
        )
    refuse_other_ratings(release, original, kept)
    return kept


def refuse_strangers(release: Release, original: Ratings) -> None:
    """Refuse ratings that a release cannot have been made of.

    Generalized cells hold the truth of everybody in them, so every user fits some class on the
    items that both have. Up to 100 users, evenly spread, are looked up. For layout "record" see
    `refuse_strange_records`.

    Raises
    ------
    ConfigError
        No item in common, a user who fits no class, or a record that nobody's ratings can be.
    """
    if release.manifest.layout == "profile":
        return  # means of ratings are nobody's
    common = release.classes.items.indices(original.items)  # place of each item, or -1
    if not (common >= 0).any():
        raise ConfigError("the release and the ratings have no item in common", advice=_ADVICE)
    if release.manifest.layout == "record":
        refuse_strange_records(release, original, common)
        return
    rated = np.flatnonzero(np.bincount(_rows(original)[common[original.columns] >= 0]))
    asked = rated[np.unique(np.linspace(0, len(rated) - 1, min(_ASKED, len(rated)), dtype=int))]
    certain = _certain_cells(release, common)
    strangers = sum(
        not _fits_some_class(release, original, user, common, certain.copy()) for user in asked
    )
    # a table with more users than the release has may hold some who were not released
    if strangers and (len(rated) <= release.n_records or strangers == len(asked)):
        raise ConfigError(
            f"{strangers} of {len(asked)} users looked up in the ratings fit no class of the "
            "release: it was not made of them",
            advice=_ADVICE,
        )


def _rows(ratings: Ratings) -> NDArray[np.int64]:
    return np.repeat(np.arange(ratings.n_users), ratings.user_support)


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


def _same_items(release: Release, original: Ratings) -> Ratings:
    items = release.classes.items
    if items == original.items:
        return original.drop_empty_users()
    indices = original.items.indices(items)
    unknown = int((indices < 0).sum())
    if unknown:
        raise ConfigError(
            f"{unknown:,} of the release's {counted(len(items), 'item')} are "
            "not in the original ratings",
            advice=_ADVICE,
        )
    return original.keep_items(indices)
