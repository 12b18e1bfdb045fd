"""Scoreboard (NS §4; definitions, "scoreboard")."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from starshade.attack.candidates.candidates import CandidateAttack, Plan
from starshade.attack.candidates.result import CandidateResult
from starshade.attack.knowledge import Knowledge
from starshade.attack.settings import ScoreboardSettings
from starshade.kernels.attack.candidates import Thresholds
from starshade.ratings.table import Ratings
from starshade.release.table import Release

__all__ = ["Scoreboard"]

_DAYS = 2**20  # more than lie between any two days


@dataclass(frozen=True)
class Scoreboard(ScoreboardSettings, CandidateAttack[CandidateResult]):
    """Take every record in which all that is known fits, and pick one at random.

    The adversary trusts what they know: a record that misses one known item, or whose rating or
    day there is further off than a threshold, is out. Simple enough to be proved about (NS Thms
    1-5), and fragile: one wrong item known, and nobody fits.

    Parameters
    ----------
    rating_error : float or None
        How far a rating may be off; None: as far as the knowledge says. Infinity: no condition.
    day_error : float or None
        The same for days, in days. Where the data have no days there is no condition; where they
        do, a cell without one does not fit a known day.
    alpha : float
        Score, in [0, 1), that a record must exceed (a score is 0 or 1, so they are all the same).
    theta : float
        Record similarity, in (0, 1], from which on a record agrees with the target's truth.
    absent : bool
        Also ask who fits when the target's record is taken out.
    k : int
        Fewer candidates than this are counted.

    Raises
    ------
    ConfigError
        A value outside its range.

    Notes
    -----
    Score(aux, r') = min over the known items of Sim(aux_i, r'_i), Sim being 1 when rating and
    day are within their thresholds and else 0; a null on either side gives 0. Matching set
    {r' : Score > α}, probabilities uniform over it (NS §4). A generalized cell fits when some
    member that is no null does. An item that the data lack fits nobody.
    """

    name: ClassVar[str] = "scoreboard"

    def _plan(self, knowledge: Knowledge, data: Ratings | Release) -> Plan:
        rating = knowledge.rating_error if self.rating_error is None else self.rating_error
        day = knowledge.day_error if self.day_error is None else self.day_error
        days = -1 if day is None or day == math.inf else min(math.floor(day), _DAYS)
        used = {
            "rating_error": None if rating == math.inf else rating,
            "day_error": None if days < 0 else days,
        }
        return Plan(knowledge, Thresholds(float(rating), days), used)
