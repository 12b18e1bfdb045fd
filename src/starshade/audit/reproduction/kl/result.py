"""`GeneralizationStudy`: KL's figures on one data set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from starshade._version import __version__
from starshade.audit.reproduction.check import Check
from starshade.audit.reproduction.figures import Figure, Skipped
from starshade.audit.reproduction.shared import PaperStudy
from starshade.plain import counted

__all__ = ["GeneralizationStudy"]


@dataclass(frozen=True)
class GeneralizationStudy(PaperStudy):
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

    key = "kl"
    authors = "Riyana & Natwichai"
    whose = "The experiments of Riyana and Natwichai"

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

    def __str__(self) -> str:
        return self._said(
            self.checks,
            f"Points are means of {counted(self.runs, 'run')}, times medians, which depend on the "
            "machine.",
        )
