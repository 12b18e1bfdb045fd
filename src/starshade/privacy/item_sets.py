"""How many groups show what some user rated together: all sets of a size, or a sample of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.figure import Figure, Rate
from starshade.kernels.predictive.rated_sets import RatedTable, SetTally, count_sets, covers
from starshade.naming import aside
from starshade.plain import counted
from starshade.privacy.verdict import SHOWN, SetsVerdict
from starshade.rng import generator
from starshade.stats import wilson

_MOST_WORK = 1e10  # steps of an exact count; about a minute


@dataclass(frozen=True)
class SetCount:
    """What was counted of the sets of one size.

    `size`: items in a set. `exact`: whether every set that some user rated together was counted.
    `sets`, `short_sets`: those sets, and the ones among them that fewer than l groups show; None in
    a sample. `sets` is also None where they need not be counted, as every set must be shown enough.
    `fewest_classes`: the fewest groups that show one of those looked at, counted only up to l.
    `drawn`, `short_drawn`: in a sample: sets drawn, each by a user drawn uniformly among those who
    rated so many items and that many of that user's items drawn uniformly; those that fewer than l
    show. `short_share`: in a sample: the share of such draws, with Wilson's interval.
    """

    size: int
    exact: bool
    sets: int | None
    short_sets: int | None
    fewest_classes: int
    drawn: int | None = None
    short_drawn: int | None = None
    short_share: Rate | None = None

    @property
    def holds(self) -> bool:
        """Whether no set that was looked at is shown by too few."""
        return not (self.short_sets or self.short_drawn)


@dataclass(frozen=True, eq=False)
class CountedSets:
    """What was found for all sizes.

    `sizes`: from 1 on. `at_risk` (n_users,): who rated a set that too few groups show; of a sample,
    those who were drawn. `worst`: at most five such sets, no two with the same first item:
    ``items`` (indices) and ``classes``, the fewest first.
    """

    sizes: tuple[SetCount, ...]
    at_risk: NDArray[np.bool_]
    worst: tuple[dict[str, Any], ...]


def count_rated_sets(
    table: RatedTable,
    b: int,
    l: int,  # noqa: E741 - the paper's name
    *,
    draws: int,
    seed: int,
) -> CountedSets:
    """Count all sets of 1 item, and of as many sizes up to `b` as an exact count fits; draw others.

    `draws`: sets drawn of a size that does not fit.
    """
    exact = max([1, *(size for size in range(2, b + 1) if _work(table, size) <= _MOST_WORK)])
    tally = count_sets(table, exact, l)
    sizes = [
        SetCount(
            size=place + 1,
            exact=True,
            sets=int(tally.sets[:, place].sum()),
            short_sets=int(tally.short[:, place].sum()),
            fewest_classes=int(tally.fewest[:, place].min(initial=l)),
        )
        for place in range(exact)
    ]
    at_risk = tally.at_risk
    for size in range(exact + 1, b + 1):
        count, short = _drawn(table, size, l, draws, generator(seed, f"item sets of {size}"))
        sizes.append(count)
        at_risk[short] = True
    return CountedSets(tuple(sizes), at_risk, _worst(tally, l))


def _work(table: RatedTable, size: int) -> float:
    """Return about how many steps it takes to meet every rated set of up to so many items."""
    n_items, words = table.bits.shape
    met = np.ones(len(table.indptr) - 1)
    every, total = 1.0, 0.0
    lengths = np.diff(table.indptr).astype(np.float64)
    for chosen in range(size):
        met = met * np.maximum(lengths - chosen, 0) / (chosen + 1)
        every = every * max(n_items - chosen, 0) / (chosen + 1)
        total += met.sum() + min(met.sum(), every) * words
    return float(total)


def _drawn(
    table: RatedTable, size: int, least: int, draws: int, rng: np.random.Generator
) -> tuple[SetCount, NDArray[np.int64]]:
    """Draw sets; return what was found, and the users drawn with a set that too few show."""
    lengths = np.diff(table.indptr)
    able = np.flatnonzero(lengths >= size)
    if not len(able):
        return SetCount(size, True, 0, 0, least), able
    user = able[rng.integers(len(able), size=draws)]
    chosen = np.empty((draws, size), dtype=np.int64)
    for i in range(size):
        place = rng.integers(lengths[user] - i)  # among the items not drawn yet
        for earlier in np.sort(chosen[:, :i], axis=1).T:
            place += place >= earlier
        chosen[:, i] = place
    sets = table.columns[table.indptr[user][:, None] + chosen].astype(np.int64)
    cover = covers(sets, table.bits, least)
    short = cover < least
    count = SetCount(
        size=size,
        exact=False,
        sets=None,
        short_sets=None,
        fewest_classes=int(cover.min()),
        drawn=draws,
        short_drawn=int(short.sum()),
        short_share=wilson(int(short.sum()), draws),
    )
    return count, user[short]


def _worst(tally: SetTally, least: int) -> tuple[dict[str, Any], ...]:
    """Name the sets that the fewest groups show, the smaller sets first among those equal."""
    items, sizes = np.nonzero(tally.fewest < least)
    fewest = tally.fewest[items, sizes]
    seen: dict[int, dict[str, Any]] = {}
    for i in np.lexsort([items, sizes, fewest]):
        item = int(items[i])
        if item not in seen:
            names = tally.worst[item, sizes[i]]
            seen[item] = {"items": names[names >= 0].tolist(), "classes": int(fewest[i])}
        if len(seen) == SHOWN:
            break
    return tuple(seen.values())


_PROFILES = Figure("classes", "Different profiles", "count", False, "Each class shows one.")


@dataclass(frozen=True)
class DiversityVerdict(SetsVerdict):
    """A verdict about sets of items; what a field of `Verdict` means here, and more fields.

    Attributes
    ----------
    records : int
        Those of the table; users of the original who rated a released item, if more.
    failing_records : int
        Users who rated a set that fewer than l groups show (where sizes were sampled:
        those known to).
    smallest_class : int
        Records of the smallest group.
    worst : tuple of dict
        At most five such sets: ``items``, positions among the released items counted from 0,
        and ``classes``, how many show it; those of the fewest classes first.
    classes : int
        Different profiles.
    sets : tuple of SetCount
        One for each size from 1 to b; only as far as they were counted.
    undecided : tuple of int
        Sizes of sets of which a release alone does not tell whether somebody rated them together;
        where nothing fails they stand between it and "holds".
    """

    classes: int = 0
    sets: tuple[SetCount, ...] = ()
    undecided: tuple[int, ...] = ()

    @property
    def found(self) -> tuple[Figure, ...]:
        """What was counted."""
        return (*super().found, *self._of(_PROFILES))

    @property
    def exact(self) -> bool:
        """Whether every rated set was counted; else "holds" rests on a sample."""
        return all(count.exact for count in self.sets)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain JSON values."""
        sets = [asdict(count) for count in self.sets]
        return self._with(
            {
                "classes": self.classes,
                "exact": self.exact,
                "sets": sets,
                "undecided": self.undecided,
            }
        )

    def __str__(self) -> str:
        b, l = self.parameters["b"], self.parameters["l"]  # noqa: E741 - the paper's name
        head = f"{self.model} (b = {b}, l = {l}) {self.outcome}"
        if self.vacuous:
            return f"{head}: {self.empty_because}"
        lines = [head, *map(self._sentence, self.sets)]
        if self.satisfied:
            up_to = "one item" if b == 1 else f"up to {b} items"
            lines.append(
                f"an adversary who knows {up_to} that a person rated has at least "
                f"{counted(l, 'candidate profile')}" + ("" if self.exact else " (by a sample)")
            )
        elif self.undecided:
            sizes = " or ".join(map(str, self.undecided))
            lines.append(
                f"sets of {sizes} items are undecided: the release does not show which were rated "
                f"together{aside('original', 'RATINGS', 'does')}"
            )
        else:
            lines.append(
                f"{self.failing_records:,} of {counted(self.records, 'user')} rated such a set"
            )
        return f"{lines[0]}: {'; '.join(lines[1:])}."

    @property
    def outcome(self) -> str:
        """What comes of it, in a few words."""
        return "is not decided" if self.undecided else super().outcome

    def _sentence(self, count: SetCount) -> str:
        least = self.parameters["l"]
        what = "items" if count.size == 1 else f"sets of {count.size} items"
        short = f"fewer than {least} of the {counted(self.classes, 'profile')}"
        if count.exact and count.sets is None:
            return f"all {what} are in at least {counted(least, 'profile')}"
        if count.exact:
            return f"{count.short_sets:,} of {count.sets:,} rated {what} are in {short}"
        return (
            f"{what} are too many to count, and of {count.drawn:,} drawn {count.short_drawn:,} are "
            f"in {short} (share {count.short_share}; a sample proves nothing of the others)"
        )

    def _group(self, entry: dict[str, Any]) -> str:
        return f"in {counted(entry['classes'], 'profile')}"
