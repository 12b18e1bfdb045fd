"""`PaddingResult`: how well the cells that rest on a real rating can be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starshade.attack.result import RECORDS
from starshade.attack.shown import Found, found_chart
from starshade.chart import Chart
from starshade.chart.shapes import Level
from starshade.figure import Figure, Rate, Table
from starshade.plain import counted, percent


@dataclass(frozen=True)
class OfRank:
    """What an adversary who takes this rank would achieve."""

    rank: int
    auc: float | None
    auc_within_items: float | None


_SIZES = (
    RECORDS,
    Figure("classes", "Groups", "count", None, "Of the release."),
    Figure("classes_tested", "Groups looked at", "count", None, "What the figures rest on."),
    Figure("non_null", "Cells that show a rating", "share", None, "Rated by somebody or not."),
    Figure(
        "rated", "Cells that somebody of the group rated", "share", None, "The others are invented."
    ),
)
_AUCS = (
    Figure(
        "auc",
        "A rated cell ranked above an unrated one (AUC)",
        "share",
        True,
        "50% is nothing learnt; high: which cells rest on a rating is told from the release alone.",
    ),
    Figure(
        "auc_within_items",
        "The same on one item",
        "share",
        True,
        "How popular items are is of no help there.",
    ),
    Figure(
        "auc_member",
        "The same, for a single member of the group",
        "share",
        True,
        "High: that very person rated the item.",
    ),
    Figure(
        "popularity",
        "By how popular items are, without the release",
        "share",
        None,
        "What one who sees no release comes to.",
    ),
)
_PRECISION = Figure(
    "precision", "Rated, of those ranked highest", "share", True, "High: the surest are right."
)


@dataclass(frozen=True, kw_only=True)
class PaddingResult(Found):
    """How well an adversary tells which cells of profiles rest on a real rating.

    An AUC is the chance that of two cells, one that rests on a rating and one that does not, the
    right one is ranked higher: 0.5 where nothing is learnt. None: there are no two such cells.

    Attributes
    ----------
    attack, seconds, read_seconds, config, digest, version
        As in `AttackResult`.
    records, classes : int
        Of the release.
    targets, ineligible : int
        Users of the original who have a record, and those who have none.
    classes_tested : int
        Groups that the figures rest on.
    rank : int
        Of the low-rank part that was taken out.
    non_null, rated : float
        Shares of the cells that are no null, and that some member of the group rated.
    confidence : float
        Mean of j/g over the cells: what a guess is worth.
    auc : Rate or None
        "Some member of the group rated this item", all cells.
    auc_within_items : Rate or None
        The same, comparing cells of one item only: how popular items are is of no help.
    auc_member : Rate or None
        "This member of the group rated this item", all cells: a cell counts j times as one that
        is right and g − j times as one that is wrong.
    by_rank : tuple of OfRank
        Other ranks, which an adversary may have guessed better than the rule.
    by_level : OfRank
        Ranking by the released levels instead (rank 0).
    popularity : float or None
        AUC of one who sees no release and knows how popular each item is, all cells.
    top : dict
        ``share`` of the cells ranked highest; of them ``precision``, the share that some member
        rated, and ``confidence``, the mean of j/g.
    """

    classes: int
    classes_tested: int
    rank: int
    non_null: float
    rated: float
    confidence: float
    auc: Rate | None
    auc_within_items: Rate | None
    auc_member: Rate | None
    by_rank: tuple[OfRank, ...]
    by_level: OfRank
    popularity: float | None
    top: dict[str, float]
    seed: int

    @property
    def best(self) -> OfRank:
        """The rank, of those tried and the rule's own, that did best within items."""
        own = OfRank(
            self.rank,
            None if self.auc is None else self.auc.rate,
            None if self.auc_within_items is None else self.auc_within_items.rate,
        )
        return max((own, *self.by_rank), key=lambda of: of.auc_within_items or 0.0)

    def _own(self) -> dict[str, Any]:
        own = super()._own()
        del own["by_level"]["rank"]
        return own

    def __str__(self) -> str:
        head = (
            f"{self.attack} on {counted(self.records, 'record')} in "
            f"{counted(self.classes, 'group')}. Of the cells "
            f"{self.non_null:.1%} show a rating; some member of the group rated the item for "
            f"{self.rated:.1%} of all."
        )
        if self.auc is None:
            return f"{head} All cells are of one sort, so there is nothing to tell apart."
        return f"{head} {self._result()} {self._otherwise()}"

    def _result(self) -> str:
        tried = (
            f"in {self.classes_tested:,} of the groups" if self.classes_tested < self.classes else ""
        )
        text = (
            f"Somebody who has the release alone, takes out its part of rank {self.rank} and looks "
            f"at what is left, ranks {tried + ' ' if tried else ''}a cell that rests on a rating "
            f"above one that does not in {self.auc} of the cases (nothing learnt: 50 %)"
        )
        if self.auc_within_items is not None:
            text += f"; between groups on one and the same item, in {self.auc_within_items}"
        return (
            f"{text}. Of the {self.top['share']:.1%} of the cells ranked highest "
            f"{self.top['precision']:.1%} rest on a rating, and each member of those groups is its "
            f"author with {self.top['confidence']:.1%}, where any cell has {self.confidence:.1%}."
        )

    def _otherwise(self) -> str:
        text = ""
        best = self.best
        if best.rank != self.rank and best.auc is not None and best.auc_within_items is not None:
            text += (
                f"With the rank that does best of those tried, {best.rank}, it is {best.auc:.1%}, "
                f"and {best.auc_within_items:.1%} on one item. "
            )
        level = self.by_level
        if level.auc is not None:
            text += f"Ranking by the released levels themselves gives {level.auc:.1%}"
            if level.auc_within_items is not None:
                text += f" ({level.auc_within_items:.1%} on one item)"
            text += ". "
        if self.popularity is not None:
            text += (
                f"One who sees no release and knows how popular items are comes to "
                f"{self.popularity:.1%}, and to 50 % on one item."
            )
        return text.rstrip()

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure, with its title, its unit and what high and low mean."""
        shown = self._of(*_SIZES)
        if self.auc is None:
            return shown
        return *shown, *self._of(*_AUCS), _PRECISION.of(self.top["precision"])

    @property
    def tables(self) -> tuple[Table, ...]:
        """What other adversaries would achieve."""
        if self.auc is None:
            return ()
        ways = [*((f"rank {of.rank}", of) for of in self.by_rank)]
        ways.append(("the released levels", self.by_level))
        return (
            Table(
                "Other ways to look",
                ("had the adversary ranked by", "AUC", "AUC on one item"),
                tuple((way, percent(of.auc), percent(of.auc_within_items)) for way, of in ways),
            ),
        )

    def plot(self) -> Chart:
        """Draw how often the right one of two cells is told; 50 % is not at all."""
        return found_chart(
            "Which cells rest on real ratings?",
            f"{self.classes_tested:,} of {counted(self.classes, 'group')}, release "
            f"alone, rank {self.rank}",
            self.found,
            Level(0.5, "nothing learnt"),
        )

    def _headline(self) -> str:
        return f"{self.attack}: 50 % is nothing learnt"
