"""Deletion: leave out records until the others meet (k, ε) or (k, ε, l) (SR §8)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from starshade.anonymize.order import by_content, exact_names, seeded_order
from starshade.anonymize.prepare import note_exact, prepare, publishable_scale, refuse_rare
from starshade.anonymize.requirement import check_requirement, claims_of
from starshade.anonymize.settings import SuppressAnonymizerSettings
from starshade.anonymize.suppress_core import Deletion, Round, largest_core, spread_out
from starshade.arguments import typed
from starshade.errors import UnmetError
from starshade.naming import aside
from starshade.progress import announced, note, task
from starshade.ratings.levels import on_scale
from starshade.ratings.proximity.sensitive import moments, refuse_above_bound, split_items
from starshade.ratings.proximity.space import space_of
from starshade.ratings.table import Ratings
from starshade.release.build import Provenance, record_release
from starshade.release.manifest import config_of, private_config_of
from starshade.release.table import Release
from starshade.rng import Rng, resolve_seed
from starshade.setting import count_of

_SHOWN = 6  # rounds listed one by one


@dataclass(frozen=True, eq=False)
class Suppressed:
    """What deletion left, and how.

    `ratings`: who stays, on the items that stay; no rating is changed. `rounds`: records deleted,
    round by round, on these items. `taken_back`: records of the rounds that fitted in again at the
    end. `users_deleted`: users with a rating on the items that stay who do not stay.
    `rare_items_dropped`: items left out because fewer than k of those who would stay rated them, or
    fewer than the item support asks for of all.
    `least`: whether it is proven that on these items no fewer users could be deleted.
    """

    ratings: Ratings
    sensitive: tuple[str, ...]
    rounds: tuple[Round, ...]
    taken_back: int
    users_deleted: int
    users_without_rating: int
    rare_items_dropped: int
    least: bool

    def __str__(self) -> str:
        n = self.ratings.n_users + self.users_deleted
        shown = [f"{r.deleted:,}" for r in self.rounds[:_SHOWN]]
        listed = ", ".join(shown) + (", …" if len(self.rounds) > _SHOWN else "")
        text = f"{self.users_deleted:,} of {n:,} records deleted"
        if self.rounds:
            text += f" in {len(self.rounds)} round{'s'[: len(self.rounds) > 1]} ({listed})"
        if self.taken_back:
            text += f"; {self.taken_back:,} restored afterwards"
        proof = "proven to be the minimum" if self.least else "not proven to be the minimum"
        return f"{text}; {proof}"


@dataclass(frozen=True)
class SuppressAnonymizer(SuppressAnonymizerSettings):
    """Delete as few records as possible until the requirement holds; no rating is changed.

    Parameters
    ----------
    k : int
        Least number of records in each ball, from 2 to the number of records.
    eps : float
        Ratings this far apart count as alike; 0 or more, in units of the scale.
    l : float
        Least standard deviation of each sensitive item in each ball; 0 asks for none.
    sensitive : sequence of str
        Ids of the sensitive items; distances leave them out.
    nulls : {"strict", "ignore", "zero"}
        What a null against a rating costs; see `starshade.ratings.proximity.space.rule_of`.
    items : ItemSelection, optional
        Which items to release (`top_items`, `listed_items`); None: all of them.
    rare_items : {"drop", "keep"}
        Whether items rated by fewer than k of those who stay are left out.
    item_support : int or str, optional
        Whether more items are left out: those that fewer people rated than this number, or than a
        percentage such as "10%" of the people with a rating in the table read, whatever the choice
        of items. Rounded up: 10% of 943 people are 95. None: no more than `rare_items` asks for.
    attributes : {"none", "exact"}
        Whether personal attributes are released. With ``exact`` the release may only stand
        behind the query service.

    Raises
    ------
    ConfigError
        A parameter is out of its range, or l is above 0 and there is no sensitive item.

    Notes
    -----
    For l = 0 the number of records deleted is the least possible on the released items, and
    nothing is drawn at random. For l > 0 it is not proven to be, and the seed settles ties; see
    `starshade.anonymize.suppress_core`.

    Deletion may leave an item with fewer than k raters. Such items are dropped, sensitive ones
    too, and deletion begins again with everybody: without an item, records are only more alike.
    """

    name: ClassVar[str] = "suppress"
    #: why an audit of what it makes cannot pass without the receipt
    needs_receipt: ClassVar[str] = "people may be left out"

    def __post_init__(self) -> None:
        check_requirement(self)

    @typed
    @announced("anonymizing by suppress")
    def anonymize(self, ratings: Ratings, rng: Rng = None) -> Release:
        """Make a release of the records that can stay.

        Parameters
        ----------
        ratings : Ratings
        rng : int, Generator or None
            The same seed gives the same release, at any number of threads. It matters only for
            l > 0.

        Returns
        -------
        Release
            Layout "record"; not yet saved, and therefore not yet verified.

        Raises
        ------
        ConfigError
            k above the number of records, unknown items, an l that no data with these ratings
            can reach, a sensitive item that is rare, or a table beyond the memory budget.
        UnmetError
            No item is rated by k users, or nobody may stay.
        """
        seed = resolve_seed(rng)
        suppressed = self.suppress(ratings, seed)
        note(str(suppressed))
        release = record_release(
            suppressed.ratings,
            replace(suppressed.ratings, days=None, first_day=0),
            Provenance(
                method=self.name,
                seed=seed,
                config=config_of(self, sensitive=suppressed.sensitive or None),
                private_config=private_config_of(self),
                claims=claims_of(self, suppressed.sensitive),
                rare_items=self.rare_items,
                rare_items_dropped=suppressed.rare_items_dropped,
                users_without_rating=suppressed.users_without_rating,
                users_deleted=suppressed.users_deleted,
            ),
            attributes=self.attributes,
        )
        note_exact(release, aside("method", "k-exchange"))
        return release

    @typed
    def suppress(self, ratings: Ratings, rng: Rng = None) -> Suppressed:
        """Return which records can stay; parameters and errors as for `anonymize`."""
        seed = resolve_seed(rng)
        chosen = ratings if self.items is None else self.items.apply(ratings)
        split_items(chosen.items, self.sensitive)
        raters = count_of(self.item_support, int(np.count_nonzero(ratings.user_support)))
        ready = prepare(chosen, self.k, None, self.rare_items, item_support=raters or None)
        table = ready.ratings
        refuse_rare(chosen, ready, self.sensitive, self.k)
        if self.l > 0:
            refuse_above_bound(table, split_items(table.items, self.sensitive)[1], self.l)
        records = by_content(table, seed, exact_names(table, self.attributes))
        whole, table, same_scale = table, records.ratings, True
        while True:
            deletion = self._delete(table, seed)
            stay = table.keep_users(np.flatnonzero(deletion.stays))
            scale = publishable_scale(ratings, stay, self.k)
            common = np.flatnonzero(stay.item_support >= self.k)
            if scale != table.scale:
                # what null costs depends on the scale; who left took a level along
                table, same_scale = on_scale(stay, scale), False
            elif self.rare_items == "drop" and len(common) < table.n_items:
                note(
                    f"{table.n_items - len(common):,} more items are left out: fewer than "
                    f"{self.k} of the remaining users rated them"
                )
                table = table.keep_items(common)
            else:
                break
        keys = list(stay.items)
        present = chosen.keep_items(chosen.items.indices(keys)).n_users
        left = whole.keep_users(np.sort(records.users[stay.users.integers]))
        return Suppressed(
            ratings=on_scale(left.keep_items(left.items.indices(keys)), stay.scale),
            sensitive=self._sensitive_of(stay),
            rounds=deletion.rounds,
            taken_back=deletion.taken_back,
            users_deleted=present - stay.n_users,
            users_without_rating=ratings.n_users - present,
            rare_items_dropped=chosen.n_items - stay.n_items,
            least=deletion.least and same_scale,
        )

    def _sensitive_of(self, table: Ratings) -> tuple[str, ...]:
        return tuple(key for key in self.sensitive if table.items.index(key) >= 0)

    def _delete(self, table: Ratings, seed: int) -> Deletion:
        """Delete records of a table; somebody stays, or UnmetError."""
        if table.n_items == len(sensitive := self._sensitive_of(table)):
            raise UnmetError(
                f"k = {self.k}: all items rated by {self.k} users are sensitive, so none is left "
                "to compare records by",
                advice="Choose a smaller k, or more items.",
            )
        rest, hidden = split_items(table.items, sensitive)
        with task("deleting records"):
            deletion = largest_core(space_of(table, rest, self.eps, self.nulls), self.k)
            if self.l > 0 and len(hidden) and deletion.stays.any():
                core = table.keep_users(np.flatnonzero(deletion.stays))
                further = spread_out(
                    space_of(core, rest, self.eps, self.nulls),
                    moments(core, hidden),
                    core.scale,
                    self.k,
                    self.l,
                    seeded_order(core.n_users, seed, "suppress"),
                )
                deletion = deletion.then(further)
        if not deletion.stays.any():
            raise UnmetError(self._why(deletion), advice=self._advice())
        return deletion

    def _why(self, deletion: Deletion) -> str:
        lonely = sum(r.deleted for r in deletion.rounds if r.reason == "few")
        total = sum(r.deleted for r in deletion.rounds)
        why = f"{lonely:,} have fewer than {self.k} records within eps, themselves included"
        if lonely < total:
            why += (
                f", {total - lonely:,} are near sensitive ratings that spread by less "
                f"than {self.l:g}"
            )
        end = (
            "no record can stay" if deletion.least else "no set of records that can stay was found"
        )
        return f"{self._requirement()}: {end}. All {total:,} records would be deleted: {why}"

    def _requirement(self) -> str:
        text = f"k = {self.k}, eps = {self.eps:g}"
        return text + (f", l = {self.l:g}" if self.l > 0 else "") + f", nulls = {self.nulls}"

    def _advice(self) -> str:
        ways = ["a smaller k", "a larger eps", "fewer items"]
        if self.nulls == "strict":
            ways.append(
                "nulls ignore, under which records with different rated items can be proximate"
            )
        if self.l > 0:
            ways.append("a smaller l")
        return f"Try {', '.join(ways[:-1])}, or {ways[-1]}."
