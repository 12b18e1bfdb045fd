"""`Measure` and its `UtilityResult`: named figures and what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from starshade._version import __version__
from starshade.figure import Figure, Shown
from starshade.registry import find
from starshade.setting import check
from starshade.utility.registry import ENTRIES

Result = TypeVar("Result", bound="UtilityResult", covariant=True)


@dataclass(frozen=True)
class UtilityResult(Shown):
    """Figures of one measure on one release.

    Attributes
    ----------
    measure : str
        As ``starshade list measures`` names it.
    figures : dict
        Key → value; None where it does not apply.
    meaning : str
        What a high and a low figure mean, in a sentence or two.
    version : str
        Of starshade.
    """

    measure: str
    figures: dict[str, float | int | None]
    meaning: str
    version: str = field(default=__version__)

    @property
    def found(self) -> tuple[Figure, ...]:
        """The figures as the measure declares them: title, unit, what high and low mean."""
        declared: tuple[Figure, ...] = find(ENTRIES, self.measure, "measure").load().FIGURES
        return tuple(figure.of(self.figures.get(figure.key)) for figure in declared)

    def to_dict(self) -> dict[str, float | int | None]:
        """Return the figures as a flat dict."""
        return dict(self.figures)

    def __str__(self) -> str:
        figures = ", ".join(
            f"{figure.key} {'does not apply' if figure.value is None else figure.text}"
            for figure in self.found
        )
        return f"{self.measure}: {figures}. {self.meaning}"

    def _headline(self) -> str:
        return self.measure


class Measure(Generic[Result]):
    """What all measures have: a name, figures, and a sentence or two on what they mean."""

    name: ClassVar[str]  # as ``starshade list measures`` has it
    FIGURES: ClassVar[tuple[Figure, ...]]
    MEANING: ClassVar[str]  # may name settings in braces
    RESULT: ClassVar[Any] = UtilityResult

    def __post_init__(self) -> None:
        check(self)

    def _result(
        self, figures: Mapping[str, float | int | None], reason: str = "", **more: Any
    ) -> Result:
        """Return the figures, None for those that are not given; `reason` says why."""
        every = dict.fromkeys(figure.key for figure in self.FIGURES) | dict(figures)
        meaning = self.MEANING.format_map(vars(self)) + reason
        found: Result = self.RESULT(measure=self.name, figures=every, meaning=meaning, **more)
        return found
