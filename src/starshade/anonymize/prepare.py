"""What every method does first: choose items, drop rare ones, count who is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from starshade.anonymize.settings import RareItems
from starshade.errors import ConfigError, UnmetError
from starshade.kernels.arrays import Floats, Ints
from starshade.naming import aside, called, named
from starshade.plain import counted, percent
from starshade.progress import note
from starshade.ratings.levels import on_scale, users_per_level
from starshade.ratings.scale import SLACK, Scale
from starshade.ratings.select import ItemSelection
from starshade.ratings.table import Ratings
from starshade.release.build import Provenance
from starshade.release.figures import exact_values_warning
from starshade.release.manifest import Claim, config_of, private_config_of
from starshade.release.table import Release
from starshade.setting import count_of

Table = TypeVar("Table")


@dataclass(frozen=True, eq=False)
class Prepared(Generic[Table]):
    """A table, or one in shards, that is ready to be grouped.

    `raters`: how many users rated each of its items, at least; 0: any number.
    """

    ratings: Table
    rare_items_dropped: int
    users_without_rating: int
    raters: int = 0

    def provenance(
        self, method: Any, seed: int, claims: tuple[Claim, ...], **resolved: Any
    ) -> Provenance:
        """Return what is said of a method's release of this table."""
        return Provenance(
            method=method.name,
            seed=seed,
            config=config_of(method, **resolved),
            private_config=private_config_of(method, **resolved),
            claims=claims,
            rare_items=method.rare_items,
            rare_items_dropped=self.rare_items_dropped,
            users_without_rating=self.users_without_rating,
        )


def check_items(items: object) -> None:
    """Refuse what is no choice of items."""
    if items is not None and not isinstance(items, ItemSelection):
        raise ConfigError(
            f"items of type {type(items).__name__}: no choice of items",
            advice="Give ss.top_items(5) or ss.listed_items([...]); None takes all.",
            setting="items",
        )


def prepare(
    ratings: Ratings,
    k: int,
    items: ItemSelection | None = None,
    rare_items: RareItems = "drop",
    slack: int = 0,
    item_support: int | str | None = None,
) -> Prepared[Ratings]:
    """Choose the items, drop those that too few users rated, and the users left empty.

    Too few are fewer than k, unless `rare_items` keeps these, and fewer than `item_support`, a
    number of users or a percentage such as "10%" of all who have a rating in `ratings`, whatever
    the choice of items. `slack`: groups are to be of k + slack, and items rated by fewer are
    dropped.

    One round is enough: whoever is dropped rated none of the items that stay, so no item loses
    a rating by it.
    """
    table = ratings.drop_empty_users() if items is None else items.apply(ratings)
    refuse_few(table.n_users, k, slack)
    k += slack
    rare, before = 0, table
    everybody = int(np.count_nonzero(ratings.user_support))
    least = k if rare_items == "drop" else 0
    raters = max(least, count_of(item_support, everybody))
    if raters:
        common = common_items(table.item_support, raters, least)
        rare = table.n_items - len(common)
        if rare:
            table = table.keep_items(common)
            share = 1 - table.n_ratings / before.n_ratings
            note_left_out(rare, before.n_users - table.n_users, raters, share)
    if ratings.report.scale_inferred:
        shared = shared_levels(ratings, k)
        table = on_scale(table, found_scale(_given(table), shared, table.scale, k))
    return Prepared(table, rare, ratings.n_users - table.n_users, raters)


def refuse_few(users: int, k: int, slack: int) -> None:
    """Refuse groups of k + slack where so many users have a rating."""
    if k <= users < k + slack:
        raise ConfigError(
            f"{called('slack')} = {slack}, k = {k}, records = {users}: not even one group "
            f"of {k + slack} can be formed",
            advice=f"Choose a slack up to {users - k}.",
            setting="slack",
        )
    if k > users:
        raise ConfigError(
            f"{called('k')} = {k}, records = {users}: not even one group of {k} can be formed",
            advice=f"Choose k from 2 to {users}."
            if users >= 2
            else "k-anonymity needs at least two users with a rating.",
            setting="k",
        )


def common_items(support: Ints, raters: int, k: int) -> Ints:
    """Return the items that so many users rated; refuse if there is none.

    `k`: how many would do without an item support.
    """
    common = np.flatnonzero(support >= raters)
    most = int(support.max(initial=0))
    if not len(common) and most >= max(k, 1):
        raise UnmetError(
            f"{called('item_support')}: no item is rated by {raters:,} users, so nothing can be "
            "published",
            advice=f"Choose {most:,} or less, or a smaller percentage.",
            setting="item_support",
        )
    if not len(common):
        raise UnmetError(
            f"k = {k}: no item is rated by {k} users, so nothing can be published",
            advice=f"Choose k up to {most}, or keep rare items{aside('rare_items', 'keep')}."
            if most >= 2
            else f"Keep rare items{aside('rare_items', 'keep')}: no two users rated the same "
            "item, so a smaller k does not help.",
        )
    return common


