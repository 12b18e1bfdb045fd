"""`ProximityVerdict`: what a check of (k, ε) or (k, ε, l)-anonymity found, and in which words."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

from starshade.chart import Chart
from starshade.chart.shapes import Axis, curve_chart
from starshade.errors import ConfigError
from starshade.figure import Figure
from starshade.naming import named
from starshade.plain import counted, plain
from starshade.privacy.verdict import BY_SIZE, Verdict

_POOLS = (1, 2, 5, 10, 20, 50, 100, 1_000, 10_000, 100_000)  # where a bin of sizes begins
_FIGURES = (
    BY_SIZE,
    Figure(
        "patterns",
        "Sets of items that records rated",
        "count",
        None,
        "Items that are not sensitive; a null is proximate to nulls only.",
    ),
    Figure(
        "records_in_small_patterns",
        "Records whose set of items fewer than k share",
        "count",
        True,
        "They fail for any ratings.",
    ),
    Figure(
        "distinct_balls",
        "Distinct balls",
        "count",
        None,
        "A ball: a record with all its proximate records.",
    ),
    Figure(
        "balls_with_one_rating",
        "Records in whose ball a single member rated a sensitive item",
        "count",
        True,
        "They pass: the definition counts nulls as spread.",
    ),
    Figure(
        "not_found",
        "Records without a clique, although k lie around them",
        "count",
        True,
        "The greedy search may miss one.",
    ),
    Figure(
        "balls_without_rating", "Records in whose ball no member rated a sensitive item", "count"
    ),
)


@dataclass(frozen=True)
class ProximityVerdict(Verdict):
    """A verdict about balls; what a field of `Verdict` means here, and more fields.

    None marks what was not asked for or does not apply; `to_dict` leaves it out.

    Attributes
    ----------
    worst : tuple of dict
        At most five failing records: ``row``, the ``size`` of its ball, and where spreads were
        asked for the sensitive ``item`` that spreads least (its position among those given,
        from 1) with its ``sd`` (null: nobody in the ball rated any).
    numbered : bool
        Rows number the records of a release; else the users of the input in canonical order.
        Both count from 0.
    smallest_class_exact : bool
        False: no ball is smaller than `smallest_class`, but the search stopped there.
    all_proximate : bool
        ε is so large that every record is proximate to every other.
    not_found : int or None
        Of the failing records, those for which the search for cliques proves nothing.
    patterns, records_in_small_patterns, distinct_balls : int or None
    failing_by_size, balls_with_one_rating, balls_without_rating : int or None
        As `found` says.
    sizes : tuple of (int, int), or None
        Each size of a ball and how many records have one of it, ascending.
    failing_by_spread : tuple of int, or None
        For each sensitive item the records in whose ball it spreads too little. A record may
        be counted here and by size; in `failing_records` it counts once.
    warnings : tuple of str
    witness : dict or None
        One failing record: ``row``, ``size``, the first ``records`` of its ball, and ``sd`` of
        each sensitive item.
    """

    smallest_class_exact: bool = True
    all_proximate: bool = False
    patterns: int | None = None
    records_in_small_patterns: int | None = None
    distinct_balls: int | None = None
    sizes: tuple[tuple[int, int], ...] | None = None
    failing_by_size: int | None = None
    failing_by_spread: tuple[int, ...] | None = None
    balls_with_one_rating: int | None = None
    balls_without_rating: int | None = None
    warnings: tuple[str, ...] = ()
    witness: dict[str, Any] | None = None
    not_found: int | None = None

    @property
    def found(self) -> tuple[Figure, ...]:
        """What was counted."""
        return (*super().found, *self._of(*_FIGURES))

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain JSON values."""
        own = (field.name for field in fields(self)[len(fields(Verdict)) :])
        more = {name: value for name in own if (value := getattr(self, name)) is not None}
        if self.sizes is not None:
            more["sizes"] = [{"size": size, "records": n} for size, n in self.sizes]
        return super().to_dict() | {name: plain(value) for name, value in more.items()}

    def __str__(self) -> str:
        if self.vacuous:
            return f"{self._head()} {self.empty_because}"
        sentences = [self._head(), self._result(), self._patterns(), self._pools(), self._limits()]
        return " ".join(part for part in (*sentences, *self.warnings) if part)

    def plot(self) -> Chart:
        """Draw how many records lie in balls of at most so many; the model asks for k.

        Raises
        ------
        ConfigError
            Sizes were not counted to their end.
        """
        if self.sizes is None:
            raise ConfigError(
                "the sizes of balls were not counted", advice=f"Check with {named('full', True)}."
            )
        points, so_far = [], 0
        for size, n in self.sizes:
            so_far += n
            points.append((size, so_far / self.records))
        return curve_chart(
            "Records proximate to a record",
            f"{counted(self.records, 'record')}; k = {self.parameters['k']} is asked of each",
            {"": points},
            Axis("records within ε, itself included", log=True),
            Axis("share of the records with so many or fewer", share=True),
        )

    def _head(self) -> str:
        sensitive = self._sensitive()
        parts = [
            f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"
            for name, value in self.parameters.items()
            if name != "sensitive"
        ]
        if sensitive:
            parts.append(counted(sensitive, "sensitive item"))
        return f"{self.model} ({', '.join(parts)}) {self.outcome}:"

    def _of_cliques(self) -> str:
        k, eps = self.parameters["k"], self.parameters["eps"]
        sets = f"a set of at least {k:,} was found of which all lie within {eps:g} of one another"
        if self.satisfied:
            return (
                f"for each of the {self.records:,} records {sets}. That proves (k, eps)-anonymity."
            )
        none = self.failing_records - (self.not_found or 0)
        text = (
            f"for {self.records - self.failing_records:,} of {counted(self.records, 'record')} "
            f"{sets}. "
        )
        if none:
            text += f"Around {counted(none, 'other')} lie fewer than {k:,}, so there is none. "
        if self.not_found:
            text += (
                f"For {counted(self.not_found, 'other')} none was found, which proves nothing: the "
                "search is greedy and may miss one. "
            )
        return text.strip()

    def _result(self) -> str:
        if self.not_found is not None:
            return self._of_cliques()
        k, eps = self.parameters["k"], self.parameters["eps"]
        items = "every item that is not sensitive" if self._sensitive() else "every item"
        proximity = f"within {eps:g} of its own on {items}"
        if not self.satisfied:
            share = self.failing_records / max(self.records, 1)
            text = (
                f"{self.failing_records:,} of {counted(self.records, 'record')} ({share:.1%}) fail."
            )
            return " ".join([text, *self._why(k, proximity)])
        exact = f" (the smallest such ball has {self.smallest_class:,})"
        return (
            f"around each of the {self.records:,} records lie at least {k:,}, itself included, "
            f"whose ratings are {proximity}"
            + exact * self.smallest_class_exact
            + "."
            + self._diverse()
        )

    def _sensitive(self) -> int:
        return len(self.parameters.get("sensitive", ()))

    def _diverse(self) -> str:
        if self.failing_by_spread is None:
            return " What the records of a ball have in common is disclosed."
        return (
            " Among them the ratings of each sensitive item have a standard deviation of "
            f"{self.parameters['l']:g} or more, or no member rated it."
        )

    def _why(self, k: int, proximity: str) -> list[str]:
        parts = []
        if self.failing_by_size:
            parts.append(
                f"Fewer than {k:,} lie around {each_of(self.failing_by_size, 'record')}, itself "
                f"included, with ratings {proximity}; the smallest such ball has "
                f"{self.smallest_class:,}."
            )
        for place, n in enumerate(self.failing_by_spread or (), 1):
            if n:
                parts.append(
                    f"Around {counted(n, 'record')} the ratings of sensitive item {place} have a "
                    f"standard deviation below {self.parameters['l']:g}."
                )
        return parts

    def _patterns(self) -> str:
        if self.patterns is None:
            return ""
        return (
            "At this eps a null is near nulls alone, so only records that rated exactly the same "
            f"items can be proximate: {counted(self.patterns, 'such set')} of items "
            f"occur{'s' * (self.patterns == 1)}, and "
            f"{counted(self.records_in_small_patterns or 0, 'record')} share theirs with too few."
        )

    def _pools(self) -> str:
        if self.sizes is None:
            return ""
        parts = []
        for low, high in pairwise((*_POOLS, math.inf)):
            n = sum(m for size, m in self.sizes if low <= size < high)
            upper = "+" if high == math.inf else f"–{high - 1:,}"
            name = f"{low:,}{'' if high == low + 1 else upper}"
            if n:
                parts.append(f"{name}: {n:,}")
        balls = "" if self.distinct_balls is None else f" ({self.distinct_balls:,} distinct)"
        return f"Records by the size of their ball{balls}: {'; '.join(parts)}."

    def _limits(self) -> str:
        if not self.satisfied:
            return ""
        eps, k = self.parameters["eps"], self.parameters["k"]
        return (
            f"An adversary who knows ratings only to within {eps:g} re-identifies with probability "
            f"at most 1/{k}. No more is guaranteed: proximate records may differ, and exact "
            "knowledge of ratings may single one out."
        )

    def explain(self) -> tuple[str, ...]:
        """Name the records in `worst` and show one ball, for a person; no id is told."""
        if not self.worst:
            return ()
        lines = [f"{self._record(e['row'])}: {self._failure(e)}" for e in self.worst]
        if self.witness is not None:
            lines.append(self._shown(self.witness))
        if not self.numbered:
            lines.append("Rows are counted from 0, users in the canonical order of their ids.")
        if self.failing_by_spread is not None:
            lines.append("Sensitive items are numbered from 1, in the order given.")
        return tuple(lines)

    def _record(self, row: int) -> str:
        return f"record {row:,} of the release" if self.numbered else f"row {row:,}"

    def _failure(self, entry: dict[str, Any]) -> str:
        if self.not_found is not None:
            return f"its largest clique has {counted(entry['size'], 'record')}"
        text = f"its ball has {counted(entry['size'], 'record')}"
        if entry.get("sd") is not None:
            text += f"; sensitive item {entry['item']} spreads least, by {entry['sd']:.4g}"
        return text

    def _shown(self, witness: dict[str, Any]) -> str:
        noun, more = "record" if self.numbered else "row", witness["size"] - len(witness["records"])
        shown = ", ".join(f"{row:,}" for row in witness["records"])
        text = f"For example {self._record(witness['row'])}: in its ball "
        if witness["size"] == 1:
            text += f"is {noun} {shown} alone"
        else:
            text += f"are the {noun}s {shown}" + (f" and {more:,} more" if more else "")
        spread = [
            f"sensitive item {place}: "
            + ("no member rated it" if sd is None else f"standard deviation {sd:.4f}")
            for place, sd in enumerate(witness.get("sd", ()), 1)
        ]
        bound = f" (l = {self.parameters['l']:g})" if spread else ""
        return "; ".join([text, *spread]) + bound + "."


def each_of(n: int, noun: str) -> str:
    """Return what all of a number of things have, e.g. ``1 record``, ``each of 3 records``."""
    return "each of " * (n != 1) + counted(n, noun)
