"""`PaddingResult`: how well the cells that rest on a real rating can be told."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from starshade._version import __version__
from starshade.attack.figures import RECORDS
from starshade.attack.link.result import NOT_ASKED
from starshade.attack.shown import found_chart, found_html
from starshade.chart import Chart
from starshade.chart.shapes import Level
from starshade.figure import Figure, Rate, Table
from starshade.plain import counted, percent

__all__ = ["OfRank", "PaddingResult"]


@dataclass(frozen=True)
class OfRank:
    """What an adversary who takes this rank would achieve."""

    rank: int
    auc: float | None
    auc_within_items: float | None


_GROUPS = Figure("groups", "Groups", "count", None, "Of the release.")
_TRIED = Figure("groups_tried", "Groups looked at", "count", None, "What the figures rest on.")
_SHOWN = Figure("shown", "Cells that show a rating", "share", None, "Rated by somebody or not.")
_RATED = Figure(
    "rated", "Cells that somebody of the group rated", "share", None, "The others are invented."
)
_AUC = Figure(
    "auc",
    "A rated cell ranked above an unrated one (AUC)",
    "share",
    True,
    "50% is nothing learnt; high: which cells rest on a rating is told from the release alone.",
)
_WITHIN = Figure(
    "auc_within_items",
    "The same on one item",
    "share",
    True,
    "How popular items are is of no help there.",
)
_MEMBER = Figure(
    "auc_member",
    "The same, for a single member of the group",
    "share",
    True,
    "High: that very person rated the item.",
)
_POPULARITY = Figure(
    "popularity",
    "By how popular items are, without the release",
    "share",
    None,
    "What one who sees no release comes to.",
)
_PRECISION = Figure(
    "precision", "Rated, of those ranked highest", "share", True, "High: the surest are right."
)


@dataclass(frozen=True)
class PaddingResult:
    """How well an adversary tells which cells of profiles rest on a real rating.

    An AUC is the chance that of two cells, one that rests on a rating and one that does not, the
    right one is ranked higher: 0.5 where nothing is learnt. None: there are no two such cells.

    Attributes
    ----------
    attack : str
        As ``starshade list attacks`` names it.
    records, groups : int
        Of the release.
    targets, ineligible : int
        Users of the original who have a record, and those who have none.
    groups_tried : int
        Groups that the figures rest on.
    rank : int
        Of the low-rank part that was taken out.
    shown, rated : float
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
    seconds, read_seconds, postings_per_second, config, seed, digest, version
        As in `AttackResult`.
    """

    attack: str
    records: int
    groups: int
    targets: int
    ineligible: int
    groups_tried: int
    rank: int
    shown: float
    rated: float
    confidence: float
    auc: Rate | None
    auc_within_items: Rate | None
    auc_member: Rate | None
    by_rank: tuple[OfRank, ...]
    by_level: OfRank
    popularity: float | None
    top: dict[str, float]
    seconds: float
    postings_per_second: float
    config: dict[str, Any]
    seed: int
    digest: str
    read_seconds: float = 0.0
    version: str = field(default=__version__)

    @property
    def best(self) -> OfRank:
        """The rank, of those tried and the rule's own, that did best within items."""
        own = OfRank(
            self.rank,
            None if self.auc is None else self.auc.rate,
            None if self.auc_within_items is None else self.auc_within_items.rate,
        )
        return max((own, *self.by_rank), key=lambda of: of.auc_within_items or 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values; null where an attack's figure does not apply."""
        return {
            "attack": self.attack,
            "records": self.records,
            "targets": self.targets,
            "ineligible": self.ineligible,
            "credit": "linked",
            **dict.fromkeys(NOT_ASKED),
            "groups": self.groups,
            "groups_tried": self.groups_tried,
            "rank": self.rank,
            "shown": self.shown,
            "rated": self.rated,
            "confidence": self.confidence,
            "auc": _payload(self.auc),
            "auc_within_items": _payload(self.auc_within_items),
            "auc_member": _payload(self.auc_member),
            "by_rank": [asdict(of) for of in self.by_rank],
            "by_level": {
                "auc": self.by_level.auc,
                "auc_within_items": self.by_level.auc_within_items,
            },
            "popularity": self.popularity,
            "top": dict(self.top),
            "seconds": self.seconds,
            "read_seconds": self.read_seconds,
            "postings_per_second": self.postings_per_second,
            "config": dict(self.config),
            "seed": self.seed,
            "digest": self.digest,
            "version": self.version,
        }

    def __str__(self) -> str:
        head = (
            f"{self.attack} on {counted(self.records, 'record')} in "
            f"{counted(self.groups, 'group')}. Of the cells "
            f"{self.shown:.1%} show a rating; some member of the group rated the item for "
            f"{self.rated:.1%} of all."
        )
        if self.auc is None:
            return f"{head} All cells are of one sort, so there is nothing to tell apart."
        return f"{head} {self._result()} {self._otherwise()}"

    def _result(self) -> str:
        tried = f"in {self.groups_tried:,} of the groups" if self.groups_tried < self.groups else ""
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
        """Say what other adversaries would achieve."""
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
        figures = (
            RECORDS.of(self.records),
            _GROUPS.of(self.groups),
            _TRIED.of(self.groups_tried),
            _SHOWN.of(self.shown),
            _RATED.of(self.rated),
        )
        if self.auc is None:
            return figures
        return (
            *figures,
            _AUC.of(self.auc),
            _WITHIN.of(self.auc_within_items),
            _MEMBER.of(self.auc_member),
            _POPULARITY.of(self.popularity),
            _PRECISION.of(self.top["precision"]),
        )

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
            f"{self.groups_tried:,} of {counted(self.groups, 'group')}, release "
            f"alone, rank {self.rank}",
            self.found,
            Level(0.5, "nothing learnt"),
        )

    def _repr_html_(self) -> str:
        return found_html(
            f"{self.attack}: 50 % is nothing learnt", self.found, str(self), self.tables
        )


def _payload(rate: Rate | None) -> dict[str, float] | None:
    return None if rate is None else rate.to_dict()
