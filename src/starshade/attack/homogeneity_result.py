"""`HomogeneityResult`: what all candidates have in common, and how much of it is true."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from starshade.attack.candidate_result import CandidateResult
from starshade.stats import Rate

__all__ = ["HomogeneityResult", "SensitiveItem", "SharedCells"]


@dataclass(frozen=True)
class SharedCells:
    """Cells with a rating that are equal in all candidates of a target, the known ones apart.

    Attributes
    ----------
    mean : float
        How many there are for a target, on average; 0 for those without candidates.
    share : float or None
        Of all released items beyond the known ones; None where there are none.
    true : float or None
        Share of these cells that hold what the original says of the target: their rating, or
        null. None: there are no such cells.
    single_mean : float
        How many of them say one single rating, on average over the targets.
    single_true : float or None
        Share of those that are the target's true rating.
    learnt : float or None
        Of the targets' own ratings on released items beyond the known ones: the share that such
        a cell holds.
    """

    mean: float
    share: float | None
    true: float | None
    single_mean: float
    single_true: float | None
    learnt: float | None


@dataclass(frozen=True)
class SensitiveItem:
    """How often a group gives away one item: each of its users rated it, and all alike.

    Attributes
    ----------
    item : int
        Position in the original.
    groups, users : float
        Share of the groups, and of the records in them.
    """

    item: int
    groups: float
    users: float


@dataclass(frozen=True, kw_only=True)
class HomogeneityResult(CandidateResult):
    """What a homogeneity attack on all targets came to (SPEC §1.6).

    Attributes
    ----------
    profile_disclosed : Rate
        Targets all of whose candidates have identical review graphs (PA Def. 5.1): items and
        ratings, whatever the days. Whether it is the target's is another question; `disclosed`
        answers it.
    cells_disclosed : SharedCells
    sensitive : tuple of SensitiveItem, or None
        One entry per item asked for; None: without a link nobody can say.
    """

    profile_disclosed: Rate
    cells_disclosed: SharedCells
    sensitive: tuple[SensitiveItem, ...] | None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values; nothing in it is about a single user."""
        items = self.sensitive
        return super().to_dict() | {
            "profile_disclosed": self.profile_disclosed.to_dict(),
            "cells_disclosed": asdict(self.cells_disclosed),
            "sensitive": None if items is None else [asdict(item) for item in items],
        }

    def __str__(self) -> str:
        cells = self.cells_disclosed
        text = (
            f"{super().__str__()} For {self.profile_disclosed} of the targets all candidates "
            "have the same ratings, so that their profile is known without telling them apart. "
            f"All candidates agree on {cells.mean:,.1f} further cells on average"
        )
        if cells.true is not None:
            text += f", of which {cells.true:.1%} hold the truth about the target"
        if cells.learnt is not None:
            text += f"; they hold {cells.learnt:.1%} of what the targets rated besides"
        text += "."
        for place, item in enumerate(self.sensitive or (), start=1):
            text += (
                f" Sensitive item {place} (as given) was rated alike by everybody in "
                f"{item.groups:.1%} of the groups ({item.users:.1%} of the records)."
            )
        return text
