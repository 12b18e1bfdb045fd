"""`FakeEdgesResult`: detection of imputed cells, with certainty or by ranking."""

from __future__ import annotations

from dataclasses import dataclass

from starshade.attack.result import RECORDS
from starshade.attack.shown import Found, found_chart
from starshade.chart import Chart
from starshade.chart.shapes import Level
from starshade.figure import Figure, Rate, Table
from starshade.plain import counted, percent


@dataclass(frozen=True)
class OfRanking:
    """AUC of an adversary who ranks cells by this, in the better direction."""

    ranking: str
    auc: float | None
    auc_within_items: float | None


@dataclass(frozen=True)
class SetsLeft:
    """Sets of items rated together, and those that fewer than l profiles show."""

    sets: int
    short: int


_SIZES = (
    RECORDS,
    Figure("classes", "Classes", "count", None, "Of the release."),
    Figure("cells", "Filled cells", "count", None, "Rated by a member, or imputed."),
    Figure("fakes", "Imputed cells", "count", None, "Too few members rated the item."),
    Figure("certain", "Cells detected with certainty", "count", True, "No mean of so few ratings."),
)
_RATES = (
    Figure(
        "certain_share",
        "Imputed cells detected with certainty",
        "share",
        True,
        "High: the release itself discloses its fake edges.",
    ),
    Figure(
        "auc",
        "Detection of imputed cells (AUC)",
        "share",
        True,
        "50%: guessing. Rare items have the most imputed cells, which cannot be hidden.",
    ),
    Figure(
        "auc_within_items",
        "Detection within one item (AUC)",
        "share",
        True,
        "Best of several rankings (oracle choice); the rarity of items does not help here.",
    ),
    Figure(
        "fitted_within_items",
        "Detection with fitted weights (AUC)",
        "share",
        True,
        "Upper bound: the weights are fitted to the truth of other items.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class FakeEdgesResult(Found):
    """Detection of the cells that (b, l)-diversity imputed.

    An AUC is the probability that an imputed cell is ranked above a real one: 0.5 is guessing.
    None: there are no two such cells.

    Attributes
    ----------
    attack, seconds, read_seconds, config, digest, version
        As in `AttackResult`.
    records, classes : int
        Of the release.
    targets, ineligible : int
        Users of the original who have a record, and those who have none.
    cells, fakes : int
        Filled cells of known items, and those that too few members rated.
    certain, certain_wrong : int
        Cells detected with certainty, and those of them that are real.
    certain_share : Rate or None
        Share of imputed cells detected with certainty.
    auc, auc_within_items : Rate or None
        AUC of the best ranking over all cells, and of the best within one item.
    best, best_within_items : str or None
        Names of these rankings.
    fitted_within_items : Rate or None
        AUC of all rankings with weights fitted to the truth of other items.
    top : float or None
        Share of imputed cells among as many top-ranked cells (by `best`).
    by_ranking : tuple of OfRanking
        All rankings.
    left_certain, left_all : SetsLeft or None
        The claim recounted without the detected cells, and without all imputed ones. None: no
        claim, or too many sets to count.
    """

    classes: int
    cells: int
    fakes: int
    certain: int
    certain_wrong: int
    certain_share: Rate | None
    auc: Rate | None
    best: str | None
    auc_within_items: Rate | None
    best_within_items: str | None
    fitted_within_items: Rate | None
    top: float | None
    by_ranking: tuple[OfRanking, ...]
    left_certain: SetsLeft | None
    left_all: SetsLeft | None
    seed: int

    def __str__(self) -> str:
        head = (
            f"{self.attack} on {counted(self.records, 'record')} in "
            f"{counted(self.classes, 'class', 'classes')}: {self.fakes:,} of "
            f"{counted(self.cells, 'filled cell')} {'is' if self.fakes == 1 else 'are'} imputed."
        )
        if self.auc is None:
            return f"{head} All cells are of one kind, so there is nothing to detect."
        return " ".join(filter(None, (head, self.in_words(), self._again())))

    def in_words(self) -> str:
        """Say what share of the imputed cells can be detected."""
        assert self.certain_share is not None
        assert self.top is not None
        struck = (
            f"detects {percent(self.certain_share.rate)} of imputed cells with certainty, because "
            "no mean of so few ratings has their value"
            if self.certain
            else "detects no imputed cell with certainty"
        )
        text = (
            f"An adversary with the release alone {struck}. The best of all tested rankings "
            f"(oracle choice: {self.best}) ranks an imputed cell above a real one in "
            f"{self.auc} of cases (AUC; guessing: 50 %); among as many top-ranked cells "
            f"{percent(self.top)} are imputed"
        )
        if self.auc_within_items is None:
            return f"{text}."
        return (
            f"{text}. Within one item the AUC is {self.auc_within_items} "
            f"({self.best_within_items}); with weights fitted to the truth of other items, which "
            "no adversary has, "
            f"{self.fitted_within_items}."
        )

    def _again(self) -> str:
        if self.left_certain is None or self.left_all is None:
            return ""
        return (
            f"{self.left_all.short:,} sets of items meet the claim through fake edges alone; "
            f"{self.left_certain.short:,} of them fail it without the cells detected with "
            "certainty."
        )

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure, with its title, its unit and what high and low mean."""
        return self._of(*_SIZES) if self.auc is None else self._of(*_SIZES, *_RATES)

    @property
    def tables(self) -> tuple[Table, ...]:
        """AUC of each ranking."""
        if self.auc is None:
            return ()
        return (
            Table(
                "Rankings, each in its better direction",
                ("ranked by", "AUC", "AUC within one item"),
                tuple(
                    (each.ranking, percent(each.auc), percent(each.auc_within_items))
                    for each in self.by_ranking
                ),
            ),
        )

    def plot(self) -> Chart:
        """Draw the AUCs; 50 % is guessing."""
        classes = counted(self.classes, "class", "classes")
        return found_chart(
            "Detection of imputed cells",
            f"{counted(self.fakes, 'fake edge')} in {classes}, release alone",
            self.found,
            Level(0.5, "guessing"),
        )

    def _headline(self) -> str:
        rate = "not measurable" if self.auc is None else f"AUC {self.auc} (guessing: 50 %)"
        return f"Detection of imputed cells: {rate}"
