"""`Study`: SR's figures on one data set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from starshade._version import __version__
from starshade.audit.reproduction.check import Check, told_apart
from starshade.audit.reproduction.figures import Figure, Skipped
from starshade.audit.reproduction.shared import introduced, left_out, plain_facts, study_html
from starshade.audit.reproduction.sr.loss import Loss, Predicted
from starshade.audit.reproduction.sr.timing import Job, Timed

__all__ = ["Study", "first_verdicts", "loss_row", "predicted_row"]


@dataclass(frozen=True)
class Study:
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

    def to_dict(self) -> dict[str, Any]:
        """Return the whole as plain JSON values; no user and no item is named."""
        return {"reproduces": "sr", **plain_facts(self)}

    def __str__(self) -> str:
        numbers = [figure.number for figure in self.figures]
        return (
            f"{introduced('The experiments of Sun and Sun', self.data, numbers)} "
            f"{told_apart(self.checks)} Times are medians of {self.repeats} runs and "
            "depend on the machine."
            f"{left_out(self.skipped)}"
        )

    def _repr_html_(self) -> str:
        return study_html("Sun & Sun, on these ratings", str(self), self.figures)


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


def loss_row(loss: Loss) -> dict[str, Any]:
    """Return one release of Fig 7 as plain values."""
    return {
        "data": loss.workload.name,
        "nulls": loss.nulls,
        "partition": loss.partition,
        "k": loss.k,
        "eps": loss.eps,
        "distortion": loss.distortion,
        "distortion_per_record": loss.per_record,
    }


def predicted_row(entry: Predicted) -> dict[str, Any]:
    """Return one point of Fig 8 as plain values."""
    own = {"nulls": entry.nulls, "partition": entry.partition, "k": entry.k}
    return own | entry.found.to_dict()
