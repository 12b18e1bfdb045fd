"""`Check`: a sentence about a curve, held against the curve found here."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Check"]


@dataclass(frozen=True)
class Check:
    """One sentence of the paper, or a promise of ours, on one line of a figure.

    Attributes
    ----------
    figure : str
    says : str
        The paper's words in quotation marks, or ours.
    where : str
        The data, the null rule, the line.
    ours : str
        The figures that decide.
    holds : bool
    """

    figure: str
    says: str
    where: str
    ours: str
    holds: bool

    @property
    def is_ours(self) -> bool:
        """Whether it is a sentence of ours that the paper does not have."""
        return self.says.startswith("ours")

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain JSON values."""
        return asdict(self)
