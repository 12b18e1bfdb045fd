"""A paper's claims: criterion, measured value, verdict and cause.

A claim is one sentence of the paper, counted once, with a criterion fixed before the run: one
statistic and its bounds. It *holds* when the whole 95 % interval of the statistic lies within the
bounds, *does not hold* when all of it lies outside, and *cannot be tested* when the interval
crosses a bound, data are missing, or the claim is about another data set. Interventions find the
cause of a claim that does not hold: the same statistic under another reading, or on data with one
property changed. Every change under which it holds is a cause; without one the cause is unknown,
and without any change it is not sought.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from starshade.audit.reproduction.estimates import Estimate, Untestable
from starshade.figure import number
from starshade.plain import counted
from starshade.progress import task

Verdict = Literal["holds", "does not hold", "cannot be tested"]
#: how an intervention begins that only leaves a part of the claim: no cause
IN_PART = "in part: "
ENOUGH = 5  # runs needed for an interval over runs
_DECIDED = {
    "proof": "a proof or a definition: any data meet it",
    "example": "an example or arithmetic: no data are used",
}
_DUST = 1e-9


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper, or of ours."""

    number: str  # "kl-07", for good
    place: str  # in the paper: "§5.2, Fig. 12"
    says: str  # paraphrased; at most half a sentence is quoted
    statistic: str  # what is measured
    # `least`, `most`: inclusive bounds; None: no bound
    least: float | None
    most: float | None
    why: str  # the reason for these numbers
    configuration: str  # under which it is judged
    # (what measures, a way of `ways` or "" for the configuration) → the statistic; may raise
    # `Untestable`
    measure: Callable[[Any, str], Estimate] | None = field(default=None, repr=False)
    ways: tuple[str, ...] = ()  # interventions, in the order in which they are tried
    # the data set that it is about: on others it is measured, not judged; empty: any
    about: str = ""
    lost: str = ""  # why it is untestable; nothing is measured then
    ours: bool = False  # a promise of ours, not counted among the paper's
    same: str = ""  # the claim of another paper that this one repeats
    # "proof": any data meet it, by a proof or a definition; "example": no data are used
    decided_by: Literal["data", "proof", "example"] = "data"

    @property
    def decided(self) -> str:
        """What decides it in addition to data; empty: data alone."""
        return _DECIDED.get(self.decided_by, "")

    @property
    def holds_if(self) -> str:
        """The criterion as text."""
        if self.least is None and self.most is None:  # untestable
            return self.statistic
        if self.least is not None and self.most is not None:
            if self.least == self.most:
                return f"{self.statistic}: {number(self.least)}"
            return f"{self.statistic}: from {number(self.least)} to {number(self.most)}"
        least, most = f"at least {number(self.least)}", f"at most {number(self.most)}"
        end = least if self.most is None else most
        return f"{self.statistic}: {end}"

    def met(self, found: Estimate) -> bool | None:
        """Return whether the whole interval meets the criterion; None: a part of it does."""
        least = -math.inf if self.least is None else self.least - _DUST
        most = math.inf if self.most is None else self.most + _DUST
        if least <= found.low and found.high <= most:
            return True
        return False if found.high < least or found.low > most else None


@dataclass(frozen=True)
class Tried:
    """An intervention and its result."""

    way: str
    words: str  # what was changed
    found: Estimate | None  # None: it could not be tried
    met: bool | None
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        own = {"way": self.way, "changed": self.words, "met": self.met, "reason": self.reason}
        return own | _figures(self.found)


@dataclass(frozen=True)
class Judged:
    """A claim with its measured value and verdict."""

    claim: Claim
    verdict: Verdict
    found: Estimate | None
    met: bool | None  # whether these data meet the criterion, whatever the claim speaks of
    reason: str = ""  # why it cannot be tested
    tried: tuple[Tried, ...] = ()

    @property
    def cause(self) -> str:
        """Every change under which a failed claim holds; empty if the claim holds."""
        if self.verdict != "does not hold":
            return ""
        if not self.tried:
            return "not sought: no intervention"
        found = {f"{each.words}: {each.found.text}": each.met for each in self.tried if each.found}
        met = "; ".join(text for text in found if found[text])
        if met:
            return f"unknown, but holds {met}" if self.unexplained else f"holds {met}"
        return "; ".join(["unknown", *found])

    @property
    def unexplained(self) -> bool:
        """Whether it does not hold, and no change makes it hold as a whole."""
        whole = (each.met for each in self.tried if not each.words.startswith(IN_PART))
        return self.verdict == "does not hold" and bool(self.tried) and not any(whole)

    @property
    def ours(self) -> str:
        """The measured value as text."""
        return "–" if self.found is None else self.found.text

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        claim = self.claim
        return {
            "claim": claim.number,
            "place": claim.place,
            "says": claim.says,
            "holds_if": claim.holds_if,
            "why": claim.why,
            "configuration": claim.configuration,
            "about": claim.about,
            "ours": claim.ours,
            "same": claim.same,
            "decided_by": claim.decided_by,
            **_figures(self.found),
            "met": self.met,
            "verdict": self.verdict,
            "reason": self.reason,
            "cause": self.cause,
            "tried": [each.to_dict() for each in self.tried],
        }


