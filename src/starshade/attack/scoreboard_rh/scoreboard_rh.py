"""Scoreboard-RH (NS §4, §5; definitions, "scoreboard-rh")."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.recall import recall_in_pools
from starshade.attack.result import AttackResult
from starshade.attack.scoreboard_rh.scoring import Pricing, score_all
from starshade.attack.scoreboard_rh.tradeoff import SLACK, TradeOff, trade_off
from starshade.attack.settings import ScoreboardRHSettings
from starshade.attack.targets import Attack, Request, draw
from starshade.attack.view import View
from starshade.kernels.attack.summary import mass_unit, sigmas
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.stats import share


@dataclass(frozen=True)
class ScoreboardRH(ScoreboardRHSettings, Attack[AttackResult]):
    """Name the record that best matches the known ratings, if it stands out.

    The adversary sums, over the known items, how well each record agrees: rare items weigh more,
    and nearly correct ratings or days count nearly as much. They name the best record when it
    leads the second best by φ standard deviations of all scores, and otherwise abstain; or they
    turn the scores into probabilities.

    Parameters
    ----------
    phi : float
        Eccentricity needed to name a record, at least 0.
    rho0 : float or None
        Difference in ratings at which similarity falls to 1/e; None: 0.375 of the scale's width
        (1.5 stars on 1-5).
    d0 : float
        The same for days.
    theta : float
        Record similarity, in (0, 1], from which on a profile agrees with the target's truth.
    absent : bool
        Also attack with each target's record removed; the result then also has the `tradeoff`
        between the two error rates over φ.

    Raises
    ------
    ConfigError
        A value outside its range.

    Notes
    -----
    Score(aux, r') = Σ wt(i) · (e^(-|ρ-ρ'|/ρ0) + e^(-|d-d'|/d0)) over the known items that r'
    rated, wt(i) = 1/ln|supp(i)|. Matching criterion and distribution are NS §4's; generalized
    cells, ties and profiles are ours. A tie is never broken: the best record of two
    equal ones is none.

    Record similarity (`theta`) is the share of agreeing items among those that either row
    rates. On a generalized cell the target's true rating, or null, agrees when it is a member.

    Examples
    --------
    Four people, each with an item that nobody else rated.

    >>> from starshade.attack.knowledge import Knowledge
    >>> from starshade.ratings.table import Ratings
    >>> table = Ratings.from_arrays(list("abcd"), list("wxyz"), [1, 2, 3, 4], scale="1:5:1")
    >>> ScoreboardRH().run(table, Knowledge(known=1), rng=0).success.rate
    1.0
    """

    name: ClassVar[str] = "scoreboard-rh"

    @classmethod
    def audited(
        cls, knowledge: Knowledge, data: Ratings | Release, release: Release
    ) -> ScoreboardRH:
        """Return it as an audit runs it, for any knowledge and release."""
        return cls()

    def _run(self, data: Ratings | Release, knowledge: Knowledge, request: Request) -> AttackResult:
        drawn = draw(data, knowledge, request, absent=self.absent)
        since = perf_counter()
        outcomes, postings = self.judge(drawn.view, drawn.known)
        facts = drawn.facts(outcomes, self.settings(drawn.view), postings, since)
        return self.result(outcomes, facts)

    def result(self, outcomes: Outcomes, facts: dict[str, Any]) -> AttackResult:
        """Summarize the outcomes; `facts`: fields that all attacks share."""
        absent = outcomes.matched_absent
        return AttackResult(
            attack=self.name,
            success=share(outcomes.success),
            false_match_absent=None if absent is None else share(absent),
            tradeoff=_trade_off(outcomes, self.phi),
            no_answer=float(1 - outcomes.matched.mean()),
            recall=recall_in_pools(
                outcomes.eccentricity[:, None],
                outcomes.expected_top1[:, None],
                (facts["records"],),
                most=facts["most"],
                seed=facts["seed"],
            ),
            **facts,
        )

    def judge(self, view: View, known: Known) -> tuple[Outcomes, int]:
        """Attack with given knowledge; returns the outcomes and the number of cells read."""
        pricing = Pricing.of(self, view)
        summaries, masses, postings = score_all(
            view, known, pricing, theta=self.theta, absent=False
        )
        without = None
        if self.absent:
            without, _, more = score_all(view, known, pricing, theta=self.theta, absent=True)
            postings += more
        records, linked = view.cells.n_records, view.credit == "linked"
        outcomes = outcomes_of(
            known.users, summaries, masses, self.phi, without, records=records, linked=linked
        )
        return outcomes, postings

    def settings(self, view: View) -> dict[str, Any]:
        """Return the settings as plain values, with the ρ0 that this view comes to."""
        return self.priced(Pricing.of(self, view))

    def priced(self, pricing: Pricing) -> dict[str, Any]:
        """Return the settings as plain values, with the ρ0 that they come to."""
        return asdict(self) | pricing.config


def _trade_off(outcomes: Outcomes, phi: float) -> TradeOff | None:
    absent = outcomes.eccentricity_absent
    if absent is None:
        return None
    right = outcomes.expected_top1 > 0
    return trade_off(np.where(right, outcomes.eccentricity, 0.0), absent, phi)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Outcome of each target; every array has shape (targets,).

    `users`: rows of the original. `eccentricity`, `profile_eccentricity`: (max - max2)/σ over
    records, and over distinct profiles; 0 where the top is tied and where all scores are equal.
    `tied`: records that share the highest score. `expected_top1`: above 0 where the target's record
    (or a compatible one) is among those that score highest. `matched_absent`: whether a record
    stands out when the target's is not there. `eccentricity_absent`: as `eccentricity`, when the
    target's record is not there.
    """

    users: NDArray[np.int64]
    eccentricity: NDArray[np.float64]
    profile_eccentricity: NDArray[np.float64]
    tied: NDArray[np.int64]
    matched: NDArray[np.bool_]
    success: NDArray[np.bool_]
    false_match: NDArray[np.bool_]
    disclosed: NDArray[np.bool_]
    expected_top1: NDArray[np.float64]
    entropy_bits: NDArray[np.float64]
    entropy_bits_profile: NDArray[np.float64]
    matched_absent: NDArray[np.bool_] | None = None
    eccentricity_absent: NDArray[np.float64] | None = None


def outcomes_of(
    users: NDArray[np.int64],
    summaries: NDArray[Any],
    masses: NDArray[Any],
    phi: float,
    absent: NDArray[Any] | None,
    *,
    records: int,
    linked: bool,
) -> Outcomes:
    """Judge every target's scores.

    `summaries`, `masses` (targets,). `absent`: the summaries without the target's record.
    `records`: how many there are. `linked`: whether the target's own is known.
    """
    top = summaries["top"]
    theirs = summaries["own" if linked else "best"]
    right = (theirs >= 0) & (theirs == top)
    eccentricity = eccentricity_of(summaries)
    of_profiles = eccentricity_of(summaries, profiles=True)
    matched = stands_out(summaries, phi)
    agreeing = (summaries["best"] >= 0) & (summaries["best"] == top)
    bits, bits_profile = _entropies(summaries, masses, records)
    return Outcomes(
        users=users,
        eccentricity=eccentricity,
        profile_eccentricity=of_profiles,
        tied=summaries["top_records"],
        matched=matched,
        success=matched & right,
        false_match=matched & ~right,
        disclosed=stands_out(summaries, phi, profiles=True) & agreeing,
        expected_top1=np.where(right, 1 / np.maximum(summaries["top_records"], 1), 0.0),
        entropy_bits=bits,
        entropy_bits_profile=bits_profile,
        matched_absent=None if absent is None else stands_out(absent, phi),
        eccentricity_absent=None if absent is None else eccentricity_of(absent),
    )


def stands_out(summaries: NDArray[Any], phi: float, *, profiles: bool = False) -> NDArray[np.bool_]:
    """Tell where one record (or profile) alone has the highest score, by φ standard deviations.

    A tie, equal scores throughout and a single record never match, whatever φ.
    """
    alone = summaries["top_profiles" if profiles else "top_records"] == 1
    spread = summaries["runner_up"] >= 0
    enough = eccentricity_of(summaries, profiles=profiles) >= phi * (1 - SLACK)
    return np.asarray(alone & spread & enough)


def eccentricity_of(summaries: NDArray[Any], *, profiles: bool = False) -> NDArray[np.float64]:
    """Return (max - max2)/σ over records, or over distinct profiles; 0 where the top is tied."""
    alone = summaries["top_profiles" if profiles else "top_records"] == 1
    gap = np.where(alone, summaries["top"] - summaries["runner_up"], 0)
    sigma = sigmas(summaries, profiles=profiles)
    return np.where(sigma > 0, gap / np.where(sigma > 0, sigma, 1.0), 0.0)


def _entropies(
    summaries: NDArray[Any], masses: NDArray[Any], records: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bits to the best agreeing record, and to all agreeing ones together.

    The masses are sums of e^((Score - reference)/σ), the references being the top and the best
    agreeing score.
    """
    sigma = sigmas(summaries)
    present = summaries["best"] >= 0
    gap = np.where(present & (sigma > 0), summaries["top"] - summaries["best"], 0)
    below_top = gap / np.where(sigma > 0, sigma, 1.0) * math.log2(math.e)
    unit = mass_unit(records)
    bits = np.log2(np.where(present, masses["total"] / unit, 1.0)) + below_top
    profile = bits - np.log2(np.where(present, masses["agreeing"] / unit, 1.0))
    prior = math.log2(records)
    return np.where(present, bits, prior), np.where(present, profile, prior)
