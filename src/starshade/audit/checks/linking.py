"""Class linkage, linkability and composition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from starshade.attack.composition.composed import Composed
from starshade.attack.likelihood.result import LikelihoodResult
from starshade.attack.result import AttackResult
from starshade.attack.shadows.linkability import Linked
from starshade.attack.targets import credit_of
from starshade.audit.checks.check import ALONE, Check, unmeasured
from starshade.audit.checks.singling_out import Thresholds, key_file
from starshade.audit.evidence import Evidence
from starshade.audit.to_know import Earlier
from starshade.figure import Rate
from starshade.naming import Advice
from starshade.plain import counted, percent
from starshade.release.table import Release
from starshade.stats import bootstrap


def class_linkage(
    release: Release, evidence: Sequence[Evidence], thresholds: Thresholds, seed: int
) -> Check:
    """Return the check of class linkage, by the strongest attack."""
    threshold = thresholds.get("class-linkage")
    if release.private is None or not evidence:
        why = "only the private key file says who is in which class"
        return unmeasured("class-linkage", why, threshold, advice=key_file())
    rates = [bootstrap(_found(each.after), seed=seed, tries=len(evidence)) for each in evidence]
    best = max(range(len(rates)), key=lambda i: rates[i].rate)
    worst, rate = evidence[best], replace(rates[best], high=max(rate.high for rate in rates))
    result, classes = worst.after, release.manifest.classes
    ceilings = [
        each.after.upper_bound
        for each in evidence
        if isinstance(each.after, LikelihoodResult) and each.knowledge == worst.knowledge
    ]
    text = (
        f"An adversary who knows {worst.knew} of a person finds their class for {rate} of "
        f"{counted(result.targets, 'target')}, and with it what the class discloses"
    )
    beside: tuple[tuple[str, Rate], ...] = ()
    if ceilings and ceilings[0] is not None:
        text += f" (upper bound for any adversary with this knowledge: {ceilings[0]})"
        beside = (("Upper bound with this knowledge", ceilings[0]),)
    return Check(
        "class-linkage",
        f"{text}. k-anonymity does not limit this.",
        attack=result.attack,
        knew=worst.knew,
        known=worst.knowledge.known,
        rate=rate,
        baseline=1 / max(1, classes),
        threshold=threshold,
        beside=beside,
        targets=result.targets,
        of=result.targets + result.ineligible if result.ineligible else release.n_records,
    )


def _found(result: AttackResult) -> NDArray[np.float64]:
    """Return how often each target's class was named; naming the record names its class."""
    if isinstance(result, LikelihoodResult):
        return result.per_target.class_linkage
    return credit_of(result.per_target)


def linkability(
    found: Linked | str,
    known: int,
    of: int,
    thresholds: Thresholds,
    undecided: str = "",
    advice: str | Advice = "",
) -> Check:
    """Return the check of linkability: two partial profiles that lead to one class.

    `known`: ratings in both together. `of`: people in the release.
    """
    threshold = thresholds.get("linkability")
    if isinstance(found, str):
        return unmeasured("linkability", found, threshold, known=known, advice=advice)
    return Check(
        "linkability",
        f"Two sources that each know {counted(found.known, 'different rating')} of a person find "
        f"the same class for {found.members} of members and {found.outsiders} of non-members. "
        f"Excess {found.excess}, on {counted(found.people, 'person', 'people')} of the shadow "
        "releases.",
        attack="likelihood",
        knew=f"twice {counted(found.known, 'rating')}",
        known=known,
        rate=found.excess,
        baseline=found.outsiders.rate,
        threshold=threshold,
        beside=(("Members", found.members), ("Non-members", found.outsiders)),
        note=f"(members − non-members) / (1 − non-members): one class for "
        f"{percent(found.members.rate)} of members and {percent(found.outsiders.rate)} of "
        "non-members.",
        targets=found.people,
        of=of,
        undecided=undecided,
        advice=advice,
    )


def composition(earlier: Earlier | None, thresholds: Thresholds) -> Check:
    """Return the check of composition: people in a joint class that is too small."""
    threshold = thresholds.get("composition")
    if earlier is None:
        return Check(
            "composition",
            "No earlier release was named.",
            threshold=threshold,
            inapplicable=ALONE,
        )
    found, text = earlier.composed, earlier.text
    if not isinstance(found, Composed):
        if earlier.holds:  # none of them is of the same people
            return Check(
                "composition",
                text,
                threshold=threshold,
                inapplicable="no earlier release is of the same people",
            )
        return Check("composition", text, threshold=threshold, failed=True)
    counts, below = found.counts, earlier.below
    assert below is not None
    share = below / max(1, counts.people)
    return Check(
        "composition",
        text,
        attack="composition",
        knew="the classes",
        rate=Rate(share, share, share),  # everybody was counted
        baseline=0.0,
        threshold=threshold,
        failed=not earlier.holds,
        targets=counts.people,
    )
