"""The label-based attack (PA Def. 3.2; definitions, "label")."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from starshade.attack.candidates.candidates import CandidateAttack, Plan
from starshade.attack.candidates.result import CandidateResult
from starshade.attack.knowledge import Knowledge
from starshade.attack.profiles import tolerance_of
from starshade.attack.settings import LabelAttackSettings
from starshade.errors import ConfigError
from starshade.kernels.attack.candidates import Thresholds
from starshade.ratings.table import Ratings
from starshade.release.table import Release

__all__ = ["LabelAttack"]


@dataclass(frozen=True)
class LabelAttack(LabelAttackSettings, CandidateAttack[CandidateResult]):
    """Take every record that rated all known items as the target did, and pick one at random.

    The adversary knows items and ratings of somebody, not the days: the subgraph of the review
    graph with its labels.

    Parameters
    ----------
    tolerance : float or None
        How far a rating may be off, at least 0. None: 0.5 on a release of averaged ratings
        (layout "profile"), elsewhere 0.
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
    The target is identified with probability 1/candidates (PA Def. 3.2), and on a release whose
    records are alike in groups of k with at most 1/k (Thm 6.1), which `bound` states. A
    generalized cell fits when some member that is no null lies within the tolerance.
    """

    name: ClassVar[str] = "label"

    @classmethod
    def audited(
        cls, knowledge: Knowledge, data: Ratings | Release, release: Release
    ) -> LabelAttack | None:
        """Return it as an audit of `release` tries it on `data`; None where it is of no use."""
        if knowledge.wrong:  # one wrong cell, and nobody fits
            return None
        return cls(tolerance=knowledge.rating_error + tolerance_of(data, None))

    def _plan(self, knowledge: Knowledge, data: Ratings | Release) -> Plan:
        if not knowledge.ratings:
            raise ConfigError(
                "the label-based attack needs ratings, and the adversary is to know none",
                advice="Without ratings it is the structure-based attack: use structure.",
            )
        tolerance = tolerance_of(data, self.tolerance)
        return Plan(
            replace(knowledge, dates=False), Thresholds(tolerance, -1), {"tolerance": tolerance}
        )
