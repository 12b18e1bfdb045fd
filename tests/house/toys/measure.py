from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from starshade.figure import Figure
from starshade.setting import check, settable
from starshade.utility.result import UtilityResult


@dataclass(frozen=True)
class ToyMeasure:
    """How many records there are; there is one toy setting."""

    FIGURES: ClassVar = (
        Figure("toy_load", "Toy load", "bits", True, "Low is light.", short="load"),
    )

    weight: float = settable(
        "Toy weight", "What a record weighs.", default=1.5, least=0, above=True
    )

    def __post_init__(self) -> None:
        check(self)

    def measure(self, release: Any, *, original: Any = None) -> UtilityResult:
        """Measure."""
        return UtilityResult("toy-measure", {"toy_load": 2.0 * release.n_records}, "More is more.")
