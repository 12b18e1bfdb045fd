"""`CandidateResult`: what an attack by candidates found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.result import AttackResult, Bits
from starshade.stats import Rate

__all__ = ["CandidateOutcomes", "CandidateResult"]


@dataclass(frozen=True, eq=False)
class CandidateOutcomes:
    """What came of each target; every array has shape (targets,).

    Attributes
    ----------
    users : ndarray of int64
        Rows of the original.
    candidates : ndarray of int64
        Records that fit everything known.
    credit : ndarray of float64
        1/candidates where the target's record is among them, else 0.
    false_match, disclosed : ndarray of bool
    entropy_bits, entropy_bits_profile : ndarray of float64
    some_absent : ndarray of bool, or None
        Whether a candidate is left when the target's record is not there.
    """

    users: NDArray[np.int64]
    candidates: NDArray[np.int64]
    credit: NDArray[np.float64]
    false_match: NDArray[np.bool_]
    disclosed: NDArray[np.bool_]
    entropy_bits: NDArray[np.float64]
    entropy_bits_profile: NDArray[np.float64]
    some_absent: NDArray[np.bool_] | None = None


@dataclass(frozen=True, kw_only=True)
class CandidateResult(AttackResult):
    """What one attack by candidates on all targets came to (SPEC §1.1, 1.5).

    The candidates are the records in which everything known fits, one as likely as another. The
    figures that this result shares with `AttackResult` are read so:

    - ``success`` = ``expected_top1``: 1/candidates where the target's record is among them,
      else 0, on average ("success in expectation"),
    - ``disclosed``: the candidates are all one profile, and it agrees with the target's truth,
    - ``false_match``: there are candidates, and the target is not among them,
    - ``false_match_absent``: somebody fits although the target's record was taken out,
    - ``no_answer``: nobody fits,
    - ``entropy_bits``: log2(candidates) where one of them agrees with the target's truth, else
      log2(records); ``entropy_bits_profile``: the same for all agreeing ones together.

    Attributes
    ----------
    candidates : Bits
        How many records fit: mean and median over the targets, those without any included.
    single : Rate
        Targets for whom exactly one record fits.
    fewer_than_k : Rate
        Targets for whom some records fit, but fewer than `k`.
    k : int
    bound : float
        1 / the smallest number of equal records in the data: the confidence that nobody can
        exceed (PA Thm 6.1).
    per_target : CandidateOutcomes
        The figures target by target: internal, never part of `to_dict`.
    """

    candidates: Bits
    single: Rate
    fewer_than_k: Rate
    k: int
    bound: float
    # internal, and of another attack than AttackResult's
    per_target: CandidateOutcomes = field(repr=False, compare=False)  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values; nothing in it is about a single user."""
        return super().to_dict() | {
            "candidates": self.candidates.to_dict(),
            "single": self.single.to_dict(),
            "fewer_than_k": self.fewer_than_k.to_dict(),
            "k": self.k,
            "bound": self.bound,
        }

    def __str__(self) -> str:
        guess = 1 / self.records
        theirs = "the target's own" if self.credit == "linked" else "one like the target's"
        text = (
            f"{self.attack} on {self.records:,} records, knowing of each of {self.targets:,} "
            f"targets: {self.knowledge['name']}. {self._unreleased()}Everything known fits "
            f"{self.candidates.median:,.0f} records (median; mean {self.candidates.mean:,.1f}), "
            f"just one for {self.single} of the targets, fewer than {self.k} for "
            f"{self.fewer_than_k}, none for {self.no_answer:.1%}; for {self.false_match} some fit, "
            f"but not {theirs}. Picking one that fits, the adversary is right in "
            f"{self.expected_top1} of the cases; guessing without the data: {guess:.2%}. "
            f"{self._bounded()} What the target's record says is found for {self.disclosed}, "
            "whose candidates are all alike."
        )
        if self.false_match_absent is not None:
            text += (
                f" With the target's record taken out, somebody fits all the same for "
                f"{self.false_match_absent}."
            )
        if self.expected_top1.low <= guess:
            text += " This is no better than guessing."
        return text

    def _bounded(self) -> str:
        """Say what PA Thm 6.1 promises here."""
        alike = round(1 / self.bound)
        if alike == 1:
            return "Some record is like no other, so no bound holds for everybody."
        return (
            f"Every record is one of {alike:,} or more that are alike, so for nobody it can be "
            f"more than {self.bound:.2%}."
        )

    def _unreleased(self) -> str:
        """Say how often something is known that the data lack."""
        if self.known_released == 1:
            return ""
        return (
            f"Of the known cells {self.known_released:.1%} are on released items; the others fit "
            "nobody. "
        )