def note_left_out(items: int, users: int, raters: int, share: float) -> None:
    """Say how many items too few rated, their share of the ratings, and who rated no other."""
    note(
        f"left out: {counted(items, 'item')} rated by fewer than {raters:,} users, with "
        f"{percent(share)} of the ratings, and {counted(users, 'user')} who rated only such "
        "items"
    )


def refuse_rare(
    before: Ratings, ready: Prepared[Ratings], sensitive: Sequence[str], k: int
) -> None:
    """Refuse a sensitive item that was left out because too few rated it."""
    raters = max(ready.raters, k)
    fewer, lower = f"k = {k}", f"keep rare ones{aside('rare_items', 'keep')}"
    if raters > k:
        fewer, lower = f"{raters:,}", f"lower the item support{aside('item_support')}"
    for place, key in enumerate(sensitive):
        was = before.items.index(key)
        if was >= 0 and before.item_support[was] < raters and ready.ratings.items.index(key) < 0:
            raise ConfigError(
                f"sensitive item {place + 1} of the {len(sensitive)} given is rated by fewer than "
                f"{fewer} users and would be left out of the release",
                advice=f"Leave it out of the sensitive items, or {lower}.",
                setting="sensitive",
            )
    if raters > k and len(sensitive) == ready.ratings.n_items:
        raise UnmetError(
            f"{called('item_support')}: all items rated by {raters:,} users are sensitive, so "
            "none is left to compare records by",
            advice="Choose a smaller number or percentage.",
            setting="item_support",
        )


def publishable_scale(ratings: Ratings, table: Ratings, k: int) -> Scale:
    """Return a scale that tells nothing of ratings which are not released.

    A declared scale was chosen by the owner. One that was found in the data may owe a bound or
    its step to a single user whose rating is left out: it is found anew among the ratings that
    stay and those that k users gave.
    """
    if not ratings.report.scale_inferred:
        return table.scale
    return _found_scale(_given(table), shared_levels(ratings, k), table.scale)


def shared_levels(ratings: Ratings, k: int) -> Floats:
    """Return the ratings that k users gave."""
    return ratings.levels[users_per_level(ratings) >= k]


def scale_of(shown: Floats, like: Scale) -> Scale:
    """Return the scale that these ratings show, with steps where `like` has them."""
    return Scale(shown.min(), shown.max()) if like.step is None else Scale.infer(shown)


def rare_ends(scale: Scale, shared: Floats) -> list[str]:
    """Return "lowest" and "highest", where that end of a scale is not among the `shared_levels`."""
    ends = {"lowest": scale.minimum, "highest": scale.maximum}
    return [name for name, end in ends.items() if not (np.abs(shared - end) <= SLACK).any()]


def found_scale(given: Floats, shared: Floats, like: Scale, k: int) -> Scale:
    """Return the scale of a release, where `like` was found in the data; say what it tells.

    `given`: the ratings that stay; `shared`: of `shared_levels`.
    """
    scale = _found_scale(given, shared, like)
    _note_rare_bounds(scale, shared, k)
    return scale


def _given(table: Ratings) -> Floats:
    return np.asarray(table.levels[np.unique(table.codes)])


def _found_scale(given: Floats, shared: Floats, like: Scale) -> Scale:
    scale = scale_of(np.union1d(shared, given), like)
    if like.step is None:
        return scale
    if scale != like:
        note(
            f"the scale is published as {scale}; the ratings show more of it, which is left out "
            f"(declare it with {named('scale')} to keep it)"
        )
    return scale


def _note_rare_bounds(scale: Scale, shared: Floats, k: int) -> None:
    """Say that an end of a scale which was found in the data is the rating of fewer than k."""
    rare = rare_ends(scale, shared)
    if rare:
        note(
            f"fewer than {k} users gave the {' or the '.join(rare)} rating, and the release "
            "publishes its scale, which is inferred from the data: declare it"
            f"{aside('scale')} to protect these ratings"
        )


def note_exact(release: Release, instead: str) -> None:
    """Warn of exact ratings in a release on a fine scale; `instead`: the setting, in brackets."""
    if warning := exact_values_warning(release.manifest):
        note(f"{warning[:-1]}{instead}.")
