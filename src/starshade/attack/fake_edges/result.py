"""`FakeEdgesResult`: how many invented cells can be told, for certain or likely."""

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
    """What an adversary who ranks cells by this would achieve, in the better direction."""

    ranking: str
    auc: float | None
    auc_within_items: float | None


@dataclass(frozen=True)
class SetsLeft:
    """Sets that somebody rated together, and those that fewer than l profiles show."""

    sets: int
    short: int


_SIZES = (
    RECORDS,
    Figure("classes", "Groups", "count", None, "Of the release."),
    Figure("cells", "Filled cells", "count", None, "Rated by somebody of the group, or invented."),
    Figure("fakes", "Of these invented", "count", None, "Too few of the group rated the item."),
    Figure("certain", "Struck with certainty", "count", True, "No mean of so few ratings."),
)
_RATES = (
    Figure(
        "certain_share",
        "Invented cells struck with certainty",
        "share",
        True,
        "High: the release itself gives its fake edges away.",
    ),
    Figure(
        "auc",
        "An invented cell ranked above a real one (AUC)",
        "share",
        True,
        "50% is nothing learnt. Rare items have the most, which cannot be hidden.",
    ),
    Figure(
        "auc_within_items",
        "The same on one item",
        "share",
        True,
        "By the best of several rankings, chosen with hindsight; how rare an item is is of no "
        "help there.",
    ),
    Figure(
        "fitted_within_items",
        "The same, by weights fitted to the truth",
        "share",
        True,
        "More than an adversary can: the weights know which cells of other items are invented.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class FakeEdgesResult(Found):
    """How well an adversary tells the cells that (b, l)-diversity invented.

    An AUC is the chance that of two cells, one invented and one real, the invented one is ranked
    higher: 0.5 where nothing is learnt. None: there are no two such cells.

    Attributes
    ----------
    attack, seconds, read_seconds, config, digest, version
        As in `AttackResult`.
    records, classes : int
        Of the release.
    targets, ineligible : int
        Users of the original who have a record, and those who have none.
    cells, fakes : int
        Filled cells of known items, and those that too few of the group rated.
    certain, certain_wrong : int
        Cells struck with certainty, and those of them that are real.
    certain_share : Rate or None
        Of the invented cells, those struck with certainty.
    auc, auc_within_items : Rate or None
        Of the best ranking among all cells, and of the best when cells of one item are compared.
    best, best_within_items : str or None
        Which these are.
    fitted_within_items : Rate or None
        All rankings weighed so as to fit the truth on other items.
    top : float or None
        Of as many cells as are invented, ranked highest by `best`, the share that is.
    by_ranking : tuple of OfRanking
        All rankings.
    left_certain, left_all : SetsLeft or None
        The claim counted again without the cells struck, and without all that are invented. None:
        nothing is claimed, or too many sets to be counted.
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
            f"{counted(self.classes, 'group')}: of {counted(self.cells, 'filled cell')} "
            f"{self.fakes:,} {'was' if self.fakes == 1 else 'were'} invented."
        )
        if self.auc is None:
            return f"{head} All cells are of one sort, so there is nothing to tell apart."
        return " ".join(filter(None, (head, self.in_words(), self._again())))

    def in_words(self) -> str:
        """Say what share of the invented cells can be told."""
        assert self.certain_share is not None
        assert self.top is not None
        struck = (
            f"names {percent(self.certain_share.rate)} of the invented cells with certainty, as no "
            "ratings of so few people have such a mean"
            if self.certain
            else "names no invented cell with certainty"
        )
        text = (
            f"Who has the release alone {struck}. The best ranking of those tried, chosen with "
            f"hindsight, puts an invented cell above a real one in {self.auc} of the cases "
            f"(nothing learnt: 50 %; by {self.best}), and "
            f"{percent(self.top)} of as many cells as were invented, ranked highest, are"
        )
        if self.auc_within_items is None:
            return f"{text}."
        return (
            f"{text}; between cells of one item in {self.auc_within_items} (by "
            f"{self.best_within_items}). With weights fitted to the truth of other items, which no "
            f"adversary has, it would be {self.fitted_within_items}."
        )

    def _again(self) -> str:
        if self.left_certain is None or self.left_all is None:
            return ""
        return (
            f"Of {self.left_all.short:,} sets of items that only fake edges let enough profiles "
            f"show, {self.left_certain.short:,} are shown by too few once the certain ones are "
            "struck."
        )

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure, with its title, its unit and what high and low mean."""
        return self._of(*_SIZES) if self.auc is None else self._of(*_SIZES, *_RATES)

    @property
    def tables(self) -> tuple[Table, ...]:
        """How each ranking does."""
        if self.auc is None:
            return ()
        return (
            Table(
                "Rankings, each in the direction that does better",
                ("ranked by", "AUC", "AUC on one item"),
                tuple(
                    (each.ranking, percent(each.auc), percent(each.auc_within_items))
                    for each in self.by_ranking
                ),
            ),
        )

    def plot(self) -> Chart:
        """Draw how often the right one of two cells is told; 50 % is not at all."""
        return found_chart(
            "Which cells are invented?",
            f"{counted(self.fakes, 'fake edge')} in {counted(self.classes, 'group')}, release alone",
            self.found,
            Level(0.5, "nothing learnt"),
        )

    def _headline(self) -> str:
        return f"{self.attack}: 50 % is nothing learnt"
