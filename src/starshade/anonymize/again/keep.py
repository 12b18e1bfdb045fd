"""Who stays together in the next release of the same people, and who cannot be in it."""

from __future__ import annotations

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

Shortfall = Literal["invent", "withhold"]


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
        resolved["shortfall"] = shortfall
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
            f"{called('item_support')}: some items of the release before are rated by fewer than "
            f"{raters:,} users now, and are kept: a release that continues another one has the "
            "same items. No item support is recorded"
        )
        return None


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
    than k people are left: "invent" records up to k, if at least half of k are left, or "withhold"
    all of it. `items`: a choice of items, which must be those of before; None: those. `slack`: by
    how much groups of newcomers are to be larger; those that are kept stay as they are.

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
            "none of the people of the release before is in these ratings, by their ids",
            advice=f"If they are other people, leave {named('after')} out; if the ids were given "
            "anew, give the ratings with those that they had.",
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
            f"{nobodys:,} of {counted(len(users) + nobodys, 'record')} are nobody's: they fill "
            f"groups up in which fewer than {k} people are left"
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
            f"the release before has layout {before.layout}, and this method makes {layout}",
            advice="Release again by the method of the one before.",
        )
    if attributes != "none" or before.attributes != "none":
        raise ConfigError(
            "personal attributes: of a record that is nobody's there are none, so "
            f"{named('after')} takes releases without them",
            advice="Release ratings alone, each time.",
        )


def refuse_leavers(kept: Kept) -> None:
    """Refuse to release means of a group that somebody left."""
    groups = np.unique(kept.group[kept.group >= 0])
    broken = int(kept.left[groups].sum())
    if broken:
        raise UnmetError(
            f"{counted(broken, 'group')} lost somebody since the release before, and profiles "
            "that are means of ratings, taken from each other, tell what whoever left had rated",
            advice=f"Use profiles that are predictions{aside('profile', 'pooled')}, from the first "
            "release on.",
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
            "the items chosen are others than those of the release before",
            advice=f"Leave the choice out{aside('items')}: a release that continues another one "
            "has the same items.",
            setting="items",
        )
    places = ratings.items.indices(items)
    lacking = int((places < 0).sum())
    if lacking:
        raise ConfigError(
            f"these ratings lack {lacking:,} of the {counted(len(items), 'item')} of the release "
            "before",
            advice="A release that continues another one has the same items: give ratings that "
            "have them all, or start anew, which nobody who has both can be safe from.",
        )
    table = ratings.keep_items(places)
    if not ratings.report.scale_inferred and ratings.scale != scale:
        raise ConfigError(
            f"the scale declared, {ratings.scale}, is another than that of the release before, "
            f"{scale}",
            advice=f"Declare that one{aside('scale', str(scale))}, which a release that continues "
            "another one has too.",
        )
    if not scale.contains(table.levels[np.unique(table.codes)]).all():
        raise ConfigError(
            f"ratings off the scale of the release before, {scale}",
            advice=f"Bring them to that scale; say so where they have it{aside('scale')}.",
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
        f"were made of fewer people, the smallest of {int(people.min())}. Nobody is added to them: "
        f"what one lacks to k = {k} is filled up with records of nobody, or it is withheld, in "
        "this release and in all that follow; only groups of newcomers become larger"
    )


def _refuse_a_rest(withheld: int, stayed: int, k: int, was: int, shortfall: Shortfall) -> None:
    if 2 * withheld <= stayed:
        return
    why = "are too small" if k > was else "too many have left"
    advice = (
        "Wait until more of them are back, or release those alone who were in no release before, "
        "as data of their own. Whoever makes a first release can let groups start larger"
        f"{aside('slack', 2)}: they last longer; of groups that are kept it changes nothing."
    )
    if shortfall == "withhold":
        advice = (
            "Let records of nobody fill groups up, where half of them is left"
            f"{aside('shortfall', 'invent')}."
        )
    if k > was:
        advice = f"The release before had k = {was}: choose none above that{aside('k', was)}."
    raise UnmetError(
        f"{withheld:,} of the {counted(stayed, 'person', 'people')} who stayed are in groups "
        f"that {why} to be {k} again, so most of them would be withheld",
        advice=advice,
    )
