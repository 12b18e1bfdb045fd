"""(b, l)-diversity of a release (Chang et al. 2009, Defs 5.2, 5.3; definitions, "diversity")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.errors import ConfigError
from starshade.kernels.predictive.diversity_repair import bits_of_levels, bits_of_rows
from starshade.kernels.predictive.rated_sets import rated_table
from starshade.naming import called
from starshade.privacy.classes import Classes, graphs_of
from starshade.privacy.item_sets import (
    CountedSets,
    DiversityVerdict,
    SetCount,
    count_rated_sets,
)
from starshade.privacy.original import rated_by
from starshade.privacy.settings import DiversitySettings
from starshade.privacy.verdict import SHOWN, checking, records_of
from starshade.ratings.table import Ratings
from starshade.release.cells import cells_of
from starshade.release.profiles import Profiles
from starshade.release.table import Release
from starshade.rng import Rng, resolve_seed
from starshade.setting import check


@dataclass(frozen=True)
class Diversity(DiversitySettings):
    """Every set of up to b items that some user rated together is shown by at least l groups.

    A group is what Def. 3.3 calls one: all records with the same review graph. Groups whose
    profiles are equal are one, as whoever reads the release cannot tell them apart; a user of a
    rating table whose row equals no other is a group alone. A group shows an item where the cell
    has a member that is no null. Sets with an item that was not released are outside, as nobody
    can look for them; so are sets that nobody rated. Users with fewer than b items have no set
    of b, so every size from 1 to b is checked and reported.

    Parameters
    ----------
    b : int
        1 or more: items that the adversary knows a person rated.
    l : int
        1 or more.
    draws : int
        1 or more: sets drawn of a size whose rated sets are too many to count one by one.

    Raises
    ------
    ConfigError
        One is no whole number, or below 1.

    Notes
    -----
    Size 1 is always counted exactly, others where Σ over users of their sets stays below 1e10
    (Netflix's size: pairs do not). Of a larger size sets are drawn: a short one among them proves
    that the model fails; none among them proves nothing, and `short_share` says how rare they
    are at most.

    Examples
    --------
    By hand: the users a b and b in one group, b c and b in the other.

    >>> from starshade.ratings.table import Ratings
    >>> original = Ratings.from_arrays(list("112334"), list("abbbcb"), [3] * 6)
    >>> release = Ratings.from_arrays(list("11223344"), list("ababbcbc"), [3] * 8)
    >>> [Diversity(b, l).check(release, original=original).satisfied
    ...  for b, l in [(1, 1), (1, 2), (2, 1), (2, 2)]]
    [True, False, True, False]
    """

    def __post_init__(self) -> None:
        check(self)

    @typed
    @checking("diversity")
    def check(
        self, data: Release | Ratings, *, original: Ratings | None = None, rng: Rng = 0
    ) -> DiversityVerdict:
        """Count the groups that show what some user rated together.

        Parameters
        ----------
        data : Release or Ratings
        original : Ratings, optional
            What was released: which sets a user rated. Without it: of ratings they themselves;
            of a release just made the table that it was made of; of one read from disk what it
            shows. That is the same for b = 1 where no item is shown that nobody rated. For more
            it is decided only where what is shown must suffice (no nulls, for one); other sizes
            are named in the verdict as undecided, and it is not satisfied.
        rng : int, Generator or None
            For sizes of which sets are drawn. The same verdict each time unless it is set.

        Returns
        -------
        DiversityVerdict

        Raises
        ------
        ConfigError
            l is above the number of records; nobody rated b of the items; the release was not
            made of `original`.
        """
        records = records_of(data)
        self.check_groups(records)
        groups = graphs_of(data)
        bits = _shown(data, groups)
        rated = rated_by(data, original)
        undecided: tuple[int, ...] = ()
        if rated is None:
            counted = self._from_what_is_shown(data, groups, bits)
            failing = int(groups.size[counted.at_risk].sum())
            size = self.b if failing else len(counted.sizes)
            undecided = tuple(range(size + 1, self.b + 1))
        else:
            records = max(records, rated.n_users)
            most = int(rated.user_support.max(initial=0))
            if self.b > max(most, 1):
                raise ConfigError(
                    f"{called('b')} = {self.b}: no user rated so many of the released items",
                    advice=f"The user who rated most rated {most}; choose b at most that.",
                )
            table = rated_table(rated.indptr, rated.columns, bits)
            counted = count_rated_sets(
                table, self.b, self.l, draws=self.draws, seed=resolve_seed(rng)
            )
            failing = int(counted.at_risk.sum())
        return self.verdict(
            counted.sizes,
            counted.worst,
            records=records,
            failing=failing,
            groups=len(groups),
            smallest=int(groups.size.min()),
            numbered=groups.numbered,
            undecided=undecided,
        )

    def check_groups(self, records: int) -> None:
        """Refuse more groups than there are records."""
        if self.l > records:
            raise ConfigError(
                f"{called('l')} = {self.l}, records = {records}: no item can be in more "
                "classes than there are",
                advice=f"Choose l from 1 to {records}." if records else "",
            )

    def verdict(
        self,
        sizes: tuple[SetCount, ...],
        worst: tuple[dict[str, Any], ...],
        *,
        records: int,
        failing: int,
        groups: int,
        smallest: int,
        numbered: bool = False,
        undecided: tuple[int, ...] = (),
    ) -> DiversityVerdict:
        """Put the verdict together of what was counted; each as `DiversityVerdict` has it."""
        return DiversityVerdict(
            model="diversity",
            parameters={"b": self.b, "l": self.l},
            satisfied=not undecided and all(count.holds for count in sizes),
            records=records,
            failing_records=failing,
            smallest_class=smallest,
            worst=worst,
            numbered=numbered,
            empty_because=self._empty(sizes[0]),
            classes=groups,
            sets=sizes,
            undecided=undecided,
        )

    def _empty(self, single: SetCount) -> str:
        if single.sets == 0:
            return "no item has a rating, so there are no sets of items."
        if self.l == 1:
            return "one profile, the person's own, always shows what they rated. Choose 2 or more."
        return ""

    def _from_what_is_shown(
        self, data: Release | Ratings, groups: Classes, bits: NDArray[np.uint64]
    ) -> CountedSets:
        """Take what a group shows as rated; sets of several items as far as a bound tells."""
        cover = np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
        shown = cover > 0
        short = np.flatnonzero(shown & (cover < self.l))
        order = short[np.argsort(cover[short], kind="stable")][:SHOWN]
        least = int(cover[shown].min(initial=len(groups)))
        at_risk = np.unpackbits(
            np.bitwise_or.reduce(bits[short], axis=0).view(np.uint8), bitorder="little"
        )
        single = SetCount(1, True, int(shown.sum()), len(short), min(least, self.l))
        # groups that lack one of so many items are at most as many as lack each of them, added up
        lacking = len(groups) - least
        sure = min(self.b, (len(groups) - self.l) // lacking) if lacking else self.b
        sure = 0 if len(short) else sure
        larger = (SetCount(size, True, None, 0, self.l) for size in range(2, sure + 1))
        return CountedSets(
            (single, *larger),
            at_risk[: len(groups)].astype(np.bool_),
            tuple({"items": [int(item)], "classes": int(cover[item])} for item in order),
        )


def _shown(data: Release | Ratings, groups: Classes) -> NDArray[np.uint64]:
    """Return which groups show each item: bit g of its row is group g."""
    cells = cells_of(data) if isinstance(data, Ratings) else data.classes
    if isinstance(cells, Profiles):
        alone = len(groups) == cells.n_groups  # the usual case, in which nothing is copied
        return bits_of_levels(cells.levels if alone else cells.levels[groups.row])
    rows = cells.keep_rows(groups.row)
    rated = rows.symbols.has_rating[rows.codes]
    before = np.concatenate([[0], np.cumsum(rated)])
    return bits_of_rows(before[rows.indptr], rows.columns[rated], rows.n_items)
