"""Attacks by candidates: all records that match everything known, equally likely."""

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

_BATCH = 4096  # targets between two progress reports


@dataclass(frozen=True)
class Plan:
    """Knowledge and settings that an attack uses.

    `within`: tolerances of a match. `used`: the effective settings.
    """

    knowledge: Knowledge
    within: Thresholds
    used: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Hunt:
    """The view, the knowledge, and the part of the truth that the kernel reads."""

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
        """Build it; a record agrees with a target's truth at similarity `theta` or more."""
        return cls(view, known, within, goal_of(view, theta, absent=absent))

    def count(self, seen: Seen, clues: Clues) -> NDArray[Any]:
        """Count the candidates of some targets."""
        goal = self.goal
        return count_candidates(
            seen, clues, self.within, goal.truth, goal.theta, own_only=goal.own_only
        )

    def batches(self, label: str) -> Iterator[tuple[Seen, Clues]]:
        """Yield the targets in batches with their clues, and report progress after each."""
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
    attack with the target's record removed. `k`: targets with fewer candidates are reported.
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
        """Return what the attack uses; `tolerance`: default tolerance of ratings."""
        raise NotImplementedError

    def figures(
        self, outcomes: CandidateOutcomes, facts: dict[str, Any], hunt: Hunt
    ) -> dict[str, Any]:
        """Summarize the outcomes; `facts`: fields that all attacks share."""
        return facts | self.counted(outcomes, facts["expected_top1"], int(hunt.view.copies.min()))

    def result(self, figures: dict[str, Any], hunt: Hunt, data: Ratings | Release) -> Any:
        """Return the result of these figures, with the attack's own ones."""
        return CandidateResult(**figures)

    @property
    def config(self) -> dict[str, Any]:
        """The settings as plain values."""
        settings: dict[str, Any] = asdict(self)  # type: ignore[call-overload]
        return settings

    def counted(self, outcomes: CandidateOutcomes, best: Rate, fewest: int) -> dict[str, Any]:
        """Summarize the outcomes; `best`: re-identification; `fewest`: least equal records."""
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
    """Return what the adversary sees, for the kernel; `items`: the known ones, or all."""
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
    """Return where each known cell is looked up, and which rows are possible."""
    return Clues(
        view.places(known.items),
        known.ratings,
        known.days,
        view.row_of_user[known.users],
        known.users,
        *known.supports,
    )


def judge(hunt: Hunt) -> tuple[CandidateOutcomes, int]:
    """Attack every target; returns the outcomes and the number of cells read."""
    counted = np.concatenate(
        [hunt.count(seen, clues) for seen, clues in hunt.batches("finding candidates")]
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
    """Turn counts into outcomes (NS Def. 4 with a uniform distribution over the candidates).

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
    """Pick at random among the records that rated all known items of the target.

    The adversary knows which items the target rated, but neither values nor dates: the subgraph
    of the review graph without its labels.

    Parameters
    ----------
    theta : float
        Record similarity, in (0, 1], from which on a record agrees with the target's truth.
    absent : bool
        Also attack with the target's record removed.
    k : int
        Targets with fewer candidates are reported.

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
        """Return it as an audit of `release` runs it on `data`; None where it does not apply."""
        exact = not (knowledge.wrong or knowledge.rating_error)
        return cls() if exact and averaged(release) else None

    def plan(self, knowledge: Knowledge, tolerance: float) -> Plan:
        """See `CandidateAttack.plan`."""
        return Plan(replace(knowledge, ratings=False, dates=False), Thresholds(math.inf, -1), {})


@dataclass(frozen=True)
class LabelAttack(LabelAttackSettings, CandidateAttack[CandidateResult]):
    """Pick at random among the records that match all known items and ratings of the target.

    The adversary knows items and ratings of the target, not the days: the subgraph of the review
    graph with its labels.

    Parameters
    ----------
    tolerance : float or None
        Tolerance of ratings, at least 0. None: 0.5 on a release of averaged ratings
        (layout "profile"), elsewhere 0.
    theta : float
        Record similarity, in (0, 1], from which on a record agrees with the target's truth.
    absent : bool
        Also attack with the target's record removed.
    k : int
        Targets with fewer candidates are reported.

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
        """Return it as an audit of `release` runs it on `data`; None where it does not apply."""
        if knowledge.wrong:  # one wrong cell, and no record matches
            return None
        return cls(tolerance=knowledge.rating_error + tolerance_of(data))

    def plan(self, knowledge: Knowledge, tolerance: float) -> Plan:
        """See `CandidateAttack.plan`."""
        if not knowledge.ratings:
            raise ConfigError(
                "the attack label needs known rating values",
                advice="Use the attack structure, which needs the items alone.",
            )
        within = tolerance if self.tolerance is None else float(self.tolerance)
        return Plan(replace(knowledge, dates=False), Thresholds(within, -1), {"tolerance": within})


_DAYS = 2**20  # more than lie between any two days


@dataclass(frozen=True)
class Scoreboard(ScoreboardSettings, CandidateAttack[CandidateResult]):
    """Pick at random among the records that match all known facts within thresholds.

    The adversary trusts their knowledge: a record without one of the known items, or with a rating
    or day beyond a threshold, does not match. The attack is simple enough for proofs (NS Thms 1-5)
    and fragile: with one wrong item known, no record matches.

    Parameters
    ----------
    rating_error : float or None
        Tolerance of ratings; None: the error of the knowledge. Infinity: no condition.
    day_error : float or None
        The same for days, in days. Where the data have no days there is no condition; where they
        do, a cell without one does not fit a known day.
    alpha : float
        Score, in [0, 1), that a record must exceed (scores are 0 or 1: all values are equivalent).
    theta : float
        Record similarity, in (0, 1], from which on a record agrees with the target's truth.
    absent : bool
        Also attack with the target's record removed.
    k : int
        Targets with fewer candidates are reported.

    Raises
    ------
    ConfigError
        A value outside its range.

    Notes
    -----
    Score(aux, r') = min over the known items of Sim(aux_i, r'_i), Sim being 1 when rating and
    day are within their thresholds and else 0; a null on either side gives 0. Matching set
    {r' : Score > α}, probabilities uniform over it (NS §4). A generalized cell fits when some
    member that is no null does. An item that the data lack matches no record.
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
