"""`QueryErrorResult`: mean errors of each kind of query, and the steps behind them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starshade.chart import Chart
from starshade.chart.shapes import Axis, curve_chart
from starshade.errors import ConfigError
from starshade.utility.result import UtilityResult

#: kinds of condition, and who meets one
KINDS = {
    "and": "who satisfy all conditions",
    "or": "who satisfy any of the conditions",
    "range": "whose ratings of an item lie in a range",
}


@dataclass(frozen=True)
class Step:
    """Conditions of one kind and size.

    `kind` ({"and", "or", "range"}). `size`: artifacts in the condition; of a range its width, in
    fifths of the scale with null's level. `conditions`: compared; those null on either side are not
    among them. `passed_over`: null on the original or on the release. `error`: mean of |x - x0|/|x|
    · 100 (KL Eq. 7), x the answer of the release, x0 the truth. None without a condition; those
    with x = 0 have no such error and are left out. `error_of_truth`: mean of |x - x0|/|x0| · 100.
    """

    kind: str
    size: int
    conditions: int
    passed_over: int
    error: float | None
    error_of_truth: float | None

    @classmethod
    def of(cls, kind: str, size: int, x: NDArray[np.float64], x0: NDArray[np.float64]) -> Step:
        """Compare answers, NaN being null."""
        both = ~np.isnan(x) & ~np.isnan(x0)
        off = np.abs(x - x0)[both]
        return cls(
            kind,
            size,
            conditions=int(both.sum()),
            passed_over=int((~both).sum()),
            error=_mean_percent(off, x[both]),
            error_of_truth=_mean_percent(off, x0[both]),
        )


@dataclass(frozen=True)
class QueryErrorResult(UtilityResult):
    """Figures in percent, each a mean over the sizes of a kind, and the curves behind them.

    Attributes
    ----------
    attribute : str or None
        What was averaged; None: does not apply.
    steps : tuple of Step
    """

    attribute: str | None = None
    steps: tuple[Step, ...] = ()

    def plot(self) -> Chart:
        """Draw the error over the size of a condition, by kind.

        Raises
        ------
        ConfigError
            Nothing was asked: the data have no numeric attribute.
        """
        curves: dict[str, list[tuple[float, ...]]] = {}
        for step in self.steps:
            if step.error is not None:
                curves.setdefault(step.kind, []).append((step.size, step.error))
        if not curves:
            raise ConfigError(
                "no query was answered on both sides, so there is no chart",
                advice="A release answers queries if it has personal attributes.",
            )
        return curve_chart(
            f"How far the average of {self.attribute} is off",
            f"{self.figures['query_error_conditions']:,} conditions; 0 is exact",
            curves,
            Axis("size of the condition (of a range: its width)", whole=True),
            Axis("error, % of the answer"),
        )

    @classmethod
    def of(cls, attribute: str | None, steps: tuple[Step, ...] = ()) -> QueryErrorResult:
        """Sum the steps up."""
        figures: dict[str, float | int | None] = {}
        for kind in KINDS:
            ours = [step for step in steps if step.kind == kind]
            figures[f"query_error_{kind}"] = _mean([step.error for step in ours])
            figures[f"query_error_{kind}_of_truth"] = _mean([s.error_of_truth for s in ours])
        requested = sum(step.conditions for step in steps)
        figures["query_error_conditions"] = None if attribute is None else requested
        return cls(
            measure="query-error",
            figures=figures,
            meaning="Low is more useful: how far, in percent, the average of "
            f"{attribute or 'an attribute'} that a query on the release gives lies from the true "
            "one; of the answer given (the paper's formula), and of the truth.",
            attribute=attribute,
            steps=steps,
        )


def _mean_percent(off: NDArray[np.float64], base: NDArray[np.float64]) -> float | None:
    some = base != 0
    return float((off[some] / np.abs(base[some])).mean() * 100) if some.any() else None


def _mean(errors: list[float | None]) -> float | None:
    known = [error for error in errors if error is not None]
    return float(np.mean(known)) if known else None
