"""`ClassVerdict`: what a check of a personal attribute within classes found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.markup import figure_of
from starshade.plain import counted
from starshade.privacy.classes.values import ClassValues
from starshade.privacy.verdict import SHOWN, Verdict

__all__ = ["ClassVerdict", "judged"]


@dataclass(frozen=True)
class ClassVerdict(Verdict):
    """A verdict about the values of one attribute in each class.

    Attributes
    ----------
    figures : dict
        What was counted over all classes; `to_dict` lists it among the other keys.
    meaning : str
        What this verdict says, without its head.
    """

    figures: dict[str, float | int] = field(default_factory=dict)
    meaning: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain JSON values."""
        return self._with(self.figures)

    def __str__(self) -> str:
        settings = ", ".join(f"{name} = {_plain(value)}" for name, value in self.parameters.items())
        meaning = self.empty_because if self.vacuous else self.meaning
        return f"{self.model} ({settings}) {self._outcome()}: {meaning}"

    def _counts(self) -> list[tuple[str, str]]:
        more = [(name.replace("_", " "), figure_of(value)) for name, value in self.figures.items()]
        return super()._counts() + more

    def _group(self, entry: dict[str, Any]) -> str:
        figures = [
            f"{name} {_plain(value)}"
            for name, value in entry.items()
            if name not in ("row", "size")
        ]
        return f"{super()._group(entry)}: {', '.join(figures)}"


def judged(
    model: str,
    parameters: dict[str, Any],
    values: ClassValues,
    *,
    failing: NDArray[np.bool_],
    worst: tuple[str, NDArray[Any], bool],
    figures: dict[str, float | int],
    meaning: tuple[str, str],
    empty: str,
) -> ClassVerdict:
    """Put a verdict together.

    `failing` (n_classes,). `worst` (str, ndarray of shape (n_classes,), bool): what is told of
    failing classes: its name, its value in each class, and whether the least is the worst.
    `meaning` (str, str): if it holds; and if it does not, behind the number of records that fail.
    `empty`: why it holds whatever the values are; empty where it need not.
    """
    classes = values.classes
    records = int(classes.size[failing].sum())
    name, measured, least = worst
    order = np.lexsort([classes.row, classes.size, measured if least else -measured])
    share = f"{records:,} of {counted(values.records, 'record')} ({records / values.records:.1%})"
    return ClassVerdict(
        model=model,
        parameters=parameters,
        satisfied=not records,
        records=values.records,
        failing_records=records,
        smallest_group=int(classes.size.min()),
        worst=tuple(
            {"row": int(classes.row[c]), "size": int(classes.size[c]), name: measured[c].item()}
            for c in order[failing[order]][:SHOWN].tolist()
        ),
        numbered=classes.numbered,
        figures=figures,
        empty_because=empty,
        meaning=f"{share} {meaning[1]}" if records else meaning[0],
    )


def _plain(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else f"{value}"
