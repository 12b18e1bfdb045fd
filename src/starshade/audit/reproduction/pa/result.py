"""`PredictiveStudy`: PA's tables and figures on one data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from starshade.audit.reproduction.study import PaperStudy
from starshade.plain import counted


@dataclass(frozen=True)
class Row:
    """One figure of Table 1 or 3, run by run."""

    table: str  # "1": target deviation; "3": similar-user deviation
    line: str  # the configuration
    k: int | None  # None: nothing was anonymized
    # what predicts: a recommender trained on the original ratings, the released cells, a
    # recommender trained on the release
    reading: str
    ours: tuple[float, ...]  # RMSE of each run
    # RMSE of the recommender on the original ratings, on the same held-out ones
    base: tuple[float, ...]
    paper: float | None = None  # what the paper has for Netflix

    @property
    def mean(self) -> float:
        """Mean of the runs."""
        return fmean(self.ours)

    @property
    def ratio(self) -> float:
        """Mean over the runs of RMSE / RMSE of the original in the same run."""
        return fmean(mine / base for mine, base in zip(self.ours, self.base, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain JSON values."""
        return {
            "table": self.table,
            "line": self.line,
            "k": self.k,
            "reading": self.reading,
            "rmse": self.mean,
            "low": min(self.ours),
            "high": max(self.ours),
            "ratio": self.ratio,
            "runs": list(self.ours),
            "paper": self.paper,
        }


@dataclass(frozen=True)
class LevelRow:
    """One line of Table 2: how many cells hold a rating."""

    level: float | None  # a level of the scale; None: null
    # `before`, `after`: share of all cells before and after padding, in [0, 1]
    before: float
    after: float
    # `paper_before`, `paper_after`: the same in the paper, where the scale is its scale
    paper_before: float | None = None
    paper_after: float | None = None


@dataclass(frozen=True, kw_only=True)
class PredictiveStudy(PaperStudy):
    """PA on other data.

    Attributes
    ----------
    tables : tuple of Row
        Tables 1 and 3.
    histogram : tuple of LevelRow
        Table 2.
    releases : list of dict
        Every line at every k: groups, share of null cells and of cells that rest on one rater.
    share : float
        Share of held-out ratings.
    """

    key = "pa"
    authors = "Chang, Thompson, Wang & Yao"
    whose = "The experiments of Chang, Thompson, Wang and Yao"

    tables: tuple[Row, ...]
    histogram: tuple[LevelRow, ...]
    releases: list[dict[str, Any]]
    share: float

    def __str__(self) -> str:
        numbers = ", ".join(figure.number for figure in self.figures)
        left = f" Left out, with reasons: {len(self.skipped)}." if self.skipped else ""
        return (
            f"{self.whose} on {self.size}: figures {numbers}. {self.share:.0%} of the ratings are "
            f"held out. {self.verdicts} Figures are means of {counted(self.runs, 'run')}.{left}"
        )


def find(
    rows: Sequence[Row], table: str, line: str, reading: str, k: int | None = None
) -> Iterator[Row]:
    """Return the rows of a line in ascending k; at one k alone where it is given."""
    own = [row for row in rows if (row.table, row.line, row.reading) == (table, line, reading)]
    yield from sorted(
        (row for row in own if k in (None, row.k)), key=lambda row: -1 if row.k is None else row.k
    )
