"""From groups and their profiles to a release of layout "profile": classes, order, the link."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from starshade.errors import ConfigError, InternalError
from starshade.ratings.shards.kept import KeptShards
from starshade.ratings.table import Ratings
from starshade.release import MEANS, ProfileKind
from starshade.release.attributes import in_order
from starshade.release.build import Provenance, with_invented
from starshade.release.profiles import Profiles, released_levels
from starshade.release.table import Chain, Divided, Link, Release

_DUST = 1e-3  # of a step, by which a released mean may be further away than half of one


def profile_release(
    original: Ratings,
    levels: NDArray[np.uint8],
    groups: NDArray[np.int64],
    made: Provenance,
    *,
    step: float,
    profile: ProfileKind,
    chain: Chain | None = None,
) -> Release:
    """Make a release of layout "profile" out of groups and one profile for each.

    Groups of equal profiles become one class; classes are sorted by content: by the level of the
    first item, then the second, null below every rating. Records are numbered 0…n-1 in the order
    of their classes; within a class they have no difference that would need one.

    What the profiles rest on is counted here: ``imputed_cells`` (cells that are not null and
    that nobody of the class rated; with profile "simple" also those that fewer rated than
    ``config["min_raters"]``, default 1, or that are not the mean of those who did) and
    ``single_rater_cells`` (cells that one member rated), both as shares of the cells that are
    not null. Whether a rating is disclosed does not apply: a cell is a mean or a prediction.

    `original`: the table that was anonymized: the released items, the users left on them. `levels`
    (n_groups, n_items): the profile of each group (`profiles.quantize`). It is taken over: its rows
    are put in order where they are, which saves a second copy. `groups` (n_users,): group of each
    user, 0…G-1, none empty. `profile`: what a cell is; only "simple" has nulls. `chain`: of a
    release that continues an earlier one: the groups have the records as well that it invents.
    """
    ratings = released_levels(original.scale, step)
    _check(original, levels, groups, profile, len(ratings))
    class_of_group = into_classes(levels)
    class_of_record = class_of_group[with_invented(groups, chain)]
    sizes = np.bincount(class_of_record).astype(np.int64)
    classes = Profiles(original.items, sizes, levels[: len(sizes)], original.scale, step)
    _, record = in_order(class_of_record, None)
    least = max(1, made.config.get("min_raters", 1)) if profile == "simple" else 0
    counted = rests_on(original, classes, class_of_group[groups], least).sum(axis=0)
    link = Link(original.users, record[: original.n_users])
    return released(original, classes, link, len(class_of_group), counted, made, profile, chain)


def released(
    original: Ratings | KeptShards,
    classes: Profiles,
    link: Link,
    groups: int,
    counted: NDArray[np.int64],
    made: Provenance,
    profile: ProfileKind,
    chain: Chain | None = None,
    divided: Divided | None = None,
) -> Release:
    """Return the release of these classes; `counted` (3,): of `rests_on`, over all of them."""
    shown, single, invented = counted.tolist()
    return made.release(
        original,
        link,
        classes.n_records,
        classes,
        groups,
        imputed_cells=invented / max(shown, 1),
        single_rater_cells=single / max(shown, 1) if profile in MEANS else None,
        chain=chain,
        divided=divided,
        layout="profile",
        profile=profile,
        profile_step=classes.step,
        users_rating_disclosed=None,
        users_exact_values_listed=None,
        users_rating_exists=None,
    )


def into_classes(levels: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Move one row of each content to the front, in content order; return the class of each row.

    Rows are compared as strings of bytes and sorted by their places; each moves at most twice.
    """
    n_rows, width = levels.shape
    order = np.argsort(levels.view(f"V{width}").ravel(), kind="stable")
    new = np.ones(n_rows, dtype=np.bool_)
    for place in range(1, n_rows):
        new[place] = not np.array_equal(levels[order[place]], levels[order[place - 1]])
    class_of_row = np.empty(n_rows, dtype=np.int64)
    class_of_row[order] = np.cumsum(new) - 1
    _permute(levels, np.concatenate([order[new], order[~new]]))
    return class_of_row


def _permute(rows: NDArray[np.uint8], order: NDArray[np.int64]) -> None:
    """Put row ``order[i]`` at place i, for all i, cycle by cycle."""
    source = order.tolist()
    for start in range(len(source)):
        if source[start] == start or source[start] < 0:
            continue
        kept, place = rows[start].copy(), start
        while source[place] != start:
            following = source[place]
            rows[place], source[place] = rows[following], -1
            place = following
        rows[place], source[place] = kept, -1


def rests_on(
    original: Ratings, classes: Profiles, class_of_user: NDArray[np.int64], least: int
) -> NDArray[np.int64]:
    """Count, of each class, released cells, those that one member rated, and those invented.

    `least`: 0, or of profile "simple" how many must have rated an item. Returns (n_classes, 3).
    """
    from starshade.kernels.predictive.homogenize import profile_support

    members = np.bincount(class_of_user, minlength=classes.n_groups)
    ends = np.concatenate([[0], np.cumsum(members)]).astype(np.int64)
    return profile_support(
        (original.indptr, original.columns, original.codes, original.levels),
        (ends, np.argsort(class_of_user, kind="stable").astype(np.int64)),
        (classes.levels, classes.ratings),
        least=least,
        tolerance=off_by(classes.step),
    )


def off_by(step: float) -> float:
    """Return how far a released mean may be from the ratings' own."""
    return (0.5 + _DUST) * step


def _check(
    original: Ratings,
    levels: NDArray[np.uint8],
    groups: NDArray[np.int64],
    profile: ProfileKind,
    n_levels: int,
) -> None:
    if not original.n_items or not original.n_users:
        raise ConfigError("no item or no person is left to release a profile of")
    if levels.dtype != np.uint8 or levels.ndim != 2 or levels.shape[1] != original.n_items:
        raise InternalError("the profiles are no bytes of every item")
    if not (levels.flags.c_contiguous and levels.flags.writeable):
        raise InternalError("the profiles cannot be put in order where they are")
    sizes = np.bincount(groups, minlength=len(levels))
    if len(groups) != original.n_users or len(sizes) != len(levels) or not sizes.all():
        raise InternalError("the groups are not those of the profiles")
    if levels.max() > n_levels:
        raise InternalError("a profile has a level beyond the scale")
    if profile != "simple" and levels.min() == 0:
        raise InternalError(f"a null in a profile of kind {profile!r}")
