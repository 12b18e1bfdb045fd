"""Who stays together in the next release of the same people, and who cannot be in it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from starshade.anonymize.settings import RareItems
from starshade.errors import ConfigError, UnmetError
from starshade.kernels.arrays import Bools, Ints
from starshade.naming import aside, called, named
from starshade.plain import counted
from starshade.progress import note
from starshade.ratings.levels import on_scale
from starshade.ratings.select import ItemSelection, listed_items
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary, union
from starshade.release.build import Provenance
from starshade.release.manifest import Claim, Manifest, config_of, private_config_of
from starshade.release.table import Chain, Release, chain_of
from starshade.setting import count_of

Shortfall = Literal["dummies", "withhold"]


@dataclass(frozen=True, eq=False)
class Kept:
    """Who is released again, with whom.

    `ratings`: of the people who can be released, on the items of the release before. `group`
    (n_users,): their kept groups, -1 for newcomers. `invented` (n_groups,): records of nobody, by
    kept group. `left` (n_groups,): whether anybody ever left it, or was forgotten. `row`
    (n_groups,): its class in the release before, -1 where it was not in it. `withheld`,
    `without_rating`: people with ratings on these items who cannot be released, and people without.
    `fewest`: raters of the least rated of these items; `everybody`: people with a rating on any
    item; released or not. `chain`: of the release before.
    """

    ratings: Ratings
    group: Ints
    invented: Ints
    left: Bools
    row: Ints
    withheld: int
    without_rating: int
    fewest: int
    everybody: int
    chain: Chain
    before: Release

    @property
    def newcomers(self) -> Ints:
        """Places of those who were in no release before."""
        return np.flatnonzero(self.group < 0)

    def with_newcomers(self, fresh: Ints) -> tuple[Ints, Chain]:
        """Return the number of everybody's group, the kept ones first and in their order.

        `fresh` (newcomers,): their groups. Returns `groups` (n_users,), and the chain, in which
        those who are gone stay known: if they come back, they belong to their old group.
        """
        private = self.before.private
        assert private is not None
        released = np.unique(self.group[self.group >= 0])
        groups, number = np.searchsorted(released, self.group), self.group.copy()
        groups[self.newcomers] = len(released) + fresh
        number[self.newcomers] = self.chain.n_groups + fresh
        people, were = _people(self.chain, private.link.users)
        away = np.flatnonzero(self.ratings.users.indices(people) < 0)
        return groups, Chain(
            after=private.release,
            group=number,
            gone=people.take(away),
            gone_group=were[away],
            invented=np.repeat(np.arange(len(self.invented)), self.invented),
            forgotten=self.chain.forgotten,
            earlier=self.chain.n_groups,
        )

    def provenance(
        self,
        method: Any,
        seed: int,
        claims: tuple[Claim, ...],
        shortfall: Shortfall,
        **resolved: Any,
    ) -> Provenance:
        """Return what is said of a method's release of these people."""
        rare = bool((self.ratings.item_support < method.k).any())
        asked: RareItems = "keep" if rare else method.rare_items
        chosen = replace(
            method,
            items=listed_items(list(self.ratings.items)),
            rare_items=asked,
            item_support=self._item_support(method),
        )
        resolved["shortfall"] = _current(shortfall)
        return Provenance(
            method=method.name,
            seed=seed,
            config=config_of(chosen, **resolved),
            private_config=private_config_of(chosen, **resolved),
            claims=claims,
            rare_items=asked,
            users_without_rating=self.without_rating,
            users_deleted=self.withheld,
        )

    def _item_support(self, method: Any) -> int | str | None:
        """Return the item support that these items have; None, with a note, where they do not."""
        raters = count_of(method.item_support, self.everybody)
        if self.fewest >= raters:
            support: int | str | None = method.item_support
            return support
        note(
            f"{called('item_support')}: some items of the previous release now have fewer than "
            f"{raters:,} raters. They are kept, because a continued release has the same items; "
            "no item support is recorded"
        )
        return None


def _current(shortfall: Shortfall | Literal["invent"]) -> Shortfall:
    """Return the current name of a way to treat classes below k."""
    if shortfall != "invent":
        return shortfall
    warnings.warn('shortfall="invent" is now called "dummies"', DeprecationWarning, stacklevel=2)
    return "dummies"


def keep(
    ratings: Ratings,
    before: Release,
    k: int,
    shortfall: Shortfall,
    items: ItemSelection | None = None,
    slack: int = 0,
) -> Kept:
    """Find who can be released again beside whom.

    `k`: least number of records of a group. `shortfall`: what becomes of a group of which fewer
    than k people are left: "dummies" pads it to k with dummy records, if at least half of k are
    left; "withhold" leaves it out. `items`: a choice of items, which must be those of before; None:
    those. `slack`: by how much groups of newcomers are larger; those that are kept stay as they
    are.

    Raises
    ------
    ConfigError
        No receipt, other items or another scale than before, fewer than k people, or none of those
        of before.
    UnmetError
        More than half of those who stayed would have to be withheld.
    """
    chain = chain_of(before)
    assert before.private is not None
    table = _on_the_same(ratings, before, items)
    people, groups = _people(chain, before.private.link.users)
    place = people.indices(table.users)
    group = np.append(groups, -1)[place]
    if (group < 0).all():
        raise ConfigError(
            "none of the people of the previous release is in these ratings, by their ids",
            advice=f"If they are other people, remove {named('after')}; if they have new ids, "
            "give the ratings with the old ones.",
        )
    n_groups = chain.n_groups
    row = np.full(n_groups, -1, dtype=np.int64)
    row[chain.group] = before.class_of_record[before.private.link.record]
    stay = np.bincount(group[group >= 0], minlength=n_groups)
    ever = np.bincount(np.concatenate([groups, chain.forgotten]), minlength=n_groups)
    least = k if shortfall == "withhold" else (k + 1) // 2
    out = (stay < least) | (row < 0)
    was = before.manifest.claimed_k or k
    _refuse_a_rest(int(stay[out].sum()), int(stay.sum()), k, was, shortfall)
    newcomers = int((group < 0).sum())
    too_few = newcomers < k
    released = np.where(group < 0, not too_few, ~out[group])
    waiting = newcomers * too_few
    if waiting:
        note(f"{counted(newcomers, 'newcomer')}: fewer than {k}, so they wait for the next release")
    users = np.flatnonzero(released)
    invented = np.where(out, 0, np.maximum(k - stay, 0))
    _tell_smaller(ever[~out], k, slack)
    nobodys = int(invented.sum())
    if nobodys:
        note(
            f"{nobodys:,} of {counted(len(users) + nobodys, 'record')} are dummy records: they "
            f"pad classes with fewer than {k} people"
        )
    return Kept(
        ratings=table.keep_users(users),
        group=group[users],
        invented=invented,
        left=stay < ever,
        row=row,
        withheld=table.n_users - len(users),
        without_rating=ratings.n_users - table.n_users,
        fewest=int(table.item_support.min()),
        everybody=int(np.count_nonzero(ratings.user_support)),
        chain=chain,
        before=before,
    )


