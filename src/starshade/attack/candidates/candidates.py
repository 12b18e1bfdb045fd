"""Attacks by candidates: every record in which all that is known fits, one as likely as another."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from starshade.attack.candidates.result import CandidateOutcomes, CandidateResult
from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.result import Bits
from starshade.attack.scoreboard_rh.scoring import goal_of
from starshade.attack.settings import (
    LabelAttackSettings,
    ScoreboardSettings,
    StructureAttackSettings,
)
from starshade.attack.targets import Attack, Request, draw
from starshade.attack.view import View, averaged, postings_of, rows_of, tolerance_of
from starshade.errors import ConfigError
from starshade.figure import Rate
from starshade.kernels.arrays import fixed
from starshade.kernels.attack.candidates import Clues, Seen, Thresholds, count_candidates
from starshade.kernels.attack.scoreboard import Goal
from starshade.progress import task
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.stats import share

Result = TypeVar("Result", bound=CandidateResult, covariant=True)

_BATCH = 4096  # targets between two signs of progress


@dataclass(frozen=True)
class Plan:
    """What an attack makes use of.

    `within`: how far a cell may be from what is known. `used`: settings as they came to be.
    """

    knowledge: Knowledge
    within: Thresholds
    used: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Hunt:
    """What is attacked, what is known, and what the kernel reads of the truth."""

    view: View
    known: Known
    within: Thresholds
    goal: Goal

    @classmethod
    def of(
        cls,
        view: View,
        known: Known,
        within: Thresholds,
        theta: float = 1.0,
        *,
        absent: bool = False,
    ) -> Hunt:
        """Lay it out; a record agrees with a target's truth if they are as alike as `theta`."""
        return cls(view, known, within, goal_of(view, theta, absent=absent))

    def count(self, seen: Seen, clues: Clues) -> NDArray[Any]:
        """Count the candidates of some targets."""
        goal = self.goal
        return count_candidates(
            seen, clues, self.within, goal.truth, goal.theta, own_only=goal.own_only
        )

    def batches(self, label: str) -> Iterator[tuple[Seen, Clues]]:
        """Hand out the targets, some at a time, and what is seen of what is known of them.

        A sign of progress after each.
        """
        seen = None
        with task(label, len(self.known)) as step:
            for targets in self.view.batches(self.known.items, _BATCH):
                part = self.known.take(targets)
                clues = clues_of(self.view, part)
                if seen is None:
                    seen = seen_by(self.view, self.goal, clues.item)
                else:
                    seen = seen._replace(postings=postings_of(self.view.held(clues.item)))
                yield seen, clues
                step(len(part))


class CandidateAttack(Attack[Result]):
    """An attack by candidates; `theta`, `absent` and `k` are settings.

    `theta`: record similarity from which on a record agrees with the target's truth. `absent`: also
    ask who is left when the target's record is taken out. `k`: fewer candidates than this are
    counted.
    """

    theta: float
    absent: bool
    k: int

    def _run(self, data: Ratings | Release, knowledge: Knowledge, request: Request) -> Result:
        plan = self.plan(knowledge, tolerance_of(data))
        drawn = draw(data, plan.knowledge, request, absent=self.absent)
        hunt = Hunt.of(drawn.view, drawn.known, plan.within, self.theta, absent=self.absent)
        since = perf_counter()
        outcomes, looked_at = judge(hunt)
        facts = drawn.facts(outcomes, self.config | plan.used, looked_at, since)
        found: Result = self.result(self.figures(outcomes, facts, hunt), hunt, data)
        return found

    def plan(self, knowledge: Knowledge, tolerance: float) -> Plan:
        """Say what is made use of; `tolerance`: how far a rating may be off if nothing is set."""
        raise NotImplementedError

    def figures(
        self, outcomes: CandidateOutcomes, facts: dict[str, Any], hunt: Hunt
    ) -> dict[str, Any]:
        """Sum up what came of each target; `facts`: what is found alike whatever the attack."""
        return facts | self.counted(outcomes, facts["expected_top1"], int(hunt.view.copies.min()))

    def result(self, figures: dict[str, Any], hunt: Hunt, data: Ratings | Release) -> Any:
        """Return what `figures` came to, and what this attack finds beside."""
        return CandidateResult(**figures)

    @property
    def config(self) -> dict[str, Any]:
        """The settings as plain values."""
        settings: dict[str, Any] = asdict(self)  # type: ignore[call-overload]
        return settings

    def counted(self, outcomes: CandidateOutcomes, best: Rate, fewest: int) -> dict[str, Any]:
        """Sum up what came of each target; `best`: who is named; `fewest`: records alike."""
        records, absent = outcomes.candidates, outcomes.some_absent
        return {
            "attack": self.name,
            "success": best,
            "false_match_absent": None if absent is None else share(absent),
            "no_answer": float(1 - (records > 0).mean()),
            "candidates": Bits.of(records.astype(np.float64)),
            "single": share(records == 1),
            "fewer_than_k": share((records > 0) & (records < self.k)),
            "k": int(self.k),
            "bound": 1 / fewest,
        }


