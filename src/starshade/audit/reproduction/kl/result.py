"""`GeneralizationStudy`: KL's figures on one data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from starshade._version import __version__
from starshade.audit.reproduction.check import Check, told_apart
from starshade.audit.reproduction.figures import Figure, Skipped
from starshade.audit.reproduction.kl.losses import Measured
from starshade.audit.reproduction.kl.queries import Answered
from starshade.audit.reproduction.shared import introduced, left_out, plain_facts, study_html

__all__ = ["GeneralizationStudy", "loss_rows", "query_rows"]


@dataclass(frozen=True)
class GeneralizationStudy:
    """KL §5 on other data.

    Attributes
    ----------
    data : dict
        Size and scale of what was anonymized.
    figures : tuple of Figure
        In the paper's order.
    losses : list of dict
        Behind Figs 10-12 and 16: a row per line, k and run.
    queries : list of dict
        Behind Figs 13-15: a row per line, k, kind, size and run.
    checks : tuple of Check
        The paper's sentences about its curves, held against ours.
    skipped : tuple of Skipped
        What the data could not give, and why.
    attribute : str or None
        What queries averaged.
    runs : int
        Of everything, each with a seed of its own.
    seconds : float
    seed : int
    digest : str
    version : str
    """

    data: dict[str, Any]
    figures: tuple[Figure, ...]
    losses: list[dict[str, Any]]
    queries: list[dict[str, Any]]
    checks: tuple[Check, ...]
    skipped: tuple[Skipped, ...]
    attribute: str | None
    runs: int
    seconds: float
    seed: int
    digest: str
    version: str = field(default=__version__)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole as plain JSON values; no user and no item is named."""
        return {"reproduces": "kl", **plain_facts(self)}

    def __str__(self) -> str:
        numbers = [figure.number for figure in self.figures]
        return (
            f"{introduced('The experiments of Riyana and Natwichai', self.data, numbers)} "
            f"{told_apart(self.checks)} Points are means of {self.runs} "
            f"run{'s' * (self.runs != 1)}, times medians, which depend on the machine."
            f"{left_out(self.skipped)}"
        )

    def _repr_html_(self) -> str:
        return study_html("Riyana & Natwichai, on these ratings", str(self), self.figures)


def loss_rows(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """Return every release behind Figs 10-12 and 16 as plain values."""
    return [
        {
            "line": entry.line,
            "k": entry.k,
            "run": run + 1,
            "dm": int(loss.dm),
            "c_avg": loss.c_avg,
            "gen_iloss": loss.gen_iloss,
            "seconds": entry.seconds[run] if entry.seconds else None,
            "grouping_seconds": entry.grouping[run] if entry.grouping else None,
        }
        for entry in measured
        for run, loss in enumerate(entry.losses)
    ]


def query_rows(answered: Sequence[Answered]) -> list[dict[str, Any]]:
    """Return every mean behind Figs 13-15 as plain values."""
    return [
        {
            "line": entry.line,
            "k": entry.k,
            "kind": entry.kind,
            "size": entry.size,
            "run": run + 1,
            "error": error,
            "error_of_truth": of_truth,
            "conditions": conditions,
        }
        for entry in answered
        for run, (error, of_truth, conditions) in enumerate(
            zip(entry.errors, entry.errors_of_truth, entry.conditions, strict=True)
        )
    ]
