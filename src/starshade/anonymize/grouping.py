"""What all methods that generalize groups have in common: settings, and the way to a release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from starshade.anonymize.again.hold import generalize_again, null_occurs
from starshade.anonymize.again.keep import Kept, Shortfall, keep, refuse_other_settings
from starshade.anonymize.generalize import generalize
from starshade.anonymize.hierarchy.file import read_hierarchy
from starshade.anonymize.hierarchy.hierarchy import READY_MADE, Dgh, resolve
from starshade.anonymize.order import by_content, exact_names, seeded_order
from starshade.anonymize.personal.diversity import diverse_groups
from starshade.anonymize.personal.quasi import generalized_attributes, quasi_columns
from starshade.anonymize.personal.rare_values import without_rare_values
from starshade.anonymize.personal.settings import (
    as_recipes_say,
    check_settings,
    chosen_names,
    claims_of,
    hierarchies_of,
    refuse_identifiers,
    refuse_named,
    refuse_repeated,
    spelled,
)
from starshade.anonymize.points import Points
from starshade.anonymize.prepare import check_items, note_exact, prepare
from starshade.anonymize.settings import GroupingSettings
from starshade.arguments import typed
from starshade.errors import ConfigError
from starshade.kernels.arrays import Ints
from starshade.naming import aside
from starshade.progress import announced
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.release import FIXED_INTERVALS
from starshade.release.build import generalized_release
from starshade.release.cells import Cells
from starshade.release.table import Release
from starshade.rng import Rng, resolve_seed
from starshade.setting import check

_SEE = "For the parameters see `starshade.anonymize.grouping.Grouping`."


@dataclass(frozen=True)
class Grouping(GroupingSettings, ABC):
    """A method that puts records together and releases of each group what all its members share.

    Parameters
    ----------
    k : int
        Least size of a group, from 2 to the number of records.
    hierarchy : str, path or Dgh, optional
        ``ndgh`` (the set of values present), ``range`` (from the least to the greatest),
        ``fixed-intervals`` (the tenths of the scale that hold all values, and those between; the
        default on a real scale or one of more than 20 levels, where others name exact ratings),
        ``dgh`` (two halves, then all; any scale), ``dgh-a``, ``dgh-b``, ``dgh-c`` (the
        paper's, for null = 0 and 1-5), or the path of a file
        (`starshade.anonymize.hierarchy.file`), which is read at once.
    items : ItemSelection, optional
        Which items to release (`top_items`, `listed_items`); None: all of them.
    rare_items : {"drop", "keep"}
        Whether items rated by fewer than k users are left out.
    item_support : int or str, optional
        Whether more items are left out: those that fewer people rated than this number, or than a
        percentage such as "10%" of the people with a rating in the table read, whatever the choice
        of items. Rounded up: 10% of 943 people are 95. None: no more than `rare_items` asks for.
    attributes : {"none", "generalized", "exact"}
        Whether personal attributes are released. With ``generalized`` the quasi-identifiers
        become part of what a group's members share, and sensitive attributes stand as they are;
        with ``exact`` the release may only stand behind the query service.
    quasi_identifiers : sequence of str
        With ``generalized``: what others may know of a person; empty: every attribute that is
        not sensitive. Those that are neither are not released.
    sensitive_attributes : sequence of str
        With ``generalized``: what others must not learn.
    l : int
        Least number of different known values of each sensitive attribute in a group; 0 asks none.
        Groups of fewer are merged.
    missing : {"as-value"}, optional
        ``as-value``: for l a missing value counts as one more value.
    t : float, optional
        How far the distribution of each sensitive attribute in a group may be from that of all
        (earth mover's distance), from 0 to 1. Groups further away are merged.
    attribute_hierarchies : mapping of str to recipe, path or AttributeHierarchy
        For quasi-identifiers. A recipe says how finely they are told at most: ``prefix:3``,
        ``bands:10``, ``month``, ``year``, ``rare:5`` (`starshade.release.personal.recipe`). A
        hierarchy says what the values of a categorical one are joined to, its file being read at
        once (`starshade.anonymize.hierarchy.attribute`). Without either, to the set of values.
    rare_values : {"refuse", "blank"}
        With ``generalized``: whether values that fewer than k of the people have are refused, or
        become null (`starshade.anonymize.personal.rare_values`).
    slack : int
        How many people may leave a group before fewer than k are left: groups are made of
        k + slack, and k is what is promised.

    Raises
    ------
    ConfigError
        A parameter is out of its range or contradicts another, or the hierarchy is neither a
        known name nor a file.
    """

    name: ClassVar[str]

    def __init_subclass__(cls) -> None:
        """Let `help` of a method list the parameters that it shares with the others."""
        if cls.__doc__ and Grouping.__doc__:  # python -OO has none
            head, rule, notes = cls.__doc__.partition("    Notes\n")
            shared = Grouping.__doc__[Grouping.__doc__.index("Parameters\n") :].rstrip()
            # what a method has beside them stands behind them
            head, _, own = head.replace(_SEE, "").partition("    Parameters\n    ----------\n")
            shared = shared.replace("\n    Raises\n", f"{own or chr(10)}    Raises\n")
            cls.__doc__ = f"{head.rstrip()}\n\n    {shared}\n\n{rule}{notes}"

    def __post_init__(self) -> None:
        check(self)
        check_items(self.items)
        for what in ("quasi_identifiers", "sensitive_attributes"):
            refuse_repeated(what, getattr(self, what))
        named = hierarchies_of(self.attribute_hierarchies)
        object.__setattr__(self, "attribute_hierarchies", named)
        names = self.quasi_identifiers, self.sensitive_attributes
        check_settings(self.attributes, *names, self.l, self.t, named)
        hierarchy = self.hierarchy
        if not isinstance(hierarchy, Dgh | None) and hierarchy not in READY_MADE:
            object.__setattr__(self, "hierarchy", read_hierarchy(hierarchy))

    @abstractmethod
    def group(self, points: Points, seed: int) -> Ints:
        """Return the group of each record, 0…G−1, none with fewer than k records.

        Parameters
        ----------
        points : Points
            At least k records, in the order of their content.
        seed : int
        """

    @typed
    @announced("anonymizing")
    def anonymize(
        self,
        ratings: Ratings,
        rng: Rng = None,
        *,
        after: Release | None = None,
        shortfall: Shortfall = "dummies",
    ) -> Release:
        """Make a release in which every record equals at least k-1 others on all items.

        Parameters
        ----------
        ratings : Ratings
        rng : int, Generator or None
            The same seed gives the same release, at any number of threads.
        after : Release, optional
            The last release of the same people, with its receipt: who was together stays so, and
            newcomers are grouped among themselves (`starshade.anonymize.again`). The items are
            those of that release.
        shortfall : {"dummies", "withhold"}
            With `after`: whether a group of which fewer than k people are left is filled up with
            records of nobody, if at least half of k are left, or withheld.

        Returns
        -------
        Release
            Not yet saved, and therefore not yet verified.

        Raises
        ------
        ConfigError
            k above the number of records, unknown items or attributes, a hierarchy that does
            not fit the scale, a table beyond the memory budget, or an earlier release that these
            ratings cannot continue.
        UnmetError
            No item is rated by k users, a sensitive attribute has fewer than l values, a value of
            an attribute is that of fewer than k people, or too many people left since `after`.
        """
        seed = resolve_seed(rng)
        if after is not None:
            return self._continued(ratings, seed, after, shortfall)
        return self._spelled(ratings)._made(ratings, seed)

    def _made(self, ratings: Ratings, seed: int) -> Release:
        ready = prepare(ratings, self.k, self.items, self.rare_items, self.slack, self.item_support)
        table = ready.ratings
        named = self._named(table.scale)
        hierarchy = resolve(
            named, table.scale, null_occurs=table.n_ratings < table.n_users * table.n_items
        )
        quasi, sensitive = self._chosen(table)
        released = (*quasi, *sensitive) or exact_names(table, self.attributes)
        coarse, joined = as_recipes_say(table, dict(self.attribute_hierarchies), self.k)
        kept = without_rare_values(coarse, self.k, self.rare_values, quasi, sensitive, joined)
        records = by_content(kept, seed, released)
        points = Points(records.ratings, quasi_columns(records.ratings, quasi, joined))
        groups = self._larger().group(points, seed)
        if self.l or self.t is not None:
            order = seeded_order(points.n_records, seed, "diversity")
            groups = diverse_groups(
                points, groups, sensitive, self.l, self.t, order, as_value=bool(self.missing)
            )
        groups = records.by_user(groups)
        claims = claims_of(self.k, sensitive, self.l, self.t, self.missing)
        release = generalized_release(
            table,
            groups,
            generalize(hierarchy, table, groups),
            ready.provenance(self, seed, claims, **_generalized_by(named)),
            attributes=self.attributes,
            generalized=generalized_attributes(kept, groups, quasi, sensitive, self.k, joined)
            if self.attributes == "generalized"
            else None,
            quasi_identifiers=quasi,
            sensitive_attributes=sensitive,
        )
        refuse_named(release)
        note_exact(release, aside("hierarchy", FIXED_INTERVALS))
        return release

    def who_stays(self, ratings: Ratings, after: Release, shortfall: Shortfall = "dummies") -> Kept:
        """Find who of a release can be in the next one, beside whom; refuse as `anonymize` does.

        Nothing is made. Arguments as in `anonymize`.
        """
        refuse_other_settings(after.manifest, self.attributes, "generalized")
        return keep(ratings, after, self.k, shortfall, self.items, self.slack)

    def _continued(
        self, ratings: Ratings, seed: int, after: Release, shortfall: Shortfall
    ) -> Release:
        kept = self.who_stays(ratings, after, shortfall)
        table = kept.ratings
        assert isinstance(after.classes, Cells)
        named = self._named(table.scale)
        hierarchy = resolve(named, table.scale, null_occurs=null_occurs(table, after.classes))
        fresh = kept.newcomers
        if len(fresh):
            new = by_content(table.keep_users(fresh), seed)
            points = Points(new.ratings, quasi_columns(new.ratings, (), {}))
            fresh = new.by_user(self._larger(points.n_records).group(points, seed))
        groups, chain = kept.with_newcomers(fresh)
        release = generalized_release(
            table,
            groups,
            generalize_again(hierarchy, kept, groups, after.classes),
            kept.provenance(
                self, seed, claims_of(self.k, (), 0, None), shortfall, **_generalized_by(named)
            ),
            chain=chain,
        )
        note_exact(release, aside("hierarchy", FIXED_INTERVALS))
        return release

    def _spelled(self, ratings: Ratings) -> Self:
        """Return the method with the names of attributes as the table spells them."""
        named = dict(self.attribute_hierarchies)
        keys = spelled(ratings, named)
        if len(set(keys)) < len(keys):
            raise ConfigError(
                "attribute_hierarchies: an attribute is named more than once",
                advice="Names of attributes are the same whatever their case.",
            )
        return replace(
            self,
            quasi_identifiers=spelled(ratings, self.quasi_identifiers),
            sensitive_attributes=spelled(ratings, self.sensitive_attributes),
            attribute_hierarchies=dict(zip(keys, named.values(), strict=True)),
        )

    def _larger(self, most: int | None = None) -> Self:
        """Return the method with groups of k and what is left as slack; of so many people."""
        size = self.k + self.slack if most is None else max(self.k, min(self.k + self.slack, most))
        return replace(self, k=size, slack=0)

    def _chosen(self, ratings: Ratings) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if self.attributes != "generalized":
            return (), ()
        joined = dict(self.attribute_hierarchies)
        names = self.quasi_identifiers, self.sensitive_attributes
        quasi, sensitive = chosen_names(ratings, *names, joined)
        refuse_identifiers(ratings, quasi, sensitive, joined)
        return quasi, sensitive

    def _named(self, scale: Scale) -> str | Dgh:
        """Return the hierarchy, or the name of the one that is the default on this scale."""
        if self.hierarchy is None:
            return FIXED_INTERVALS if scale.fine else self.coarse
        return self.hierarchy if isinstance(self.hierarchy, Dgh) else str(self.hierarchy)


def _generalized_by(named: str | Dgh) -> dict[str, Any]:
    """Return what is recorded of the hierarchy: of a file its contents, not its path."""
    if isinstance(named, Dgh):
        return {"hierarchy": named.name, "levels": named.to_text()}
    return {"hierarchy": named}