def seen_by(view: View, goal: Goal, items: NDArray[np.int32] | None = None) -> Seen:
    """Lay out what the adversary sees for the kernel; `items`: those that are known, or all."""
    rows = view.cells
    return Seen(
        postings_of(view.held(np.arange(rows.n_items) if items is None else items)),
        rows_of(rows),
        fixed(rows.sizes),
        fixed(view.copies),
        fixed(rows.lengths.astype(np.int64)),
        bool((rows.sizes == 1).all()),
        goal.contents,
    )


def clues_of(view: View, known: Known) -> Clues:
    """Say where each known cell is looked up, and which rows come into question."""
    return Clues(
        view.places(known.items),
        known.ratings,
        known.days,
        view.row_of_user[known.users],
        known.users,
        *known.supports,
    )


def judge(hunt: Hunt) -> tuple[CandidateOutcomes, int]:
    """Attack every target; returns what came of it and the cells looked at."""
    counted = np.concatenate(
        [hunt.count(seen, clues) for seen, clues in hunt.batches("looking for candidates")]
    )
    view = hunt.view
    linked, records = view.credit == "linked", view.cells.n_records
    outcomes = outcomes_of(
        hunt.known.users, counted, records, linked=linked, absent=hunt.goal.absent
    )
    return outcomes, int(counted["looked_at"].sum())


def outcomes_of(
    users: NDArray[np.int64], counted: NDArray[Any], n_records: int, *, linked: bool, absent: bool
) -> CandidateOutcomes:
    """Turn counts into answers (NS Def. 4 with a uniform distribution over the candidates).

    `n_records`: of the data. `linked`: whether the target's own is known.
    """
    records, agreeing = counted["records"], counted["agreeing"]
    some = records > 0
    right = counted["own"] if linked else agreeing > 0
    alike = agreeing > 0
    prior = math.log2(n_records)
    share = np.where(alike, agreeing, 1) / np.maximum(records, 1)
    return CandidateOutcomes(
        users=users,
        candidates=records,
        credit=np.where(right, 1 / np.maximum(records, 1), 0.0),
        false_match=some & ~right,
        disclosed=alike & (counted["profile"] == records),
        entropy_bits=np.where(alike, np.log2(np.maximum(records, 1)), prior),
        entropy_bits_profile=np.where(alike, 0.0 - np.log2(share), prior),
        some_absent=records - counted["own"] > 0 if absent else None,
    )


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

    def plan(self, knowledge: Knowledge, tolerance: float) -> Plan:
        """See `CandidateAttack.plan`."""
        return Plan(replace(knowledge, ratings=False, dates=False), Thresholds(math.inf, -1), {})


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
        return cls(tolerance=knowledge.rating_error + tolerance_of(data))

    def plan(self, knowledge: Knowledge, tolerance: float) -> Plan:
        """See `CandidateAttack.plan`."""
        if not knowledge.ratings:
            raise ConfigError(
                "the label-based attack needs ratings, and the adversary is to know none",
                advice="Without ratings it is the structure-based attack: use structure.",
            )
        within = tolerance if self.tolerance is None else float(self.tolerance)
        return Plan(replace(knowledge, dates=False), Thresholds(within, -1), {"tolerance": within})


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

    def plan(self, knowledge: Knowledge, tolerance: float) -> Plan:
        """See `CandidateAttack.plan`."""
        rating = knowledge.rating_error if self.rating_error is None else self.rating_error
        day = knowledge.day_error if self.day_error is None else self.day_error
        days = -1 if day is None or day == math.inf else min(math.floor(day), _DAYS)
        used = {
            "rating_error": None if rating == math.inf else rating,
            "day_error": None if days < 0 else days,
        }
        return Plan(knowledge, Thresholds(float(rating), days), used)
