"""The five papers: where each one's claims, configurations and study are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from starshade.audit.reproduction.claims import Claim
from starshade.audit.reproduction.configurations import Choice
from starshade.audit.reproduction.study import PaperStudy
from starshade.figure import payload


@dataclass(frozen=True)
class Paper:
    """One paper."""

    key: str
    authors: str
    title: str
    study: str  # "module:function"

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The points at which its configurations may differ."""
        found: tuple[Choice, ...] = self._of("configurations", "CHOICES")
        return found

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The paper's claims."""
        found: tuple[Claim, ...] = self._of("claims", "CLAIMS")
        return found

    @property
    def ways(self) -> Mapping[str, str]:
        """Interventions, phrased to follow "holds"."""
        found: Mapping[str, str] = self._of("claims", "WAYS")
        return found

    def _of(self, module: str, name: str) -> Any:
        return getattr(import_module(f"{__package__}.{self.key}.{module}"), name)

    @property
    def function(self) -> Callable[..., PaperStudy]:
        """The function that runs its study."""
        module, _, name = self.study.partition(":")
        found: Callable[..., PaperStudy] = getattr(import_module(module), name)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return its claims and configurations as plain JSON values."""
        return {
            "explains": self.key,
            "authors": self.authors,
            "title": self.title,
            "choices": [payload(choice) for choice in self.choices],
            "claims": [told(claim) | {"ways": self.words(claim)} for claim in self.claims],
        }

    def words(self, claim: Claim) -> list[str]:
        """Return the interventions of a claim as text."""
        return [self.ways[way] for way in claim.ways]


def told(claim: Claim) -> dict[str, Any]:
    """Return a claim and its criterion as plain JSON values."""
    names = (
        *("place", "says", "holds_if", "why", "configuration", "about", "lost", "ours", "same"),
        "decided_by",
    )
    return {"claim": claim.number} | {name: getattr(claim, name) for name in names}


_ROOM = __package__
PAPERS: Mapping[str, Paper] = {
    paper.key: paper
    for paper in (
        Paper(
            "ns",
            "Narayanan & Shmatikov",
            "Robust De-anonymization of Large Sparse Datasets (2008)",
            f"{_ROOM}.ns.study:reproduce_ns",
        ),
        Paper(
            "kl",
            "Riyana & Natwichai",
            "Privacy preservation for recommendation databases (2018)",
            f"{_ROOM}.kl.study:reproduce_kl",
        ),
        Paper(
            "pa",
            "Chang, Thompson, Wang & Yao",
            "Predictive Anonymization (2009)",
            f"{_ROOM}.pa.reproduce:reproduce_pa",
        ),
        Paper(
            "sr",
            "Sun & Sun",
            "Privacy Preserving Large-Scale Rating Data Publishing (2013)",
            f"{_ROOM}.sr.study:reproduce_sr",
        ),
        Paper(
            "sq",
            "Sun, Wang & Li",
            "The satisfaction problem, the short form of Sun & Sun",
            f"{_ROOM}.sq.study:reproduce_sq",
        ),
    )
}
