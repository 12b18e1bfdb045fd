"""`CandidateResult`: what an attack by candidates found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.result import (
    DISCLOSED,
    EXPECTED_TOP1,
    FALSE_MATCH,
    FALSE_MATCH_ABSENT,
    AttackResult,
    Bits,
)
from starshade.figure import Figure, Rate
from starshade.naming import aside


@dataclass(frozen=True, eq=False)
class CandidateOutcomes:
    """What came of each target; every array has shape (targets,).

    `users`: rows of the original. `candidates`: records that fit everything known. `credit`:
    1/candidates where the target's record is among them, else 0. `some_absent`: whether a candidate
    is left when the target's record is not there.
    """

    users: NDArray[np.int64]
    candidates: NDArray[np.int64]
    credit: NDArray[np.float64]
    false_match: NDArray[np.bool_]
    disclosed: NDArray[np.bool_]
    entropy_bits: NDArray[np.float64]
    entropy_bits_profile: NDArray[np.float64]
    some_absent: NDArray[np.bool_] | None = None


_PICKED = replace(EXPECTED_TOP1, title="Right when one that fits is picked")
_SINGLE = Figure(
    "single", "Exactly one record fits", "share", True, "High: found, if the facts are right."
)
_FEWER = Figure(
    "fewer_than_k", "Fewer than k records fit", "share", True, "High: few to hide among."
)
_CANDIDATES = Figure(
    "candidates", "Records that fit, mean", "ratio", False, "High: many to hide among."
)
_CANDIDATES_MEDIAN = Figure(
    "candidates_median",
    "Records that fit, median",
    "ratio",
    False,
    "For half of the targets fewer fit.",
)
_BOUND = Figure(
    "bound",
    "At most possible",
    "share",
    True,
    "What the data set as a limit: 1 in the fewest records that are alike.",
    "PA Thm 6.1",
)
_ALL_TRUE = replace(DISCLOSED, meaning="High: all that fit are equal and true of the target.")
_OTHERS = replace(FALSE_MATCH, title="Some records fit, but not the target's")
_THOUGH_ABSENT = replace(FALSE_MATCH_ABSENT, title="Some record fits though the target is absent")


@dataclass(frozen=True, kw_only=True)
class CandidateResult(AttackResult):
    """What one attack by candidates on all targets came to.

    The candidates are the records in which everything known fits, one as likely as another. The
    figures that this result shares with `AttackResult` are read so:

    - ``success`` = ``expected_top1``: 1/candidates where the target's record is among them,
      else 0, on average ("success in expectation"),
    - ``class_contents_known``: the candidates are all one profile, and it agrees with the target's truth,
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

    def __str__(self) -> str:
        theirs = "the target's own" if self.credit == "linked" else "one like the target's"
        text = (
            f"{self._opening()} Exactly one record fits everything known for {self.single} of the "
            f"targets, fewer than {self.k} do for {self.fewer_than_k}, and none does for "
            f"{self.no_answer:.1%}; on average {self.candidates.mean:,.1f} fit (median "
            f"{self.candidates.median:,.0f}). For {self.false_match} some fit, but not {theirs}. "
            f"Picking one that fits, the adversary is right in {self.expected_top1} of the cases; "
            f"guessing without the data, in 1 of {self.records:,}. {self._bounded()} For "
            f"{self.class_contents_known} the records that fit are all equal and true of the target: what "
            "the target's record says is known, whichever of them it is."
        )
        if self.false_match_absent is not None:
            text += (
                f" With the target's record taken out, somebody fits all the same for "
                f"{self.false_match_absent}."
            )
        return text + self._beside_guessing()

    def _shares(self) -> tuple[Figure, ...]:
        return (
            self._guess(_PICKED),
            *self._of(_SINGLE, replace(_FEWER, title=f"Fewer than {self.k} records fit")),
            _CANDIDATES.of(self.candidates.mean),
            _CANDIDATES_MEDIAN.of(self.candidates.median),
            *self._of(_BOUND, _ALL_TRUE, _OTHERS, _THOUGH_ABSENT),
        )

    def _bounded(self) -> str:
        alike = round(1 / self.bound)
        if alike == 1:
            return (
                "At least one record differs from all others, so an adversary may be sure of the "
                "person behind it."
            )
        return (
            f"Every record is one of {alike:,} or more that are alike, so about nobody can the "
            f"adversary be surer than 1 in {alike:,}."
        )

    def _facts(self) -> str:
        name, allowed = str(self.knowledge["name"]), self.config.get("tolerance")
        if not allowed or not self.knowledge["ratings"]:
            return name
        if "ratings exact" in name:
            return name.replace("ratings exact", f"ratings, which fit within ±{allowed:g}")
        return f"{name}; ratings fit within ±{allowed:g}"

    def _caveats(self) -> list[str]:
        """Say why the target's own record does not fit, where that is no merit of the data."""
        known = self.knowledge
        sentences = []
        errors = {
            "tolerance": known["rating_error"] if known["ratings"] else 0,
            "rating_error": known["rating_error"] if known["ratings"] else 0,
            "day_error": known["day_error"] if _days_known(known) else 0,
        }
        for setting, error in errors.items():
            allowed = self.config.get(setting)
            if allowed is not None and allowed < error:
                sentences.append(
                    f"What is known is off by up to {error:g} and the attack allows for "
                    f"{allowed:g} ({setting}), so the target's own record may not fit. An "
                    f"adversary who knows of the error would allow for it{aside(setting, error)}."
                )
        of_use = known["wrong_kind"] == "item" or known["ratings"] or _days_known(known)
        if known["wrong"] and of_use:
            sentences.append(
                f"Wrong facts among the {known['known']:,}: {known['wrong']:,}. One is enough that "
                "the target's own record does not fit; that is how this attack works, and no "
                "protection by the data. The attack scoreboard-rh bears mistakes."
            )
        return sentences


def _days_known(knowledge: dict[str, Any]) -> bool:
    return bool(knowledge["dates"]) and knowledge["day_error"] is not None
