"""`Study`: SR's figures on one data set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from starshade._version import __version__
from starshade.audit.reproduction.check import Check
from starshade.audit.reproduction.figures import Figure, Skipped
from starshade.audit.reproduction.shared import PaperStudy
from starshade.audit.reproduction.sr.timing import Job, Timed

__all__ = ["Study", "first_verdicts"]


@dataclass(frozen=True)
class Study(PaperStudy):
    """SR §7 on other data.

    Attributes
    ----------
    data : dict
        Size and scale, and the parts of the data that were looked at.
    figures : tuple of Figure
        In the paper's order.
    verdicts : list of dict
        What the check with the paper's default parameters says on each part of the data.
    losses : list of dict
        Behind Fig 7, with totals.
    predictions : list of dict
        Behind Fig 8, with paired differences.
    checks : tuple of Check
        The paper's sentences about its curves, held against ours.
    skipped : tuple of Skipped
        What the data could not give, and why.
    timed, repeats : int
        Checks timed, and how often each.
    trials : int
        Of each prediction.
    seconds : float
    seed : int
    digest : str
    version : str
    """

    key = "sr"
    authors = "Sun & Sun"
    whose = "The experiments of Sun and Sun"
    made_up = "made-up survey"

    data: dict[str, Any]
    figures: tuple[Figure, ...]
    verdicts: list[dict[str, Any]]
    losses: list[dict[str, Any]]
    predictions: list[dict[str, Any]]
    checks: tuple[Check, ...]
    skipped: tuple[Skipped, ...]
    timed: int
    repeats: int
    trials: int
    seconds: float
    seed: int
    digest: str
    version: str = field(default=__version__)

    def __str__(self) -> str:
        times = f"Times are medians of {self.repeats} runs and depend on the machine."
        return self._said(self.checks, times)


def first_verdicts(timed: dict[Job, Timed], k: int, eps: float, l: float) -> list[dict[str, Any]]:  # noqa: E741
    """Tell what the check says on each part of the data; every search says the same."""
    return [
        {
            "data": job.workload.name,
            "nulls": job.nulls,
            "k": k,
            "eps": eps,
            "l": l,
            "satisfied": run.satisfied,
            "records": run.records,
            "failing_records": run.failing_records,
            "smallest_group": run.smallest_group,
        }
        for job, run in timed.items()
        if (job.k, job.eps, job.l, job.share, job.search) == (k, eps, l, 100, "tree")
    ]