_OF_ESTIMATE = ("value", "low", "high", "seeds", "users", "of")


def _figures(found: Estimate | None) -> dict[str, Any]:
    if found is None:
        return dict.fromkeys(_OF_ESTIMATE)
    return {name: getattr(found, name) for name in _OF_ESTIMATE}


def judge(
    claims: Sequence[Claim], bench: Any, *, data: str, ways: Mapping[str, str]
) -> tuple[Judged, ...]:
    """Judge every claim by what `bench` measures, and search for causes.

    `data`: the name of a data set that claims are about, where these ratings are one; `ways`:
    interventions by name, phrased to follow "holds".
    """
    judged = []
    with task("testing claims", len(claims)) as step:
        for claim in claims:
            judged.append(_judge(claim, bench, data, ways))
            step(1)
    return tuple(judged)


def _judge(claim: Claim, bench: Any, data: str, ways: Mapping[str, str]) -> Judged:
    if claim.lost or claim.measure is None:
        return Judged(claim, "cannot be tested", None, None, claim.lost)
    try:
        found = claim.measure(bench, "")
    except Untestable as missing:
        return Judged(claim, "cannot be tested", None, None, str(missing))
    met = claim.met(found)
    if claim.about and claim.about != data:
        reason = f"the claim is about {claim.about}; these are other ratings"
        return Judged(claim, "cannot be tested", found, met, reason)
    if met is None:
        reason = "the interval crosses the criterion: more users or runs are needed"
        return Judged(claim, "cannot be tested", found, met, reason)
    if met:
        return Judged(claim, "holds", found, met)
    tried = tuple(_try(claim, bench, way, ways[way]) for way in claim.ways)
    return Judged(claim, "does not hold", found, met, tried=tried)


def _try(claim: Claim, bench: Any, way: str, words: str) -> Tried:
    assert claim.measure is not None
    try:
        found = claim.measure(bench, way)
    except Untestable as missing:
        return Tried(way, words, None, None, str(missing))
    return Tried(way, words, found, claim.met(found))


def counts(judged: Iterable[Judged]) -> Counter[Verdict]:
    """Count verdicts."""
    return Counter(each.verdict for each in judged)


def summed(judged: Iterable[Judged]) -> str:
    """Return the counts of the verdicts as text."""
    count = counts(judged)
    holds, fails = count["holds"], count["does not hold"]
    return (
        f"{holds:,} {'holds' if holds == 1 else 'hold'}, "
        f"{fails:,} {'does' if fails == 1 else 'do'} not, "
        f"{count['cannot be tested']:,} cannot be tested"
    )


def told(judged: Sequence[Judged], of: str, runs: int) -> str:
    """Summarize the verdicts on a paper (`of`), by what decides them, and on our claims."""
    papers = [each for each in judged if not each.claim.ours]
    data, beyond = by_data(papers)
    ours = [each for each in judged if each.claim.ours]
    return " ".join(
        [
            f"{counted(len(data), 'claim')} of {of} decided by data: {summed(data)}.",
            *(
                [f"{len(beyond)} decided by proofs and examples: {summed(beyond)}."]
                if beyond
                else []
            ),
            *([f"Our own claims: {summed(ours)}."] if ours else []),
            *([f"Only {counted(runs, 'run')}: verdicts need {ENOUGH}."] if runs < ENOUGH else []),
        ]
    )


def by_data(judged: Iterable[Judged]) -> tuple[list[Judged], list[Judged]]:
    """Return the claims that data decide, and those that proofs and examples do."""
    parts: tuple[list[Judged], list[Judged]] = [], []
    for each in judged:
        parts[each.claim.decided_by != "data"].append(each)
    return parts
