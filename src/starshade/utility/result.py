"""`UtilityResult`: named figures and what they mean."""

from __future__ import annotations

from dataclasses import dataclass, field

from starshade._version import __version__
from starshade.markup import block, facts, figure_of, paragraph

__all__ = ["UtilityResult"]


@dataclass(frozen=True)
class UtilityResult:
    """Figures of one measure on one release.

    Attributes
    ----------
    measure : str
        As ``starshade list measures`` names it.
    figures : dict
        Name → figure; None where it does not apply.
    meaning : str
        What a high and a low figure mean, in a sentence or two.
    version : str
        Of starshade.
    """

    measure: str
    figures: dict[str, float | int | None]
    meaning: str
    version: str = field(default=__version__)

    def to_dict(self) -> dict[str, float | int | None]:
        """Return the figures as a flat dict."""
        return dict(self.figures)

    def __str__(self) -> str:
        told = ", ".join(f"{name} {_told(value)}" for name, value in self.figures.items())
        return f"{self.measure}: {told}. {self.meaning}"

    def _repr_html_(self) -> str:
        rows = [
            (name.replace("_", " "), "does not apply" if value is None else figure_of(value))
            for name, value in self.figures.items()
        ]
        return block(self.measure, facts(rows), paragraph(self.meaning))


def _told(value: float | int | None) -> str:
    if value is None:
        return "does not apply"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
