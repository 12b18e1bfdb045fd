"""`DiversityVerdict`: what a check of (b, l)-diversity found, and in which words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from starshade.naming import aside
from starshade.plain import counted
from starshade.privacy.diversity.item_sets import SetCount
from starshade.privacy.verdict import Verdict

__all__ = ["DiversityVerdict"]


@dataclass(frozen=True)
class DiversityVerdict(Verdict):
    """A verdict about sets of items; what a field of `Verdict` means here, and more fields.

    Attributes
    ----------
    records : int
        Those of the table; users of the original who rated a released item, if more.
    failing_records : int
        Users who rated a set that fewer than l groups show (where sizes were sampled:
        those known to).
    smallest_group : int
        Records of the smallest group.
    worst : tuple of dict
        At most five such sets: ``items``, positions among the released items counted from 0,
        and ``groups``, how many show it; those of the fewest groups first.
    groups : int
        Different profiles.
    sets : tuple of SetCount
        One for each size from 1 to b; only as far as they were counted.
    undecided : tuple of int
        Sizes of sets of which a release alone does not tell whether somebody rated them together;
        where nothing fails they stand between it and "holds".
    """

    groups: int = 0
    sets: tuple[SetCount, ...] = ()
    undecided: tuple[int, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether every rated set was counted; else "holds" rests on a sample."""
        return all(count.exact for count in self.sets)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain JSON values."""
        sets = [asdict(count) for count in self.sets]
        return self._with(
            {"groups": self.groups, "exact": self.exact, "sets": sets, "undecided": self.undecided}
        )

    def __str__(self) -> str:
        b, l = self.parameters["b"], self.parameters["l"]  # noqa: E741 - the paper's name
        head = f"{self.model} (b = {b}, l = {l}) {self._outcome()}"
        if self.vacuous:
            return f"{head}: {self.empty_because}"
        lines = [head, *map(self._sentence, self.sets)]
        if self.satisfied:
            up_to = "one item" if b == 1 else f"up to {b} items"
            lines.append(
                f"whoever knows {up_to} that a person rated is left with at least "
                f"{counted(l, 'profile')} that may be theirs"
                + ("" if self.exact else ", as far as a sample can tell")
            )
        elif self.undecided:
            sizes = " or ".join(map(str, self.undecided))
            lines.append(
                f"which sets of {sizes} items somebody rated together decides the rest, and the "
                f"release does not tell{aside('original', 'RATINGS', 'does')}"
            )
        else:
            lines.append(
                f"{self.failing_records:,} of {counted(self.records, 'user')} rated such a set"
            )
        return f"{lines[0]}: {'; '.join(lines[1:])}."

    def _outcome(self) -> str:
        return "is not decided" if self.undecided else super()._outcome()

    def _sentence(self, count: SetCount) -> str:
        least = self.parameters["l"]
        what = "items" if count.size == 1 else f"sets of {count.size} items"
        short = f"fewer than {least} of the {counted(self.groups, 'profile')}"
        if count.exact and count.sets is None:
            return f"all {what} are shown by so many groups"
        if count.exact:
            return f"{count.short_sets:,} of {count.sets:,} rated {what} are in {short}"
        return (
            f"{what} are too many to count, and of {count.drawn:,} drawn {count.short_drawn:,} are "
            f"in {short} (share {count.short_share}; a sample proves nothing of the others)"
        )

    def explain(self) -> tuple[str, ...]:
        """Name the sets in `worst` by the positions of their items; no id is told."""
        lines = [
            f"{'item' if len(entry['items']) == 1 else 'items'} "
            f"{', '.join(map(str, entry['items']))}: in "
            f"{counted(entry['groups'], 'profile')}"
            for entry in self.worst
        ]
        where = "Items are counted from 0, in the canonical order of their ids."
        return (*lines, where) if lines else ()
