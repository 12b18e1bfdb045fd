"""k^m-anonymity of ratings and releases (Terrovitis et al. 2008; definitions, "k-m")."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.errors import ConfigError
from starshade.figure import Figure
from starshade.kernels.arrays import fixed
from starshade.kernels.facts import Pairs, Table, count_pairs, facts_table, pair_steps
from starshade.naming import aside, named
from starshade.plain import counted
from starshade.privacy.original import rated_by
from starshade.privacy.settings import KMSettings
from starshade.privacy.verdict import SHOWN, SetsVerdict, check_records, checking, records_of
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells, Symbols, cells_of
from starshade.release.profiles import Profiles, refuse_large
from starshade.release.table import Release
from starshade.setting import check

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
_MOST_WORK = 2e11  # pairs of facts met; some minutes
_AT_ONCE = 2**24  # values and cells' contents compared together
_BYTES = 40  # for each fact of a person or a cell: its number, twice, and what it is sorted by


@dataclass(frozen=True)
class KM(KMSettings):
    """Any m or fewer ratings of a person that fit some record fit at least k.

    A *fact* is an item and a rating. On ratings it fits the records that gave the item this very
    rating; on a release those of a class whose cell has it as a member. The facts are those of the
    original's people on released items; nulls are none. A set that fits no record, which can be
    where ratings were moved or people left out, names nobody and does not fail.

    Parameters
    ----------
    k : int
        2 or more.
    m : int
        1 or 2: ratings that the adversary knows, at most.

    Raises
    ------
    ConfigError
        One is no whole number, or outside its range.

    Notes
    -----
    Terrovitis, Mamoulis & Kalnis (2008, *Privacy-preserving anonymization of set-valued data*) know
    sets of items; here ratings belong to what is known, which is stronger. Every set is counted,
    none is drawn. Whatever is k-anonymous on all items is k^m-anonymous for every m, as a person's
    own class fits; the reverse does not hold. Work grows with the pairs of ratings that people
    have; what would take more than some minutes is refused.

    Examples
    --------
    Everybody shares each rating with somebody, and nobody shares two.

    >>> from starshade.ratings.table import Ratings
    >>> users, items = list("aabbccdd"), list("xyxyxyxy")
    >>> ratings = Ratings.from_arrays(users, items, [5, 1, 5, 2, 4, 1, 4, 2])
    >>> [KM(k=2, m=m).check(ratings).failing_records for m in (1, 2)]
    [0, 4]
    """

    def __post_init__(self) -> None:
        check(self)

    @typed
    @checking("k-m")
    def check(self, data: Release | Ratings, *, original: Ratings | None = None) -> KMVerdict:
        """Count the people whom some m or fewer ratings leave with fewer than k records.

        Parameters
        ----------
        data : Release or Ratings
        original : Ratings, optional
            The people. Without it: of ratings they themselves; of a release just made the table
            that it was made of.

        Returns
        -------
        KMVerdict

        Raises
        ------
        ConfigError
            k is above the number of records; a release read from disk without its original, or one
            that was not made of it; cells that are means; more work or memory than may be used.
        """
        check_records(self.k, records_of(data))
        people = rated_by(data, original)
        if people is None:
            raise ConfigError(
                "k-m: the ratings that an adversary can know are in the original alone",
                advice="Give the ratings that the release was made from"
                f"{aside('original', 'RATINGS')}.",
            )
        facts = _facts(data, people)
        if self.m == 2:
            self._refuse_long(facts)
        return self._verdict(data, people, facts)

    def _refuse_long(self, facts: _Facts) -> None:
        steps = pair_steps(facts.told) + pair_steps(facts.held)
        if steps > _MOST_WORK:
            raise ConfigError(
                f"k-m: about {steps:.1g} pairs of ratings to count, which takes too long",
                advice=f"Choose single ratings ({named('m', 1)}), or select fewer items"
                f"{aside('items', 'top:N')}.",
            )

    def _verdict(self, data: Release | Ratings, people: Ratings, facts: _Facts) -> KMVerdict:
        single, records = facts.fits, records_of(data)
        alone = np.zeros(people.n_users, dtype=np.bool_)
        short = (single > 0) & (single < self.k)
        held = facts.held
        alone[held.rows[np.repeat(short, np.diff(held.fact_ptr))]] = True
        least = int(single[single > 0].min(initial=records))
        counts = [FactCount(1, int(alone.sum()), least)]
        pairs = None
        if self.m == 2:
            pairs = self._pairs(facts, alone, least)
            alone |= pairs.at_risk
            least = min(least, int(pairs.fewest.min(initial=records)))
            counts.append(FactCount(2, int(alone.sum()), least))
        worst = self._worst(facts.item, single, pairs)
        people_of = max(records, people.n_users)
        return self.verdict(people_of, counts, worst, rated=people.n_ratings > 0)

    def of_single(self, item: Ints, fits: Ints, people: int, records: int) -> KMVerdict:
        """Judge by single facts: their items, the records that fit, who has one that few fit."""
        least = int(fits[fits > 0].min(initial=records))
        counts = [FactCount(1, people, least)]
        return self.verdict(records, counts, self._worst(item, fits, None), rated=len(fits) > 0)

    def verdict(
        self,
        records: int,
        counts: list[FactCount],
        worst: tuple[dict[str, Any], ...],
        *,
        rated: bool,
    ) -> KMVerdict:
        """Put the verdict together: `counts` by size, `rated`: whether anybody rated anything."""
        failing = counts[-1].people
        return KMVerdict(
            model="k-m",
            parameters={"k": self.k, "m": self.m},
            satisfied=not failing,
            records=records,
            failing_records=failing,
            smallest_class=counts[-1].fewest,
            worst=worst,
            empty_because="" if rated else "no item has a rating.",
            sizes=tuple(counts),
        )

    def _pairs(self, facts: _Facts, alone: Bools, least: int) -> Pairs:
        """Count pairs; of a fact whose holders all fail they tell nothing new once 1 is reached."""
        held = facts.held
        skip = np.zeros(len(facts.fits), dtype=np.bool_)
        if least == 1:
            fact = np.repeat(np.arange(len(skip)), np.diff(held.fact_ptr))
            skip = np.bincount(fact, ~alone[held.rows], len(skip)) == 0
        return count_pairs(facts.told, facts.sizes, held, skip, self.k)

    def _worst(self, items: Ints, fits: Ints, pairs: Pairs | None) -> tuple[dict[str, Any], ...]:
        """Name the facts that the fewest records fit, no two with the same first item."""
        fewest, partner = fits, np.full(len(fits), -1)
        if pairs is not None:
            fewest = np.concatenate([fewest, pairs.fewest])
            partner = np.concatenate([partner, pairs.partner])
        failing = np.flatnonzero((fewest > 0) & (fewest < self.k))
        seen: dict[int, dict[str, Any]] = {}
        for place in failing[np.argsort(fewest[failing], kind="stable")]:
            item = int(items[place % len(fits)])
            if item not in seen:
                other = partner[place]
                known = [item] if other < 0 else [item, int(items[other])]
                seen[item] = {"items": known, "size": int(fewest[place])}
            if len(seen) == SHOWN:
                break
        return tuple(seen.values())


@dataclass(frozen=True, eq=False)
class _Facts:
    """The facts that somebody holds, numbered by item and rating.

    `item`, `fits` (n_facts,): the item, and the records that fit. `held`: by person. `told`: by row
    of the data, `sizes` (n_rows,) records each.
    """

    item: Ints
    fits: Ints
    held: Table
    told: Table
    sizes: Ints


def _facts(data: Release | Ratings, people: Ratings) -> _Facts:
    cells = cells_of(data) if isinstance(data, Ratings) else data.classes
    if isinstance(cells, Profiles):
        raise ConfigError(
            "k-m: the release is of layout 'profile', whose cells are means and no sets: no rating "
            "is a member of one",
            advice="For means use the attack label.",
        )
    refuse_large("k-m", _BYTES * people.n_ratings, 0)
    n = max(len(people.levels), 1)
    keys, number = np.unique(
        people.columns.astype(np.int64) * n + people.codes, return_inverse=True
    )
    held = facts_table(people.indptr, number.astype(np.int32), len(keys))
    told = held if data is people else _told(cells, people, keys)
    sizes = fixed(cells.sizes)
    by_row = np.repeat(sizes, np.diff(told.indptr))
    # whole numbers below 2**53 are exact in float64, which is what bincount sums in
    fits = np.bincount(told.facts, by_row, len(keys)).astype(np.int64)
    return _Facts(keys // n, fits, held, told, sizes)


def _told(cells: Cells, people: Ratings, keys: Ints) -> Table:
    """Spell out which of the facts each row of cells fits."""
    offsets, level = _members(cells.symbols, people.levels)
    many = np.diff(offsets)[cells.codes]
    ends = np.concatenate([[0], np.cumsum(many)])
    refuse_large("k-m", _BYTES * int(ends[-1]), 0)
    within = np.arange(ends[-1]) - np.repeat(ends[:-1], many)
    levels = level[np.repeat(offsets[cells.codes], many) + within]
    key = np.repeat(cells.columns.astype(np.int64), many) * max(len(people.levels), 1) + levels
    place = np.searchsorted(keys, key)
    known = np.append(keys, -1)[place] == key
    before = np.concatenate([[0], np.cumsum(known)])
    return facts_table(
        before[ends[cells.indptr]].astype(np.int64), place[known].astype(np.int32), len(keys)
    )


def _members(symbols: Symbols, levels: NDArray[np.float64]) -> tuple[Ints, Ints]:
    """Return the levels that are members of each symbol: offsets (n + 1,), and the levels."""
    step = max(1, _AT_ONCE // max(1, len(symbols.members) + len(symbols)))
    symbol, level = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for start in range(0, len(levels), step):
        found = np.nonzero(symbols.contains(levels[start : start + step]))
        level.append(start + found[0])
        symbol.append(found[1])
    of, which = np.concatenate(symbol), np.concatenate(level)
    order = np.lexsort([which, of])
    counts = np.bincount(of, minlength=len(symbols))
    return np.concatenate([[0], np.cumsum(counts)]), which[order]


@dataclass(frozen=True)
class FactCount:
    """What was counted of sets of up to `size` facts.

    `people`: who has one that some records fit, and fewer than k. `fewest`: the fewest records
    above 0 that one fits.
    """

    size: int
    people: int
    fewest: int


_PEOPLE = Figure(
    "failing_records",
    "People with fewer than k records for so few ratings",
    "count",
    True,
    "It holds at 0.",
)


@dataclass(frozen=True)
class KMVerdict(SetsVerdict):
    """A verdict about facts known together; what a field of `Verdict` means here, and one more.

    Attributes
    ----------
    records : int
        Those of the table; users of the original who rated a released item, if more.
    failing_records : int
        People of whom some m or fewer ratings fit at least one and fewer than k records.
    smallest_class : int
        The fewest records, above 0, that so many ratings of somebody fit.
    worst : tuple of dict
        At most five such sets: ``items``, positions among the released items counted from 0, and
        ``size``, the records that fit; those that fit the fewest first.
    sizes : tuple of FactCount
        One for each size from 1 to m.
    """

    sizes: tuple[FactCount, ...] = ()

    @property
    def found(self) -> tuple[Figure, ...]:
        """What was counted."""
        return tuple(
            _PEOPLE.of(each.value) if each.key == _PEOPLE.key else each for each in super().found
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain JSON values."""
        return self._with({"sizes": [asdict(count) for count in self.sizes]})

    def __str__(self) -> str:
        k, m = self.parameters["k"], self.parameters["m"]
        head = f"{self.model} (k = {k}, m = {m}) {self.outcome}"
        if self.vacuous:
            return f"{head}: {self.empty_because}"
        known = "one rating" if m == 1 else f"up to {m} ratings"
        if self.satisfied:
            return (
                f"{head}: {known} of a person agree with at least {self.smallest_class:,} records, "
                "if with any. More known ratings may leave fewer."
            )
        told = "; ".join(map(self._sentence, self.sizes))
        return f"{head}: {told}."

    def _sentence(self, count: FactCount) -> str:
        known = "one rating" if count.size == 1 else f"{count.size} ratings or fewer"
        leave = "leaves" if count.size == 1 else "leave"
        who = f"{count.people:,} of {counted(self.records, 'person', 'people')}"
        return (
            f"{known}, chosen by the adversary, {leave} {who if count.people else 'no person'} "
            f"with fewer than {self.parameters['k']} records (minimum: {count.fewest:,})"
        )

    def _group(self, entry: dict[str, Any]) -> str:
        return f"ratings of a person agree with {counted(entry['size'], 'record')}"
