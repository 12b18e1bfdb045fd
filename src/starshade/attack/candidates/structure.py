"""The structure-based attack (PA Def. 3.1; definitions, "structure")."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from starshade.attack.candidates.candidates import CandidateAttack, Plan
from starshade.attack.candidates.result import CandidateResult
from starshade.attack.knowledge import Knowledge
from starshade.attack.profiles import averaged
from starshade.attack.settings import StructureAttackSettings
from starshade.kernels.attack.candidates import Thresholds
from starshade.ratings.table import Ratings
from starshade.release.table import Release

__all__ = ["StructureAttack"]


@dataclass(frozen=True)
class StructureAttack(StructureAttackSettings, CandidateAttack[CandidateResult]):
    """Take every record that rated all the items known of the target, and pick one at random.

    The adversary knows which items somebody rated, not how and not when: the subgraph of the
    review graph without its labels.

    Parameters
    ----------
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
    The target is identified with probability 1/candidates (PA Def. 3.1), and on a release whose
    records are alike in groups of k with at most 1/k (Thm 6.1), which `bound` states. A
    generalized cell counts as rated when some member is no null.
    """

    name: ClassVar[str] = "structure"

    @classmethod
    def audited(
        cls, knowledge: Knowledge, data: Ratings | Release, release: Release
    ) -> StructureAttack | None:
        """Return it as an audit of `release` tries it on `data`; None where it is of no use."""
        exact = not (knowledge.wrong or knowledge.rating_error)
        return cls() if exact and averaged(release) else None

    def _plan(self, knowledge: Knowledge, data: Ratings | Release) -> Plan:
        return Plan(replace(knowledge, ratings=False, dates=False), Thresholds(math.inf, -1), {})