def refuse_other_settings(before: Manifest, attributes: str, layout: str) -> None:
    """Refuse what cannot be continued."""
    if before.layout != layout:
        raise ConfigError(
            f"the previous release has layout {before.layout}, this method produces {layout}",
            advice="Use the method of the previous release.",
        )
    if attributes != "none" or before.attributes != "none":
        raise ConfigError(
            f"personal attributes: dummy records have none, so {named('after')} applies only to "
            "releases without attributes",
            advice="Release ratings only, each time.",
        )


def refuse_leavers(kept: Kept) -> None:
    """Refuse to release means of a group that somebody left."""
    groups = np.unique(kept.group[kept.group >= 0])
    broken = int(kept.left[groups].sum())
    if broken:
        raise UnmetError(
            f"{counted(broken, 'group')} lost members since the previous release; profiles that "
            "are means of ratings then disclose, by subtraction, what those members had rated",
            advice=f"Use profiles that are predictions{aside('profile', 'pooled')}, from the "
            "first release on.",
        )


def _people(chain: Chain, users: Vocabulary) -> tuple[Vocabulary, Ints]:
    """Return everybody who was ever in the chain, and their groups."""
    people = union([users, chain.gone])
    groups = np.empty(len(people), dtype=np.int64)
    groups[people.indices(users)] = chain.group
    groups[people.indices(chain.gone)] = chain.gone_group
    return people, groups


def _on_the_same(ratings: Ratings, before: Release, chosen: ItemSelection | None) -> Ratings:
    items, scale = before.classes.items, before.scale
    if chosen is not None and chosen.apply(ratings).items != items:
        raise ConfigError(
            "the chosen items differ from those of the previous release",
            advice=f"Remove the choice{aside('items')}: a continued release has the same items.",
            setting="items",
        )
    places = ratings.items.indices(items)
    lacking = int((places < 0).sum())
    if lacking:
        raise ConfigError(
            f"these ratings lack {lacking:,} of the {counted(len(items), 'item')} of the previous "
            "release",
            advice="A continued release has the same items: give ratings that contain them all. "
            "Or start a new series, which is not protected against a combination with "
            "the previous release.",
        )
    table = ratings.keep_items(places)
    if not ratings.report.scale_inferred and ratings.scale != scale:
        raise ConfigError(
            f"the declared scale, {ratings.scale}, differs from that of the previous release, "
            f"{scale}",
            advice=f"Declare that scale{aside('scale', str(scale))}: a continued release has the "
            "same scale.",
        )
    if not scale.contains(table.levels[np.unique(table.codes)]).all():
        raise ConfigError(
            f"ratings off the scale of the previous release, {scale}",
            advice=f"Convert them to that scale. If they are on it, declare it{aside('scale')}.",
        )
    return on_scale(table, scale)


def _tell_smaller(people: Ints, k: int, slack: int) -> None:
    """Tell that groups are kept which were made of fewer people than is asked for now.

    `people` (kept groups,): everybody who ever was in each.
    """
    small = int((people < k + slack).sum())
    if not small:
        return
    plus = " + slack" * bool(slack)
    note(
        f"k{plus} = {k + slack}: {small:,} of the {counted(len(people), 'group')} that are kept "
        f"started with fewer people, the smallest with {int(people.min())}. No people are added "
        f"to them. In this and all later releases, a class below k = {k} is padded with dummy "
        "records or withheld; only classes of newcomers are larger"
    )


def _refuse_a_rest(withheld: int, stayed: int, k: int, was: int, shortfall: Shortfall) -> None:
    if 2 * withheld <= stayed:
        return
    why = "are too small" if k > was else "too many have left"
    advice = (
        "Wait until more of them are back, or release only the people who were in no earlier "
        f"release, as separate data. A first release can use larger classes{aside('slack', 2)}, "
        "which last longer; this does not change classes that are kept."
    )
    if shortfall == "withhold":
        advice = (
            "Pad classes with dummy records where at least half of k are "
            f"left{aside('shortfall', 'dummies')}."
        )
    if k > was:
        advice = f"The previous release had k = {was}: choose at most that{aside('k', was)}."
    raise UnmetError(
        f"{withheld:,} of the {counted(stayed, 'person', 'people')} who stayed are in classes "
        f"that {why} for k = {k}, so most of them would be withheld",
        advice=advice,
    )
