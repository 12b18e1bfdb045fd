"""The interval anonymizer (Sun & Sun 2013, §6; definitions, "interval")."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from starshade.anonymize.interval.groups import (
    Sought,
    cluster_groups,
    holds_already,
    merge_until_spread,
    pattern_groups,
)
from starshade.anonymize.interval.table import Coarse, IntervalTable, moved_ratings
from starshade.anonymize.order import by_content, exact_names, seeded_numbers
from starshade.anonymize.prepare import note_exact, prepare, publishable_scale, refuse_rare
from starshade.anonymize.requirement import check_requirement, claims_of
from starshade.anonymize.settings import IntervalAnonymizerSettings
from starshade.arguments import typed
from starshade.errors import UnmetError
from starshade.kernels.arrays import Ints
from starshade.naming import aside, named
from starshade.progress import announced, note
from starshade.ratings.levels import on_scale
from starshade.ratings.proximity.sensitive import refuse_above_bound, split_items
from starshade.ratings.table import Ratings
from starshade.release.build import record_release
from starshade.release.table import Release
from starshade.rng import Rng, resolve_seed

_LARGE_TABLE = 1 << 17  # records; for larger ones a second search must be worth its time


@dataclass(frozen=True)
class IntervalAnonymizer(IntervalAnonymizerSettings):
    """Move ratings slightly until every record has k-1 others within ε.

    Records are put into groups of at least k, and in each group every item's ratings are clipped
    into an interval of width ε, the one that moves them least. Where some of a group rated an item
    and some did not, the ratings are suppressed or the nulls filled with the group's median,
    whichever costs less; each such cell costs R. Nothing else is changed, and what is sensitive
    never is.

    Parameters
    ----------
    k : int
        Least size of a group, from 2 to the number of records.
    eps : float
        How far apart two ratings of a group may lie, 0 or more, in units of the scale.
    l : float
        Least standard deviation of each sensitive item among the records that are within ε of any
        one record; 0 asks for none.
    sensitive : sequence of str
        Ids of the items that an adversary does not know: left out of the distance, and released
        as they are.
    nulls : {"strict", "ignore", "zero"}
        What a null against a rating costs: R (the paper), nothing (nulls then stay as they are),
        or its distance from the level below the scale. Under "zero" groups are formed as under
        "strict", which is sufficient.
    partition : {"cluster", "whole"}
        "whole" clips all records that rated the same items as one group, as the paper does;
        "cluster" cuts them into smaller groups of at least k that cost less, and is never worse;
        it moves nothing where the requirement holds already.
    items : ItemSelection, optional
        Which items to release (`top_items`, `listed_items`); None: all of them.
    rare_items : {"drop", "keep"}
        Whether items rated by fewer than k users are left out.
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
        A parameter is out of its range; l above 0 without a sensitive item.

    Notes
    -----
    Intervals start at a level of the scale (on a real scale at a rating x or at x − ε) between the
    group's least rating and its greatest less ε; ties are settled by numbers drawn for
    each record, whose places the seed and their content decide. On a real scale the ratings of
    the groups are rounded to 10 decimals, so that no rounding error shows which were moved.
    """

    name: ClassVar[str] = "interval"
    #: why an audit of what it makes cannot pass without the receipt
    needs_receipt: ClassVar[str] = "ratings are moved"

    def __post_init__(self) -> None:
        check_requirement(self)

    @typed
    @announced("anonymizing by interval")
    def anonymize(self, ratings: Ratings, rng: Rng = None) -> Release:
        """Make a release that is (k, ε)-anonymous, or (k, ε, l)-anonymous for l above 0.

        Parameters
        ----------
        ratings : Ratings
        rng : int, Generator or None
            The same seed gives the same release, at any number of threads.

        Returns
        -------
        Release
            Of layout "record"; not yet saved, and therefore not yet verified.

        Raises
        ------
        ConfigError
            k above the number of records, unknown items, a sensitive item that is rare or the
            only one, l above its bound, or a table beyond the memory budget.
        UnmetError
            No item is rated by k users, or l cannot be reached by merging groups.
        """
        seed = resolve_seed(rng)
        ready = prepare(
            ratings, self.k, self.items, self.rare_items, item_support=self.item_support
        )
        table = ready.ratings
        refuse_rare(ratings, ready, self.sensitive, self.k)
        records = by_content(table, seed, exact_names(table, self.attributes))
        moved, groups = self._moved(records.ratings, seed)
        release = record_release(
            table,
            records.table_by_user(self._on_published_scale(ratings, moved), table.users),
            ready.provenance(self, seed, claims_of(self, self.sensitive)),
            attributes=self.attributes,
            groups=None if groups is None else records.by_user(groups),
        )
        note_exact(release, aside("method", "k-exchange"))
        return release

    def _on_published_scale(self, ratings: Ratings, released: Ratings) -> Ratings:
        """Return the released ratings on a scale that tells none of those that were moved away.

        What a null costs follows the scale: with a smaller one more records are proximate, which
        no ball loses by, but sensitive ratings must spread in the larger balls too.
        """
        rescaled = on_scale(released, publishable_scale(ratings, released, self.k))
        if self.l > 0 and rescaled.scale != released.scale:
            parts = split_items(rescaled.items, self.sensitive)
            if not holds_already(Sought(rescaled, *parts, self.eps, self.nulls, self.l), self.k):
                raise UnmetError(
                    f"l = {self.l:g}: reached on the scale {released.scale}, which is inferred "
                    f"and reveals ratings that are moved away; not reached on {rescaled.scale}",
                    advice=f"Declare the scale with {named('scale')}.",
                )
        return rescaled

    def _moved(self, table: Ratings, seed: int) -> tuple[Ratings, Ints | None]:
        """Return the records with their ratings moved, and the groups.

        Of groups that had to be merged until sensitive ratings spread nothing is told: their
        balls are counted whole in any case.
        """
        open_items, sensitive = split_items(table.items, self.sensitive)
        if self.l > 0:
            refuse_above_bound(table, sensitive, self.l)
        numbers = seeded_numbers(table.n_users, seed, "interval")
        cells = IntervalTable.of(table, open_items, self.eps, self.nulls, numbers)
        sought = Sought(table, open_items, sensitive, self.eps, self.nulls, self.l)
        if self.partition == "cluster" and holds_already(sought, self.k):
            note("the requirement already holds: no rating is moved")
            return table, None
        if cells.rule.everybody:
            note(
                f"eps = {self.eps:g}: all records are proximate to each other, so no "
                "rating is changed"
            )
        if self.l > 0:
            return self._spread(cells, sought), None
        groups = min(self._partitions(cells, cells.coarse()), key=cells.cost)
        return moved_ratings(table, open_items, cells, cells.clip(groups)[1]), groups

    def _spread(self, cells: IntervalTable, sought: Sought) -> Ratings:
        """Return the released table of the groups that cost least once they are merged."""
        coarse = cells.coarse()
        least, best, unmet = np.inf, None, None
        for groups in self._partitions(cells, coarse):
            try:
                result = merge_until_spread(cells, coarse, groups, sought)
            except UnmetError as error:
                unmet = error
                continue
            if result.cost < least:
                least, best = result.cost, result.released
        if best is None:
            assert unmet is not None
            raise unmet
        return best

    def _partitions(self, cells: IntervalTable, coarse: Coarse) -> Iterator[Ints]:
        """Yield ways to group the records: the paper's first, as nothing may be worse than it."""
        whole = pattern_groups(cells, self.k)
        yield whole
        if self.partition == "whole":
            return
        free = cluster_groups(coarse, cells.numbers, np.zeros_like(whole), self.k)
        yield free
        if whole.any() and (len(whole) <= _LARGE_TABLE or cells.cost(whole) < cells.cost(free)):
            yield cluster_groups(coarse, cells.numbers, whole, self.k)
