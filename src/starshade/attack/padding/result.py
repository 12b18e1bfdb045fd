"""`PaddingResult`: detection of the cells that rest on a real rating."""

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
    """AUC of an adversary who chooses this rank."""

    rank: int
    auc: float | None
    auc_within_items: float | None


_SIZES = (
    RECORDS,
    Figure("classes", "Classes", "count", None, "Of the release."),
    Figure("classes_tested", "Classes tested", "count", None, "Basis of the figures."),
    Figure("non_null", "Filled cells", "share", None, "Share of cells that show a rating."),
    Figure(
        "rated",
        "Cells with a real rating",
        "share",
        None,
        "Some member rated the item; other cells are imputed.",
    ),
)
_AUCS = (
    Figure(
        "auc",
        "Detection of real ratings (AUC)",
        "share",
        True,
        "50%: guessing. High: the release alone shows which cells rest on a real rating.",
    ),
    Figure(
        "auc_within_items",
        "Detection within one item (AUC)",
        "share",
        True,
        "The popularity of items does not help here.",
    ),
    Figure(
        "auc_member",
        "Detection for a given member (AUC)",
        "share",
        True,
        "High: the release shows which items this person rated.",
    ),
    Figure(
        "popularity",
        "Baseline: item popularity (AUC)",
        "share",
        None,
        "AUC of an adversary without the release.",
    ),
)
_PRECISION = Figure(
    "precision",
    "Precision of top-ranked cells",
    "share",
    True,
    "High: the top-ranked cells rest on real ratings.",
)


@dataclass(frozen=True, kw_only=True)
class PaddingResult(Found):
    """Detection of the cells of profiles that rest on a real rating.

    An AUC is the probability that a cell with a real rating is ranked above a cell without one:
    0.5 is guessing. None: there are no two such cells.

    Attributes
    ----------
    attack, seconds, read_seconds, config, digest, version
        As in `AttackResult`.
    records, classes : int
        Of the release.
    targets, ineligible : int
        Users of the original who have a record, and those who have none.
    classes_tested : int
        Classes that the figures are based on.
    rank : int
        Rank of the removed low-rank part.
    non_null, rated : float
        Shares of the cells that are not null, and that some member of the class rated.
    confidence : float
        Mean of j/g over the cells: the confidence of a guess.
    auc : Rate or None
        "Some member of the class rated this item", all cells.
    auc_within_items : Rate or None
        The same within one item, where popularity does not help.
    auc_member : Rate or None
        "This member of the class rated this item", all cells: a cell counts j times as positive
        and g − j times as negative.
    by_rank : tuple of OfRank
        Other ranks; an adversary may choose better than the rule.
    by_level : OfRank
        Ranking by the released levels instead (rank 0).
    popularity : float or None
        Baseline: AUC of an adversary without the release who knows item popularity, all cells.
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
        """The rank, of those tested and the rule's own, with the highest AUC within items."""
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
            f"{counted(self.classes, 'class', 'classes')}. {self.non_null:.1%} of cells show a "
            f"rating; {self.rated:.1%} rest on a real rating of some member."
        )
        if self.auc is None:
            return f"{head} All cells are of one kind, so there is nothing to detect."
        return f"{head} {self._result()} {self._otherwise()}"

    def _result(self) -> str:
        some = self.classes_tested < self.classes
        tested = f", on {self.classes_tested:,} classes" if some else ""
        text = (
            f"An adversary with the release alone, who removes its part of rank {self.rank}"
            f"{tested}, ranks a cell with a real rating above one without in {self.auc} of cases "
            "(AUC; guessing: 50 %)"
        )
        if self.auc_within_items is not None:
            text += f", and in {self.auc_within_items} within one item"
        return (
            f"{text}. Of the top-ranked {self.top['share']:.1%} of cells "
            f"{self.top['precision']:.1%} rest on a real rating; a given member gave it with "
            f"{self.top['confidence']:.1%} probability (any cell: {self.confidence:.1%})."
        )

    def _otherwise(self) -> str:
        text = ""
        best = self.best
        if best.rank != self.rank and best.auc is not None and best.auc_within_items is not None:
            text += (
                f"The best rank in hindsight ({best.rank}) has an AUC of {best.auc:.1%}, and "
                f"{best.auc_within_items:.1%} within one item. "
            )
        level = self.by_level
        if level.auc is not None:
            text += f"Ranking by the released levels has an AUC of {level.auc:.1%}"
            if level.auc_within_items is not None:
                text += f" ({level.auc_within_items:.1%} within one item)"
            text += ". "
        if self.popularity is not None:
            text += (
                f"Baseline without the release, by item popularity: {self.popularity:.1%}, and "
                "50 % within one item."
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
        """AUC of other adversaries."""
        if self.auc is None:
            return ()
        ways = [*((f"rank {of.rank}", of) for of in self.by_rank)]
        ways.append(("the released levels", self.by_level))
        return (
            Table(
                "Other rankings",
                ("ranked by", "AUC", "AUC within one item"),
                tuple((way, percent(of.auc), percent(of.auc_within_items)) for way, of in ways),
            ),
        )

    def plot(self) -> Chart:
        """Draw the AUCs; 50 % is guessing."""
        return found_chart(
            "Detection of cells with a real rating",
            f"{self.classes_tested:,} of {counted(self.classes, 'class', 'classes')}, release "
            f"alone, rank {self.rank}",
            self.found,
            Level(0.5, "guessing"),
        )

    def _headline(self) -> str:
        rate = "not measurable" if self.auc is None else f"AUC {self.auc} (guessing: 50 %)"
        return f"Detection of cells with a real rating: {rate}"
