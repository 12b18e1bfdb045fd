"""`CandidateResult`: the figures of an attack by candidates."""

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
from starshade.plain import counted


@dataclass(frozen=True, eq=False)
class CandidateOutcomes:
    """Outcome of each target; every array has shape (targets,).

    `users`: rows of the original. `candidates`: records that match everything known. `credit`:
    1/candidates where the target's record is among them, else 0. `some_absent`: whether a candidate
    is left after the target's record is removed.
    """

    users: NDArray[np.int64]
    candidates: NDArray[np.int64]
    credit: NDArray[np.float64]
    false_match: NDArray[np.bool_]
    disclosed: NDArray[np.bool_]
    entropy_bits: NDArray[np.float64]
    entropy_bits_profile: NDArray[np.float64]
    some_absent: NDArray[np.bool_] | None = None


_PICKED = replace(EXPECTED_TOP1, title="Re-identification (random candidate correct)")
_SINGLE = Figure(
    "single",
    "Unique match",
    "share",
    True,
    "High: exactly one record matches; the target is re-identified if the facts are right.",
)
_FEWER = Figure(
    "fewer_than_k", "Fewer than k candidates", "share", True, "High: small anonymity sets."
)
_CANDIDATES = Figure(
    "candidates", "Candidates per target, mean", "ratio", False, "High: large anonymity sets."
)
_CANDIDATES_MEDIAN = Figure(
    "candidates_median",
    "Candidates per target, median",
    "ratio",
    False,
    "Half of the targets have fewer.",
)
_BOUND = Figure(
    "bound",
    "Upper bound of confidence",
    "share",
    True,
    "1 / the smallest number of equal records.",
    "PA Thm 6.1",
)
_ALL_TRUE = replace(DISCLOSED, meaning="High: all candidates are equal and agree with the target.")
_OTHERS = replace(FALSE_MATCH, title="Candidates without the target's record")
_THOUGH_ABSENT = replace(FALSE_MATCH_ABSENT, title="Candidates of absent targets")


@dataclass(frozen=True, kw_only=True)
class CandidateResult(AttackResult):
    """Result of an attack by candidates on all targets.

    The candidates are the records that match everything known; all are equally likely. Figures
    shared with `AttackResult` mean:

    - ``success`` = ``expected_top1``: 1/candidates where the target's record is among them,
      else 0, on average ("success in expectation"),
    - ``class_contents_known``: the candidates are all one profile, and it agrees with the target's
      truth,
    - ``false_match``: there are candidates, and the target is not among them,
    - ``false_match_absent``: there are candidates although the target's record was removed,
    - ``no_answer``: there are no candidates,
    - ``entropy_bits``: log2(candidates) where one of them agrees with the target's truth, else
      log2(records); ``entropy_bits_profile``: the same for all agreeing ones together.

    Attributes
    ----------
    candidates : Bits
        Number of candidates: mean and median over all targets, including those without any.
    single : Rate
        Targets with exactly one candidate.
    fewer_than_k : Rate
        Targets with at least one and fewer than `k` candidates.
    k : int
    bound : float
        1 / the smallest number of equal records in the data: the upper bound of an adversary's
        confidence (PA Thm 6.1).
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
        theirs = "the target's own" if self.credit == "linked" else "a compatible one"
        text = (
            f"{self._opening()} {self._top1('picks a candidate at random')} {self._bounded()} "
            f"Exactly one record matches for {self.single} of targets, fewer than {self.k} match "
            f"for {self.fewer_than_k}, none for {self.no_answer:.1%}; on average "
            f"{self.candidates.mean:,.1f} match (median {self.candidates.median:,.0f}). For "
            f"{self.false_match} some records match, but not {theirs}. Class contents are known "
            f"for {self.class_contents_known}: all candidates are equal and agree with the target."
        )
        if self.false_match_absent is not None:
            text += (
                f" With the target's record removed, some record still matches for "
                f"{self.false_match_absent} (false matches)."
            )
        return text + self._beside_guessing()

    def _shares(self) -> tuple[Figure, ...]:
        return (
            self._guess(_PICKED),
            *self._of(_SINGLE, replace(_FEWER, title=f"Fewer than {self.k} candidates")),
            _CANDIDATES.of(self.candidates.mean),
            _CANDIDATES_MEDIAN.of(self.candidates.median),
            *self._of(_BOUND, _ALL_TRUE, _OTHERS, _THOUGH_ABSENT),
        )

    def _bounded(self) -> str:
        alike = round(1 / self.bound)
        if alike == 1:
            return (
                "At least one record differs from all others, so there is no upper bound below 1."
            )
        return (
            f"Every record equals at least {counted(alike - 1, 'other')}, so the upper bound of "
            f"confidence is 1 in {alike:,}."
        )

    def _facts(self) -> str:
        name, allowed = str(self.knowledge["name"]), self.config.get("tolerance")
        if not allowed or not self.knowledge["ratings"]:
            return name
        if "ratings exact" in name:
            return name.replace("ratings exact", f"ratings, which match within ±{allowed:g}")
        return f"{name}; ratings match within ±{allowed:g}"

    def _caveats(self) -> list[str]:
        """Say why the target's own record may not match, where the data do not protect it."""
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
                    f"Known values are off by up to {error:g} and the attack tolerates "
                    f"{allowed:g} ({setting}), so the target's own record may not match. An "
                    f"adversary who knows the error would tolerate it{aside(setting, error)}."
                )
        of_use = known["wrong_kind"] == "item" or known["ratings"] or _days_known(known)
        if known["wrong"] and of_use:
            sentences.append(
                f"{known['wrong']:,} of {known['known']:,} known facts are wrong. A single wrong "
                "fact excludes the target's own record; this is a weakness of the attack, not "
                "protection by the data. The attack scoreboard-rh tolerates wrong facts."
            )
        return sentences


def _days_known(knowledge: dict[str, Any]) -> bool:
    return bool(knowledge["dates"]) and knowledge["day_error"] is not None
