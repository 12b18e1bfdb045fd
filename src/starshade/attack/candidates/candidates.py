"""Attacks by candidates: every record in which all that is known fits, one as likely as another."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starshade.attack.candidates.result import CandidateOutcomes, CandidateResult
from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.layout import NO_DAYS, rows_of
from starshade.attack.result import Bits
from starshade.attack.scoreboard_rh.scoring import goal_of
from starshade.attack.targets import choose_targets
from starshade.attack.view import View, look
from starshade.errors import ConfigError
from starshade.kernels.attack.candidates import Clues, Postings, Seen, Thresholds, count_candidates
from starshade.kernels.attack.postings import EVERY_ROW
from starshade.kernels.attack.scoreboard import Goal
from starshade.kernels.readonly import fixed
from starshade.naming import called
from starshade.progress import task
from starshade.ratings.table import Ratings
from starshade.release.folder.receipt import digest_of
from starshade.release.table import Link, Release
from starshade.rng import Rng, resolve_seed
from starshade.stats import bootstrap, wilson

__all__ = [
    "Hunt",
    "Plan",
    "attack",
    "batches",
    "clues_of",
    "judge",
    "prepare",
    "seen_by",
    "sum_up",
]

_BATCH = 4096  # targets between two signs of progress


@dataclass(frozen=True)
class Plan:
    """What one attack by candidates does.

    `name`: as ``starshade list attacks`` names it. `config`: the attack's settings, as the result
    tells them. `knowledge`: what the adversary makes use of. `within`: how far a cell may be from
    what is known. `theta`: record similarity, in (0, 1], from which on a record agrees with the
    target's truth. `absent`: also ask who is left when the target's record is taken out. `k`: fewer
    candidates than this are counted, at least 1.
    """

    name: str
    config: dict[str, Any]
    knowledge: Knowledge
    within: Thresholds
    theta: float = 1.0
    absent: bool = False
    k: int = 5


@dataclass(frozen=True, eq=False)
class Hunt:
    """One run of a plan: what is attacked, what is known, and what the kernel reads."""

    plan: Plan
    targets: int | None
    seed: int
    started: float
    view: View
    known: Known
    ineligible: int
    seen: Seen
    goal: Goal


def attack(plan: Plan, data: Ratings | Release, **who: Any) -> CandidateResult:
    """Carry out a plan; `who` as in `prepare`."""
    hunt = prepare(plan, data, **who)
    searching = perf_counter()
    outcomes, looked_at = judge(hunt)
    return CandidateResult(**sum_up(hunt, outcomes, looked_at, perf_counter() - searching))


def prepare(
    plan: Plan,
    data: Ratings | Release,
    *,
    original: Ratings | None,
    targets: int | None,
    rng: Rng,
    link: Link | None,
) -> Hunt:
    """Look at the data, choose the targets and draw what is known of them."""
    seed = resolve_seed(rng)
    started = perf_counter()
    view = look(data, original, link)
    if plan.absent and view.credit == "compatible":
        raise ConfigError(
            f"{called('absent')}: without a link nobody can say which record to take out",
            advice="Give the private receipt, or leave absent out.",
        )
    if view.cells.days is None:  # days have draws of their own: nothing else changes
        plan = replace(plan, knowledge=replace(plan.knowledge, dates=False))
    users, ineligible = choose_targets(view, plan.knowledge, targets, seed)
    known = plan.knowledge.draw(view.original, users, seed)
    goal = goal_of(view, plan.theta, absent=plan.absent)
    return Hunt(plan, targets, seed, started, view, known, ineligible, seen_by(view, goal), goal)


def seen_by(view: View, goal: Goal) -> Seen:
    """Lay out what the adversary sees for the kernel."""
    rows, postings = view.cells, view.postings
    rated = rows.symbols.has_rating
    support = np.diff(rows.indptr)
    if not rated.all():
        of_row = np.repeat(np.arange(rows.n_groups), support)
        support = np.bincount(of_row, weights=rated[rows.codes], minlength=rows.n_groups)
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
        fixed(support.astype(np.int64)),
        bool((rows.sizes == 1).all()),
        goal.contents,
    )


def clues_of(view: View, known: Known) -> Clues:
    """Say where each known cell is looked up, and which rows come into question."""
    none = np.zeros(len(known), dtype=np.int64)
    counts = known.rating_counts  # n'/1.5 ≤ |supp| ≤ n'/0.5
    return Clues(
        np.where(known.items >= 0, view.item_of[known.items], -1).astype(np.int32),
        known.ratings,
        known.days,
        view.row_of_user[known.users],
        known.users,
        none if counts is None else (2 * counts + 2) // 3,
        none + EVERY_ROW if counts is None else 2 * counts,
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
    goal, plan = hunt.goal, hunt.plan
    counted = np.concatenate(
        [
            count_candidates(
                hunt.seen, clues, plan.within, goal.truth, goal.theta, own_only=goal.own_only
            )
            for clues in batches(hunt, "looking for candidates")
        ]
    )
    outcomes = _outcomes_of(hunt.view, hunt.known.users, counted, absent=plan.absent)
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


def sum_up(
    hunt: Hunt, outcomes: CandidateOutcomes, looked_at: int, seconds: float
) -> dict[str, Any]:
    """Return the fields of a `CandidateResult`; `seconds` went into the search itself."""
    n = len(outcomes.users)
    plan, view = hunt.plan, hunt.view
    best = bootstrap(outcomes.credit, seed=hunt.seed)
    some = outcomes.candidates > 0
    too_few = some & (outcomes.candidates < plan.k)
    absent = outcomes.some_absent
    return {
        "attack": plan.name,
        "records": view.cells.n_records,
        "targets": n,
        "ineligible": hunt.ineligible,
        "credit": view.credit,
        "success": best,
        "expected_top1": best,
        "disclosed": wilson(int(outcomes.disclosed.sum()), n),
        "false_match": wilson(int(outcomes.false_match.sum()), n),
        "false_match_absent": None if absent is None else wilson(int(absent.sum()), n),
        "no_answer": float(1 - some.mean()),
        "entropy_bits": Bits.of(outcomes.entropy_bits),
        "entropy_bits_profile": Bits.of(outcomes.entropy_bits_profile),
        "candidates": Bits.of(outcomes.candidates.astype(np.float64)),
        "single": wilson(int((outcomes.candidates == 1).sum()), n),
        "fewer_than_k": wilson(int(too_few.sum()), n),
        "k": int(plan.k),
        "bound": 1 / int(view.copies.min()),
        "seconds": perf_counter() - hunt.started,
        "postings_per_second": looked_at / max(seconds, 1e-9),
        "config": plan.config | {"targets": hunt.targets},
        "knowledge": {"name": plan.knowledge.name} | asdict(plan.knowledge),
        "known_released": float((view.item_of[hunt.known.items] >= 0).mean()),
        "seed": hunt.seed,
        "digest": digest_of(view.original),
        "per_target": outcomes,
    }
