"""`LikelihoodResult`: the figures of the likelihood attack."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.recall import recall_chart, recall_text
from starshade.attack.result import (
    DISCLOSED,
    EXPECTED_TOP1,
    FALSE_MATCH,
    FALSE_MATCH_ABSENT,
    SUCCESS,
    AttackResult,
)
from starshade.chart import Chart
from starshade.chart.shapes import Axis, curve_chart
from starshade.figure import Figure, Rate, Renamed
from starshade.plain import counted

_POINTS = 200  # of a curve


@dataclass(frozen=True, eq=False)
class LikelihoodOutcomes:
    """Outcome of each target; every array has shape (targets,).

    `users`: rows of the original. `posterior`: of the likeliest record; 0 where there are several.
    `class_linkage`: 1/t where the target's class is among the t likeliest, else 0. `impossible`: no
    record can have led to the known ratings. `pool_posterior`, `pool_credit` (targets, pools): of
    the likeliest record among the candidates, and the credit of naming it; the last pool holds all
    records. `matched_absent`: whether a record is named after the target's is removed.
    """

    users: NDArray[np.int64]
    posterior: NDArray[np.float64]
    success: NDArray[np.bool_]
    false_match: NDArray[np.bool_]
    disclosed: NDArray[np.bool_]
    expected_top1: NDArray[np.float64]
    class_linkage: NDArray[np.float64]
    impossible: NDArray[np.bool_]
    entropy_bits: NDArray[np.float64]
    entropy_bits_profile: NDArray[np.float64]
    pool_posterior: NDArray[np.float64]
    pool_credit: NDArray[np.float64]
    matched_absent: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Silence(Renamed):
    """Error rate against abstention rate, by the posterior needed for an answer.

    Chow's curve (IEEE Trans. Inf. Theory 16(1), 1970).

    Attributes
    ----------
    min_posterior : tuple of float, at most 200
        Posterior of the named record, ascending.
    abstained : tuple of float
        Share of targets without a record of that posterior.
    error : tuple of float
        Share of targets for whom a wrong record is named.
    """

    min_posterior: tuple[float, ...]
    abstained: tuple[float, ...]
    error: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"min_posterior", "abstained", "error"}``."""
        return {name: list(getattr(self, name)) for name in ("min_posterior", "abstained", "error")}

    def plot(self) -> Chart:
        """Draw the error rate over the abstention rate."""
        points = sorted(set(zip(self.abstained, self.error, strict=True)))
        return curve_chart(
            "Error rate against abstention",
            "low: an adversary who abstains when unsure is rarely wrong",
            {"likelihood": points},
            Axis("targets without an answer", share=True),
            Axis("targets with a wrong answer", share=True),
        )


def silence_of(posterior: NDArray[np.float64], credit: NDArray[np.float64]) -> Silence:
    """Return the curve of error against abstention.

    `posterior` (targets,): of the named record; 0: none. `credit`: whether it is right.

    >>> silence_of(np.array([0.5, 0.9, 0.0, 0.9]), np.array([0.0, 1.0, 0.0, 0.0]))
    Silence(min_posterior=(0.5, 0.9), abstained=(0.25, 0.5), error=(0.5, 0.25))
    """
    order = np.argsort(posterior, kind="stable")
    levels, first = np.unique(posterior[order], return_index=True)
    levels, first = levels[levels > 0], first[levels > 0]
    keep = np.unique(np.linspace(0, len(levels) - 1, min(_POINTS, len(levels))).astype(np.int64))
    errors = np.cumsum(1 - credit[order][::-1])[::-1]  # of each target and all surer ones
    n = max(1, len(posterior))
    return Silence(
        tuple(levels[keep].tolist()),
        tuple((first[keep] / n).tolist()),
        tuple((errors[first[keep]] / n).tolist()),
    )


CLASS_FOUND = Figure(
    "class_linkage",
    "Class linkage (best guess correct)",
    "share",
    True,
    "High: the adversary finds the target's class of equal records.",
    "definitions, likelihood",
    short="class linkage",
)
_CEILING = Figure(
    "upper_bound",
    "Upper bound of class linkage",
    "share",
    True,
    "Class linkage of an adversary with the original rows; no attack with this knowledge exceeds "
    "it.",
    "definitions, likelihood",
)
_IMPOSSIBLE = Figure(
    "no_possible_record",
    "Targets without a possible record",
    "count",
    None,
    "The adversary abstains for them.",
)
_SURE = replace(SUCCESS, title="Confident and correct")
_WRONG = replace(FALSE_MATCH, title="Confident and wrong")
_THOUGH_ABSENT = replace(FALSE_MATCH_ABSENT, title="False matches of absent targets")


@dataclass(frozen=True, kw_only=True)
class LikelihoodResult(AttackResult):
    """Result of the likelihood attack.

    Figures shared with `AttackResult` mean:

    - a record is *named* where it alone is likeliest, with a posterior of `min_posterior` or more,
    - ``entropy_bits``: -log2 of the probability of the target's record, ``entropy_bits_profile``
      of all records that equal it.

    Attributes
    ----------
    class_linkage : Rate
        The adversary must name a class of equal records: 1/t where the target's is among the t
        likeliest.
    upper_bound : Rate or None
        The same for an adversary with the original rows of the released items: the upper bound of
        any attack with this knowledge. None on ratings and without a link.
    no_possible_record : int
        Targets for whom no record can have led to the known ratings.
    abstention : Silence
        Error against abstention.
    per_target : LikelihoodOutcomes
        The figures target by target: internal, never part of `to_dict`.
    """

    class_linkage: Rate
    upper_bound: Rate | None
    no_possible_record: int
    abstention: Silence
    # internal, and of another attack than AttackResult's
    per_target: LikelihoodOutcomes = field(repr=False, compare=False)  # type: ignore[assignment]

    def __str__(self) -> str:
        text = (
            f"{self._opening()} {self._top1()} At a posterior of "
            f"{self.config['min_posterior']:g} or more the adversary names the right record for "
            f"{self.success} of targets, a wrong one for {self.false_match} and none for "
            f"{self.no_answer:.1%}. Class linkage: {self.class_linkage}"
        )
        if self.upper_bound is not None:
            text += f" (upper bound: {self.upper_bound})"
        text += f". Remaining entropy: {self._remaining()}."
        if self.no_possible_record:
            text += (
                f" For {counted(self.no_possible_record, 'target')} no record can have led to the "
                "known ratings, so the adversary abstains."
            )
        if self.false_match_absent is not None:
            text += (
                " With the target's record removed, a record is still named for "
                f"{self.false_match_absent} (false matches)."
            )
        text += f" {recall_text(self.recall, self.most, 'posterior')}"
        return text + self._beside_guessing()

    def plot_recall(self) -> Chart:
        """Draw the recall at each precision over the number of candidates."""
        return recall_chart(self.recall)

    def _shares(self) -> tuple[Figure, ...]:
        return (
            self._guess(EXPECTED_TOP1),
            *self._of(CLASS_FOUND, _CEILING, _SURE, DISCLOSED, _WRONG, _THOUGH_ABSENT),
            _IMPOSSIBLE.of(self.no_possible_record or None),
        )
