"""Can records be linked? Facts to a class, facts to facts, and releases to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from starshade.attack.composition.composed import Composed
from starshade.attack.likelihood.result import LikelihoodResult
from starshade.attack.result import AttackResult
from starshade.attack.shadows.linkability import Linked
from starshade.attack.targets import credit_of
from starshade.audit.evidence import Evidence
from starshade.audit.questions.limits import Limit
from starshade.audit.questions.question import Measured, Question, unmeasured
from starshade.figure import Rate
from starshade.plain import counted, percent
from starshade.release.table import Release
from starshade.stats import bootstrap


def linked(
    release: Release,
    evidence: Sequence[Evidence],
    linkability: Linked | str,
    composed: Composed | str | None,
    limits: Mapping[str, float],
    seed: int,
) -> Question:
    """Answer whether records can be linked.

    `linkability`, `composed`: or why there is nothing of them; None: no earlier release was named.
    """

    def limit(name: str) -> Limit | None:
        return Limit(limits[name], "the owner") if name in limits else None

    together = () if composed is None else (_composed(composed, limits),)
    return Question(
        "linked",
        (
            _class(release, evidence, limit("class"), seed),
            _two_sources(linkability, limit("halves")),
            *together,
        ),
    )


def _class(
    release: Release, evidence: Sequence[Evidence], limit: Limit | None, seed: int
) -> Measured:
    if release.private is None or not evidence:
        why = "without the receipt nobody can tell who is in which"
        return unmeasured("class", "How often the right class is named", why, limit)
    rates = [bootstrap(_found(each.after), seed=seed, tries=len(evidence)) for each in evidence]
    best = max(range(len(rates)), key=lambda i: rates[i].rate)
    worst, rate = evidence[best], replace(rates[best], high=max(rate.high for rate in rates))
    result, classes = worst.after, release.manifest.classes
    ceilings = [
        each.after.ceiling
        for each in evidence
        if isinstance(each.after, LikelihoodResult) and each.knowledge == worst.knowledge
    ]
    text = (
        f"Who knows {worst.knew} of a person names the class that they are in, in {rate} of "
        f"{counted(result.targets, 'case')}, and reads there what it tells of its people"
    )
    beside: tuple[tuple[str, Rate], ...] = ()
    if ceilings and ceilings[0] is not None:
        text += f"; the most that could be reached with these facts is {ceilings[0]}"
        beside = (("At most possible with these facts", ceilings[0]),)
    return Measured(
        "class",
        f"{text}. The promise of k says nothing about this.",
        attack=result.attack,
        knew=worst.knew,
        rate=rate,
        guessing=1 / max(1, classes),
        limit=limit,
        beside=beside,
        people=result.targets,
    )


def _found(result: AttackResult) -> NDArray[np.float64]:
    """Return how often each target's class was named; who names the record names its class."""
    if isinstance(result, LikelihoodResult):
        return result.per_target.class_found
    return credit_of(result.per_target)


def _two_sources(found: Linked | str, limit: Limit | None) -> Measured:
    if isinstance(found, str):
        return unmeasured("halves", "Whether two sources find one class", found, limit)
    return Measured(
        "halves",
        f"Two sources that each know {counted(found.known, 'rating')} of somebody, different ones, "
        f"find the same class in {found.members} of the cases, and can tell by it that they speak "
        f"of one person; of people who are not in the release in {found.outsiders}. The excess is "
        f"{found.excess}, of {counted(found.people, 'person', 'people')} in shadow releases.",
        attack="likelihood",
        knew=f"twice {counted(found.known, 'rating')}",
        rate=found.excess,
        guessing=0.0,
        limit=limit,
        beside=(("People who are in it", found.members), ("People who are not", found.outsiders)),
        by_itself=found.excess.high <= 0,
        note=f"Beyond people who are not in it: one class in {percent(found.members.rate)} of the "
        f"cases for members, in {percent(found.outsiders.rate)} for others.",
        people=found.people,
    )


def _composed(found: Composed | str, limits: Mapping[str, float]) -> Measured:
    limit = Limit(0.0, "the model")
    if "joint-class" in limits:
        limit = Limit(limits["joint-class"], "the owner")
    if isinstance(found, str):
        return unmeasured("joint-class", "What the releases tell together", found, limit)
    counts = found.counts
    below, people = counts.people_below_k, counts.people
    if below is None:
        why = "none of the releases claims a k"
        return unmeasured("joint-class", "Who hides among fewer than k in all of them", why, limit)
    share = below / max(1, people)
    return Measured(
        "joint-class",
        f"Together with the earlier releases {below:,} of {counted(people, 'person', 'people')} "
        f"in one or more of them ({percent(share)}) are in a joint class of fewer than k, "
        f"{counts.people_alone:,} alone.",
        attack="composition",
        knew="the classes",
        rate=Rate(share, share, share),  # everybody was counted
        guessing=0.0,
        limit=limit,
    )
