"""`Reproduction`: the whole case study on one data set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from starshade._version import __version__
from starshade.attack.sparsity.few_facts import FewFacts
from starshade.attack.sparsity.information_gain import InformationGain
from starshade.attack.sparsity.sparsity import SparsityResult
from starshade.audit.reproduction.figures import Figure, Skipped
from starshade.audit.reproduction.ns.checks import Check
from starshade.audit.reproduction.ns.statements import Statement
from starshade.audit.reproduction.shared import PaperStudy
from starshade.plain import counted
from starshade.ratings.habits import OffTop

__all__ = ["Reproduction"]


@dataclass(frozen=True)
class Reproduction(PaperStudy):
    """NS §5 on other data. Internal: Figs 2 and 3 count single users.

    Attributes
    ----------
    data : dict
        Size, scale, dates, and what ±1 on 1-5 comes to.
    figures : tuple of Figure
        In the paper's order.
    off_top : tuple of OffTop
        The table of §5.
    theorems : list of dict
        Facts that the theorems ask for, ours and Netflix's.
    few_facts : tuple of FewFacts
        What this data's sparsity makes of them.
    statements : tuple of Statement
        The paper's text, ours beside it.
    checks : tuple of Check
        Whether success rises with what is known and falls with error.
    skipped : tuple of Skipped
        What the data could not give, and why.
    sparsity, gain
        The results behind Figs 1 and 7.
    targets : int or None
        Users attacked in each setting, at most; None: all.
    settings : int
        Attacks run.
    seconds : float
    seed : int
    digest : str
    version : str
    """

    key = "ns"
    authors = "Narayanan & Shmatikov"

    data: dict[str, Any]
    figures: tuple[Figure, ...]
    off_top: tuple[OffTop, ...]
    theorems: list[dict[str, float | int | str]]
    few_facts: tuple[FewFacts, ...]
    statements: tuple[Statement, ...]
    checks: tuple[Check, ...]
    skipped: tuple[Skipped, ...]
    sparsity: SparsityResult = field(repr=False)
    gain: InformationGain = field(repr=False)
    targets: int | None
    settings: int
    seconds: float
    seed: int
    digest: str
    version: str = field(default=__version__)

    @property
    def monotone(self) -> bool:
        """Whether every check holds, within the intervals."""
        return all(check.holds for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole as plain JSON values; no user and no item is named."""
        plain = super().to_dict()
        plain["checks"] = {
            "holds": self.monotone,
            "slack": "a step counts as wrong where the 95 % intervals are disjoint",
            "checks": plain["checks"],
        }
        named = {"off_top": "table", "checks": "monotone"}
        return {named.get(name, name): value for name, value in plain.items()}

    def __str__(self) -> str:
        numbers = ", ".join(figure.number for figure in self.figures)
        failed = [check for check in self.checks if not check.holds]
        wrong = f", except in {len(failed)}: {failed[0].what}" if failed else ""
        wrong += ", …" * (len(failed) > 1)
        text = (
            f"The case study of Narayanan and Shmatikov on {counted(self.data['users'], 'user')}, "
            f"{counted(self.data['items'], 'item')} and "
            f"{counted(self.data['ratings'], 'rating')}: figures {numbers} "
            f"from {self.settings} attacks."
        )
        if self.checks:
            text += (
                f" In {len(self.checks)} comparisons success rises with what is known and falls "
                f"with error, as far as the intervals can tell{wrong}."
            )
        if self.data["one_star"] != 1:
            text += (
                f" Where the paper has ratings to within one star of five, here it is within "
                f"{self.data['one_star']:g} (a quarter of the scale)."
            )
        if self.skipped:
            text += f" Left out, with the reason: {len(self.skipped)}."
        return text
