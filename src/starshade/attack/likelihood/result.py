"""`LikelihoodResult`: what the attack by likelihood found."""

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
    """What came of each target; every array has shape (targets,).

    `users`: rows of the original. `posterior`: of the likeliest record; 0 where there are several.
    `class_linkage`: 1/t where the target's class is among the t likeliest, else 0. `impossible`: no
    record can have led to what is known. `pool_posterior`, `pool_credit` (targets, pools): of the
    likeliest record among the candidates, and the credit of naming it; the last pool is everybody.
    `matched_absent`: whether a record is named when the
    target's is not there.
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
    """How often an answer is wrong, and how often none is given, by how sure one must be.

    Chow's curve (IEEE Trans. Inf. Theory 16(1), 1970).

    Attributes
    ----------
    min_posterior : tuple of float, at most 200
        Probabilities of the record that is named, ascending.
    abstained : tuple of float
        Share of the targets of whom no record is that likely.
    error : tuple of float
        Share of the targets for whom a wrong one is named.
    """

    min_posterior: tuple[float, ...]
    abstained: tuple[float, ...]
    error: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return ``{"min_posterior", "abstained", "error"}``."""
        return {name: list(getattr(self, name)) for name in ("min_posterior", "abstained", "error")}

    def plot(self) -> Chart:
        """Draw the error over the silence that it takes."""
        points = sorted(set(zip(self.abstained, self.error, strict=True)))
        return curve_chart(
            "Wrong answers against silence",
            "low: who says nothing where they doubt is seldom wrong",
            {"likelihood": points},
            Axis("targets for whom nobody is named", share=True),
            Axis("targets for whom a wrong record is named", share=True),
        )


def silence_of(posterior: NDArray[np.float64], credit: NDArray[np.float64]) -> Silence:
    """Trace error against silence.

    `posterior` (targets,): of the record that is named; 0: none is. `credit`: whether it is right.

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
    "The right class when it must answer",
    "share",
    True,
    "High: the set of equal records that the target is in is found.",
    "definitions, likelihood",
    short="class found",
)
_CEILING = Figure(
    "upper_bound",
    "The right class, at most",
    "share",
    True,
    "What who has the original rows reaches: no attack with this knowledge finds the class more "
    "often.",
    "definitions, likelihood",
)
_IMPOSSIBLE = Figure(
    "no_possible_record",
    "People of whom no record fits what is known",
    "count",
    None,
    "Nobody is named for them.",
)
_SURE = replace(SUCCESS, title="The right record is named")
_WRONG = replace(FALSE_MATCH, title="A wrong record is named")
_THOUGH_ABSENT = replace(FALSE_MATCH_ABSENT, title="A record is named though the target is absent")


@dataclass(frozen=True, kw_only=True)
class LikelihoodResult(AttackResult):
    """What the attack by likelihood came to.

    The figures that this result shares with `AttackResult` are read so:

    - a record is *named* where it alone is likeliest, and its probability is `min_posterior` or more,
    - ``entropy_bits``: -log2 of the probability of the target's record, ``entropy_bits_profile``
      of all records that equal it.

    Attributes
    ----------
    class_linkage : Rate
        The adversary must name a class of equal records: 1/t where the target's is among t.
    upper_bound : Rate or None
        The same for who has the original rows, on the released items: no attack with this
        knowledge passes it. None on ratings, and where nobody says who became which record.
    no_possible_record : int
        Targets for whom no record can have led to what is known.
    abstention : Silence
        Error against silence.
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
        true = "their own record" if self.credit == "linked" else "a record like theirs"
        text = (
            f"{self._opening()} Made to answer, the adversary names {true} in "
            f"{self.expected_top1} of the cases; guessing without the data, in 1 of "
            f"{self.records:,}. Answering only with a probability of {self.config['min_posterior']:g} or "
            f"more, they name the right one for {self.success} and a wrong one for "
            f"{self.false_match}; {self.no_answer:.1%} get no answer. The class of equal records "
            f"is found for {self.class_linkage}"
        )
        if self.upper_bound is not None:
            text += f", of {self.upper_bound} that anybody with these facts could reach"
        text += (
            f". {self.entropy_bits.mean:.2f} bits (yes-or-no questions) are still missing to the "
            f"target's record on average, of {np.log2(self.records):.2f} before."
        )
        if self.no_possible_record:
            text += (
                f" For {counted(self.no_possible_record, 'target')} no record can have led to what is "
                "known; nobody is named for them."
            )
        if self.false_match_absent is not None:
            text += (
                " With the target's record taken out, a record is named all the same for "
                f"{self.false_match_absent}."
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
