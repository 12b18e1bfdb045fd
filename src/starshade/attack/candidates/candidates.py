"""Attacks by candidates: every record in which all that is known fits, one as likely as another."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from starshade.attack.candidates.result import CandidateOutcomes, CandidateResult
from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.layout import NO_DAYS, rows_of, support_of
from starshade.attack.result import Bits
from starshade.attack.scoreboard_rh.scoring import goal_of
from starshade.attack.targets import Asked, Attack, Drawn, draw
from starshade.attack.view import View
from starshade.kernels.attack.candidates import Clues, Postings, Seen, Thresholds, count_candidates
from starshade.kernels.attack.scoreboard import Goal
from starshade.kernels.readonly import fixed
from starshade.progress import task
from starshade.ratings.table import Ratings
from starshade.release.table import Release
from starshade.stats import bootstrap, share

__all__ = ["CandidateAttack", "Hunt", "Plan", "batches", "clues_of", "judge", "seen_by"]

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
    """What is attacked, what is known, and what the kernel reads."""

    view: View
    known: Known
    within: Thresholds
    seen: Seen
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
        goal = goal_of(view, theta, absent=absent)
        return cls(view, known, within, seen_by(view, goal), goal)

    def count(self, clues: Clues) -> NDArray[Any]:
        """Count the candidates of some targets."""
        goal = self.goal
        return count_candidates(
            self.seen, clues, self.within, goal.truth, goal.theta, own_only=goal.own_only
        )


class CandidateAttack(Attack[Result]):
    """An attack by candidates; `theta`, `absent` and `k` are settings.

    `theta`: record similarity from which on a record agrees with the target's truth. `absent`: also
    ask who is left when the target's record is taken out. `k`: fewer candidates than this are
    counted.
    """

    theta: float
    absent: bool
    k: int

    def _run(self, data: Ratings | Release, knowledge: Knowledge, asked: Asked) -> Result:
        plan = self._plan(knowledge, data)
        drawn = draw(data, plan.knowledge, asked, absent=self.absent)
        hunt = Hunt.of(drawn.view, drawn.known, plan.within, self.theta, absent=self.absent)
        found: Result = self._result(data, drawn, hunt, plan.used)
        return found

    def _plan(self, knowledge: Knowledge, data: Ratings | Release) -> Plan:
        raise NotImplementedError

    def _result(
        self, data: Ratings | Release, drawn: Drawn, hunt: Hunt, used: dict[str, Any]
    ) -> Any:
        return CandidateResult(**self._figures(drawn, hunt, used))

    def _figures(self, drawn: Drawn, hunt: Hunt, used: dict[str, Any]) -> dict[str, Any]:
        since = perf_counter()
        outcomes, looked_at = judge(hunt)
        best = bootstrap(outcomes.credit, seed=drawn.seed)
        records, absent = outcomes.candidates, outcomes.some_absent
        config: dict[str, Any] = asdict(self)  # type: ignore[call-overload]
        return drawn.facts(outcomes, config | used, looked_at, since) | {
            "attack": self.name,
            "success": best,
            "expected_top1": best,
            "false_match_absent": None if absent is None else share(absent),
            "no_answer": float(1 - (records > 0).mean()),
            "candidates": Bits.of(records.astype(np.float64)),
            "single": share(records == 1),
            "fewer_than_k": share((records > 0) & (records < self.k)),
            "k": int(self.k),
            "bound": 1 / int(hunt.view.copies.min()),
        }


def seen_by(view: View, goal: Goal) -> Seen:
    """Lay out what the adversary sees for the kernel."""
    rows, postings = view.cells, view.postings
    return Seen(
        Postings(
            fixed(postings.indptr),
            fixed(postings.users),
            fixed(postings.codes),
            fixed(NO_DAYS if postings.days is None else postings.days),
        ),
        rows_of(rows),
        fixed(rows.sizes),
        fixed(view.copies),
        fixed(support_of(rows).astype(np.int64)),
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


def batches(hunt: Hunt, label: str) -> Iterator[Clues]:
    """Hand out the targets, some at a time, with a sign of progress after each."""
    with task(label, len(hunt.known)) as step:
        for start in range(0, len(hunt.known), _BATCH):
            part = hunt.known.take(slice(start, start + _BATCH))
            yield clues_of(hunt.view, part)
            step(len(part))


def judge(hunt: Hunt) -> tuple[CandidateOutcomes, int]:
    """Attack every target; returns what came of it and the cells looked at."""
    counted = np.concatenate(
        [hunt.count(clues) for clues in batches(hunt, "looking for candidates")]
    )
    outcomes = _outcomes_of(hunt.view, hunt.known.users, counted, absent=hunt.goal.absent)
    return outcomes, int(counted["looked_at"].sum())


def _outcomes_of(
    view: View, users: NDArray[np.int64], counted: NDArray[Any], *, absent: bool
) -> CandidateOutcomes:
    """Turn counts into answers (NS Def. 4 with a uniform distribution over the candidates)."""
    records, agreeing = counted["records"], counted["agreeing"]
    some = records > 0
    right = counted["own"] if view.credit == "linked" else agreeing > 0
    alike = agreeing > 0
    prior = math.log2(view.cells.n_records)
    share = np.where(alike, agreeing, 1) / np.maximum(records, 1)
    return CandidateOutcomes(
        users=users,
        candidates=records,
        credit=np.where(right, 1 / np.maximum(records, 1), 0.0),
        false_match=some & ~right,
        disclosed=counted["alike"] & alike,
        entropy_bits=np.where(alike, np.log2(np.maximum(records, 1)), prior),
        entropy_bits_profile=np.where(alike, 0.0 - np.log2(share), prior),
        some_absent=records - counted["own"] > 0 if absent else None,
    )
