"""Scoreboard-RH (NS §4, §5; definitions, "scoreboard-rh")."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.outcomes import Outcomes, outcomes_of
from starshade.attack.result import AttackResult
from starshade.attack.scoreboard_rh.scoring import Pricing, score_all
from starshade.attack.scoreboard_rh.tradeoff import TradeOff, trade_off
from starshade.attack.settings import ScoreboardRHSettings
from starshade.attack.targets import Asked, Attack, draw
from starshade.attack.view import View
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.stats import bootstrap, share

__all__ = ["ScoreboardRH"]


@dataclass(frozen=True)
class ScoreboardRH(ScoreboardRHSettings, Attack[AttackResult]):
    """Find the record that fits best what is known, if it stands out.

    The adversary adds up, over the items they know of, how well each record agrees with them:
    rare items weigh more, a rating or a day that is nearly right counts nearly as much. They
    name the best record when it leads the second best by φ standard deviations of all scores,
    and otherwise say that they do not know; or they turn the scores into probabilities.

    Parameters
    ----------
    phi : float
        Eccentricity from which on a record is named, at least 0.
    rho0 : float or None
        Difference in ratings at which likeness falls to 1/e; None: 0.375 of the scale's width
        (1.5 stars on 1-5).
    d0 : float
        The same for days.
    theta : float
        Record similarity, in (0, 1], from which on a profile agrees with the target's truth.
    absent : bool
        Also take each target's record out and attack again; the result then also has the
        `tradeoff` between the two errors over φ.

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
    >>> from starshade.attack.knowledge import Knowledge
    >>> import numpy as np
    >>> from starshade.ratings.scale import Scale
    >>> from starshade.ratings.table import Ratings
    >>> from starshade.ratings.vocabulary import Vocabulary
    >>> table = Ratings(  # four people, each with an item that nobody else rated
    ...     Scale(1, 5, 1), Vocabulary(np.arange(4)), Vocabulary(np.arange(4)), np.arange(5),
    ...     np.arange(4, dtype=np.int32), np.zeros(4, np.uint8), np.arange(1.0, 6.0),
    ... )
    >>> ScoreboardRH().run(table, Knowledge(known=1), rng=0).success.rate
    1.0
    """

    name: ClassVar[str] = "scoreboard-rh"

    @classmethod
    def audited(
        cls, knowledge: Knowledge, data: Ratings | Release, release: Release
    ) -> ScoreboardRH:
        """Return it as an audit tries it, whatever is known and of whatever release."""
        return cls()

    def _run(self, data: Ratings | Release, knowledge: Knowledge, asked: Asked) -> AttackResult:
        drawn = draw(data, knowledge, asked, absent=self.absent)
        since = perf_counter()
        outcomes, postings = self.judge(drawn.view, drawn.known)
        absent = outcomes.matched_absent
        return AttackResult(
            attack=self.name,
            success=share(outcomes.success),
            expected_top1=bootstrap(outcomes.expected_top1, seed=drawn.seed),
            false_match_absent=None if absent is None else share(absent),
            tradeoff=_trade_off(outcomes, self.phi),
            no_answer=float(1 - outcomes.matched.mean()),
            **drawn.facts(outcomes, self.settings(drawn.view), postings, since),
        )

    def judge(self, view: View, known: Known) -> tuple[Outcomes, int]:
        """Attack with knowledge at hand; returns what came of it and the cells looked at."""
        pricing = Pricing.of(self, view)
        summaries, masses, postings = score_all(
            view, known, pricing, theta=self.theta, absent=False
        )
        without = None
        if self.absent:
            without, _, more = score_all(view, known, pricing, theta=self.theta, absent=True)
            postings += more
        return outcomes_of(view, known.users, summaries, masses, self.phi, without), postings

    def settings(self, view: View) -> dict[str, Any]:
        """Return the settings as plain values, with the ρ0 that this view comes to."""
        return asdict(self) | Pricing.of(self, view).config


def _trade_off(outcomes: Outcomes, phi: float) -> TradeOff | None:
    absent = outcomes.eccentricity_absent
    if absent is None:
        return None
    right = outcomes.expected_top1 > 0
    return trade_off(np.where(right, outcomes.eccentricity, 0.0), absent, phi)
