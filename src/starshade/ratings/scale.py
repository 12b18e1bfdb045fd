"""The scale that ratings are given on, and what a null is worth there (definitions, "scale")."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.errors import ConfigError
from starshade.naming import aside
from starshade.setting import is_plain, shown

SLACK = 1e-9  # two ratings closer than this are one
_NEAREST = 1e-8  # between null and the ratings, or two steps: plainly more than the slack
_FURTHEST = 1e15  # from 0; what is computed with numbers beyond may be no number
MAX_INFERRED_LEVELS = 255  # more distinct steps than this are read as a real scale
MOST_COARSE = 20  # levels; on more, or on a real scale, few people share a rating
_STEPS = (1.0, 0.5, 0.25, 0.2, 0.1, 0.05, 0.01)  # coarsest first


@dataclass(frozen=True)
class Scale:
    """A declared range of ratings, with steps or real-valued.

    Parameters
    ----------
    minimum, maximum : float
        Finite, ``minimum <= maximum``.
    step : float or None
        Distance of neighbouring ratings; it must divide the range. None: real-valued.

    Raises
    ------
    ConfigError
        Bounds that are not finite, too far apart, beyond 10¹⁵ or out of order, a range or a step
        that is too small to tell ratings apart (below 2·10⁻⁷, 10⁻⁸, or what floats of that size
        resolve), a step that does not divide the range, or more than 65,535 levels.

    Examples
    --------
    >>> Scale.parse("0.5:5:0.5").levels[:3].tolist()
    [0.5, 1.0, 1.5]
    >>> Scale(-10, 10).cost_of_null
    20.0
    """

    minimum: float
    maximum: float
    step: float | None = None

    def __post_init__(self) -> None:
        for name in ("minimum", "maximum"):
            object.__setattr__(self, name, _one_number(name, getattr(self, name)))
        if not (math.isfinite(self.minimum) and math.isfinite(self.maximum)):
            raise ConfigError("a scale's bounds must be finite numbers")
        if self.minimum > self.maximum:
            raise ConfigError(
                f"scale {self.minimum:g}:{self.maximum:g}: the minimum is above the maximum",
                advice="Write it as minimum:maximum:step, e.g. 1:5:1.",
            )
        if self.step is not None:
            object.__setattr__(self, "step", _one_number("step", self.step))
            self._check_step(self.step)
        # null lies below the minimum, and has to be a number too
        if not (math.isfinite(self.width) and math.isfinite(self.null_level)):
            raise ConfigError(
                f"scale {self}: the range is too wide to compute with",
                advice="Examples: 1:5:1, 0.5:5:0.5, -10:10.",
            )
        if self._greatest > _FURTHEST:
            raise ConfigError(
                f"scale {self}: bounds beyond {_FURTHEST:g} are too large to compute with",
                advice="Divide the ratings, e.g. by the largest, and read them again.",
            )
        if self.step is None and self.width and self._finest >= self.minimum - self.null_level:
            raise ConfigError(
                f"scale {self}: {self.width:g} wide, too narrow to distinguish ratings from null",
                advice="Multiply the ratings, e.g. by 1e9, and read them again."
                if self._finest == _NEAREST
                else "Subtract the lowest rating from the ratings and read them again.",
            )

    def _check_step(self, step: float) -> None:
        if not (math.isfinite(step) and step > 0):
            raise ConfigError(
                f"scale step {step:g}: must be above 0",
                advice=f"A scale without steps has two parts: {self.minimum:g}:{self.maximum:g}.",
            )
        if not math.isfinite(self.width):
            return  # refused with or without a step
        steps = self.width / step
        if steps > 65_534.5:
            raise ConfigError(
                f"scale {self}: more than 65,535 levels",
                advice="Leave the step out for a real-valued scale, e.g. -10:10.",
            )
        if step <= self._finest:
            raise ConfigError(
                f"scale step {step:g}: too small to distinguish levels",
                advice="Leave the step out for a real-valued scale, e.g. -10:10.",
            )
        if abs(steps - round(steps)) > 1e-6:
            raise ConfigError(
                f"scale {self}: the step does not divide the range",
                advice="Leave the step out for a real-valued scale, e.g. -10:10.",
            )

    @property
    def _greatest(self) -> float:
        return max(abs(self.minimum), abs(self.maximum))

    @property
    def _finest(self) -> float:
        """What numbers of this size have to be further apart than."""
        return max(_NEAREST, 2 * math.ulp(self._greatest))

    @property
    def width(self) -> float:
        """Maximum minus minimum."""
        return self.maximum - self.minimum

    @cached_property
    def levels(self) -> NDArray[np.float64]:
        """Every rating of a stepped scale in ascending order; ConfigError on a real one."""
        if self.step is None:
            raise ConfigError(f"scale {self} is real-valued: it has no levels")
        count = round(self.width / self.step) + 1
        # rounding takes off the float dust of 0.1 + 0.2
        return np.round(self.minimum + self.step * np.arange(count), 9)

    @property
    def fine(self) -> bool:
        """Whether a rating itself may identify: real-valued, or of more than 20 levels."""
        return self.width > (0 if self.step is None else (MOST_COARSE - 0.5) * self.step)

    @property
    def null_level(self) -> float:
        """The value of null where a definition says "null counts as 0"."""
        if self.step is not None:
            return round(self.minimum - self.step, 9)
        # a constant real scale still needs null to lie below it
        return self.minimum - (self.width / 20 if self.width else 1.0)

    @property
    def cost_of_null(self) -> float:
        """R: the distance of a null from a rating, max(maximum, width)."""
        return max(self.maximum, self.width)

    def contains(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which values are ratings of this scale (within 1e-9); never a NaN."""
        inside = (values >= self.minimum - SLACK) & (values <= self.maximum + SLACK)
        if self.step is None:
            return np.asarray(inside)
        with np.errstate(invalid="ignore"):
            position = (values - self.minimum) / self.step
            on_step = np.abs(position - np.round(position)) * self.step <= SLACK
        return np.asarray(inside & on_step)

    @classmethod
    @typed
    def parse(cls, text: str) -> Scale:
        """Read ``min:max:step`` or ``min:max`` (real-valued).

        Raises
        ------
        ConfigError
            The text is no scale.
        """
        parts = text.split(":")
        try:
            numbers = [float(part) for part in parts] if is_plain(text) else []
        except ValueError:
            numbers = []
        if len(numbers) not in (2, 3):
            raise ConfigError(
                f"scale {text!r}: expected min:max:step or min:max",
                advice="Examples: 1:5:1, 0.5:5:0.5, -10:10.",
                setting="scale",
            )
        return cls(*numbers)

    @classmethod
    def infer(cls, distinct: NDArray[np.float64]) -> Scale:
        """Infer the scale of distinct ratings: coarsest usual step, else real-valued.

        Parameters
        ----------
        distinct : ndarray of float64, shape (n,)
            Finite, at least one.

        Raises
        ------
        ConfigError
            They are not all 0, but so near to it that they would be read as 0; or their scale is
            none (see `Scale`).
        """
        if 0 < np.abs(distinct).max() <= SLACK:
            raise ConfigError(
                f"all ratings are within {SLACK:g} of 0, but not 0: too small to distinguish",
                advice="Multiply the ratings and read them again; or declare the "
                f"scale{aside('scale')}.",
            )
        low, high = float(distinct.min()), float(distinct.max())
        if max(-low, high) > _FURTHEST:
            return cls(low, high)  # refused there
        for step in _STEPS:
            multiple = distinct / step
            # judged in ratings, not in steps: 1e-9 is the slack of every comparison
            on_step = np.abs(multiple - np.round(multiple)) * step <= SLACK
            if on_step.all():
                low, high = round(round(low / step) * step, 9), round(round(high / step) * step, 9)
                if round((high - low) / step) + 1 <= MAX_INFERRED_LEVELS:
                    return cls(low, high, step)
                break
        return cls(float(distinct.min()), float(distinct.max()))

    def __str__(self) -> str:
        bounds = f"{self.minimum:g}:{self.maximum:g}"
        return bounds if self.step is None else f"{bounds}:{self.step:g}"


def _one_number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ConfigError(f"{name} of a scale = {shown(value)}: must be a number") from None
